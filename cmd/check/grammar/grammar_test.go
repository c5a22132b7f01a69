package grammar

import (
	"net/http"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// TestImports: the grammar knows nothing of the gateway, or it would look where the
// gateway looks.
func TestImports(t *testing.T) {
	out, err := exec.CommandContext(t.Context(), "go", "list", "-deps", ".").Output()
	if err != nil {
		t.Fatal(err)
	}
	for path := range strings.FieldsSeq(string(out)) {
		if strings.HasPrefix(path, "github.com/restwarden/restwarden/") && !strings.HasSuffix(path, "/grammar") {
			t.Errorf("it imports %s", path)
		}
	}
}

// TestRequest: the same seed makes the same requests, other ones others, and every form
// of a request is among them.
func TestRequest(t *testing.T) {
	aim := &Aim{Route: "/canary/v1/t7", Method: "GET", Base: "/blog", Host: "127.0.0.1:80", Decoy: "/open"}
	one, same, other := New(1, 0), New(1, 0), New(2, 0)
	notes := map[string]int{}
	differ := 0
	for range 20_000 {
		r := one.Request(aim)
		if r.String() != same.Request(aim).String() {
			t.Fatal("one seed, two requests")
		}
		if r.String() != other.Request(aim).String() {
			differ++
		}
		for _, note := range r.Notes {
			notes[note]++
		}
		if slices.ContainsFunc(r.Fields, func(f Field) bool { return strings.ContainsAny(f.Name, "~!*|") }) {
			notes["odd bytes in a header's name"]++
		}
	}
	if differ < 19_000 {
		t.Errorf("%d of 20,000 differ between seeds", differ)
	}
	for _, want := range []string{
		"path", "query", "form", "multipart", "chunked", "target: scheme", "target: absolute", "target: fragment", "Content-Type: other", "Content-Type: joined", "Content-Type: blanks", "both lengths", "_method",
		"a variable twice", "a body with a GET beside _method", "what a filter takes out", "a shift between sets of characters", "an escape that is escaped",
		"the end of a line in a path", "a parameter that caches cut out", "rewritings one after the other", "odd bytes in a header's name",
	} {
		if notes[want] < 10 {
			t.Errorf("%q: %d times", want, notes[want])
		}
	}
}

// TestLengths: lengths reach every edge.
func TestLengths(t *testing.T) {
	g := New(1, 0)
	near := map[int]bool{}
	for range 20_000 {
		n := g.edge()
		for _, edge := range edges {
			if n == edge {
				near[edge] = true
			}
		}
	}
	for _, edge := range edges {
		if !near[edge] {
			t.Errorf("no length of %d", edge)
		}
	}
}

// TestRequest_otherSites: what rewrite rules and another separator lead to is among the
// requests for a site that has them.
func TestRequest_otherSites(t *testing.T) {
	aim := &Aim{Route: "/canary/v1/t7", Method: "GET", Decoy: "/open", Paths: []string{"/api/canary/v1/t7", "/.well-known/canary/t7"}, Semicolons: true}
	g, rules, separated := New(1, 0), 0, 0
	for range 2000 {
		r := g.Request(aim)
		if slices.Contains(r.Notes, "a rewrite rule") {
			rules++
		}
		if strings.Contains(r.Target, ";rest_route=") || strings.Contains(r.Target, ";_method=") {
			separated++
		}
	}
	if rules < 100 || separated < 20 {
		t.Errorf("%d rules, %d variables behind a semicolon", rules, separated)
	}
}

// simplest always makes the simplest choice.
type simplest struct{}

func (simplest) IntN(int) int { return 0 }

// TestRequest_simplest: the simplest choices make a plain call.
func TestRequest_simplest(t *testing.T) {
	r := From(simplest{}).Request(&Aim{Route: "/canary/v1/t7", Method: http.MethodGet})
	if r.Method != http.MethodGet || r.Target != "/wp-json/canary/v1/t7" || len(r.Fields) != 0 || r.Body != "" {
		t.Errorf("%s", r)
	}
}
