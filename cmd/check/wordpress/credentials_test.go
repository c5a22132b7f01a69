//go:build wordpress

package wordpress

import (
	"context"
	"fmt"
	"time"
)

// checkCredentials goes through credentials that do not count, or no longer. The
// platform's own words for them are kept.
func (s *stack) checkCredentials(ctx context.Context, c *checks, g, bare *gate) {
	admin := g.Site.Accounts["administrator"]
	check := c.check
	through, err := login(ctx, g, admin)
	check("a login", err)
	past, errPast := login(ctx, bare, admin)
	check("a login past the gateway", errPast)
	if err != nil || errPast != nil {
		return
	}
	now, err := through.nonceAt(g, time.Now())
	if err == nil && now != through.nonce {
		err = fmt.Errorf("nonces are computed as %s, the platform made %s", now, through.nonce)
	}
	check("nonces are understood", err)
	before, err := through.nonceAt(g, time.Now().Add(-3*nonceLife))
	check("an old nonce", err)

	badNonce := want("403 rest_cookie_invalid_nonce")
	pair := func(nonce string) *caller {
		return &caller{
			header: []string{"X-WP-Nonce: " + nonce, through.header[1]},
			bare:   []string{"X-WP-Nonce: " + nonce, past.header[1]},
		}
	}
	check("cookie and nonce", pair(through.nonce).answers(ctx, g, "200"))
	check("cookie and wrong nonce", pair("0123456789").answersAs(ctx, g, bare, badNonce))
	check("cookie and expired nonce", pair(before).answersAs(ctx, g, bare, badNonce))
	check("cookie without nonce", (&caller{header: through.header[1:]}).answers(ctx, g, notLoggedIn))
	check("nonce without cookie", (&caller{header: through.header[:1]}).answers(ctx, g, notLoggedIn))
	check("forged cookie", (&caller{header: []string{"Cookie: wordpress_logged_in_x=admin|1|x|y"}}).answers(ctx, g, notLoggedIn))
	wrong := admin
	wrong.Application = "AAAA BBBB CCCC DDDD EEEE FFFF"
	check("wrong application password", (&caller{as: &wrong}).answers(ctx, g, "401 incorrect_password"))
	wrong.Login = "nobody" // invalid_username on the bare site
	check("unknown user", (&caller{as: &wrong}).answers(ctx, g, "401 incorrect_password"))

	check("the index of a namespace", checkNamespace(ctx, g, through))
	if g.Site.Name == fpm {
		check("a login that has ended", checkNoGrace(ctx, g, bare))
	}
	check("logs out", through.logout(ctx, g))
	check("no login cookie is left", through.holdsNone(g))
	check("logs out past the gateway", past.logout(ctx, bare))
	check("logged-out cookie and nonce", pair(through.nonce).answersAs(ctx, g, bare, badNonce))
	check("the index after the logout", readsNamespace(ctx, g, notLoggedIn, through.header[1]))
	check("logged-out cookie without nonce", (&caller{header: through.header[1:]}).answers(ctx, g, notLoggedIn))
	check("a revoked application password", s.checkRevoked(ctx, g))
	check("logged out by another session", s.checkEnded(ctx, g, (*session).logoutElsewhere))
	check("a new password", s.checkEnded(ctx, g, (*session).changePassword))
}

