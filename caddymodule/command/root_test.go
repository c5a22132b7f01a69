package command_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/restwarden/restwarden/caddymodule/command"
)

// TestRoot: the commands that read a REST root agree about wrong usage, about redirects, and
// about what of a site's text goes to the terminal.
func TestRoot(t *testing.T) {
	t.Parallel()
	mux := http.NewServeMux()
	mux.Handle("/away/", http.RedirectHandler("http://localhost:1/x/wp-json/", http.StatusFound))
	mux.Handle("/words/", http.RedirectHandler("gopher://x/\u202e\u009b31m", http.StatusFound))
	server := httptest.NewServer(mux)
	defer server.Close()
	for _, name := range []string{"audit", "plugins --for", "check --config testdata/test/Caddyfile --live"} {
		for _, test := range []struct {
			args, want string
			status     int
		}{
			{server.URL + " -H nonsense", `"nonsense" is no header`, 2},
			{server.URL + " -H Host:", "is no host", 2},
			{"ftp://x", "is no address", 2},
			{server.URL + "/away/wp-json/ -H X-Token:t", "redirects to http://localhost:1/x/wp-json/, and the headers of -H go nowhere but to the address that you name: name http://localhost:1", 3},
			{server.URL + "/words/wp-json/", "gopher", 3},
		} {
			out, problems, status := command.Run(nil, append(strings.Fields(name), strings.Fields(test.args)...)...)
			if status != test.status || out != "" || !strings.Contains(problems, test.want) || strings.ContainsAny(problems, "\u202e\u009b\x1b{") {
				t.Errorf("%s %s: exit status %d\n%s\n%q", name, test.args, status, out, problems)
			}
		}
	}
}

// TestRoot_Error: no error moves the cursor of a terminal.
func TestRoot_Error(t *testing.T) {
	t.Parallel()
	_, problems, status := command.Run(nil, "plugins", "--index", "no\x1b[31m\tfile\n")
	if status != 2 || !strings.Contains(problems, `no\x1b[31m`+"\tfile\n") {
		t.Errorf("exit status %d, %q", status, problems)
	}
}
