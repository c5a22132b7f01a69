//go:build wordpress

package wordpress

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/restwarden/restwarden/cmd/check/grammar"
)

var (
	errTame  = errors.New("hardly a generated request runs anything on the bare platform")
	errEarly = errors.New("a page that ends early is not what the whole platform makes of it")
)

// chains are calls that only several rewritings make, behind each of the servers that do so: a cut
// in small letters and of some names alone, values that end at a "%", what is cut again of what is left, in an order that is sorted,
// and once escapes are decoded.
var chains = [...][]string{
	{"/?CX=1&REST_ROUTUTM_A=B&E=/canary/v1/t%d", "/?Cx=1&rest_routUtm_a=b&e=/canary/v1/t%d", "/WP-JSUTM_A=b&ON/canary/v1/t%d?CX=1", "/?xmsclkid=1&rest_routgclid=x&e=/canary/v1/t%d&cx=1"},
	{"/?rest_routefbclid&utm_source=x=1=/canary/v1/t%d", "/?utm_source=x=1=/canary/v1/t%d&rest_routefbclid", "/wp-jsonfbclid&utm_source=x=1/canary/v1/t%d", "/?rest_rosi=x&ute=/canary/v1/t%d", "/?rest_routttclid=x%%65=/canary/v1/t%d"},
	{"/?cx=1&rest_routfbclutm_a=b&id=1&e=/canary/v1/t%d", "/wp-jsfbclutm_a=b&id=1&on/canary/v1/t%d?cx=1", "/?/.utm_a=b&./?rest_route=/canary/v1/t%d&cx=1"},
	{"/?%%75tm_source=x=/canary/v1/t%d&rest_rout%%65", "/?rest_routefbcli%%64&u%%74m_source=x=1=/canary/v1/t%d", "/wp-json&utm%%5Fsource=x/canary/v1/t%d"},
}

// bare sends generated requests past the gateway: if they did not run there, it would
// prove nothing that they do not run behind it. Some go a second time, the whole way
// through the platform, which must dispatch the same.
func (a *attack) bare(ctx context.Context, c *checks) {
	behind := []*target{
		{name: "Apache", port: a.s.early.apache},
		{name: "nginx", port: a.s.early.nginx},
		{name: "Caddy", port: a.s.early.caddy},
		{name: "nginx, the path in the query", port: a.s.early.nginxQ},
		{name: "lighttpd", port: a.s.early.lighttpd},
		{name: "lighttpd, rewrites", port: a.s.early.qsa},
		{name: "HAProxy", port: a.s.early.haproxy},
		{name: "Varnish, small letters", port: a.s.early.small, chained: true},
		{name: "Varnish, sorted", port: a.s.early.sorted, chained: true},
		{name: "Varnish, two cuts", port: a.s.early.twice, chained: true},
		{name: "HAProxy and Varnish", port: a.s.early.before, chained: true},
		{name: "rewrite rules", port: a.s.early.other, other: true},
	}
	g := grammar.New(options.seed, 1<<32)
	ran := 0
	for i := range bareShots {
		to := behind[i%len(behind)]
		to.at, to.site = []string{""}, fpm
		s := a.aim(g, to, int(a.last.Add(1)))
		for s.object != "" { // it would be an order afterwards
			s = a.aim(g, to, int(a.last.Add(1)))
		}
		s.version = http1
		early, err := a.dispatches(ctx, s)
		if err != nil {
			c.failf("early", "%v", err)
			return
		}
		if len(early) > 0 {
			ran++
		}
		if i < wholeShots && !s.request.Short {
			c.check("whole", a.tryWhole(ctx, s, early))
		}
	}
	for _, target := range []string{
		"/api/canary/v1/t%d", "/.well-known/canary/t%d", "/?x=1;rest_route=/canary/v1/t%d",
		"/?rest_route=/cana%%3Cb%%3Ery/v1/t%d", "/?rest_route=/cana%%60ry/v1/t%d", "/index.php/wp-j%%3Cb%%3Eson/canary/v1/t%d", "/?re%%1B(Bst_route=/canary/v1/t%d",
	} {
		c.check("the rules and the settings of the other site", a.runs(ctx, behind[len(behind)-1], target))
	}
	for _, target := range []string{"/?rest_route&utm_x=x=/canary/v1/t%d", "/?rest_rgclid=x&oute=/canary/v1/t%d"} {
		c.check("the cuts", a.runs(ctx, behind[3], target))
	}
	c.check("the last question mark", a.runs(ctx, behind[4], "/?/../?rest_route=/canary/v1/t%d"))
	c.check("the last question mark", a.runs(ctx, behind[5], "/?x?rest_route=/canary/v1/t%d"))
	for _, target := range []string{"/?rest_%%%%372oute=/canary/v1/t%d", "/?rest_route=/canary/v1%%%%32%%66t%d"} {
		c.check("the escape that is completed", a.runs(ctx, behind[6], target))
	}
	for i, targets := range chains {
		for _, target := range targets {
			c.check("rewritings one after the other", a.runs(ctx, behind[7+i], target))
		}
	}
	c.t.Logf("of %d requests %d run what they are aimed at on the bare platform", bareShots, ran)
	time.Sleep(100 * time.Millisecond) // for what comes late
	_ = a.log.stray()                  // it may run here
	if ran < bareShots/10 {
		c.failf("tame", "%v", errTame)
	}
}

// runs is that a target, with the number of a shot, runs a call.
func (a *attack) runs(ctx context.Context, to *target, target string) error {
	number := int(a.last.Add(1))
	r := &grammar.Request{Method: http.MethodGet, Target: fmt.Sprintf(target, number)}
	seen, err := a.dispatches(ctx, &shot{number: number, target: to, version: http1, request: r})
	if err == nil && len(seen) == 0 {
		err = fmt.Errorf("%s: %w", target, errTame)
	}
	return err
}

// tryWhole sends a shot the whole way through the platform. What does not agree goes both ways once more,
// with time: a front end may answer before PHP has written down what it runs.
func (a *attack) tryWhole(ctx context.Context, s *shot, early []dispatched) error {
	fields := s.request.Fields
	whole := slices.Concat(fields, []grammar.Field{{Name: "X-Standin-Whole", Value: "1"}})
	s.request.Fields = whole
	seen, err := a.dispatches(ctx, s)
	if err != nil || slices.Equal(early, seen) {
		return err
	}
	patiently := func(f []grammar.Field) []dispatched {
		_, before := a.later(s.number)
		s.request.Fields = f
		seen, failed := a.dispatches(ctx, s)
		late, after := a.later(s.number)
		err = errors.Join(err, before, failed, after)
		return append(seen, late...)
	}
	if early, seen = patiently(fields), patiently(whole); err == nil && !slices.Equal(early, seen) {
		err = fmt.Errorf("%w: %v, %v\n%s", errEarly, early, seen, s.request)
	}
	return err
}

// later returns what a shot has run a while after its answer.
func (a *attack) later(number int) ([]dispatched, error) {
	time.Sleep(300 * time.Millisecond)
	return a.log.take(number)
}
