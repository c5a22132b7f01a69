package command_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/restwarden/restwarden/caddymodule/command"
)

// TestClose_Tag: a line is switched at the sites of a tag, at each once, and at no other.
func TestClose_Tag(t *testing.T) {
	t.Parallel()
	var posted []string
	admin := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		answer := `{"v":1,"sites":[{"site":"a.example","tags":["shops"]},{"site":"b.example"},{"site":"c.example"},{"site":"c.example","tags":["eu","shops"]}]}`
		if r.Method == http.MethodPost {
			posted = append(posted, r.URL.Path)
			answer = `{"site":"x","line":"/x","on":true,"gateways":"this one"}`
		}
		_, _ = io.WriteString(w, answer)
	}))
	t.Cleanup(admin.Close)
	out, problems, status := command.Run(nil, "close", "--address", strings.TrimPrefix(admin.URL, "http://"), "--tag", "shops", "/x")
	if want := "/restwarden/sites/a.example/close /restwarden/sites/c.example/close"; status != 0 || strings.Join(posted, " ") != want {
		t.Errorf("%d %s\n%s\n%q", status, problems, out, posted)
	}
}

// TestClose_ListsNoSite: a site that is misspelled is not shown as one where nothing is closed.
func TestClose_ListsNoSite(t *testing.T) {
	t.Parallel()
	admin := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, `{"v":1,"sites":[{"site":"a.example","closes":[{"line":"/x"}]},{"site":"b.example","tags":["blogs"]}]}`)
	}))
	t.Cleanup(admin.Close)
	for flag, want := range map[string]int{"--site=a.example": 0, "--site=b.*": 0, "--tag=blogs": 0, "--site=a.exmaple": 2, "--tag=blog": 2} {
		out, _, status := command.Run(nil, "close", "--list", "--address", strings.TrimPrefix(admin.URL, "http://"), flag)
		if status != want || strings.Contains(out, "close /x") != (flag == "--site=a.example") {
			t.Errorf("%s: %d\n%s", flag, status, out)
		}
	}
}

// TestSwitches_Lockdown: what is still locked after a lockdown was taken back is told, with what ends it.
func TestSwitches_Lockdown(t *testing.T) {
	t.Parallel()
	const until = `"lockdown":{"until":"2026-03-01T12:00:00Z","hard":`
	for answer, want := range map[string]string{
		`{"site":"a",` + until + `true,"all":true},"sites":1,"gateways":"all"}`:   `; a lockdown of all sites is on, which "lockdown --for 0s" ends, on all gateways`,
		`{"site":"a",` + until + `false,"all":false},"sites":1,"gateways":"all"}`: "a: lockdown until 2026-03-0",
		`{"site":"a","lockdown":null,"sites":0,"gateways":"this one"}`:            "a: no lockdown, on this gateway",
		`{"lockdown":null,"sites":2,"gateways":"all"}`:                            "no lockdown of all sites (sites with their own: 2, which --site '*' ends), on all gateways",
		`{` + until + `false,"all":true},"sites":3,"gateways":"all"}`:             "lockdown (sites: 3) until ",
	} {
		admin := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodGet {
				_, _ = io.WriteString(w, `{"v":1,"sites":[{"site":"a"}]}`)
				return
			}
			_, _ = io.WriteString(w, answer)
		}))
		args := []string{"lockdown", "--for", "0s", "--address", strings.TrimPrefix(admin.URL, "http://")}
		if strings.Contains(answer, `"site":`) {
			args = append(args, "--site", "a")
		}
		out, problems, status := command.Run(nil, args...)
		admin.Close()
		if status != 0 || !strings.Contains(out, want) {
			t.Errorf("%s: %d %s%s", answer, status, out, problems)
		}
	}
}
