package wordpress

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// debianPackage is a package and how to tell that it is there: by a command or
// by a file, whose version may differ.
type debianPackage struct{ name, command, file string }

var debianPackages = []debianPackage{
	{name: "wordpress", file: wordpressFiles + "/wp-load.php"},
	{name: "wordpress-theme-twentytwentyone", file: classicTheme + "/style.css"},
	{name: "php-cli", command: "php"},
	{name: "php-fpm", file: fpmBinary},
	{name: "php-mysql", file: "/usr/lib/php/*/mysqli.so"},
	{name: "php-gd", file: "/usr/lib/php/*/gd.so"},
	{name: "php-xml", file: "/usr/lib/php/*/dom.so"},
	{name: "php-mbstring", file: "/usr/lib/php/*/mbstring.so"},
	{name: "mariadb-server", command: "mariadbd"},
	{name: "mariadb-client", command: "mariadb"},
	{name: "apache2", command: "apache2"},
	{name: "libapache2-mod-php", file: apachePHP},
	{name: "nginx-light", command: "nginx"},
	{name: "chromium", command: "chromium"},
	{name: "fonts-dejavu-core", file: "/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf"},
	{name: "media-types", file: "/etc/mime.types"},
}

// What of the packages is used by its path.
const (
	wordpressFiles = "/usr/share/wordpress"
	classicTheme   = wordpressFiles + "/wp-content/themes/twentytwentyone"
	fpmBinary      = "/usr/sbin/php-fpm[0-9]*"
	apacheModules  = "/usr/lib/apache2/modules"
	apachePHP      = apacheModules + "/libphp*.so"
)

func (p debianPackage) missing() bool {
	if p.command != "" {
		_, err := lookPath(p.command)
		return err != nil
	}
	_, err := newest(p.file)
	return err != nil
}

// lookPath finds a command, also in the directories that only root's PATH has.
func lookPath(command string) (string, error) {
	path, err := exec.LookPath(command)
	if err != nil {
		path, err = exec.LookPath(filepath.Join("/usr/sbin", command))
	}
	return path, err
}

// newest returns the last file that fits the pattern.
func newest(pattern string) (string, error) {
	files, err := filepath.Glob(pattern)
	if err != nil || len(files) == 0 {
		return "", fmt.Errorf("there is no %s", pattern)
	}
	return files[len(files)-1], nil
}

// noServices keeps the packages' scripts from starting what they install.
const noServices = "/usr/sbin/policy-rc.d"

// installPackages installs what is missing, and starts nothing of it. The error
// names what is missing where it cannot.
func installPackages(ctx context.Context) (output string, err error) {
	missing := missingPackages()
	if len(missing) == 0 {
		return "", nil
	}
	names := strings.Join(missing, " ")
	if _, err := exec.LookPath("apt-get"); err != nil || os.Geteuid() != 0 {
		return "", fmt.Errorf("missing: %s; on Debian, as root: apt-get update && apt-get install -y %s", names, names)
	}
	if _, err := os.Stat(noServices); errors.Is(err, os.ErrNotExist) {
		if err := os.WriteFile(noServices, []byte("#!/bin/sh\nexit 101\n"), 0o755); err != nil {
			return "", err
		}
		defer os.Remove(noServices)
	}
	output, err = aptGet(ctx, "update")
	if err != nil {
		return output, err
	}
	installed, err := aptGet(ctx, append([]string{"install", "-y", "--no-install-recommends"}, missing...)...)
	if left := missingPackages(); err == nil && len(left) > 0 {
		err = fmt.Errorf("installed and still not found: %s", strings.Join(left, " "))
	}
	return output + installed, err
}

func missingPackages() (names []string) {
	for _, p := range debianPackages {
		if p.missing() {
			names = append(names, p.name)
		}
	}
	return names
}

func aptGet(ctx context.Context, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Minute)
	defer cancel()
	args = append([]string{"-o", "DPkg::Lock::Timeout=300"}, args...)
	return run(ctx, "/", []string{"DEBIAN_FRONTEND=noninteractive"}, "apt-get", args...)
}
