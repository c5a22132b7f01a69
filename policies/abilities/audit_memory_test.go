package abilities

import (
	"runtime"
	"strings"
	"testing"

	"github.com/restwarden/restwarden/policies/policytest"
)

// TestAbilities_AuditMemory: what anybody sends to a run, or to a server of tools, is not spelled
// out for its line in the log.
func TestAbilities_AuditMemory(t *testing.T) {
	const size, run = 512 << 10, "/wp-json/wp-abilities/v1/abilities/shop/update/run"
	fill := func(unit string) string {
		return strings.TrimSuffix(strings.Repeat(unit, (size-100)/len(unit)), ",")
	}
	s := policytest.NewSite(t)
	p := new(Abilities)
	policytest.Configure(t, p, policytest.Line("abilities", policytest.Line("deny shop/*")))
	policytest.Provision(t, s, p)
	for name, test := range map[string]struct{ target, body string }{
		"small objects":      {run, `{"input":{"a":[` + fill(`{"":0},`) + `]}}`},
		"one name":           {run, `{"input":{"a":{` + fill(`"":0,`) + `}}}`},
		"lists":              {run, `{"input":{"b":[` + fill(`[],`) + `],"a":1}}`},
		"objects of a tool":  {"/wp-json/acme/mcp", policytest.ExecutorOf("shop/update", `{"b":[`+fill(`{"a":0},`)+`],"a":1}`)},
		"texts of a tool":    {"/wp-json/acme/mcp", policytest.ExecutorOf("shop/update", `{`+fill(`"x":"","a":"",`)+`}`)},
		"a text":             {run, `{"input":{"a":"` + fill(`\n`) + `"}}`},
		"an object of texts": {run, `{"input":{` + fill(`"x":"","a":"",`) + `}}`},
	} {
		r := policytest.Request(t, s, nil, "POST", test.target, test.body, policytest.JSONType)
		if _, _, err := r.Call.Undecoded("input"); err != nil {
			t.Fatal(name, err)
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		calls := p.AgentCalls(r)
		runtime.ReadMemStats(&after)
		if len(calls) != 1 || name != "texts of a tool" && calls[0].Hash == "" {
			t.Errorf("%s: %+v", name, calls)
		}
		if took := after.TotalAlloc - before.TotalAlloc; took > 8*uint64(len(test.body)) {
			t.Errorf("%s: %d bytes for %d", name, took, len(test.body))
		}
	}
}
