//go:build wordpress

package wordpress

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"testing"

	"github.com/restwarden/restwarden/cmd/check/testkit/machine"
)

// The two readings of messages, as plugin/restwarden-standin/agents.php knows them.
const (
	newerAdapter = "0.5" // and WordPress 7.1
	olderAdapter = "0.4" // and before, on WordPress 6.9
)

// agents are the addresses of a site whose servers of agents are on.
type agents struct{ *standins }

// newAgents plans the addresses; start starts them.
func (s *stack) newAgents() (*agents, error) {
	n, err := s.newStandins()
	if err != nil {
		return nil, err
	}
	n.variable = "STANDIN_AGENTS"
	return &agents{n}, nil
}

// addAgents plans an address with one of the readings and the lines of a directive.
func (a *agents) addAgents(name, reading string, lines ...string) (*standinGate, error) {
	ports, err := machine.FreePorts(1)
	if err != nil {
		return nil, err
	}
	g := a.add(name, reading, lines...)
	g.Domain, g.Port = "", ports[0]
	a.port = ports[0]
	return g, nil
}

// initialize returns a new session of the adapter for a role.
func (a *agents) initialize(ctx context.Context, g *standinGate, role string) (string, error) {
	account := g.Site.Accounts[role]
	answer, err := a.fetch(ctx, g, request{
		method: http.MethodPost, path: defaultServer, as: &account,
		body: `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18"}}`,
	})
	if err != nil {
		return "", err
	}
	id := answer.header.Get("Mcp-Session-Id")
	if id == "" {
		return "", fmt.Errorf("no session: %s", answer)
	}
	return id, nil
}

// ranBy lists what a request ran: abilities and tools with their input, and REST inside.
func ranBy(seen *trace, role func(user int) string) (list []string) {
	for _, run := range seen.agents {
		list = append(list, fmt.Sprintf("%s %s as %s", run.Ran, canonical(run.Input), role(run.User)))
	}
	for i, d := range seen.dispatches {
		if i > 0 && d.ran {
			list = append(list, fmt.Sprintf("(inner REST %s %s)", d.Method, d.Route))
		}
	}
	return list
}

// canonical is JSON in one spelling. An empty object of PHP is an empty list.
func canonical(text json.RawMessage) string {
	var value any
	decoder := json.NewDecoder(bytes.NewReader(text))
	if err := decoder.Decode(&value); err != nil {
		return string(text)
	}
	out, err := json.Marshal(value)
	if err != nil || string(out) == "{}" {
		return "[]"
	}
	return string(out)
}

// roleOf names the account of a site that has an id.
func roleOf(s *site) func(int) string {
	return func(user int) string {
		for role, account := range s.Accounts {
			if account.ID == user {
				return role
			}
		}
		return ""
	}
}

// TestAgents is the servers of agents behind the gateway. The stand-ins run what the real
// servers ran; of generated messages nothing runs but what the rules allow, by any door, and
// what real clients send passes.
func TestAgents(t *testing.T) {
	s := setUps(t)
	a, err := s.newAgents()
	if err != nil {
		t.Fatal(err)
	}
	bare, guarded := map[string]*standinGate{}, map[string]*standinGate{}
	for _, reading := range []string{newerAdapter, olderAdapter} {
		if bare[reading], err = a.addAgents("agents-bare-"+reading, reading); err != nil {
			t.Fatal(err)
		}
		for _, rules := range []*agentRules{&denying, &allowing} {
			name := rules.name + " " + reading
			if guarded[name], err = a.addAgents("agents-"+rules.name+"-"+reading, reading, rules.lines...); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := a.start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Run("recorded", func(t *testing.T) { a.testRecorded(t, bare, nil) })
	t.Run("conversions", func(t *testing.T) { a.testAgentConversions(t, bare[newerAdapter], guarded) })
	for _, rules := range []*agentRules{&denying, &allowing} {
		t.Run("recorded, "+rules.name, func(t *testing.T) {
			t.Parallel()
			a.testRecorded(t, map[string]*standinGate{
				newerAdapter: guarded[rules.name+" "+newerAdapter], olderAdapter: guarded[rules.name+" "+olderAdapter],
			}, rules)
		})
		for _, reading := range []string{newerAdapter, olderAdapter} {
			name := rules.name + " " + reading
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				a.testGuarded(t, guarded[name], bare[reading], rules)
			})
		}
	}
}

// same tells whether two lists have the same elements.
func same(a, b []string) bool {
	slices.Sort(a)
	slices.Sort(b)
	return slices.Equal(a, b)
}
