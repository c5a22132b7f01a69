//go:build wordpress

package wordpress

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"golang.org/x/sync/errgroup"

	"github.com/restwarden/restwarden/policies/call/platforms"
	"github.com/restwarden/restwarden/policies/respell"
)

// TestSpellings sends calls in every spelling of package respell through the gateway: all
// of them reach WordPress, which runs the same handler for the same method and id.
func TestSpellings(t *testing.T) {
	s := setUps(t)
	gates := []*gate{s.gateBehind(rewritten, modeDefault), s.gateBehind("nginx", modeDefault)}
	for _, site := range s.sites {
		gates = append(gates, s.gate(site.Name, modeDefault))
	}
	for _, g := range gates {
		t.Run(g.setUp(), func(t *testing.T) {
			t.Parallel()
			c := count(t)
			for i := range spelled(g.Site) {
				s.checkSpellings(t.Context(), c, g, i)
			}
		})
	}
}

// tagged stands for the request's tag, which each spelling gets.
const tagged = "X-Request-Tag: spelling-tag"

// spelled are the calls. The id of the second order stands in body or query, and so proves
// that the parameters have arrived.
func spelled(site *site) []message {
	path := fmt.Sprintf("/wp-json/wc/v3/orders/%d", site.Orders[0])
	return []message{
		shopManager("GET", fmt.Sprintf("%s?id=%d", path, site.Orders[1]), ""),
		shopManager("POST", path, fmt.Sprintf("id=%d&customer_note=a+b", site.Orders[1]), formType),
		shopManager("PUT", path, fmt.Sprintf(`{"id":%d,"customer_note":"x"}`, site.Orders[1]), jsonType),
	}
}

func (s *stack) checkSpellings(ctx context.Context, c *checks, g *gate, number int) {
	m := spelled(g.Site)[number]
	platform, _ := platforms.ByName("wordpress")
	account := g.Site.Accounts[m.as]
	header := append([]string{tagged, "Connection: close", "Authorization: " + basic(account.Login, account.Application)}, m.headers...)
	list := respell.All(platform, respell.Request{Method: m.method, URL: g.url(m.target), Header: header, Body: []byte(m.body)})
	if len(list) < 50 {
		c.failf(m.method, "only %d spellings", len(list))
	}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(2)
	for i, sp := range list {
		group.Go(func() error {
			tag := fmt.Sprintf("spelling-%s%s-%d-%d", g.Site.Name, g.Front, number, i)
			raw := bytes.Replace(sp.Raw, []byte(tagged), []byte("X-Request-Tag: "+tag), 1)
			a, err := send(ctx, g, raw)
			var seen trace
			if err == nil {
				seen, err = s.readTrace(tag)
			}
			if err == nil {
				err = ranSpelling(g, &m, &sp, &seen, a)
			}
			if err != nil {
				err = fmt.Errorf("%w\nWordPress ran: %s\nthe answer: %v\nrequest: %q", err, seen.describe(), a, raw)
			}
			c.check(m.method+" "+sp.Name, err)
			return nil
		})
	}
	_ = group.Wait() // each request is a check
}

// ranSpelling compares what WordPress dispatched with the plain call. With plain permalinks
// no path is a call, and nginx refuses PUT on "/" (docs/platform I.10, N15).
func ranSpelling(g *gate, m *message, sp *respell.Spelling, seen *trace, a *answer) error {
	site, name := g.Site, sp.Name
	byPath := strings.HasPrefix(name, "pretty") || name == respell.Plain
	switch {
	case g.Front == "nginx" && bytes.HasPrefix(sp.Raw, []byte("PUT /?")) && a.status == http.StatusMethodNotAllowed && len(seen.dispatches) == 0:
		return nil
	case site.Permalinks == "" && byPath && len(seen.dispatches) == 0:
		return nil
	case a.refused():
		return fmt.Errorf("the gateway refuses it")
	case len(seen.dispatches) != 1:
		return fmt.Errorf("%d dispatches", len(seen.dispatches))
	}
	method := m.method
	if strings.HasSuffix(name, ", HEAD") {
		method = http.MethodHead
	}
	want := fmt.Sprintf("/wc/v3/orders/%d", site.Orders[0])
	switch d := seen.dispatches[0]; {
	case !strings.EqualFold(string(d.Route), want):
		return fmt.Errorf("the route is %q", d.Route)
	case d.Method != method:
		return fmt.Errorf("the method is %s", d.Method)
	case integer(d.ID) != fmt.Sprint(site.Orders[1]):
		return fmt.Errorf("the id is %s", d.ID)
	case !d.ran || a.status != http.StatusOK:
		return fmt.Errorf("the handler did not answer")
	}
	return nil
}
