package gateway

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/caddyserver/caddy/v2"

	"github.com/restwarden/restwarden/caddymodule/adminapi"
	"github.com/restwarden/restwarden/cmd/check/testkit/caddyrun"
)

func operatorsFrom(from string) string {
	return "\trestwarden {\n\t\toperators {\n\t\t\theader X-Operator from " + from + "\n\t\t}\n\t}\n"
}

// TestOperators: the name that a proxy of the operators' own tells stands beside the address, in status and log. Any other is one that
// somebody claims, or none.
func TestOperators(t *testing.T) {
	p := newPlatform(t)
	for name, test := range map[string]struct {
		from     string
		lines    []string
		operator string // "" for none
		claimed  bool
		problem  string
	}{
		"told":                      {"127.0.0.1", []string{"X-Operator: Anna"}, "Anna", false, ""},
		"told, of a network":        {"10.0.0.5 127.0.0.0/8", []string{"X-Operator: Anna", "Restwarden-Operator: Eve"}, "Anna", false, ""},
		"from elsewhere":            {"10.0.0.5 ::1", []string{"X-Operator: Anna"}, "", false, ""},
		"from elsewhere, claimed":   {"10.0.0.5", []string{"X-Operator: Anna", "Restwarden-Operator: Eve"}, "Eve", true, ""},
		"of a socket":               {"unix//nowhere", []string{"X-Operator: Anna"}, "", false, ""},
		"claimed":                   {"127.0.0.1", []string{"Restwarden-Operator: Eve"}, "Eve", true, ""},
		"nobody":                    {"127.0.0.1", nil, "", false, ""},
		"empty":                     {"127.0.0.1", []string{"X-Operator: "}, "", false, ""},
		"twice":                     {"127.0.0.1", []string{"X-Operator: Anna", "X-Operator: Eve"}, "", false, "the header X-Operator is there 2 times"},
		"claimed twice":             {"127.0.0.1", []string{"Restwarden-Operator: Anna", "Restwarden-Operator: Eve"}, "", false, "the header Restwarden-Operator is there 2 times"},
		"a mapped address":          {"::ffff:127.0.0.1", []string{"X-Operator: Anna"}, "Anna", false, ""},
		"what reads like a mark":    {"127.0.0.1", []string{"Restwarden-Operator: Anna (10.0.0.5)"}, "", false, "is no name of an operator"},
		"nothing that can be seen":  {"127.0.0.1", []string{"X-Operator: \u3164"}, "", false, "is no name of an operator"},
		"no name":                   {"127.0.0.1", []string{"X-Operator: Anna\x85"}, "", false, "is no name of an operator"},
		"too long":                  {"127.0.0.1", []string{"X-Operator: " + strings.Repeat("a", adminapi.MaxOperator+1)}, "", false, "100 bytes at most"},
		"claimed by no name":        {"10.0.0.5", []string{"Restwarden-Operator: \u202eanna"}, "", false, "is no name of an operator"},
		"twice, and from elsewhere": {"10.0.0.5", []string{"X-Operator: Anna", "X-Operator: Eve"}, "", false, ""},
	} {
		t.Run(name, func(t *testing.T) {
			g := administered(t, operatorsFrom(test.from), caddyrun.Site{Body: guarded + p.proxied()})
			site := "sites/*:" + g.port()
			status := http.StatusOK
			if test.problem != "" {
				status = http.StatusBadRequest
			}
			for path, body := range map[string]string{
				site + "/open": `{"for":"1h","methods":["GET"],"route":"/acme/v1/x"}`, site + "/close": `{"route":"/acme/v1/y"}`,
				site + "/mode": `{"mode":"observe","for":"1h"}`, "lockdown": `{"for":"1h"}`,
			} {
				g.admin("POST", path, body, status, test.problem, test.lines...)
			}
			g.admin("GET", "sites", "", http.StatusOK, `"operator_header":"X-Operator"`)
			st := g.statuses()[g.site()]
			if test.problem != "" {
				if len(st.Opens)+len(st.Closes) > 0 || st.ModeUntil != nil || st.Lockdown != nil {
					t.Errorf("it is switched: %+v", st)
				}
				return
			}
			want := adminapi.By{Address: "127.0.0.1", Operator: test.operator, Claimed: test.claimed}
			if len(st.Opens) != 1 || len(st.Closes) != 1 || st.Opens[0].By != want || st.Closes[0].By != want {
				t.Errorf("%+v %+v", st.Opens, st.Closes)
			}
			told := switchedOn(t, g.logged())
			if len(told) != 4 {
				t.Errorf("%d switches", len(told))
			}
			for kind, by := range told {
				if by != want {
					t.Errorf("%s: %+v", kind, by)
				}
			}
		})
	}
}

