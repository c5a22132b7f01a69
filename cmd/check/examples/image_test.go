package examples

import (
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// released is where the image of a release comes from.
const released = root + "/cmd/release/container"

// TestImage: the image of the examples is that of a release, but that it is built by xcaddy.
func TestImage(t *testing.T) {
	t.Parallel()
	want := finalStage(t, filepath.Join(released, "Containerfile"))
	got := strings.Replace(finalStage(t, filepath.Join(root, "docs/examples/common/Dockerfile")), "COPY --from=files /caddy ", "COPY caddy ", 1)
	if got != want {
		t.Errorf("the image is made by\n%s\nthat of a release by\n%s", got, want)
	}
}

// finalStage returns what stands behind the last FROM of a file.
func finalStage(t *testing.T, file string) string {
	t.Helper()
	text := readFile(t, file)
	return text[strings.LastIndex(text, "\nFROM "):]
}

// TestImage_Service: the service that examples extend is that of a release, but for what each of them says itself.
func TestImage_Service(t *testing.T) {
	t.Parallel()
	want, got := caddyService(t, filepath.Join(released, "compose.yaml")), caddyService(t, filepath.Join(root, "docs/examples/common/compose.yaml"))
	if !reflect.DeepEqual(got, want) {
		t.Errorf("the service is\n%v\nthat of a release\n%v", got, want)
	}
}

func caddyService(t *testing.T, file string) map[string]any {
	t.Helper()
	var compose struct{ Services map[string]map[string]any }
	if err := yaml.Unmarshal([]byte(readFile(t, file)), &compose); err != nil {
		t.Fatal(err)
	}
	service := compose.Services["caddy"]
	delete(service, "build")
	delete(service, "ports")
	volumes := service["volumes"].([]any)
	if volumes[0] == "./Caddyfile:"+caddyfile+":ro" {
		service["volumes"] = volumes[1:]
	}
	return service
}

var (
	fromLine = regexp.MustCompile(`(?m)^(?:FROM|COPY --from=)\s*(docker\.io/\S+)`)
	builder  = regexp.MustCompile(`docker\.io/library/caddy:(\S+)-builder`)
)

// TestImage_Versions: images are named by version, the Caddy that is built is that of go.mod, and the module is the one that
// README names to xcaddy.
func TestImage_Versions(t *testing.T) {
	t.Parallel()
	required := regexp.MustCompile(`(?m)^\tgithub\.com/caddyserver/caddy/v2 v(\S+)$`).FindStringSubmatch(readFile(t, root+"/go.mod"))
	with := regexp.MustCompile(`xcaddy build --with (\S+)`).FindStringSubmatch(readFile(t, root+"/README.md"))
	if required == nil || with == nil {
		t.Fatal("go.mod names no Caddy, or README no module")
	}
	for _, name := range []string{"common", "frankenphp"} {
		text := readFile(t, filepath.Join(root, "docs/examples", name, "Dockerfile"))
		for _, m := range fromLine.FindAllStringSubmatch(text, -1) {
			if !pinned.MatchString(m[1]) {
				t.Errorf("%s: the image %s has no version", name, m[1])
			}
		}
		if m := builder.FindStringSubmatch(text); m == nil || m[1] != required[1] {
			t.Errorf("%s: Caddy is built by %q, go.mod requires %s", name, m, required[1])
		}
		if !strings.Contains(text, "--with "+with[1]) {
			t.Errorf("%s: nothing is built with %s", name, with[1])
		}
	}
}

func readFile(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
