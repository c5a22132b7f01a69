package routing

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/caddyserver/caddy/v2/caddyconfig"
)

// TestSurvey_Refused: no request reaches a bare handler where the survey says that none
// does, and one does where the survey says nothing.
func TestSurvey_Refused(t *testing.T) {
	for name, tt := range map[string]struct {
		options, site string
		refused       bool
	}{
		"first":                     {"", "probe 1\nreverse_proxy 127.0.0.1:1", false},
		"order last":                {"order probe last", "probe 1\nreverse_proxy 127.0.0.1:1", true},
		"order last, alone":         {"order probe last", "probe 1", false},
		"order after reverse_proxy": {"order probe after reverse_proxy", "probe 1\nreverse_proxy 127.0.0.1:1", true},
		"order last, files":         {"order probe last", "probe 1\nphp_fastcgi 127.0.0.1:1\nfile_server", true},
		"route":                     {"", "route {\nreverse_proxy 127.0.0.1:1\nprobe 1\n}", true},
		"route, a path":             {"", "route {\nreverse_proxy /a/* 127.0.0.1:1\nprobe 1\n}", false},
		"respond":                   {"", "route {\nrespond ok\nprobe 1\n}", true},
		"early hints":               {"", "route {\nrespond 103\nprobe 1\n}", false},
		"redir":                     {"", "route {\nredir * /x\nprobe 1\n}", false},
		"error":                     {"", "route {\nerror 404\nprobe 1\n}", true},
		"abort":                     {"", "route {\nabort\nprobe 1\n}", false},
		"file_server":               {"", "route {\nfile_server\nprobe 1\n}", true},
		"file_server, pass_thru":    {"", "route {\nfile_server {\npass_thru\n}\nprobe 1\n}", false},
		"handle":                    {"", "route {\nhandle {\nrespond ok\n}\nprobe 1\n}", true},
		"handle of less":            {"", "route {\nhandle /a* {\nrespond ok\n}\nhandle /a/* {\nprobe 1\n}\n}", true},
		"handle of more":            {"", "handle /a/* {\nrespond ok\n}\nhandle /a* {\nprobe 1\n}", false},
		"handles of all":            {"", "route {\nhandle /a* {\nrespond 1\n}\nhandle {\nrespond 2\n}\nprobe 1\n}", true},
		"handle that passes on":     {"", "route {\nhandle /a* {\nheader X 1\n}\nhandle {\nrespond 2\n}\nprobe 1\n}", false},
	} {
		t.Run(name, func(t *testing.T) {
			source := "{\nauto_https off\n" + tt.options + "\n}\nhttp://a.test {\nroot * " + t.TempDir() + "\n" + tt.site + "\n}\n"
			adapted, _, err := caddyconfig.GetAdapter("caddyfile").Adapt([]byte(source), map[string]any{"filename": "Caddyfile"})
			if err != nil {
				t.Fatal(err)
			}
			var parsed struct{ Apps map[string]json.RawMessage }
			if err := json.Unmarshal(adapted, &parsed); err != nil {
				t.Fatal(err)
			}
			report := Survey(raw(t, parsed.Apps["http"]), probes)
			seen, _ := sendAll(t, parsed.Apps["http"])
			// What Caddy itself redirects or ends is unreachable too, but leads to no platform.
			refused := len(report.Refused) == 1
			unreached := refused || slices.ContainsFunc(report.Odd, func(f Finding) bool { return f.Code == "W02" })
			if refused != tt.refused || unreached == seen["1"] {
				t.Errorf("refused %v, want %v; odd %v, reached %v", refused, tt.refused, report.Odd, seen)
			}
		})
	}
}
