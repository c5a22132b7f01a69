//go:build wordpress

package wordpress

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/restwarden/restwarden/cmd/check/testkit/client"
)

// hole is a kind of request that ran a call and looked like a page to the gateway.
type hole struct {
	name string
	// aim makes one that runs method on route, on a site below base.
	aim func(base, route, method string) message
}

// holes are the ways that an attack found past the gateway, and their relatives.
// None of the recordings is of their kind.
var holes = []hole{
	{"two content types", func(_, route, method string) message {
		return message{
			method: "POST", target: "/?_method=" + method, body: formPart("B", "rest_route", route) + "--B--\r\n",
			headers: []string{multipartType + "B", multipartType + "Z"},
		}
	}},
	{"a content type with a comma", func(_, route, method string) message {
		return message{
			method: "POST", target: "/?_method=" + method, body: formPart("B", "rest_route", route) + "--B--\r\n",
			headers: []string{multipartType + "B, multipart/form-data; boundary=Z"},
		}
	}},
	{"30,000 blanks before the name", func(_, route, method string) message {
		return message{
			method: "POST", target: "/?_method=" + method, headers: []string{formType},
			body: strings.Repeat("%20", 30_000) + "rest_route=" + url.QueryEscape(route),
		}
	}},
	{"NUL in a name, long boundary", func(_, route, method string) message {
		boundary := strings.Repeat("B", 1100)
		return message{
			method: "POST", target: "/?_method=" + method, headers: []string{multipartType + boundary},
			body: formPart(boundary, "rest_\x00x\r\nroute", route) + "--" + boundary + "--\r\n",
		}
	}},
	{"NUL in a name, boundary in a file", func(_, route, method string) message {
		return message{
			method: "POST", target: "/?_method=" + method, headers: []string{multipartType + "B"},
			body: "--B\r\nContent-Disposition: form-data; name=f; filename=f\r\n\r\nx--B\r\ny\r\n" +
				formPart("B", "rest_\x00x\r\nroute", route) + "--B--\r\n",
		}
	}},
	{"a target with a scheme", func(base, route, method string) message {
		return message{method: method, whole: "foo:" + strings.TrimPrefix(base+"/wp-json"+route, "/")}
	}},
	{"a target with a scheme and a slash", func(base, route, method string) message {
		return message{method: method, whole: "foo:" + base + "/wp-json" + route}
	}},
	{"PATH_INFO that is cut out of the address", func(_, route, method string) message {
		up := strings.Repeat("/..", 2+strings.Count(route, "/"))
		return message{method: method, target: "/index.php/wp%2D/index.phpjson" + route + "%0A" + up + "/index.php"}
	}},
	{"the script's name, cut out of the address", func(_, route, method string) message {
		return message{method: method, target: "/wp-/index.phpjson" + route}
	}},
	{"a content type behind a blank", func(_, route, method string) message {
		return message{
			method: "POST", target: "/?_method=" + method, body: formPart("B", "rest_route", route) + "--B--\r\n",
			headers: []string{strings.Replace(multipartType, ": ", ":  ", 1) + "B"},
		}
	}},
	{"a # in the query", func(_, route, method string) message {
		return message{method: method, target: "/index.php?rest_route=" + route + "#&rest_route=0"}
	}},
	{"a form in gzip", func(_, route, method string) message {
		var b bytes.Buffer
		z := gzip.NewWriter(&b)
		_, _ = z.Write([]byte("rest_route=" + url.QueryEscape(route))) // into memory
		_ = z.Close()
		return message{
			method: "POST", target: "/?_method=" + method, body: b.String(),
			headers: []string{formType, "Content-Encoding: gzip"},
		}
	}},
}

const multipartType = "Content-Type: multipart/form-data; boundary="

func formPart(boundary, name, value string) string {
	return "--" + boundary + "\r\nContent-Disposition: form-data; name=\"" + name + "\"\r\n\r\n" + value + "\r\n"
}

// usersRoute is what login_only is there to hide.
const usersRoute = "/wp/v2/users"

// checkBareHoles is that each hole runs without the gateway.
func (s *stack) checkBareHoles(ctx context.Context, c *checks) {
	for i := range holes {
		h := &holes[i]
		open, err := s.tryBareHole(ctx, h, i)
		c.check(h.name, err)
		c.t.Logf("%s: runs on the bare platform behind %s", h.name, strings.Join(open, ", "))
	}
}

// checkHoles aims each hole at a closed route, at one gate.
func (s *stack) checkHoles(ctx context.Context, c *checks, g *gate) {
	for i := range holes {
		h := &holes[i]
		for p, way := range protocols {
			tag := fmt.Sprintf("hole-%d-%d-%d", i, p, g.Port)
			c.check(way.name+": "+h.name, s.tryHole(ctx, g, way, h, tag))
		}
	}
}

// checkHolesAtRecord aims each hole at a subscription, at one gate.
func (s *stack) checkHolesAtRecord(ctx context.Context, c *checks, g *gate) {
	for i := range holes {
		for _, way := range protocols {
			c.check(way.name+": "+holes[i].name, s.tryHoleAtRecord(ctx, g, way, &holes[i]))
		}
	}
}

