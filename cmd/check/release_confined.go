package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/restwarden/restwarden/cmd/check/testkit/machine"
)

// confined is the shell's part in confining a program as a container engine does: in a mount
// namespace of its own, with a read-only root that has nothing but the image, and with
// volumes; in a group with a limit of memory; without the rights of root, or a way to them.
// unshare needs three of those rights for its own work, and gives them up with its user.
//
// $1 is the root, $2 the directory of the volumes, $3 a control group or empty, $4 the limit of
// memory, $5 that of files, $6 user, $7 group, $8 the volumes, $9 settings of its network if it
// has one of its own; then comes the program.
const confined = `root=$1 held=$2 group=$3 memory=$4 files=$5 user=$6 gid=$7 volumes=$8 settings=$9
shift 9
for s in $settings; do echo "${s#*=}" >"/proc/sys/$(echo "${s%%=*}" | tr . /)"; done
mount --make-rprivate /
mount --bind "$root" "$root"
for v in $volumes; do mount --bind "$held/$v" "$root/$v"; done
mount -o remount,bind,ro "$root"
data=unlimited
if [ -n "$group" ]; then echo $$ >"$group/cgroup.procs"; else data=$memory; fi
exec prlimit --nofile="$files:$files" --data="$data" \
	setpriv --clear-groups --no-new-privs --inh-caps=-all --bounding-set=-all,+setuid,+setgid,+sys_chroot \
	unshare --root="$root" --wd=/ --setgid="$gid" --setuid="$user" "$@"
`

// container is one that runs, or what stands for it.
type container struct {
	recipe  *recipe
	dir     string
	root    string
	group   string // control group of its memory
	files   int    // open ones that it may have
	network bool   // it has one of its own
	process *machine.Process
}

// start starts the program of the image under the limits of the recipe.
func (k *container) start(ctx context.Context, args []string) error {
	memory, err := k.recipe.bytes()
	if err != nil {
		return err
	}
	if k.files, err = k.openFiles(ctx); err != nil {
		return err
	}
	k.group = memoryGroup(memory)
	user, group, _ := strings.Cut(k.recipe.user, ":")
	line, settings := []string{"--mount"}, ""
	if k.network { // the settings are of the network: not of this machine's
		line, settings = append(line, "--net"), strings.Join(k.recipe.sysctls, " ")
	}
	line = append(line, "env", "-i")
	line = append(line, k.recipe.env...)
	line = append(line, "PATH=/usr/sbin:/usr/bin:/sbin:/bin", "sh", "-euc", confined, "sh",
		k.root, filepath.Join(k.dir, "volumes"), k.group, strconv.FormatUint(memory, 10), strconv.Itoa(k.files),
		user, group, strings.Join(k.recipe.volumes, " "), settings, k.recipe.program)
	k.process, err = machine.Start(k.dir, "unshare", append(line, args...)...)
	return err
}

// stop ends it, and gives its control group back.
func (k *container) stop() error {
	var err error
	if k.process != nil {
		err = k.process.End(stopLimit)
	}
	if k.group != "" {
		err = errors.Join(err, os.Remove(k.group))
	}
	return err
}

// openFiles is the recipe's limit, or this machine's where that is lower: a lower one is the
// harder test.
func (k *container) openFiles(ctx context.Context) (int, error) {
	out, err := output(ctx, time.Minute, "/", "prlimit", "--nofile", "--noheadings", "--output", "HARD")
	if err != nil {
		return 0, err
	}
	if out = strings.TrimSpace(out); out == "unlimited" {
		return k.recipe.files, nil
	}
	most, err := strconv.Atoi(out)
	return min(most, k.recipe.files), err
}

// limits says what is in force.
func (k *container) limits() string {
	by := "a control group"
	if k.group == "" {
		by = "RLIMIT_DATA, since no control group can be made here"
	}
	return fmt.Sprintf("memory %s, by %s; %d open files of %d", k.recipe.memory, by, k.files, k.recipe.files)
}

// memoryGroup makes a control group with a limit of memory, of version 2 or 1, and returns its
// directory: none where this machine lets nobody make one.
func memoryGroup(limit uint64) string {
	name := fmt.Sprintf("restwarden-check-%d", os.Getpid())
	for parent, file := range map[string]string{"/sys/fs/cgroup": "memory.max", "/sys/fs/cgroup/memory": "memory.limit_in_bytes"} {
		group := filepath.Join(parent, name)
		if os.Mkdir(group, 0o700) != nil {
			continue
		}
		// no O_CREATE: where the file is missing, this is no control group
		f, err := os.OpenFile(filepath.Join(group, file), os.O_WRONLY, 0)
		if err == nil {
			_, err = f.WriteString(strconv.FormatUint(limit, 10))
			err = errors.Join(err, f.Close())
		}
		if err == nil {
			return group
		}
		_ = os.Remove(group)
	}
	return ""
}

// holds tells what of the limits is not in force, as the kernel has it.
func (k *container) holds(ctx context.Context) error {
	pid := strconv.Itoa(k.process.PID())
	read := func(name string) string {
		text, _ := os.ReadFile(filepath.Join("/proc", pid, name)) // an empty text has nothing that is looked for
		return strings.Join(strings.Fields(string(text)), " ")
	}
	user, group, _ := strings.Cut(k.recipe.user, ":")
	memory := [2]string{"cgroup", filepath.Base(k.group)}
	if k.group == "" {
		n, err := k.recipe.bytes()
		if err != nil {
			return err
		}
		memory = [2]string{"limits", fmt.Sprintf("Max data size %d", n)}
	}
	var missing []error
	for what, words := range map[string][2]string{
		"user":            {"status", strings.TrimRight(strings.Repeat(user+" ", 4), " ") + " Gid: " + group},
		"no rights":       {"status", "CapPrm: 0000000000000000 CapEff: 0000000000000000"},
		"no inherited":    {"status", "CapInh: 0000000000000000"},
		"none ambient":    {"status", "CapAmb: 0000000000000000"},
		"no new ones":     {"status", "NoNewPrivs: 1"},
		"open files":      {"limits", fmt.Sprintf("Max open files %d %d files", k.files, k.files)},
		"memory":          memory,
		"no other groups": {"status", "Groups: NStgid:"},
	} {
		if !strings.Contains(read(words[0]), words[1]) {
			missing = append(missing, fmt.Errorf("%s: %s does not have %q:\n%s", what, words[0], words[1], read(words[0])))
		}
	}
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	out, err := machine.Run(ctx, "/", []string{"LC_ALL=C"}, "nsenter", "--target", pid, "--mount", "touch", filepath.Join(k.root, "written"))
	if err == nil || !strings.Contains(out, "Read-only file system") {
		missing = append(missing, errors.Join(errors.New("the root can be written: "+out), err))
	}
	return errors.Join(missing...)
}
