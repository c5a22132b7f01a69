package workflow

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// Runner runs workflows below a directory.
type Runner struct {
	Dir string
	// Source is the clone that is checked out, Tag the tag that has started the workflow.
	Source, Tag string
	// Values are those of expressions beside the ones that a run has itself: "secrets.NAME", "github.token".
	Values map[string]string
	// Env are variables of all commands, "NAME=value", such as PATH.
	Env []string
	// Matrix is which values of a dimension run, of those that a job has.
	Matrix func(dimension, value string) bool
	// Command runs a program in a directory and returns what it prints.
	Command func(ctx context.Context, dir string, env []string, name string, args ...string) (string, error)
	// Done is told each step.
	Done func(job string, s Step, out string, err error)
}

// Run runs all jobs. The first step that fails ends it.
func (r *Runner) Run(ctx context.Context, w *Workflow) error {
	order, err := w.order()
	if err != nil {
		return err
	}
	for _, name := range order {
		job := w.Jobs[name]
		machines := []map[string]string{{}}
		for dimension, values := range job.Strategy.Matrix {
			machines = nil
			for _, value := range values {
				if r.Matrix(dimension, value) {
					machines = append(machines, map[string]string{"matrix." + dimension: value})
				}
			}
		}
		for i, values := range machines {
			if err := r.job(ctx, fmt.Sprintf("%s-%d", name, i), job, values); err != nil {
				return err
			}
		}
	}
	return nil
}

// run is one job on one machine.
type run struct {
	*Runner
	workspace, temp, output string
	values                  map[string]string // of expressions
	env                     map[string]string
}

func (r *Runner) job(ctx context.Context, name string, job Job, values map[string]string) error {
	at := filepath.Join(r.Dir, name)
	one := &run{Runner: r, workspace: filepath.Join(at, "workspace"), temp: filepath.Join(at, "temp"), output: filepath.Join(at, "output"), values: values}
	for _, dir := range []string{one.workspace, one.temp, r.artifacts()} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return err
		}
	}
	maps.Copy(values, r.Values)
	values["runner.temp"] = one.temp
	var err error
	if one.env, err = one.all(job.Env); err != nil {
		return err
	}
	for _, s := range job.Steps {
		out, err := one.step(ctx, s)
		r.Done(name, s, out, err)
		if err != nil {
			return fmt.Errorf("%s: %s: %w", name, s, err)
		}
	}
	return nil
}

// artifacts is where what one job hands to the next is kept.
func (r *Runner) artifacts() string { return filepath.Join(r.Dir, "artifacts") }

// step runs a command as GitHub's runner does on Linux, or plays an action.
func (r *run) step(ctx context.Context, s Step) (string, error) {
	if s.Uses != "" {
		with, err := r.all(s.With)
		if err != nil {
			return "", err
		}
		return "", r.act(ctx, s.String(), with)
	}
	text, err := r.value(s.Run)
	if err != nil {
		return "", err
	}
	dir, err := r.value(s.Dir)
	if err != nil {
		return "", err
	}
	own, err := r.all(s.Env)
	if err != nil {
		return "", err
	}
	if err := os.WriteFile(r.output, nil, 0o600); err != nil {
		return "", err
	}
	env := append([]string{
		"CI=true", "GITHUB_ACTIONS=true", "GITHUB_REF_NAME=" + r.Tag, "GITHUB_WORKSPACE=" + r.workspace, "GITHUB_OUTPUT=" + r.output, "RUNNER_TEMP=" + r.temp,
	}, r.Env...)
	for _, variables := range []map[string]string{r.env, own} {
		for name, value := range variables {
			env = append(env, name+"="+value)
		}
	}
	out, err := r.Command(ctx, filepath.Join(r.workspace, dir), env, "bash", "-e", "-c", text)
	if err != nil {
		return out, err
	}
	return out, r.outputs(s.ID)
}

// outputs reads what a step has written for those after it.
func (r *run) outputs(id string) error {
	text, err := os.ReadFile(r.output)
	for line := range strings.Lines(string(text)) {
		name, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "=")
		r.values["steps."+id+".outputs."+name] = value
	}
	return err
}

var expression = regexp.MustCompile(`\$\{\{ *([\w.]+) *\}\}`)

// value replaces the expressions in a text. One that nobody knows is an error.
func (r *run) value(text string) (string, error) {
	var unknown error
	text = expression.ReplaceAllStringFunc(text, func(found string) string {
		name := expression.FindStringSubmatch(found)[1]
		value, known := r.values[name]
		if !known {
			unknown = fmt.Errorf("%s has no value here", found)
		}
		return value
	})
	if unknown == nil && strings.Contains(text, "${{") {
		unknown = fmt.Errorf("%s: an expression of an unknown form", text)
	}
	return text, unknown
}

// all is value for a map.
func (r *run) all(texts map[string]string) (map[string]string, error) {
	values := map[string]string{}
	for name, text := range texts {
		value, err := r.value(text)
		if err != nil {
			return nil, err
		}
		values[name] = value
	}
	return values, nil
}
