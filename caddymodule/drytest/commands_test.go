package drytest

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// outcome is what a command has done.
type outcome struct {
	status         int
	stdout, stderr string
}

func (o outcome) String() string { return fmt.Sprintf("%d\n%s%s", o.status, o.stdout, o.stderr) }

// runs starts a command of a program.
func runs(t *testing.T, program, dir string, args ...string) outcome {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), program, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "XDG_CONFIG_HOME="+dir, "XDG_DATA_HOME="+dir)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	exit := new(exec.ExitError)
	if err := cmd.Run(); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return outcome{cmd.ProcessState.ExitCode(), stdout.String(), stderr.String()}
}

// fixture is the path of a file that the tests of the commands read.
func fixture(t *testing.T, name string) string {
	t.Helper()
	path, err := filepath.Abs(filepath.Join("../command/testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path); err != nil {
		t.Fatal(err)
	}
	return path
}

// explained are requests that every configuration explains.
var explained = [][]string{
	{"https://shop.example.com/"},
	{"https://shop.example.com/wp-json/wp/v2/users"},
	{"--as", "role:editor", "https://shop.example.com/wp-json/wp/v2/users"},
	{"-X", "POST", "--json", `{"a":1}`, "https://shop.example.com/wp-json/complianz/v1/track"},
	{"-X", "PUT", "--as", "key", "--id", "7=subscription", "--json", `{"status":"completed"}`, "https://shop.example.com/wp-json/wc/v3/orders/7"},
	{"-X", "PUT", "--as", "key", "--json", `{"status":"completed"}`, "https://shop.example.com/?rest_route=/wc/v3/orders/7"},
	{"-X", "POST", "--json", `{"expected_total":1}`, "https://shop.example.com/wp-json/wc/store/v1/checkout"},
	{"--as", "user", "-H", "Cookie: a=b", "https://shop.example.com/wp-json/feed/troubleshooting"},
	{"-X", "POST", "--as", "user", "--json", `{}`, "--ability", "core/get-site-info=readonly", "https://shop.example.com/wp-json/wp-abilities/v1/abilities/core/get-site-info/run"},
	{"https://shop.example.com/wp-json/wp/v2//users?rest_route=/wp/v2/posts"},
}
