//go:build wordpress

package wordpress

import (
	"encoding/base64"
	"fmt"
	"strings"
	"testing"
)

// TestScope_Spelled: spellings of credentials that the platform takes past the gateway, and none of which takes them out
// of their scopes.
func TestScope_Spelled(t *testing.T) {
	s := setUps(t)
	for _, g := range append(s.gatesOf(modeScoped), s.gatesOf(modeLogins)...) {
		c, bare := count(t), s.gate(g.Site.Name, modeBare)
		author, editor := g.Site.Accounts["author"], g.Site.Accounts["editor"]
		var all []*message
		for _, a := range []account{author, editor} {
			for _, name := range []string{
				a.Login, strings.ToUpper(a.Login), " " + a.Login + " ", a.Login + "@example.test", "<_>" + a.Login, "<b title='_'>" + a.Login,
				"%41" + a.Login, "%41<_>" + a.Login, "&_;" + a.Login, strings.Replace(a.Login, "a", "\u00e1", 1),
			} {
				all = append(all, &message{method: "GET", target: "/wp-json/wp/v2/pages", headers: []string{"Authorization: " + basic(name, a.Application)}})
			}
		}
		if g.Mode == modeScoped {
			all = append(all, keysOnPages()...)
			for _, name := range []string{"ck_standin", "c<b></b>k_standin", "c%41k_standin", "ck_stan<b></b>din", "c\x00k_<b></b>standin"} {
				all = append(all, &message{method: "GET", target: "/wp-json/wc/v3/customers", headers: []string{"Authorization: " + basic(name, "cs_standin")}})
			}
		}
		for i, m := range all {
			c.check(fmt.Sprintf("%s %s %q", g.Name, m.target, m.headers), s.trySpelled(t, g, bare, m, fmt.Sprintf("spelled-%s-%d-%d", g.Site.Name, len(g.Mode), i)))
		}
	}
}

// keysOnPages are requests that are no calls, on which a key acts.
func keysOnPages() []*message {
	pair := base64.StdEncoding.EncodeToString([]byte("ck_standin:cs_standin"))
	older := func(query string, headers ...string) *message {
		return &message{method: "GET", target: "/wc-api/v3/orders" + query, headers: headers}
	}
	return []*message{
		older("", "Authorization: Basic "+pair),
		older("", "Authorization: basic "+pair[:4]+"=-"+pair[4:]),
		older("", "Authorization: Basic "+pair[:4], "Authorization: "+pair[4:]),
		older("?consumer_key=%20ck_standin&consumer_secret=cs_standin"),
		older("?consumer.key=ck_standin&consumer_secret=cs_standin"),
		{method: "GET", target: "/?x=wp-json/wc/", headers: []string{"Authorization: Basic " + pair}},
		{method: "GET", target: "/wp-admin/admin-ajax.php?action=rest-nonce&x=wp-json/wc/&consumer_key=ck_standin&consumer_secret=cs_standin"},
	}
}

// trySpelled is that the platform takes what a message carries, and that the gateway lets it not pass.
func (s *stack) trySpelled(t *testing.T, g, bare *gate, m *message, tag string) error {
	t.Helper()
	for _, at := range []*gate{bare, g} {
		a, err := send(t.Context(), at, m.render(at, tag))
		if err != nil {
			return err
		}
		seen, err := s.readTrace(tag)
		if err != nil {
			return err
		}
		acts := false
		for i := range seen.dispatches {
			acts = acts || seen.dispatches[i].User != 0
		}
		for _, d := range seen.doors {
			acts = acts || d.Key != ""
		}
		if acts != (at == bare) || a.refused() == acts {
			return fmt.Errorf("%s: somebody acts: %t: %s", at.Name, acts, a)
		}
	}
	return nil
}
