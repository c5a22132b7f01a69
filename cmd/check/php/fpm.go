package php

import (
	"context"
	_ "embed"
	"fmt"
	"os"
	"path/filepath"

	"github.com/restwarden/restwarden/cmd/check/testkit/machine"
)

// release is a php-fpm, on this system or in a directory with one of its own.
type release struct {
	name   string
	root   string // the directory, "" for this system
	binary string // in it
	splits bool   // arg_separator.input is ";&"
}

// splitting returns the release with the setting that some sites have.
func (r release) splitting() release {
	r.name += " with arg_separator.input=;&"
	r.splits = true
	return r
}

// installed returns the releases on this system.
func installed() ([]release, error) {
	return releasesIn("")
}

func releasesIn(root string) (list []release, err error) {
	files, err := filepath.Glob(root + fpmPattern)
	if err == nil && len(files) == 0 {
		err = fmt.Errorf("%w: %s", os.ErrNotExist, root+fpmPattern)
	}
	for _, f := range files {
		r := release{name: filepath.Base(f), root: root, binary: f[len(root):]}
		if root != "" {
			r.name += " of " + filepath.Base(root)
		}
		list = append(list, r)
	}
	return list, err
}

// others are the Debian releases whose PHP is asked in a long run, before and after this
// system's. The last one has the newest PHP that Debian has on that day.
var others = []string{"bullseye", "trixie", "sid"}

// otherReleases installs other Debian releases with their PHP into dir.
func otherReleases(ctx context.Context, dir string) (list []release, err error) {
	if os.Geteuid() != 0 {
		return nil, fmt.Errorf("other releases of PHP: %w: only root can install them", os.ErrPermission)
	}
	if out, err := machine.Install(ctx, []machine.Package{{Name: "debootstrap", Command: "debootstrap"}}); err != nil {
		return nil, fmt.Errorf("%w\n%s", err, out)
	}
	for _, debian := range others {
		root := filepath.Join(dir, debian)
		out, err := machine.Run(ctx, dir, nil, "debootstrap", "--variant=minbase", "--include=php-fpm", debian, root)
		if err != nil {
			return list, fmt.Errorf("%w\n%.4000s", err, out)
		}
		found, err := releasesIn(root)
		if err != nil {
			return list, err
		}
		list = append(list, found...)
	}
	return list, nil
}

// server is a running php-fpm.
type server struct {
	socket  string // as seen from here
	script  string // as PHP sees it
	splits  bool   // queries at ";", too
	process *machine.Process
}

func (s *server) stop() { s.process.Stop() }

//go:embed vars.php
var script []byte

// fpmConfig leaves PHP its own limits; warnings would stand among the answers.
const fpmConfig = `[global]
daemonize = no
error_log = /dev/null
[www]
%slisten = %s/fpm.sock
listen.mode = 0666
pm = static
pm.max_children = %d
php_flag[display_errors] = off
%s`

// startFPM starts r without any php.ini.
func startFPM(ctx context.Context, dir string, r release) (*server, error) {
	inside, command := filepath.Join(dir, filepath.Base(r.binary)), []string{r.binary}
	if r.root != "" {
		inside, command = "/restwarden", []string{"chroot", r.root, r.binary}
	}
	if r.splits {
		inside += "-splits"
	}
	home := r.root + inside
	if err := os.MkdirAll(home, 0o755); err != nil { //nolint:gosec // PHP-FPM runs as another user
		return nil, err
	}
	account, setting := "", ""
	if os.Geteuid() == 0 {
		account = "user = www-data\ngroup = www-data\n"
	}
	if r.splits {
		setting = "php_admin_value[arg_separator.input] = \";&\"\n"
	}
	for name, text := range map[string]string{"vars.php": string(script), "fpm.conf": fmt.Sprintf(fpmConfig, account, inside, workers, setting)} {
		if err := os.WriteFile(filepath.Join(home, name), []byte(text), 0o644); err != nil { //nolint:gosec // PHP-FPM runs as another user
			return nil, err
		}
	}
	process, err := machine.Start(dir, command[0], append(command[1:], "-n", "-F", "-y", inside+"/fpm.conf")...)
	if err != nil {
		return nil, err
	}
	s := &server{socket: home + "/fpm.sock", script: inside + "/vars.php", splits: r.splits, process: process}
	if err := process.Ready(ctx, machine.Connects("unix", s.socket)); err != nil {
		s.stop()
		return nil, err
	}
	return s, nil
}
