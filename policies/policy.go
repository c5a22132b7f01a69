package policies

import (
	"context"
	"fmt"
	"net/http"

	"github.com/restwarden/restwarden/policies/ask"
)

// Policy is one entry of the catalog, ready for one directive. Its exported fields are
// its JSON configuration; what it can do is told by the interfaces of this file that it
// implements, and by io.Closer where it owns a resource. A policy is used by many
// requests at once.
//
// What all policies can be told is not theirs: see [Settings].
type Policy any

// Configurer is a Policy with options of its own.
type Configurer interface {
	// Configure takes one line of the directive, or the policy's own block, which
	// stands behind its bare name. It checks syntax and arity only; errors come from
	// Option.Errorf and name file and line.
	Configure(Option) error
}

// SecretHolder is a Policy whose configuration holds secrets: the returned
// strings may hold placeholders, which are resolved before anything else is asked.
type SecretHolder interface {
	Secrets() []*string
}

// Declarer is a Policy that other policies of the site name in their rules. All
// declare before any is provisioned.
type Declarer interface {
	// Declare checks the configuration and tells the site what may be named.
	Declare(site *Site) error
}

// Provisioner is a Policy that must be prepared.
type Provisioner interface {
	// Provision checks the configuration and prepares the policy for site. It does no
	// network I/O. What it opens is closed by Close. Close is also called where this or
	// another policy fails, and where Provision was not reached.
	Provision(site *Site, settings Settings) error
}

// ReadingChecker is a Policy that judges how a request could be read. It is asked even
// if there is no call to judge (Call.Kind is call.Refused).
type ReadingChecker interface {
	CheckReading(r *Request) (Verdict, error)
}

// Checker is a Policy that judges calls.
type Checker interface {
	// Check judges one call: a single one, a part of a batch, or the batch
	// request as a whole (Call.Kind is call.Batch). An error means that it
	// could not decide; a *call.Refusal is a request without a certain reading.
	Check(ctx context.Context, r *Request) (Verdict, error)
}

// BatchChecker is a Policy that judges a batch in one go, parts included.
type BatchChecker interface {
	CheckBatch(ctx context.Context, r *Request) (Verdict, error)
}

// EarlyChecker is a Policy that judges a batch by its own route first, before its body
// is read: who may not call it at all costs nothing more.
type EarlyChecker interface {
	CheckEarly(ctx context.Context, r *Request) (Verdict, error)
}

// RequestChanger is a Policy that changes the request that is sent on. It is
// asked before the call is judged, and the call is read again afterwards.
type RequestChanger interface {
	// Change changes req and tells whether it did.
	Change(r *Request, req *http.Request) bool
}

// AnswerChanger is a Policy that changes answers on their way to the client.
type AnswerChanger interface {
	// Rewrites tells whether the answer to r, a call or a page, is to be
	// changed, and how much of the body is needed.
	Rewrites(r *Request) Rewrite
	// Rewrite changes the answer in place: header, and body where it was asked
	// for. An error means that the answer must not be sent.
	Rewrite(r *Request, answer *ask.Answer) error
}

// Rewrite is how much of an answer an AnswerChanger needs.
type Rewrite uint8

const (
	RewriteNothing Rewrite = iota
	RewriteHeader          // status and header
	RewriteBody            // the whole body too, decoded, up to a bound
)

// Watcher is a Policy that keeps facts which a passing request may end.
type Watcher interface {
	// Watch returns what to do once the platform has answered r, with status and
	// header; nil for requests that end nothing.
	Watch(r *Request) func(*ask.Answer)
}

// Settings is what every policy can be told, beside options of its own. The gateway
// takes it; a policy gets to see it when it is provisioned.
type Settings struct {
	// Off switches the policy off.
	Off bool `json:"off,omitempty"`
	// Mode is "enforce", "observe" (judge, count and log, refuse nothing), or
	// empty: the directive's mode.
	Mode Mode `json:"mode,omitempty"`
	// OnError is what happens to a call on which the policy could not decide:
	// "refuse" (503, the default) or "pass".
	OnError OnError `json:"on_error,omitempty"`
	// At is where the policy is configured, "Caddyfile:12": see Entry.Words.
	At string `json:"at,omitempty"`

	// Named tells whether the configuration names the policy: what is named guards
	// even if a release of the platform would do without.
	Named bool `json:"-"`
}

// Mode says whether refusals are carried out.
type Mode string

// OnError says what becomes of a call on which a policy could not decide.
type OnError string

const (
	Enforce Mode = "enforce"
	Observe Mode = "observe"

	RefuseOnError OnError = "refuse"
	PassOnError   OnError = "pass"
)

// configure takes the options of a policy's own block that all policies have; known is
// false for any other.
func (s *Settings) configure(o Option) (known bool, err error) {
	var word string
	switch o.Name {
	case "mode":
		word, err = o.Word(string(Enforce), string(Observe))
		s.Mode = Mode(word)
	case "on_error":
		word, err = o.Word(string(RefuseOnError), string(PassOnError))
		s.OnError = OnError(word)
	default:
		return false, nil
	}
	return true, err
}

// Validate checks the settings: the Caddyfile and JSON come through here alike.
func (s *Settings) Validate() error {
	switch s.Mode {
	case "", Enforce, Observe:
	default:
		return fmt.Errorf("mode: %q is neither enforce nor observe", s.Mode)
	}
	switch s.OnError {
	case "", RefuseOnError, PassOnError:
	default:
		return fmt.Errorf("on_error: %q is neither refuse nor pass", s.OnError)
	}
	return nil
}
