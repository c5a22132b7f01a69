package policies

import (
	"context"
	"fmt"
	"net/http"
)

// Policy is one reason to refuse a call. Its exported fields are its JSON
// configuration. A policy is used by many requests at once.
type Policy interface {
	// Configure takes one option of the directive. It checks syntax and arity
	// only; errors come from Option.Errorf and name file and line.
	Configure(Option) error
	// Provision checks the configuration and prepares the policy for site.
	// It does no I/O.
	Provision(site *Site) error
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

// ResponsePolicy is a Policy that changes answers on their way to the client.
type ResponsePolicy interface {
	// Rewrites tells whether the answer to r, a call or a page, is to be
	// changed, and how much of the body is needed.
	Rewrites(r *Request) Rewrite
	// Rewrite changes the answer in place: header, and body where it was asked
	// for. An error means that the answer must not be sent.
	Rewrite(r *Request, answer *Answer) error
}

// Rewrite is how much of an answer a ResponsePolicy needs.
type Rewrite uint8

const (
	RewriteNothing Rewrite = iota
	RewriteHeader          // status and header
	RewriteBody            // the whole body too, decoded, up to a bound
)

// RequestPolicy is a Policy that changes the request that is sent on. It is
// asked before the call is judged, and the call is read again afterwards.
type RequestPolicy interface {
	// Change changes req and tells whether it did.
	Change(r *Request, req *http.Request) bool
}

// Common is what every policy can be told, beside its own options.
type Common struct {
	// Off switches the policy off.
	Off bool `json:"off,omitempty"`
	// Mode is "enforce", "observe" (judge, count and log, refuse nothing), or
	// empty: the directive's mode.
	Mode Mode `json:"mode,omitempty"`
	// OnError is what happens to a call on which the policy could not decide:
	// "refuse" (503, the default) or "pass".
	OnError OnError `json:"on_error,omitempty"`
	// At is where the policy is first configured, "Caddyfile:12".
	At string `json:"at,omitempty"`

	named bool // the configuration names the policy
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

func (c *Common) common() *Common { return c }

// Named tells whether the configuration names the policy: what is named stays
// on where a release would let it stand down.
func (c *Common) Named() bool { return c.named }

// commonOption takes the options that all policies share; known is false for
// any other.
func (c *Common) commonOption(o Option) (known bool, err error) {
	switch o.Name {
	case "mode":
		word, err := o.Word(string(Enforce), string(Observe))
		c.Mode = Mode(word)
		return true, err
	case "on_error":
		word, err := o.Word(string(RefuseOnError), string(PassOnError))
		c.OnError = OnError(word)
		return true, err
	}
	return false, nil
}

// onlyCommon configures a policy that has no options of its own.
func (c *Common) onlyCommon(o Option) error {
	if len(o.Args) > 0 {
		return o.Errorf("%s takes no arguments here", o.Name)
	}
	return o.Each(func(o Option) error {
		if known, err := c.commonOption(o); known {
			return err
		}
		return o.Unknown()
	})
}

func (c *Common) validate() error {
	switch c.Mode {
	case "", Enforce, Observe:
	default:
		return fmt.Errorf("mode: %q is neither enforce nor observe", c.Mode)
	}
	switch c.OnError {
	case "", RefuseOnError, PassOnError:
	default:
		return fmt.Errorf("on_error: %q is neither refuse nor pass", c.OnError)
	}
	return nil
}

// SecretHolder is a Policy whose configuration holds secrets: the returned
// strings may hold placeholders, which are resolved before Provision.
type SecretHolder interface {
	Secrets() []*string
}

// Watcher is a Policy that keeps facts which a passing request may end.
type Watcher interface {
	// Watch returns what to do once the platform has answered r, with status and
	// header; nil for requests that end nothing.
	Watch(r *Request) func(*Answer)
}
