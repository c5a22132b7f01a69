// Package examples runs what docs/examples has, on this machine and without containers: what a
// container would have by its name or port stands at an address of the loopback interface.
package examples

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/compose-spec/compose-go/v2/cli"
	"github.com/compose-spec/compose-go/v2/types"
)

// Example is a directory with a compose file.
type Example struct {
	Name    string
	Dir     string
	Project *types.Project // as docker compose reads it, with paths that are absolute
}

// Secret is what every variable has that .env.example leaves to the reader.
const Secret = "a-secret-of-the-test"

// Names returns the examples below the repository at root.
func Names(root string) (names []string, err error) {
	files, err := fs.Glob(os.DirFS(root), "docs/examples/*/.env.example")
	for _, file := range files {
		names = append(names, filepath.Base(filepath.Dir(file)))
	}
	return names, err
}

// Read reads an example with the values of its .env.example. Where that leaves one to the reader, it is
// Secret.
func Read(ctx context.Context, root, name string) (*Example, error) {
	dir := filepath.Join(root, "docs", "examples", name)
	values, err := Values(dir)
	if err != nil {
		return nil, err
	}
	return ReadWith(ctx, dir, values)
}

// ReadWith reads the example in dir with other values.
func ReadWith(ctx context.Context, dir string, values map[string]string) (*Example, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	var env []string
	for name, value := range values {
		env = append(env, name+"="+value)
	}
	options, err := cli.NewProjectOptions([]string{filepath.Join(dir, "compose.yaml")},
		cli.WithWorkingDirectory(dir), cli.WithEnv(env), cli.WithResolvedPaths(true))
	if err != nil {
		return nil, err
	}
	project, err := options.LoadProject(ctx)
	return &Example{Name: filepath.Base(dir), Dir: dir, Project: project}, err
}

var variable = regexp.MustCompile(`(?m)^(\w+)=(.*)$`)

// Values returns the variables of .env.example.
func Values(dir string) (map[string]string, error) {
	text, err := os.ReadFile(filepath.Join(dir, ".env.example"))
	values := map[string]string{}
	for _, m := range variable.FindAllStringSubmatch(string(text), -1) {
		values[m[1]] = m[2]
		if m[2] == "" {
			values[m[1]] = Secret
		}
	}
	return values, err
}

// Environment returns what a service has in its environment, as "NAME=value".
func (e *Example) Environment(service string) (env []string, err error) {
	s, err := e.Project.GetService(service)
	for name, value := range s.Environment {
		if value == nil {
			return nil, fmt.Errorf("%s: %s has no value", service, name)
		}
		env = append(env, name+"="+*value)
	}
	return env, err
}

// Mounted returns the file of the example that a service has at a path of its container.
func (e *Example) Mounted(service, path string) (string, error) {
	s, err := e.Project.GetService(service)
	if err != nil {
		return "", err
	}
	for _, v := range s.Volumes {
		if below, ok := strings.CutPrefix(path, v.Target); ok && v.Type == types.VolumeTypeBind {
			return filepath.Join(v.Source, below), nil
		}
	}
	return "", fmt.Errorf("%s has nothing at %s", service, path)
}