// checkHonest is the control at one gate: it refuses no request as such, and serves
// others while bodies break off.
func checkHonest(ctx context.Context, c *checks, g *gate) {
	for _, way := range protocols {
		c.check(way.name+": honest clients", tryHonestClients(ctx, g, way))
	}
	c.check("bodies that break off", tryShortBodies(ctx, g))
}

// tryBareHole returns behind which front-ends a hole runs, which must be one at
// least: else the check would prove nothing.
func (s *stack) tryBareHole(ctx context.Context, h *hole, i int) (open []string, err error) {
	for _, g := range s.gatesOf(modeBare) {
		for try := range 6 { // of two headers Caddy's FastCGI client takes either
			tag := fmt.Sprintf("bare-%d-%d-%d", i, g.Port, try)
			m := h.aim(g.Site.Base, usersRoute, "GET")
			if _, err := send(ctx, g, m.render(g, tag)); err != nil {
				return open, err
			}
			seen, err := s.readTrace(tag)
			if err != nil {
				return open, err
			}
			if seen.ran(usersRoute) {
				open = append(open, g.setUp())
				break
			}
		}
	}
	if open == nil {
		return nil, errors.New("it runs behind no front-end")
	}
	return open, s.tryBareConversion(ctx, h)
}

// tryBareConversion is that a hole turns a subscription into an order behind some
// front-end, and turns it back.
func (s *stack) tryBareConversion(ctx context.Context, h *hole) error {
	for _, g := range s.gatesOf(modeBare) {
		for range 6 {
			err := s.tryHoleAtRecord(ctx, g, protocols[0], h)
			if err == nil {
				continue
			}
			if !errors.Is(err, errConverted) {
				return err
			}
			_, err = s.sql(ctx, g.Site, fmt.Sprintf("UPDATE {prefix}standin_records SET type = '%s' WHERE id = %d", typeSubscription, g.Site.Subscriptions[0]))
			return err
		}
	}
	return errors.New("it converts no subscription behind any front-end")
}

var errConverted = errors.New("the subscription is an order now")

// ran tells whether the handler of a route was called.
func (t *trace) ran(route string) bool {
	for _, d := range t.dispatches {
		if d.ran && string(d.Route) == route {
			return true
		}
	}
	return false
}

func (s *stack) tryHole(ctx context.Context, g *gate, way protocol, h *hole, tag string) error {
	m := h.aim(g.Site.Base, usersRoute, "GET")
	a, err := way.send(ctx, g, &m, tag)
	if err != nil {
		return err
	}
	seen, err := s.readTrace(tag)
	if err != nil {
		return err
	}
	ended := a.status == 0 && m.whole != "" // HTTP/2 and 3 do it themselves where the target is no path
	if seen.loaded || !ended && (a.status < 400 || a.status >= 500) {
		return fmt.Errorf("%s; WordPress ran %s", a, seen.describe())
	}
	return nil
}

// tryHoleAtRecord aims a hole at a subscription, with the rights to change it.
func (s *stack) tryHoleAtRecord(ctx context.Context, g *gate, way protocol, h *hole) error {
	sub := g.Site.Subscriptions[0]
	m := h.aim(g.Site.Base, fmt.Sprintf("/wc/v3/orders/%d", sub), "PUT")
	m.as = "administrator"
	a, err := way.send(ctx, g, &m, "hole")
	if err != nil {
		return err
	}
	kept, err := s.recordType(ctx, g.Site, sub)
	if err == nil && kept != typeSubscription {
		err = fmt.Errorf("%w: %d is %s; the answer: %s", errConverted, sub, kept, a)
	}
	return err
}

// tryHonestClients sends what browsers and API clients send.
func tryHonestClients(ctx context.Context, g *gate, way protocol) error {
	form, kind := client.Multipart("message", "x")
	for _, m := range []message{
		{method: "GET", target: "/index.php?rest_route=/wp/v2/posts", as: "editor"},
		{method: "GET", target: "/index.php?rest_route=/wp/v2/posts", as: "editor", headers: []string{jsonType}, body: "{}"},
		{method: "GET", target: "/index.php?rest_route=/wp/v2/users/me", as: "editor", headers: []string{jsonType}, body: `{"context":"edit"}`},
		{method: "HEAD", target: "/index.php?rest_route=/wp/v2/posts", as: "editor"},
		{method: "OPTIONS", target: "/index.php?rest_route=/wp/v2/posts", as: "editor"},
		{method: "POST", target: "/index.php?rest_route=/complianz/v1/track", headers: []string{jsonType}, body: `{"choice":"all"}`},
		{method: "POST", target: "/index.php?rest_route=/complianz/v1/track", headers: []string{formType}, body: "choice=all"},
		{method: "GET", target: "/wp-json/wp/v2/posts?per_page=1", as: "editor"},
		{method: "GET", target: "/"},
		{method: "POST", target: "/", headers: []string{"Content-Type: " + kind}, body: form},
	} {
		if g.Site.Permalinks == "" && strings.HasPrefix(m.target, "/wp-json") {
			continue // there are no pretty paths
		}
		a, err := way.send(ctx, g, &m, "honest")
		if err != nil {
			return err
		}
		if a.refused() || a.status != 200 {
			return fmt.Errorf("%s %s %s: %s", m.method, m.target, m.body, a)
		}
	}
	return nil
}
