//go:build wordpress

package wordpress

import (
	"math/rand/v2"
	"strings"
	"testing"
)

func generatedAgents(t *testing.T, seed uint64, n int) []*agentMessage {
	t.Helper()
	site := *testSite
	site.Accounts = map[string]account{"administrator": {Login: "a", Application: "p"}, "subscriber": {Login: "s", Application: "p"}}
	g := newAgentGenerator(rand.New(rand.NewPCG(seed, 0)), &site, func(string) string { return "s" })
	var all []*agentMessage
	for range n {
		all = append(all, g.next())
	}
	return all
}

func TestAgentGenerator_IsDeterministic(t *testing.T) {
	first, second := generatedAgents(t, 7, 500), generatedAgents(t, 7, 500)
	for i := range first {
		if first[i].body != second[i].body || first[i].target != second[i].target {
			t.Fatalf("message %d: %q, then %q", i, first[i].body, second[i].body)
		}
	}
}

// What is plain must name what it runs, or the test of what passes proves nothing.
func TestAgentGenerator_NamesWhatItRuns(t *testing.T) {
	plain := 0
	for _, m := range generatedAgents(t, 1, 2000) {
		if !m.plain || m.runs == "" || strings.Contains(m.target, "wp-abilities") {
			continue
		}
		plain++
		if named := namedIn(m.body); !fitsName(m.runs, named) {
			t.Errorf("%s runs %s, and names %q", m.body, m.runs, named)
		}
	}
	if plain < 200 {
		t.Errorf("%d of 2000 are plain", plain)
	}
}

func TestAgentRules_Check(t *testing.T) {
	call := func(name string) *message {
		return &message{as: "subscriber", body: `{"method":"tools/call","params":{"name":"` + name + `","arguments":{"ability_name":"lab/read-item"}}}`}
	}
	at := []dispatch{{Route: []byte("/lab-agent/v1/mcp"), ran: true}}
	inner := append(at, dispatch{Route: []byte("/wc/v3/orders/201"), Method: "PUT", ran: true})
	for name, c := range map[string]struct {
		m    *message
		seen trace
		good bool
	}{
		"nothing ran":       {call("lab-write-item"), trace{dispatches: at}, true},
		"what it names":     {call("lab-read-item"), trace{dispatches: at, agents: []agentRun{{Ran: "lab/read-item"}}}, true},
		"by its id":         {call("mcp-adapter-execute-ability"), trace{dispatches: at, agents: []agentRun{{Ran: "lab/read-item"}}}, true},
		"another":           {call("lab-strict"), trace{dispatches: at, agents: []agentRun{{Ran: "lab/read-item"}}}, false},
		"a denied one":      {call("lab-write-item"), trace{dispatches: at, agents: []agentRun{{Ran: "lab/write-item"}}}, false},
		"for somebody else": {call("lab-delete-item"), trace{dispatches: at, agents: []agentRun{{Ran: "lab/delete-item"}}}, false},
		"two":               {call("lab-read-item"), trace{dispatches: at, agents: []agentRun{{Ran: "lab/read-item"}, {Ran: "lab/read-item"}}}, false},
		"REST inside":       {call("lab_tool"), trace{dispatches: inner}, false},
	} {
		if err := allowing.check(c.m, &c.seen); (err == nil) != c.good {
			t.Errorf("%s: %v", name, err)
		}
	}
}
