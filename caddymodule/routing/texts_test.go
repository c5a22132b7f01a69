package routing

import (
	"encoding/json"
	"testing"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
)

// TestTexts: a byte of a route for a host changes the text of that host, one of a route for any host or of
// a named route that of all. What has been loaded is not known.
func TestTexts(t *testing.T) {
	t.Parallel()
	of := func(change func(*caddyhttp.Server)) (texts [2][32]byte, known [2]bool) {
		raw := func(text string) []json.RawMessage { return []json.RawMessage{json.RawMessage(text)} }
		to := func(host string) caddyhttp.RawMatcherSets {
			return caddyhttp.RawMatcherSets{{"host": json.RawMessage(`["` + host + `"]`)}}
		}
		server := &caddyhttp.Server{
			Routes: caddyhttp.RouteList{
				{MatcherSetsRaw: to("A.example"), HandlersRaw: raw(`{"handler":"a"}`)},
				{MatcherSetsRaw: to("b.example"), HandlersRaw: raw(`{"handler":"b"}`)},
				{MatcherSetsRaw: to("*.example"), HandlersRaw: raw(`{"handler":"c"}`)},
			},
			NamedRoutes: map[string]*caddyhttp.Route{"n": {HandlersRaw: raw(`{"handler":"d"}`)}},
		}
		change(server)
		all := TextsOf(server)
		texts[0], known[0] = all.Of([]string{"a.example"})
		texts[1], known[1] = all.Of([]string{"b.example"})
		return texts, known
	}
	before, known := of(func(*caddyhttp.Server) {})
	if known != [2]bool{true, true} {
		t.Fatal("not known")
	}
	loaded := []caddyhttp.MiddlewareHandler{new(caddyhttp.Subroute)}
	for name, c := range map[string]struct {
		change        func(*caddyhttp.Server)
		same, isKnown [2]bool
	}{
		"its own route":   {func(s *caddyhttp.Server) { s.Routes[0].HandlersRaw[0] = json.RawMessage(`{"handler":"x"}`) }, [2]bool{false, true}, [2]bool{true, true}},
		"the other route": {func(s *caddyhttp.Server) { s.Routes[1].Terminal = true }, [2]bool{true, false}, [2]bool{true, true}},
		"for any host":    {func(s *caddyhttp.Server) { s.Routes[2].Group = "g" }, [2]bool{false, false}, [2]bool{true, true}},
		"a named route":   {func(s *caddyhttp.Server) { s.NamedRoutes["n"].HandlersRaw = nil }, [2]bool{false, false}, [2]bool{true, true}},
		"one is loaded":   {func(s *caddyhttp.Server) { s.Routes[0].Handlers = loaded }, [2]bool{true, true}, [2]bool{false, true}},
		"named, loaded":   {func(s *caddyhttp.Server) { s.NamedRoutes["n"].Handlers = loaded }, [2]bool{true, true}, [2]bool{false, false}},
	} {
		after, known := of(c.change)
		if same := [2]bool{before[0] == after[0], before[1] == after[1]}; same != c.same || known != c.isKnown {
			t.Errorf("%s: same %v, want %v; known %v, want %v", name, same, c.same, known, c.isKnown)
		}
	}
}
