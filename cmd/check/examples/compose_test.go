package examples

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/compose-spec/compose-go/v2/types"

	"github.com/restwarden/restwarden/cmd/check/testkit/caddyrun"
)

// socket is Docker's own: the service that has it runs as root.
const socket = "/var/run/docker.sock"

var pinned = regexp.MustCompile(`^docker\.io/[\w./-]+:v?\d[\w.-]*$`)

// TestCompose: every compose file is one by the schema of the specification, names nothing that is not there, and
// takes rights away from each service.
func TestCompose(t *testing.T) {
	t.Parallel()
	names, err := Names(root)
	if err != nil || len(names) < 6 {
		t.Fatal(names, err)
	}
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := read(t, name)
			front := 0
			for _, s := range e.Project.Services {
				hardened(t, &s)
				if s.Build == nil && !pinned.MatchString(s.Image) {
					t.Errorf("%s: the image %s has no version", s.Name, s.Image)
				}
				if s.Build != nil {
					exists(t, filepath.Join(s.Build.Context, s.Build.Dockerfile))
				}
				for _, v := range s.Volumes {
					if v.Type == types.VolumeTypeBind && v.Source != socket {
						exists(t, v.Source)
					}
				}
				if len(s.Ports) > 0 {
					front++
				}
			}
			if front != 1 {
				t.Errorf("%d services have ports, want the one in front", front)
			}
		})
	}
}

// hardened holds that a service cannot write to its image, and has no rights but those of its user.
func hardened(t *testing.T, s *types.ServiceConfig) {
	t.Helper()
	if !s.ReadOnly || !slices.Contains(s.SecurityOpt, "no-new-privileges:true") || s.Restart == "" {
		t.Errorf("%s: read_only %v, security_opt %q, restart %q", s.Name, s.ReadOnly, s.SecurityOpt, s.Restart)
	}
	if slices.ContainsFunc(s.Volumes, func(v types.ServiceVolumeConfig) bool { return v.Source == socket }) {
		return
	}
	if !slices.Equal(s.CapDrop, []string{"ALL"}) || s.User == "" || strings.HasPrefix(s.User, "0") {
		t.Errorf("%s: cap_drop %q, user %q", s.Name, s.CapDrop, s.User)
	}
}

func exists(t *testing.T, path string) {
	t.Helper()
	if _, err := os.Stat(path); err != nil {
		t.Error(err)
	}
}

// TestCompose_Unset: a variable of .env that is missing or empty stops an example, and the message says what to do.
func TestCompose_Unset(t *testing.T) {
	t.Parallel()
	names, err := Names(root)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		dir := filepath.Join(root, "docs", "examples", name)
		values, err := Values(dir)
		if err != nil || len(values) < 2 {
			t.Fatal(values, err)
		}
		for variable, value := range values {
			values[variable] = ""
			_, err := ReadWith(t.Context(), dir, values)
			if err == nil || !strings.Contains(err.Error(), variable) || !strings.Contains(err.Error(), "copy .env.example to .env") {
				t.Errorf("%s without %s: %v", name, variable, err)
			}
			values[variable] = value
		}
	}
}

// TestCompose_Schema: what the schema does not know is refused.
func TestCompose_Schema(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	text := "services:\n  caddy:\n    image: caddy\n    red_only: true\n"
	if err := os.WriteFile(filepath.Join(dir, "compose.yaml"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadWith(t.Context(), dir, nil); err == nil || !strings.Contains(err.Error(), "red_only") {
		t.Errorf("a misspelled key: %v", err)
	}
}

// TestCompose_Upstreams: a Caddyfile sends requests to services of its compose file, in a network that both are in.
func TestCompose_Upstreams(t *testing.T) {
	t.Parallel()
	for name, service := range map[string]string{"wordpress": "caddy", "nginx": "caddy", "apache": "caddy", "wildcard": "gateway-1"} {
		e := read(t, name)
		config, err := e.Adapt(t.Context(), caddyrun.Binary(t), service, nil)
		if err != nil {
			t.Fatal(err)
		}
		dials, err := Upstreams(config)
		if err != nil || len(dials) == 0 {
			t.Fatal(name, dials, err)
		}
		for _, dial := range dials {
			host, _, _ := strings.Cut(dial, ":")
			to, known := e.Project.Services[host]
			if !known {
				t.Errorf("%s: no service %s", name, host)
				continue
			}
			shared := 0
			for network := range e.Project.Services[service].Networks {
				if _, ok := to.Networks[network]; ok {
					shared++
				}
			}
			if shared == 0 {
				t.Errorf("%s: %s and %s are in no common network", name, service, host)
			}
		}
	}
}

// TestReadme: the page has a row for each example.
func TestReadme(t *testing.T) {
	t.Parallel()
	names, err := Names(root)
	if err != nil {
		t.Fatal(err)
	}
	page := readFile(t, filepath.Join(root, "docs/examples/README.md"))
	for _, name := range names {
		if !strings.Contains(page, "\n| ["+name+"]("+name+"/compose.yaml) |") {
			t.Errorf("there is no row for %s", name)
		}
	}
}
