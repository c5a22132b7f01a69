package command_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"unicode"

	"github.com/restwarden/restwarden/caddymodule/command"
)

// TestStatus_Escapes: what a site says of itself, and what its operator reads of it, moves no
// cursor.
func TestStatus_Escapes(t *testing.T) {
	t.Parallel()
	const word = `\u001b]0;x\u0007\u009b2J\t\n\u202e`
	admin := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		answer := `{"v":1,"sites":[{"site":"a.example","mode":"W","release":"W","problems":[{"code":"prefix","problem":"W"}],"questions":{"W":{"asked":1,"error":"W"}}}]}`
		if strings.HasSuffix(r.URL.Path, "/refusals") {
			answer = `{"v":1,"refusals":[{"outcome":"W","code":"W","method":"W","route":"/W","policy":"W","rule":"W","at":"W","client_ip":"W","request_id":"W"}]}`
		}
		_, _ = io.WriteString(w, strings.ReplaceAll(answer, "W", word))
	}))
	t.Cleanup(admin.Close)
	out, problems, status := command.Run(nil, "status", "--site", "a.example", "--address", strings.TrimPrefix(admin.URL, "http://"))
	if status != 0 || !strings.Contains(out, `prefix: \x1b]0;x\a\u009b2J\t\n\u202e`) || !strings.Contains(out, ` /\x1b]0;x`) {
		t.Errorf("%d %s\n%q", status, problems, out)
	}
	for _, c := range out {
		if c != '\n' && !unicode.IsPrint(c) {
			t.Errorf("%q in %q", c, out)
		}
	}
}
