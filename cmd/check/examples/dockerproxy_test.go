package examples

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/compose-spec/compose-go/v2/types"

	"github.com/restwarden/restwarden/cmd/check/testkit/client"
	"github.com/restwarden/restwarden/cmd/check/testkit/machine"
	"github.com/restwarden/restwarden/cmd/check/testkit/wait"
)

// TestDockerProxy: a Caddy with caddy-docker-proxy guards a container by its labels. If an option is misspelt, the site is
// not served, rather than unguarded.
func TestDockerProxy(t *testing.T) {
	t.Parallel()
	e := read(t, "docker-proxy")
	docker, address := startEngine(t, e.Project)
	p, program := place(t, nil), buildWith(t, e, "caddy")
	labels := maps.Clone(e.Project.Services["wordpress"].Labels)
	upstreams, err := MoveText(labels["caddy.reverse_proxy"], map[string]string{"{{upstreams 80}}": "{{upstreams " + machine.Port(platform(t)) + "}}"})
	if err != nil {
		t.Fatal(err)
	}
	labels["caddy.reverse_proxy"] = upstreams
	docker.label("wordpress", labels)
	docker.label("caddy", types.Labels{ // global options
		"caddy.http_port": machine.Port(p.HTTP), "caddy.https_port": machine.Port(p.HTTPS),
		"caddy.default_bind": "127.0.0.1", "caddy.skip_install_trust": "",
	})
	runDockerProxy(t, e, program, address, p)
	c := Client(Visitor, p)
	if err := Guarded(t.Context(), c, "https://localhost"); err != nil {
		t.Error(err)
	}
	if out, err := machine.Run(t.Context(), t.TempDir(), nil, program, "restwarden", "status", "--address", p.Admin); err != nil {
		t.Errorf("the container is not well: %v\n%s", err, out)
	}

	misspelt := maps.Clone(labels)
	delete(misspelt, "caddy.restwarden.login_only")
	misspelt["caddy.restwarden.login_onli"] = ""
	docker.label("wordpress", misspelt)
	wait.For(t, 20*time.Second, "the site to be gone", func() bool {
		req, err := client.Request(t.Context(), "https://localhost", "GET /", "")
		if err != nil {
			t.Fatal(err)
		}
		_, err = client.Do(c, req)
		return err != nil
	})
}

// runDockerProxy runs the command of the service until the test ends.
func runDockerProxy(t *testing.T, e *Example, program, docker string, p Place) {
	t.Helper()
	service := e.Project.Services["caddy"]
	env, err := e.Environment("caddy")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	env = append(env, "HOME="+dir, "XDG_DATA_HOME="+dir, "XDG_CONFIG_HOME="+dir, "TMPDIR="+dir,
		"DOCKER_HOST=tcp://"+docker, "CADDY_ADMIN="+p.Admin, "CADDY_DOCKER_POLLING_INTERVAL=1s")
	process, err := machine.Server{Name: program, Args: service.Command, Dir: dir, Env: env}.Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(process.Stop)
	if err := process.Ready(t.Context(), secure(p.HTTPS, "localhost")); err != nil {
		t.Fatal(err)
	}
}

var withModule = regexp.MustCompile(`--with (\S+)@(v\S+)`)

// mainFile stands for what xcaddy writes.
const mainFile = `package main

import (
	caddycmd "github.com/caddyserver/caddy/v2/cmd"

	_ "github.com/caddyserver/caddy/v2/modules/standard"

	_ "github.com/restwarden/restwarden/caddymodule"
	_ %q
)

func main() { caddycmd.Main() }
`

// buildWith builds a Caddy of this tree with the module that the service names to xcaddy.
func buildWith(t *testing.T, e *Example, service string) string {
	t.Helper()
	with := e.Project.Services[service].Build.Args["WITH"]
	if with == nil {
		t.Fatal("nothing is built with Caddy")
	}
	m := withModule.FindStringSubmatch(*with)
	if m == nil {
		t.Fatalf("%q names no module with its version", *with)
	}
	tree, err := filepath.Abs(root)
	if err != nil {
		t.Fatal(err)
	}
	_, requirements, _ := strings.Cut(readFile(t, filepath.Join(tree, "go.mod")), "\n")
	dir := t.TempDir()
	for name, text := range map[string]string{
		"main.go": fmt.Sprintf(mainFile, m[1]),
		"go.mod": "module caddy\n" + requirements + fmt.Sprintf("\nrequire %s %s\n\nrequire github.com/restwarden/restwarden v0.0.0\n\n"+
			"replace github.com/restwarden/restwarden => %s\n", m[1], m[2], tree),
		"go.sum": readFile(t, filepath.Join(tree, "go.sum")),
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	binary := filepath.Join(dir, "caddy")
	if out, err := machine.Run(t.Context(), dir, nil, "go", "build", "-mod=mod", "-o", binary, "."); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return binary
}
