package command_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	_ "github.com/caddyserver/caddy/v2/modules/standard"

	_ "github.com/restwarden/restwarden/caddymodule"
	"github.com/restwarden/restwarden/caddymodule/command"
	"github.com/restwarden/restwarden/caddymodule/routing"
	"github.com/restwarden/restwarden/policies/call/budget"
)

// odd is one finding, as JSON names it.
type odd struct {
	Code, At, Imported, Problem, Do string
	Sites                           []string
}

// check runs the command.
func check(t *testing.T, args ...string) (out, problems string, err error) {
	t.Helper()
	var o, p bytes.Buffer
	cmd := command.CheckCommand()
	cmd.SetArgs(args)
	cmd.SetOut(&o)
	cmd.SetErr(&p)
	err = cmd.Execute()
	return o.String(), p.String(), err
}

// checkedFile returns what is odd in a file. The directory for bodies is this machine's, and
// no matter of the file's, unless the file names one.
func checkedFile(t *testing.T, file string, args ...string) (findings, notes []odd) {
	t.Helper()
	out, problems, err := check(t, append([]string{"--config", file, "--adapter", "caddyfile", "--format", "json"}, args...)...)
	if err != nil {
		t.Fatalf("%v: %s", err, problems)
	}
	var result struct {
		V               int
		Findings, Notes []odd
	}
	if err := json.Unmarshal([]byte(out), &result); err != nil || result.V != 1 || result.Findings == nil || result.Notes == nil {
		t.Fatalf("%v: %s", err, out)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Contains(text, []byte("spool_dir")) {
		result.Findings = slices.DeleteFunc(result.Findings, func(o odd) bool { return o.Code == "W14" })
	}
	return result.Findings, result.Notes
}

var (
	wanted    = regexp.MustCompile(`(?m)^# want: (.*)$`)
	freeSpace = regexp.MustCompile(`which has \S+ \S+ free`) // it may be another one at once
	indexed   = regexp.MustCompile(`(?m)^# index: (.*)$`)
)

// TestCheck: the command finds in each file what its first line says, and nothing else.
// Each code has a file that has it, and one that nearly has it.
func TestCheck(t *testing.T) {
	spool := t.TempDir()
	t.Setenv("CHECK_SPOOL", spool)
	files, err := filepath.Glob("testdata/check/*.caddyfile")
	if err != nil {
		t.Fatal(err)
	}
	for _, code := range routing.Codes {
		for _, name := range []string{code.Name, code.Name + "-near"} {
			if !slices.Contains(files, filepath.Join("testdata", "check", name+".caddyfile")) {
				t.Errorf("there is no %s", name)
			}
		}
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".caddyfile"), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			want := ""
			if m := wanted.FindSubmatch(text); m != nil {
				want = string(m[1])
			}
			if near := strings.HasSuffix(file, "-near.caddyfile"); near != (want == "") {
				t.Fatalf("it wants %q", want)
			}
			if odd := budget.LookAtSpool(spool, 1<<20); len(odd) > 0 && strings.HasSuffix(file, "W14-near.caddyfile") {
				t.Fatalf("temporary files of this machine are in memory: %v", odd)
			}
			var args []string
			if m := indexed.FindSubmatch(text); m != nil {
				args = []string{"--index", filepath.Join("testdata", "check", string(m[1]))}
			}
			findings, notes := checkedFile(t, file, args...)
			if got := lines(t, file, findings, notes); got != want {
				t.Errorf("got %q, want %q: %+v", got, want, findings)
			}
			printed, _, err := check(t, append([]string{"--config", file, "--adapter", "caddyfile"}, args...)...)
			for _, o := range slices.Concat(findings, notes) {
				line := o.Problem + ": " + o.Do + "\n"
				if err != nil || !strings.Contains(freeSpace.ReplaceAllString(printed, ""), freeSpace.ReplaceAllString(line, "")) {
					t.Errorf("the text has no %q, %v:\n%s", line, err, printed)
				}
			}
		})
	}
}

// lines writes findings as the files do: "W03:3, note W11:3".
func lines(t *testing.T, file string, findings, notes []odd) string {
	t.Helper()
	var all []string
	for i, o := range slices.Concat(findings, notes) {
		line, ok := strings.CutPrefix(o.At, file+":")
		if !ok || o.Problem == "" || o.Do == "" || o.Sites == nil {
			t.Errorf("%+v", o)
		}
		note := ""
		if i >= len(findings) {
			note = "note "
		}
		all = append(all, fmt.Sprintf("%s%s:%s", note, o.Code, line))
	}
	return strings.Join(all, ", ")
}

var caddyfileBlock = regexp.MustCompile("(?ms)^```caddyfile\n(.*?)^```")

// TestCheck_Docs: nothing is odd in any Caddyfile of the documentation, nor in
// Caddyfile.example. Files that they name without a directory stand among the golden files.
func TestCheck_Docs(t *testing.T) {
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	texts := map[string]string{}
	read := func(path string) {
		text, err := os.ReadFile(filepath.Join(root, path))
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasSuffix(path, ".md") {
			texts[path] = string(text)
			return
		}
		for i, m := range caddyfileBlock.FindAllStringSubmatch(string(text), -1) {
			texts[fmt.Sprintf("%s %d", path, i+1)] = m[1]
		}
	}
	read("Caddyfile.example")
	read("README.md")
	err = fs.WalkDir(os.DirFS(root), "docs", func(path string, _ fs.DirEntry, err error) error {
		if strings.HasSuffix(path, ".md") {
			read(path)
		}
		return err
	})
	page, _ := os.ReadFile(filepath.Join(root, "docs", "commands", "checks.md"))
	for _, code := range routing.Codes {
		if !bytes.Contains(page, []byte("\n| "+code.Name+" |")) {
			t.Errorf("docs/commands/checks.md has no row for %s", code.Name)
		}
	}
	if err != nil || len(texts) < 20 {
		t.Fatalf("%d Caddyfiles: %v", len(texts), err)
	}
	t.Chdir(filepath.Join(root, "caddymodule", "gateway", "testdata", "adapt"))
	for name, text := range texts {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "Caddyfile")
			if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			if findings, _ := checkedFile(t, file); len(findings) > 0 {
				t.Errorf("%+v", findings)
			}
		})
	}
}
