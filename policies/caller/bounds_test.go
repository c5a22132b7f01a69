package caller

import (
	"context"
	"errors"
	"net/netip"
	"strconv"
	"sync"
	"testing"

	"github.com/restwarden/restwarden/policies/ask"
	"github.com/restwarden/restwarden/policies/ask/asktest"
)

// heldPlatform answers once it is released, or not at all if the question is given up
// before.
type heldPlatform struct {
	began   chan struct{}
	release chan struct{}
}

func (p *heldPlatform) Detach() ask.Backend { return p }

func (p *heldPlatform) Ask(ctx context.Context, _ ask.Question) (*ask.Answer, error) {
	p.began <- struct{}{}
	select {
	case <-p.release:
		return asktest.JSON(200, adminBody), nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// TestIdentities_ClientGone: a client that goes away does not fail the others who wait
// for the same answer.
func TestIdentities_ClientGone(t *testing.T) {
	s := newSite(t)
	backend := &heldPlatform{make(chan struct{}), make(chan struct{})}
	gone, leave := context.WithCancel(t.Context())
	first := make(chan error)
	go func() {
		_, _, err := request(t, s, backend, "GET", "/wp-json/wp/v2/posts", "", basicAuth).Who(gone)
		first <- err
	}()
	<-backend.began
	leave()
	if err := <-first; !errors.Is(err, context.Canceled) {
		t.Errorf("the one who left: %v", err)
	}
	close(backend.release)
	go func() { // a question that was given up is asked again
		for range backend.began {
		}
	}()
	caller, _, err := request(t, s, asktest.Answering(401, `{"code":"rest_not_logged_in"}`), "GET", "/wp-json/wp/v2/posts", "", basicAuth).Who(t.Context())
	if err != nil || caller.Kind != User {
		t.Errorf("the next one: %+v, %v", caller, err)
	}
	close(backend.began)
}

// TestIdentities_InFlight: the number of questions under way is bounded; the others wait.
func TestIdentities_InFlight(t *testing.T) {
	ids, err := NewIdentities(Options{MaxInFlight: 16}) // 2 for one client
	if err != nil {
		t.Fatal(err)
	}
	s := newSite(t)
	s.Identities = ids
	backend := &heldPlatform{make(chan struct{}, 10), make(chan struct{})}
	var wg sync.WaitGroup
	for i := range 10 {
		r := request(t, s, backend, "GET", "/wp-json/wp/v2/posts", "", "Authorization: Basic "+strconv.Itoa(i))
		wg.Go(func() {
			if _, _, err := r.Who(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
	for range 2 {
		<-backend.began
	}
	if n := ids.opts.InFlight.Used(); n != 2 || len(backend.began) > 0 {
		t.Errorf("%d under way, %d more", n, len(backend.began))
	}
	close(backend.release)
	wg.Wait()
}

// TestIdentities_OneNetwork: an IPv6 client may use any address of its network, but has
// one limit.
func TestIdentities_OneNetwork(t *testing.T) {
	s := newSite(t)
	backend := asktest.Answering(401, `{"code":"rest_not_logged_in"}`)
	limited := 0
	for i := range 1000 {
		r := request(t, s, backend, "GET", "/wp-json/wp/v2/posts", "", "Authorization: Basic "+strconv.Itoa(i))
		r.Client = netip.AddrFrom16([16]byte{0x20, 1, 0xd, 0xb8, 14: byte(i >> 8), 15: byte(i)})
		if _, _, err := r.Who(t.Context()); errors.Is(err, ask.ErrTooMany) {
			limited++
		}
	}
	if limited == 0 {
		t.Error("every address has a limit of its own")
	}
	other := request(t, s, backend, "GET", "/wp-json/wp/v2/posts", "", basicAuth)
	other.Client = netip.MustParseAddr("2001:db8:0:1::1")
	if _, _, err := other.Who(t.Context()); err != nil {
		t.Errorf("another network: %v", err)
	}
}

// TestIdentities_DropOfAUserDropsTheNameless: the user of a shop key or a session is
// unknown, so these entries go with every user.
func TestIdentities_DropOfAUserDropsTheNameless(t *testing.T) {
	s := newSite(t)
	backend := asktest.Answering(200, `[]`)
	for range 2 {
		if caller, _, err := request(t, s, backend, "GET", "/wp-json/wc/v3/orders", "", shopKey).Who(t.Context()); err != nil || caller.Kind != KeyHolder {
			t.Fatal(caller, err)
		}
		s.Identities.forget(dropping{whom: dropUser, user: 7})
	}
	if n := len(backend.Questions()); n != 2 {
		t.Errorf("%d questions", n)
	}
}

// TestIdentities_MissedMessages: a gateway that may have missed messages forgets all
// callers.
func TestIdentities_MissedMessages(t *testing.T) {
	store := newSharedMemory(t)
	s := gatewayOn(t, store)
	whoIs(t, s, asktest.Answering(200, adminBody), basicAuth)
	if err := store.Announce(t.Context(), s.Identities.shared.mark, "", 0); err != nil { // ends what is shared, too
		t.Fatal(err)
	}
	s.Identities.shared.hear("")
	backend := asktest.Answering(200, adminBody)
	whoIs(t, s, backend, basicAuth)
	if n := len(backend.Questions()); n != 1 {
		t.Errorf("%d questions", n)
	}
}