// switchedOn returns who has switched on what, by the lines of the logger that has all of it.
func switchedOn(t *testing.T, log string) map[string]adminapi.By {
	t.Helper()
	found := map[string]adminapi.By{}
	for line := range strings.Lines(log) {
		var l struct {
			Logger, Msg, Switch string
			adminapi.By
		}
		if err := json.Unmarshal([]byte(line), &l); err != nil {
			t.Fatal(err)
		}
		if l.Msg == "switched on" && strings.HasSuffix(l.Logger, ".restwarden.switch") {
			found[l.Switch] = l.By
		}
	}
	return found
}

// TestOperators_Socket: whoever may use the socket on which the endpoint listens is taken at the word of the header.
func TestOperators_Socket(t *testing.T) {
	p := newPlatform(t)
	socket := filepath.Join(t.TempDir(), "s")
	for from, want := range map[string]string{
		"unix/" + socket: `"by":"the socket of the admin endpoint","operator":"Anna"`, "unix/" + socket + "|0200": `,"operator":"Anna"`,
		"unix/" + socket + "2": `"by":"the socket of the admin endpoint"}`, "127.0.0.1 0.0.0.0/0": `"by":"the socket of the admin endpoint"}`,
	} {
		t.Run(from, func(t *testing.T) {
			g := startFile(t, &caddyrun.File{Admin: "unix/" + socket, Global: operatorsFrom(from), Sites: []caddyrun.Site{{Body: guarded + p.proxied()}}})
			through := &http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
				return new(net.Dialer).DialContext(ctx, "unix", socket)
			}}}
			req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://127.0.0.1/restwarden/lockdown", strings.NewReader(`{"for":"1h"}`))
			if err != nil {
				t.Fatal(err)
			}
			req.Header.Set("X-Operator", "Anna")
			res, err := through.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			_ = res.Body.Close()
			through.CloseIdleConnections()
			if res.StatusCode != http.StatusOK || !strings.Contains(g.logged(), want) {
				t.Errorf("%s: %d, no %s in %s", from, res.StatusCode, want, g.logged())
			}
		})
	}
}

// TestOperators_Config: what is no option is told with its place.
func TestOperators_Config(t *testing.T) {
	for block, want := range map[string]string{
		"":                                     "operators needs header",
		"header X":                             "header: write a header, from, and addresses or sockets",
		"header X of 10.0.0.1":                 "header: write a header, from, and addresses or sockets",
		"header X from 10.0.0":                 `from: "10.0.0" is no address`,
		"header X from unix/":                  `from: "unix/" is no address`,
		"header X from localhost":              `from: "localhost" is no address`,
		"header X from 10.0.0.1/33":            `is no address`,
		"header Höhe from 10.0.0.1":            `"Höhe" is no name of a header`,
		"header restwarden-operator from ::1":  "is what commands send by themselves",
		"header Host from ::1":                 "header: Host has another meaning",
		"header authorization from ::1":        "header: authorization has another meaning",
		"header Cookie from ::1":               "header: Cookie has another meaning",
		"header Origin from ::1":               "header: Origin has another meaning",
		"header Trailer from ::1":              "header: Trailer has another meaning",
		"header X from fe80::1%eth0":           "is no address",
		"header X from ::ffff:10.0.0.0/104":    "is no address",
		"header X from 10.0.0.5/8":             "is no address",
		"header X from unixgram//run/x":        "is no address",
		"header X from unix/relative":          "is no address",
		"heder X from 10.0.0.1":                "heder: unknown option, did you mean header?",
		"header X from ::1\nheader Y from ::1": "header",
	} {
		file := fmt.Sprintf("{\n\trestwarden {\n\t\toperators {\n%s\n\t\t}\n\t}\n}\nhttp://a {\n\trestwarden cms\n\treverse_proxy 127.0.0.1:1\n}\n", block)
		if _, failed := adapted(file, ""); !strings.Contains(failed, want) || !strings.Contains(failed, "Caddyfile:") {
			t.Errorf("%q: %s", block, failed)
		}
	}
	for text, want := range map[string]string{
		`{"header":"X"}`:                       "operators: from: say where",
		`{"header":"X","from":["x y"]}`:        "operators: from: ",
		`{"header":"X Y","from":["10.0.0.1"]}`: "operators: header: ",
	} {
		var config caddy.Config
		if err := json.Unmarshal([]byte(`{"apps":{"restwarden":{"operators":`+text+`}}}`), &config); err != nil {
			t.Fatal(err)
		}
		if err := caddy.Validate(&config); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
}
