package caller

import (
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/restwarden/restwarden/policies/ask"
	"github.com/restwarden/restwarden/policies/ask/asktest"
)

// slowPlatform answers each question after some time, with the answer that is set when the
// question comes.
type slowPlatform struct {
	asktest.Platform

	mu     sync.Mutex
	takes  time.Duration
	answer *ask.Answer
}

func newSlowPlatform() *slowPlatform {
	p := &slowPlatform{answer: asktest.JSON(200, adminBody)}
	p.Answer = func(ask.Question) (*ask.Answer, error) {
		p.mu.Lock()
		takes, answer := p.takes, p.answer
		p.mu.Unlock()
		time.Sleep(takes)
		return answer, nil
	}
	return p
}

// slow sets how long answers take from now on.
func (p *slowPlatform) slow(takes time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.takes = takes
}

// says sets the answer to questions from now on.
func (p *slowPlatform) says(status int, body string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.answer = asktest.JSON(status, body)
}

// calls is one client that makes the same call again and again.
type calls struct {
	t *testing.T
	w *Whole
	p *slowPlatform
}

func newCalls(t *testing.T, opts Options) *calls {
	t.Helper()
	p := newSlowPlatform()
	return &calls{t, request(t, withOptions(t, opts), p, "GET", "/wp-json/wp/v2/posts", "", loginLine, nonceLine), p}
}

// expect makes a call, which must find out a caller of this kind within that time, and
// compares how many questions there were.
func (c *calls) expect(kind Kind, within time.Duration, questions int) {
	c.t.Helper()
	start := time.Now()
	who, _, err := c.w.again().Who(c.t.Context())
	if took := time.Since(start); err != nil || who.Kind != kind || took > within {
		c.t.Errorf("%v, %v after %s", who.Kind, err, took)
	}
	synctest.Wait()
	if n := len(c.p.Questions()); n != questions {
		c.t.Errorf("%d questions, want %d", n, questions)
	}
}

// TestRenew_BeforeTheEnd: whoever keeps calling never waits for a question again.
func TestRenew_BeforeTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCalls(t, Options{TTL: 10 * time.Second})
		c.expect(User, 0, 1)
		time.Sleep(7 * time.Second)
		c.expect(User, 0, 1)
		c.p.slow(2 * time.Second)
		time.Sleep(time.Second)
		c.expect(User, 0, 2) // in the last quarter, in the background
		c.expect(User, 0, 2) // once
		time.Sleep(5 * time.Second)
		c.expect(User, 0, 2) // the new answer counts
		time.Sleep(20 * time.Second)
		c.expect(User, 2*time.Second, 3)
	})
}

// TestRenew_Busy: while the platform takes long, the answer that has just ended counts, and
// not for longer than one ttl.
func TestRenew_Busy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCalls(t, Options{TTL: 10 * time.Second, Timeout: 30 * time.Second})
		c.expect(User, 0, 1)
		c.p.slow(8 * time.Second)
		time.Sleep(11 * time.Second)
		c.expect(User, patience, 2)
		time.Sleep(10 * time.Second) // the new answer came 8 s after 11 s
		c.expect(User, 0, 2)
		time.Sleep(19 * time.Second) // both have ended
		c.expect(User, 8*time.Second, 3)
	})
}

// TestRenew_Anonymous: the new answer counts as soon as it is there.
func TestRenew_Anonymous(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCalls(t, Options{TTL: 10 * time.Second})
		c.expect(User, 0, 1)
		c.p.says(401, `{"code":"rest_not_logged_in"}`)
		time.Sleep(11 * time.Second)
		c.expect(Anonymous, 0, 2)
	})
}

// TestRenew_Ended: where a right was seen to end, no earlier answer counts, and no answer
// to a question from before.
func TestRenew_Ended(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCalls(t, Options{TTL: 10 * time.Second})
		c.expect(User, 0, 1)
		c.p.slow(4 * time.Second)
		time.Sleep(11 * time.Second)
		var waits error
		go func() { _, _, waits = c.w.again().Who(t.Context()) }()
		time.Sleep(100 * time.Millisecond)
		c.p.says(401, `{"code":"rest_not_logged_in"}`)
		c.w.Site.Identities.Forget()
		c.expect(Anonymous, 4*time.Second, 3)
		if waits != nil {
			t.Error(waits)
		}
	})
}

// TestRenew_Refused: credentials that the platform refuses are not renewed.
func TestRenew_Refused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCalls(t, Options{TTL: 10 * time.Second})
		c.p.says(403, `{"code":"rest_cookie_invalid_nonce"}`)
		c.expect(Anonymous, 0, 1)
		time.Sleep(1900 * time.Millisecond)
		c.expect(Anonymous, 0, 1)
		time.Sleep(time.Second)
		c.p.slow(2 * time.Second)
		c.expect(Anonymous, 2*time.Second, 2)
	})
}

// TestLeft: the share of a question is given back when the question has ended, not when
// nobody waits any more.
func TestLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ended := make(chan struct{})
		left := &asktest.Platform{Answer: func(ask.Question) (*ask.Answer, error) {
			return nil, &ask.LeftError{Ended: ended, Err: errors.New("over")}
		}}
		s := withOptions(t, Options{MaxInFlight: 1})
		w := request(t, s, left, "GET", "/wp-json/wp/v2/posts", "", basicAuth)
		if _, _, err := w.Who(t.Context()); err == nil {
			t.Error("no error")
		}
		synctest.Wait()
		if n := s.Identities.opts.InFlight.Used(); n != 1 {
			t.Errorf("%d under way", n)
		}
		close(ended)
		synctest.Wait()
		if n := s.Identities.opts.InFlight.Used(); n != 0 {
			t.Errorf("%d under way after the end", n)
		}
	})
}
