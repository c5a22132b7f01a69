package abilities

import (
	"bufio"
	"bytes"
	"cmp"
	"io"
	"net/http"
	"net/netip"
	"strings"
	"testing"

	"github.com/restwarden/restwarden/policies/ask"
	"github.com/restwarden/restwarden/policies/ask/asktest"
	"github.com/restwarden/restwarden/policies/call"
	"github.com/restwarden/restwarden/policies/call/budget"
	"github.com/restwarden/restwarden/policies/caller"
	"github.com/restwarden/restwarden/policies/mcp"
	"github.com/restwarden/restwarden/policies/mcp/message"
	"github.com/restwarden/restwarden/policies/policy"
	"github.com/restwarden/restwarden/policies/policytest"
)

// recordedRequest returns the recorded request to a site.
func recordedRequest(tb testing.TB, rec policytest.Recorded, s *policy.Site) *policy.Request {
	tb.Helper()
	r, err := http.ReadRequest(bufio.NewReader(bytes.NewReader(rec.Request)))
	if err != nil {
		tb.Fatalf("%s: %v", rec.ID, err)
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		tb.Fatalf("%s: %v", rec.ID, err)
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	r.RemoteAddr = "192.0.2.7:1"
	c := call.NewReader(call.Config{
		Platform: s.Platform, Limits: call.Limits{Body: 1 << 20, Upload: 1 << 20, Spool: budget.NewSpool(tb.TempDir(), 1<<20)},
	}).Read(r, nil)
	tb.Cleanup(c.Close)
	whole := &caller.Whole{Site: s.Site, Call: c, HTTP: r, Backend: labAbilities(), Client: netip.MustParseAddr("192.0.2.7")}
	return &policy.Request{Whole: whole, Call: c, Site: s}
}

// labIDs are the abilities that the recorded sites list; write is what none of them calls
// itself.
var labIDs = map[string]string{
	"lab/read-item": `{"readonly":true}`, "lab/write-item": `{}`, "lab/delete-item": `{"destructive":true}`, "lab/no-input": `{}`,
	"lab/scalar": `{}`, "lab/strict": `{}`, "lab/hidden": `{}`, "lab/admin-only": `{}`, "lab/anyone": `{}`, "lab/a-b": `{}`, "lab-a/b": `{}`,
}

// labAbilities answers as those sites did about their abilities, and knows every caller.
func labAbilities() *asktest.Platform {
	answers := map[string]*ask.Answer{"GET /wp/v2/users/me": asktest.JSON(200, policytest.AdminBody)}
	var list []string
	for id, notes := range labIDs {
		about := `{"name":"` + id + `","input_schema":{},"meta":{"annotations":` + notes + `}}`
		list = append(list, about)
		answers["GET /wp-abilities/v1/abilities/"+id] = asktest.JSON(200, about)
	}
	answers["GET /wp-abilities/v1/abilities"] = asktest.JSON(200, "["+strings.Join(list, ",")+"]")
	return asktest.Routed(answers)
}

// named is what a message says that it runs, as recordings write it.
func named(m *message.Message) string {
	switch {
	case m.Ability != "":
		return m.Ability
	case m.URI != "":
		return "lab/doc" // the resource of the recorded sites
	}
	return m.Name
}

// TestAbilities_RecordedDenied: no recorded message passes that ran an ability which a rule
// denies, by whatever way.
func TestAbilities_RecordedDenied(t *testing.T) {
	tried := 0
	for _, rec := range policytest.Recordings(t) {
		for _, ran := range rec.Ran {
			for _, rules := range [][]Rule{
				{{Pattern: ran.Ran, Deny: true}},
				{{Pattern: ran.Ran, Deny: true}, {Pattern: "*"}, {Pattern: "*", Kind: KindTool}},
				{{Pattern: "lab/*", Deny: true}, {Pattern: "*"}},
			} {
				if strings.HasPrefix(ran.Ran, "(") {
					rules = []Rule{{Pattern: "lab/read-item"}}
				}
				s := policytest.NewSite(t)
				p := policytest.Provision(t, s, &Abilities{Rules: rules})
				r := recordedRequest(t, rec, s)
				if d := policytest.Alone("abilities", p).Judge(t.Context(), r); d.Outcome == policy.Pass && r.Call.Kind != call.Refused {
					t.Errorf("%s (%s) passes under %v and ran %s", rec.ID, rec.Case, rules, ran.Ran)
				}
				tried++
			}
		}
	}
	if tried < 900 {
		t.Errorf("%d tried", tried)
	}
}

// TestAbilities_RecordedAllowed: what passes has run exactly what it names, and the messages
// of real clients pass.
func TestAbilities_RecordedAllowed(t *testing.T) {
	rules := []Rule{{Pattern: "*", Kind: KindTool}, {Pattern: "*", Kind: KindResource}, {Pattern: "*"}}
	for id := range labIDs {
		rules = append([]Rule{{Pattern: id}}, rules...)
	}
	passed, refused := map[string]int{}, map[string]int{}
	for _, rec := range policytest.Recordings(t) {
		s := policytest.NewSite(t)
		p := policytest.Provision(t, s, &Abilities{Rules: rules, Doors: []string{"/wp/v2/wpmcp/**", "/mcp/v1/**", "/royal-mcp/v1/**"}})
		r := recordedRequest(t, rec, s)
		d := policytest.Alone("abilities", p).Judge(t.Context(), r)
		if d.Outcome != policy.Pass || r.Call.Kind == call.Refused {
			refused[cmp.Or(d.Verdict.Rule, "reading")]++
			continue
		}
		passed[rec.Server]++
		if len(rec.Ran) > 1 {
			t.Errorf("%s (%s) passes and ran %v", rec.ID, rec.Case, rec.Ran)
		}
		for _, ran := range rec.Ran {
			if message.Read(r) == nil {
				if rec.Server != "abilities" {
					t.Errorf("%s (%s) was not read and ran %v", rec.ID, rec.Case, rec.Ran)
				}
				continue
			}
			what := named(message.Read(r))
			same := ran.Ran == what || mcp.Dashed(ran.Ran) == what || ran.Ran == "(tool "+what+")" || strings.HasPrefix(ran.Ran, "(inner REST") || ran.Ran == "(a post was written)"
			if !same || !message.Read(r).Executes() {
				t.Errorf("%s (%s) names %q and ran %v", rec.ID, rec.Case, what, rec.Ran)
			}
		}
	}
	t.Logf("passed %v, refused %v", passed, refused)
	total := 0
	for _, n := range passed {
		total += n
	}
	if total < 300 || len(passed) < 6 {
		t.Errorf("only %d passed: %v", total, passed)
	}
}
