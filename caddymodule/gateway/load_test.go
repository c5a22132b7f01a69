package gateway

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/restwarden/restwarden/caddymodule/redisstore"
)

// loadCalls is how many calls TestGateways_Load sends.
const loadCalls = 50_000

// load is steady traffic through two gateways. It knows the right decision for each call.
type load struct {
	*pair
	admin string
	calls atomic.Int64
	// down is true from just before Redis is killed until both gateways have certainly
	// found it again. Only then may it be unknown whether a signature is new, and limits
	// count on each gateway alone.
	down    atomic.Bool
	downs   atomic.Int64 // changes of down
	wrong   atomic.Int64
	dropped atomic.Int64
	unknown atomic.Int64 // 503
}

// TestGateways_Load: 50,000 calls through two gateways, with Redis killed half-way and
// started again: no wrong decision, no request dropped.
func TestGateways_Load(t *testing.T) {
	l := &load{pair: startPair(t, "--appendonly", "yes", "--appendfsync", "always")}
	l.admin = basicAuth("admin:" + l.info.Users["admin"].ApplicationPassword)
	for _, g := range []*process{l.a, l.b} {
		l.want("admin", g, 200, getPosts, "", l.admin)
	}
	time.Sleep(300 * time.Millisecond) // both have the secret, and agree on the keys of limits
	start := time.Now()
	var wg sync.WaitGroup
	for worker := range 16 {
		wg.Go(func() {
			for i := worker; l.calls.Load() < loadCalls; i++ {
				l.step(i)
			}
		})
	}
	l.after(loadCalls / 2)
	l.mark(true)
	l.redis.Kill()
	l.after(loadCalls * 6 / 10)
	l.redis.Start()
	for _, g := range []*process{l.a, l.b} {
		l.found(g)
	}
	l.mark(false)
	if l.calls.Load() >= loadCalls {
		t.Error("the traffic ended before Redis was back")
	}
	wg.Wait()
	took := time.Since(start)
	t.Logf("%d calls in %s, %.0f a second; %d could not be decided while Redis was away",
		l.calls.Load(), took.Round(time.Millisecond), float64(l.calls.Load())/took.Seconds(), l.unknown.Load())
	if wrong, dropped := l.wrong.Load(), l.dropped.Load(); wrong != 0 || dropped != 0 {
		t.Errorf("%d wrong decisions, %d dropped requests", wrong, dropped)
	}
	if l.unknown.Load() == 0 {
		t.Error("nobody noticed that Redis was away")
	}
}

func (l *load) after(calls int64) {
	for l.calls.Load() < calls {
		time.Sleep(time.Millisecond)
	}
}

// found waits until g uses Redis again.
func (l *load) found(g *process) {
	for range 1000 {
		body, headers := signedConsent()
		if status, _, err := g.send(postConsent, body, headers...); err == nil && status == 200 {
			time.Sleep(2 * redisstore.PauseAfterTimeout) // operations on limits may skip Redis a little longer
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	l.t.Error("a gateway does not find Redis again")
}

func (l *load) mark(down bool) {
	l.down.Store(down)
	l.downs.Add(1)
}

func (l *load) call(g *process, line, body string, headers ...string) int {
	l.calls.Add(1)
	status, _, err := g.send(line, body, headers...)
	if err != nil {
		if l.dropped.Add(1) < 10 {
			l.t.Error(err)
		}
	}
	if status == 503 {
		l.unknown.Add(1)
	}
	return status
}

func (l *load) judge(right bool, what string, got ...any) {
	if !right && l.wrong.Add(1) < 10 {
		l.t.Errorf("%s: %v", what, got)
	}
}

// step makes some calls and checks their decisions.
func (l *load) step(i int) {
	first, second := l.a, l.b
	if i%2 == 1 {
		first, second = second, first
	}
	began := l.downs.Load()
	switch i % 8 {
	case 0:
		l.limited()
	case 1, 2:
		body, headers := signedConsent()
		a := l.call(first, postConsent, body, headers...)
		b := l.call(second, postConsent, body, headers...)
		undisturbed := began == l.downs.Load() && !l.down.Load()
		switch {
		case a == 200:
			l.judge(b == 401 || b == 503 && !undisturbed, "used on one, then on the other", a, b)
		case a == 503 && !undisturbed:
			l.judge(b == 503 || b == 401 || b == 200, "after it could not be known", a, b)
		default:
			l.judge(false, "signed", a, b)
		}
		headers[1] += "0"
		if c := l.call(first, postConsent, body, headers...); c != 401 {
			l.judge(false, "forged", c)
		}
	case 3, 4:
		s := l.call(first, getPosts, "")
		l.judge(s == 401, "nobody", s)
		s = l.call(second, "GET /?rest_route=/cms/v2/users", "")
		l.judge(s == 401, "nobody, users", s)
	default:
		s := l.call(first, getPosts, "", l.admin)
		l.judge(s == 200, "admin", s)
	}
}

// limited uses up a limit on both gateways.
func (l *load) limited() {
	began := l.downs.Load()
	client := aClient()
	passed := 0
	for i := range 14 {
		switch s := l.call([]*process{l.a, l.b}[i%2], getTaxonomies, "", client); s {
		case 200:
			passed++
		case 429:
		default:
			l.judge(false, "limited", s)
		}
	}
	undisturbed := began == l.downs.Load() && !l.down.Load()
	l.judge(passed == 10 || !undisturbed && passed >= 10 && passed <= 14, fmt.Sprintf("a limit of 10, undisturbed %v", undisturbed), passed)
}
