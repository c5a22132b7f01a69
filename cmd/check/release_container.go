package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/dustin/go-humanize"
	"go.yaml.in/yaml/v3"
)

// recipe is how a container is built and run: what the Containerfile and compose.yaml of a
// release say, which the check and the documentation take from there.
type recipe struct {
	user     string // "1000:1000"
	env      []string
	volumes  []string // directories
	program  string
	args     []string
	health   []string
	copied   map[string]string // files that the image has, by path, and where they come from
	readOnly bool
	capDrop  []string
	security []string
	files    int // open ones
	memory   string
	sysctls  []string // "name=value"
	mounts   []string // "name:/directory[:ro]"
	ports    []string
}

// readRecipe reads the two files. It knows the instructions that they use, and no other: one
// that it ignored would be untested.
func readRecipe(dir string) (*recipe, error) {
	r := &recipe{copied: map[string]string{}}
	text, err := os.ReadFile(filepath.Join(dir, "Containerfile"))
	if err != nil {
		return nil, err
	}
	_, final, found := strings.Cut(string(text), "\nFROM scratch\n")
	if !found {
		return nil, errors.New("the image is not from scratch")
	}
	for line := range strings.Lines(final) {
		if line = strings.TrimSpace(line); line == "" || line[0] == '#' {
			continue
		}
		if err := r.instruction(line); err != nil {
			return nil, fmt.Errorf("%s: %w", line, err)
		}
	}
	return r, r.compose(filepath.Join(dir, "compose.yaml"))
}

func (r *recipe) instruction(line string) (err error) {
	word, rest, _ := strings.Cut(line, " ")
	list := strings.Fields(rest)
	switch word {
	case "COPY":
		list = slices.DeleteFunc(list, func(s string) bool { return strings.HasPrefix(s, "--") })
		if len(list) != 2 {
			return errors.New("not one file to one place")
		}
		r.copied[list[1]] = list[0]
	case "USER":
		r.user = rest
	case "ENV":
		r.env = append(r.env, list...)
	case "VOLUME":
		r.volumes = list
	case "EXPOSE":
	case "HEALTHCHECK":
		err = json.Unmarshal([]byte(strings.TrimPrefix(rest, "CMD ")), &r.health)
	case "ENTRYPOINT":
		var entry []string
		if err = json.Unmarshal([]byte(rest), &entry); err == nil && len(entry) == 1 {
			r.program = entry[0]
		}
	case "CMD":
		err = json.Unmarshal([]byte(rest), &r.args)
	default:
		err = errors.New("the check does not know this instruction")
	}
	return err
}

// compose reads the service. Its user is also the image's own.
func (r *recipe) compose(name string) error {
	text, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	var file struct {
		Services map[string]struct {
			User     string
			ReadOnly bool     `yaml:"read_only"`
			CapDrop  []string `yaml:"cap_drop"`
			Security []string `yaml:"security_opt"`
			Ulimits  struct{ Nofile int }
			Memory   string `yaml:"mem_limit"`
			Sysctls  []string
			Volumes  []string
			Ports    []string
		}
	}
	if err := yaml.Unmarshal(text, &file); err != nil {
		return err
	}
	s := file.Services["caddy"]
	if s.User != r.user {
		return fmt.Errorf("user %q in compose.yaml, %q in the Containerfile", s.User, r.user)
	}
	r.readOnly, r.capDrop, r.security, r.files, r.memory = s.ReadOnly, s.CapDrop, s.Security, s.Ulimits.Nofile, s.Memory
	r.mounts, r.ports, r.sysctls = s.Volumes, s.Ports, s.Sysctls
	return nil
}

// flags are those of docker and podman that compose.yaml stands for.
func (r *recipe) flags() []string {
	flags := []string{"--user " + r.user}
	if r.readOnly {
		flags = append(flags, "--read-only")
	}
	for _, name := range r.capDrop {
		flags = append(flags, "--cap-drop "+name)
	}
	for _, option := range r.security {
		flags = append(flags, "--security-opt "+strings.TrimSuffix(option, ":true"))
	}
	flags = append(flags, "--ulimit nofile="+strconv.Itoa(r.files), "--memory "+r.memory)
	for _, setting := range r.sysctls {
		flags = append(flags, "--sysctl "+setting)
	}
	for _, port := range r.ports {
		flags = append(flags, "--publish "+port)
	}
	for _, mount := range r.mounts {
		flags = append(flags, "--volume "+mount)
	}
	return flags
}

// bytes is the limit of memory.
func (r *recipe) bytes() (uint64, error) {
	return humanize.ParseBytes(strings.Replace(r.memory, "g", "GiB", 1))
}

// lay lays the image's files and the volumes into directories, as an engine does, and
// returns the directory that is to be the root.
func (r *recipe) lay(ctx context.Context, dir, unpacked, config string) (root string, err error) {
	root = filepath.Join(dir, "root")
	for to, from := range r.copied {
		switch {
		case strings.HasPrefix(from, "/etc/"):
		case from == "/volumes/": // the directories of the volumes, below
			continue
		default:
			from = filepath.Join(unpacked, from)
		}
		if err := copyTo(ctx, from, filepath.Join(root, to)); err != nil {
			return "", err
		}
	}
	for _, volume := range r.volumes {
		owner := strings.ReplaceAll(r.user, ":", ".")
		user, group, _ := strings.Cut(owner, ".")
		held := r.volume(dir, volume)
		out, err := output(ctx, toolLimit, dir, "install", "-d", "-m", "0700", "-o", user, "-g", group, held)
		if err == nil {
			err = os.MkdirAll(filepath.Join(root, volume), 0o755) //nolint:gosec // the container's user looks into it
		}
		if err != nil {
			return "", fmt.Errorf("%w\n%s", err, out)
		}
	}
	return root, copyTo(ctx, config, filepath.Join(root, r.args[slices.Index(r.args, "--config")+1]))
}

// volume is the directory that is mounted for a volume.
func (*recipe) volume(dir, volume string) string { return filepath.Join(dir, "volumes", volume) }

func copyTo(ctx context.Context, from, to string) error {
	out, err := output(ctx, toolLimit, "/", "install", "-D", from, to)
	if err != nil {
		err = fmt.Errorf("%w\n%s", err, out)
	}
	return err
}
