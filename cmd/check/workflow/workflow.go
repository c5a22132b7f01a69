// Package workflow reads a workflow of GitHub Actions and runs its steps on this machine, word by word, where what they would publish goes nowhere.
// Commands run as they stand; actions are played by what they do with files.
package workflow

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Workflow is a file of GitHub Actions. It has the keys that a [Runner] knows: one with another key is not
// read, since a run of it would leave something out.
type Workflow struct {
	Name        string            `yaml:"name"`
	On          any               `yaml:"on"`
	Permissions map[string]string `yaml:"permissions"`
	Jobs        map[string]Job    `yaml:"jobs"`
}

// Job is one machine, or one for each value of its matrix.
type Job struct {
	Needs       string            `yaml:"needs"`
	RunsOn      string            `yaml:"runs-on"`
	Timeout     int               `yaml:"timeout-minutes"`
	Permissions map[string]string `yaml:"permissions"`
	Env         map[string]string `yaml:"env"`
	Strategy    struct {
		Matrix map[string][]string `yaml:"matrix"`
	} `yaml:"strategy"`
	Steps []Step `yaml:"steps"`
}

// Step is a command or an action.
type Step struct {
	Name string            `yaml:"name"`
	ID   string            `yaml:"id"`
	Uses string            `yaml:"uses"`
	With map[string]string `yaml:"with"`
	Run  string            `yaml:"run"`
	Dir  string            `yaml:"working-directory"`
	Env  map[string]string `yaml:"env"`
}

// String is what the step is called in messages.
func (s Step) String() string {
	if s.Run != "" {
		return s.Run
	}
	action, _, _ := strings.Cut(s.Uses, "@")
	return action
}

// Read reads a workflow from a file.
func Read(name string) (w *Workflow, err error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // it was only read
	in := yaml.NewDecoder(f)
	in.KnownFields(true)
	if err := in.Decode(&w); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return w, w.check()
}

// pinned is an action at one commit.
var pinned = regexp.MustCompile(`^[\w./-]+@[0-9a-f]{40}$`)

// check holds that each step is one command or one action, at one commit, and that each job has at most one
// dimension.
func (w *Workflow) check() error {
	for name, job := range w.Jobs {
		if len(job.Strategy.Matrix) > 1 {
			return fmt.Errorf("job %s: more than one dimension", name)
		}
		for _, s := range job.Steps {
			if (s.Run == "") == (s.Uses == "") {
				return fmt.Errorf("job %s: %q is not either a command or an action", name, s)
			}
			if s.Uses != "" && !pinned.MatchString(s.Uses) {
				return fmt.Errorf("job %s: %s is not pinned", name, s.Uses)
			}
		}
	}
	_, err := w.order()
	return err
}

// order returns the names of the jobs, each after what it needs.
func (w *Workflow) order() (names []string, err error) {
	for len(names) < len(w.Jobs) {
		before := len(names)
		for name, job := range w.Jobs {
			if !slices.Contains(names, name) && (job.Needs == "" || slices.Contains(names, job.Needs)) {
				names = append(names, name)
			}
		}
		if len(names) == before {
			return nil, fmt.Errorf("jobs need each other, or what there is not: only %q can run", names)
		}
	}
	return names, nil
}

// Commands are the steps that are commands.
func (w *Workflow) Commands() (all []Step) {
	for _, job := range w.Jobs {
		for _, s := range job.Steps {
			if s.Run != "" {
				all = append(all, s)
			}
		}
	}
	return all
}
