//go:build wordpress

package wordpress

import (
	"fmt"
	"testing"
)

// The tests, one a part, in their order: what changes records comes late.

// eachSite runs a test for each of the set-ups.
func eachSite(t *testing.T, run func(*testing.T, *stack, *site)) {
	t.Helper()
	s := setUps(t)
	for _, site := range s.sites {
		t.Run(site.Name, func(t *testing.T) { run(t, s, site) })
	}
}

// TestAnswers is that every address answers at all, so that no later test passes for
// want of a site.
func TestAnswers(t *testing.T) {
	s := setUps(t)
	for _, g := range s.gates {
		t.Run(g.Name, func(t *testing.T) {
			a, err := fetch(t.Context(), g, request{path: "/?rest_route=/"})
			if err == nil && (g.Mode == modeDefault || g.Mode == modeBare || g.Mode == modeObserve) && a.status != 200 {
				err = fmt.Errorf("%s", a)
			}
			if err != nil {
				t.Error(err)
			}
		})
	}
}

// TestSweep sends anonymous requests to every route of the REST index, in every
// addressing form, to sites that are for logged-in users only: none but the open
// routes reaches WordPress.
func TestSweep(t *testing.T) {
	eachSite(t, func(t *testing.T, s *stack, site *site) {
		t.Helper()
		s.checkSweep(t.Context(), count(t), site)
	})
}

// TestAccounts goes through the table of who may what with application passwords and
// with cookie and nonce.
func TestAccounts(t *testing.T) {
	eachSite(t, func(t *testing.T, s *stack, site *site) {
		t.Helper()
		c := count(t)
		s.checkAccounts(t.Context(), c, site)
		locked, bare := s.gate(site.Name, modeLocked), s.gate(site.Name, modeBare)
		s.checkCredentials(t.Context(), c, locked, bare)
		if site.Permalinks != "" {
			c.check("shop keys on plugins for the shop", checkShopPlugins(t.Context(), locked, bare))
		}
		if site.Name == subFolder {
			c.check("session_cookies are needed", s.checkSessionCookies(t.Context()))
		}
	})
}

// TestBrowser goes through an administrator's and a visitor's day in a real
// browser, with the gateway enforcing and observing: nothing is refused, and nothing
// would have been.
func TestBrowser(t *testing.T) { setUps(t).testBrowser(t) }

// TestCheckout raises the price while a guest is shopping: the order is placed
// past the gateway, and refused behind it, without a trace in the shop
// (docs/platform III.9).
func TestCheckout(t *testing.T) {
	eachSite(t, func(t *testing.T, s *stack, site *site) {
		t.Helper()
		s.checkCheckout(t.Context(), count(t), site)
	})
}

// TestConversions sends every order update that is aimed at a subscription to
// the bare platform, which must convert it where docs/platform III says so, and
// through the gateway of every set-up, where the record must keep its type.
func TestConversions(t *testing.T) {
	t.Run("bare", func(t *testing.T) {
		s := setUps(t)
		s.checkBareConversions(t.Context(), count(t), s.gate(fpm, modeBare))
	})
	eachSite(t, func(t *testing.T, s *stack, site *site) {
		t.Helper()
		s.checkConversions(t.Context(), count(t), s.gate(site.Name, modeDefault))
	})
	t.Run(rewritten, func(t *testing.T) {
		s, c := setUps(t), count(t)
		checkRewritten(t.Context(), c, s.gateBehind(rewritten, modeLocked), s.admin)
		s.checkConversions(t.Context(), c, s.gateBehind(rewritten, modeDefault))
	})
	t.Run("batches", func(t *testing.T) {
		s := setUps(t)
		s.checkBatches(t.Context(), count(t), s.gate(fpm, modeDefault))
	})
	t.Run("two sites at one host name", func(t *testing.T) {
		s := setUps(t)
		count(t).check("the same id", s.tryNeighbour(t.Context(), s.gate(fpm, modeDefault), s.gate(apache, modeDefault)))
	})
}

// TestOAuth is that the gateway signs its questions as PHP verifies them: over plain http the
// shop takes no key as it is (docs/platform III.8).
func TestOAuth(t *testing.T) {
	s := setUps(t)
	for _, g := range s.gatesOf(modeBare) {
		t.Run(g.setUp()+" signatures", func(t *testing.T) { checkSignatures(t.Context(), count(t), g) })
	}
	for _, g := range s.gatesOf(modeKey) {
		t.Run(g.setUp(), func(t *testing.T) { s.checkCredential(t.Context(), count(t), g) })
		t.Run(g.setUp()+" TLS", func(t *testing.T) { s.checkCredential(t.Context(), count(t), g.secure()) })
	}
}

// TestHoles sends each hole to the bare platform, where it must run behind some
// front-end, and through every gate, on every protocol: nothing of it may reach
// WordPress, and no subscription may become an order.
func TestHoles(t *testing.T) {
	s := setUps(t)
	t.Run("bare", func(t *testing.T) { s.checkBareHoles(t.Context(), count(t)) })
	for _, g := range s.gatesOf(modeLocked) {
		t.Run(g.setUp(), func(t *testing.T) {
			c := count(t)
			s.checkHoles(t.Context(), c, g)
			checkHonest(t.Context(), c, g)
		})
	}
	for _, g := range s.gatesOf(modeDefault) {
		t.Run(g.setUp()+" at a subscription", func(t *testing.T) { s.checkHolesAtRecord(t.Context(), count(t), g) })
	}
}

// TestAttack is that nothing runs of a grammar that knows nothing of the gateway.
func TestAttack(t *testing.T) { setUps(t).testAttack(t) }

// TestDifferential generates requests and sends each through the gateway: whatever
// reached WordPress must be what the gateway's reader said it was. What is refused is
// counted by reason.
func TestDifferential(t *testing.T) {
	eachSite(t, func(t *testing.T, s *stack, site *site) {
		t.Helper()
		t.Parallel()
		s.testDifferential(t, site)
	})
}