// checkShopPlugins is that a shop key passes on the namespaces of plugins for the shop, and
// nothing else does (docs/platform III.8).
func checkShopPlugins(ctx context.Context, g, bare *gate) error {
	key := "Authorization: " + basic("ck_standin", "cs_standin")
	for _, namespace := range []string{"wc-bookings/v1", "wc-shipment-tracking/v3", "wc/gc/v1", "wc/pos/v1", "wc-admin"} {
		for _, c := range []struct {
			path    string
			headers []string
			expect  want
		}{
			{"/items", []string{key}, "200"},
			{"/items?consumer_key=ck_standin&consumer_secret=cs_standin", nil, "200"},
			{"/items", nil, notLoggedIn},
			{"/items", []string{"Authorization: " + basic("ck_standin", "wrong")}, notLoggedIn},
		} {
			r := request{path: "/wp-json/" + namespace + c.path, headers: c.headers}
			a, err := fetch(ctx, g, r)
			if err == nil && !c.expect.matches(a) {
				err = fmt.Errorf("%s: expected %q, got %s", r.path, c.expect, a)
			}
			if err == nil && c.expect == "200" {
				err = sameAnswer(ctx, bare, r, a)
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// checkEnded is that the gateway knows at once that one session has ended another,
// and refuses it itself, before what it remembers has run out.
func (s *stack) checkEnded(ctx context.Context, g *gate, end func(*session, context.Context, *gate) error) error {
	user := g.Site.Accounts["subscriber"]
	other, err := login(ctx, g, user)
	if err != nil {
		return err
	}
	who := &caller{header: other.header}
	if err := who.answers(ctx, g, "200"); err != nil {
		return err
	}
	mine, err := login(ctx, g, user)
	if err != nil {
		return err
	}
	if err := end(mine, ctx, g); err != nil {
		return err
	}
	a, err := fetch(ctx, g, who.request())
	if err == nil && (!a.refused() || a.code != "rest_cookie_invalid_nonce") {
		err = fmt.Errorf("the session has ended, and passes: %s", a)
	}
	return err
}

// answers makes a call that every user may make.
func (c *caller) answers(ctx context.Context, g *gate, w want) error {
	a, err := fetch(ctx, g, c.request())
	if err == nil && !w.matches(a) {
		err = fmt.Errorf("expected %q, got %s", w, a)
	}
	return err
}

func (c *caller) request() request {
	return request{path: "/index.php?rest_route=/wp/v2/types", as: c.as, headers: c.header}
}

// answersAs is answers, and the same answer without the gateway.
func (c *caller) answersAs(ctx context.Context, g, bare *gate, w want) error {
	a, err := fetch(ctx, g, c.request())
	if err != nil {
		return err
	}
	if !w.matches(a) {
		return fmt.Errorf("expected %q, got %s", w, a)
	}
	r := c.request()
	if c.as == nil {
		r.headers = c.bare
	}
	return sameAnswer(ctx, bare, r, a)
}

// checkRevoked is that an application password stops working at once when its
// revocation passes through the gateway (docs/project/interface E4).
func (s *stack) checkRevoked(ctx context.Context, g *gate) error {
	user := g.Site.Accounts["author"]
	who := &caller{as: &user}
	if err := who.answers(ctx, g, "200"); err != nil {
		return err
	}
	admin := g.Site.Accounts["administrator"]
	path := fmt.Sprintf("/index.php?rest_route=/wp/v2/users/%d/application-passwords/%s", user.ID, user.UUID)
	a, err := fetch(ctx, g, request{method: "DELETE", path: path, as: &admin})
	if err != nil {
		return err
	}
	if a.status != 200 {
		return fmt.Errorf("revocation: %s", a)
	}
	return who.answers(ctx, g, "401 incorrect_password")
}

// readsNamespace reads the index of the core's namespace, in both forms.
func readsNamespace(ctx context.Context, g *gate, w want, headers ...string) error {
	for _, path := range []string{"/index.php?rest_route=/wp/v2/", "/wp-json/wp/v2/"} {
		if path[1] == 'w' && g.Site.Permalinks == "" {
			continue
		}
		a, err := fetch(ctx, g, request{path: path, headers: headers})
		if err == nil && !w.matches(a) {
			err = fmt.Errorf("%s: expected %q, got %s", path, w, a)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// checkNamespace is that a login cookie without a nonce opens the index of a namespace on a
// site for users only, and nothing else does.
func checkNamespace(ctx context.Context, g *gate, s *session) error {
	origin := "Origin: https://evil.example"
	return errorsOf(
		readsNamespace(ctx, g, "200", s.header[1]),
		readsNamespace(ctx, g, notLoggedIn),
		readsNamespace(ctx, g, notLoggedIn, s.header[1], origin),
		readsNamespace(ctx, g, notLoggedIn, "Cookie: wordpress_logged_in_x=admin|1|x|y"),
	)
}

// checkNoGrace is that WordPress takes no write with a login that has ended. Its code grants
// an hour for POST requests, but the session ends in the same second as the cookie.
func checkNoGrace(ctx context.Context, g, bare *gate) error {
	const life = 4 * time.Second
	for _, g := range []*gate{bare, g} {
		s, err := loginFor(ctx, g, g.Site.Accounts["subscriber"], life)
		if err != nil {
			return err
		}
		ended := time.After(life + time.Second)
		write := request{method: "POST", path: "/index.php?rest_route=/wp/v2/users/me", headers: s.header, body: `{"description":"x"}`}
		a, err := fetch(ctx, g, write)
		if err == nil && a.status != 200 {
			err = fmt.Errorf("before its end: %s", a)
		}
		if err != nil {
			return err
		}
		<-ended
		a, err = fetch(ctx, g, write)
		if err == nil && (a.status != 403 || a.code != "rest_cookie_invalid_nonce") {
			err = fmt.Errorf("after its end: %s", a)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// checkSessionCookies is that the sub-folder's login works because of the policy:
// without it the cookies of the install path never reach REST.
func (s *stack) checkSessionCookies(ctx context.Context) error {
	g := s.gate(subFolder, modeCookies)
	browser, err := login(ctx, g, g.Site.Accounts["administrator"])
	if err != nil {
		return err
	}
	return (&caller{header: browser.header[:1]}).withCookies(browser.header[1]).answers(ctx, g, notLoggedIn)
}

func (c *caller) withCookies(line string) *caller {
	c.header = append(c.header, line)
	return c
}
