package admin

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/restwarden/restwarden/caddymodule/adminapi"
	"github.com/restwarden/restwarden/caddymodule/switches"
	"github.com/restwarden/restwarden/policies/policy"
)

// FuzzSwitchBody: no body of the admin endpoint gives a switch that may not be.
func FuzzSwitchBody(f *testing.F) {
	for _, text := range []string{
		`{"for":"6h","site":"shop.example.com/blog","hard":true}`, `{"mode":"observe","for":"2h"}`, `{"for":"0s"}`,
		`{"for":"24h","methods":["POST"],"route":"/acme/v1/callback"}`, `{"for":"8d","route":"/a/**"}`, `{"for":"1h","plugin":"contact-form-7"}`, `{"methods":[],"route":"/a"}`,
		`{"for":"1d12h"}`, `{"for":"1h","for":"2h"}`, `{"for":null}`, `[]`, "null", "{}", "",
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		var l lockdownBody
		if l.parse(body) == nil && (*l.For < 0 || time.Duration(*l.For) > adminapi.MaxSwitched || l.Site != nil && *l.Site == "") {
			t.Errorf("%s: %+v", body, l)
		}
		var m modeBody
		if m.parse(body) == nil && (*m.For < 0 || time.Duration(*m.For) > adminapi.MaxSwitched ||
			m.Mode != policy.Observe && m.Mode != policy.Enforce && (m.Mode != "" || *m.For > 0)) {
			t.Errorf("%s: %+v", body, m)
		}
		var line adminapi.LineSwitch
		if parseBody(body, &line) != nil {
			return
		}
		if lasts, err := parseOpen(&line); err == nil && (lasts < 0 || lasts > adminapi.MaxOpened || (line.Route == "") == (line.Plugin == "") || strings.Contains(line.Route, "**") || strings.HasPrefix(line.Route, "/*")) {
			t.Errorf("%s opens for %s: %+v", body, lasts, line)
		}
		if lasts, err := parseClose(&line); err == nil && (lasts > switches.MaxClosed || lasts < 0 && (lasts != switches.Forever || line.For != nil) || line.Route == "" || line.Plugin != "") {
			t.Errorf("%s closes for %s: %+v", body, lasts, line)
		}
	})
}

// FuzzDecisionBody: no body decides but an object with the one member give.
func FuzzDecisionBody(f *testing.F) {
	for _, seed := range []string{`{"give":true}`, `{"give":false}`, `{"Give":true}`, `{"give":"true"}`, `{}`, `null`, `{"give":true,"give":false}`, ` {"give" : true } `} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var b decisionBody
		if b.parse([]byte(text)) != nil {
			return
		}
		var members map[string]*bool
		if err := json.Unmarshal([]byte(text), &members); err != nil || b.Give == nil {
			t.Errorf("%q is %v, %v", text, members, err)
		}
	})
}
