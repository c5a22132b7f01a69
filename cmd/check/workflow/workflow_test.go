package workflow

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/restwarden/restwarden/cmd/check/testkit/machine"
)

// hash stands for a commit.
const hash = "@0123456789012345678901234567890123456789 # v1.2.3"

// small has each key and each action that a [Runner] knows.
const small = `name: small
on:
  push:
    tags: ["v*"]
permissions: {}
jobs:
  last:
    needs: make
    runs-on: ubuntu-latest
    strategy:
      matrix:
        system: [one, two]
    steps:
      - uses: actions/download-artifact` + hash + `
        with:
          name: made-a
      - id: found
        run: echo "file=$(ls *.txt)" >> "$GITHUB_OUTPUT"
      - uses: actions/attest` + hash + `
        with:
          subject-path: |
            *.none
            *.txt
          sbom-path: ${{ steps.found.outputs.file }}
      - run: test "$SYSTEM" != two && cat made.txt
        env:
          SYSTEM: ${{ matrix.system }}
  make:
    runs-on: ubuntu-latest
    timeout-minutes: 5
    permissions:
      contents: read
    env:
      KEY: ${{ secrets.KEY }}
    strategy:
      matrix:
        copy: [a, b]
    steps:
      - uses: actions/setup-go` + hash + `
        with:
          go-version: "1.26"
      - name: a file
        run: mkdir out && echo "$KEY $GITHUB_REF_NAME" > out/made.txt
      - run: echo here > "$RUNNER_TEMP/x" && test "$GITHUB_WORKSPACE/out" = "$PWD"
        working-directory: out
      - uses: actions/upload-artifact` + hash + `
        with:
          name: made-${{ matrix.copy }}
          path: out
`

// read reads a workflow from a text.
func read(t *testing.T, text string) (*Workflow, error) {
	t.Helper()
	name := filepath.Join(t.TempDir(), "workflow.yml")
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return Read(name)
}

// runs lets a workflow run, and returns what its steps printed, and those that are commands.
func runs(t *testing.T, text string) (printed string, commands []string, err error) {
	t.Helper()
	w, err := read(t, text)
	if err != nil {
		return "", nil, err
	}
	r := &Runner{
		Dir: t.TempDir(), Tag: "v1.2.3", Values: map[string]string{"secrets.KEY": "hidden"}, Command: machine.Run,
		Matrix: func(dimension, value string) bool { return dimension != "system" || value == "one" },
		Done: func(_ string, s Step, out string, _ error) {
			if printed += out; s.Run != "" {
				commands = append(commands, s.Run)
			}
		},
	}
	return printed, commands, r.Run(context.WithoutCancel(t.Context()), w)
}

// TestRun: jobs run after what they need, each step for each value of the matrix, and all commands do.
func TestRun(t *testing.T) {
	t.Parallel()
	printed, commands, err := runs(t, small)
	if err != nil || printed != "hidden v1.2.3\n" {
		t.Errorf("%q, %v", printed, err)
	}
	w, err := read(t, small)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range w.Commands() {
		if !slices.Contains(commands, s.Run) {
			t.Errorf("%s did not run", s)
		}
	}
	if len(w.Commands()) != 4 || len(commands) != 6 {
		t.Errorf("%d commands, %q", len(w.Commands()), commands)
	}
}

// TestRun_Fails: a step that fails ends the run, and what cannot be played is no success.
func TestRun_Fails(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ old, changed, want string }{
		"a command":         {"cat made.txt", "false", "exit status 1"},
		"half a pipeline":   {"mkdir out &&", "cat none;", "exit status 1"},
		"an action":         {"actions/attest@", "actions/other@", "nobody here plays actions/other"},
		"nothing to attest": {"            *.txt\n", "", "there is no subject"},
		"no bill":           {"ls *.txt", "echo none.json", "none.json"},
		"no such secret":    {"secrets.KEY", "secrets.OTHER", "has no value here"},
		"a function":        {"${{ secrets.KEY }}", "${{ format('x') }}", "an expression of an unknown form"},
		"no such artifact":  {"name: made-a\n", "name: made-c\n", "made-c"},
		"an empty artifact": {"path: out\n", "path: empty\n", "empty"},
		"one name twice":    {"made-${{ matrix.copy }}", "made-a", "there is an artifact"},
	} {
		_, _, err := runs(t, strings.Replace(small, tt.old, tt.changed, 1))
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", name, err, tt.want)
		}
	}
}

// TestRead_Unknown: what a run would leave out is no workflow.
func TestRead_Unknown(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ old, changed, want string }{
		"a condition":     {"      - name: a file\n", "      - name: a file\n        if: failure()\n", "field if not found"},
		"another shell":   {"      - name: a file\n", "      - name: a file\n        shell: pwsh\n", "field shell not found"},
		"go on":           {"      - name: a file\n", "      - name: a file\n        continue-on-error: true\n", "field continue-on-error not found"},
		"a service":       {"    timeout-minutes: 5\n", "    services: {}\n", "field services not found"},
		"a tag":           {"actions/setup-go" + hash, "actions/setup-go@v6", "is not pinned"},
		"neither":         {"        run: mkdir out", "        id: mkdir out", "not either"},
		"needs nobody":    {"needs: make", "needs: other", "can run"},
		"two dimensions":  {"        copy: [a, b]\n", "        copy: [a, b]\n        more: [c]\n", "more than one dimension"},
		"no such version": {"jobs:\n", "jobs: 7\nx:\n", "cannot unmarshal"},
	} {
		_, err := read(t, strings.Replace(small, tt.old, tt.changed, 1))
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", name, err, tt.want)
		}
	}
	if _, err := Read("none.yml"); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
}

// TestRead_Release: the workflow of releases is one that runs whole.
func TestRead_Release(t *testing.T) {
	t.Parallel()
	w, err := Read("../../../.github/workflows/release.yml")
	if err != nil {
		t.Fatal(err)
	}
	for _, job := range w.Jobs {
		for _, s := range job.Steps {
			if action, _, _ := strings.Cut(s.Uses, "@"); s.Uses != "" && actions[action] == nil {
				t.Errorf("nobody plays %s", action)
			}
		}
	}
	if len(w.Commands()) < 6 {
		t.Errorf("%d commands", len(w.Commands()))
	}
}
