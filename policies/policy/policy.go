package policy

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/restwarden/restwarden/policies/ask"
	"github.com/restwarden/restwarden/policies/call"
	"github.com/restwarden/restwarden/policies/call/routes"
	"github.com/restwarden/restwarden/policies/typo"
)

// Policy is one entry of the catalog, ready for one directive. Its exported fields are
// its JSON configuration. The interfaces that it implements, of this file and of package
// review, say what it can do; it implements io.Closer if it owns a resource. Many requests
// use it at once.
//
// [Settings] holds what is configured for every policy alike.
type Policy any

// Configurer is a Policy with options of its own.
type Configurer interface {
	// Configure takes one line of the directive, or the policy's own block, whose name is
	// the bare name of the policy. It checks syntax and arity only. Errors come from
	// Option.Errorf and name file and line.
	Configure(Option) error
}

// SecretHolder is a Policy whose configuration holds secrets. Their texts may hold
// placeholders, which the gateway resolves before it calls any other method.
type SecretHolder interface {
	Secrets() []Secret
}

// Secret is a secret of the configuration.
type Secret struct {
	Text *string
	At   string // where it stands; "" if that is where the policy does
}

// Declarer is a Policy that other policies of the site name in their rules. All declarers
// declare before any policy is provisioned.
type Declarer interface {
	// Declare checks the configuration and tells the site which names rules may use.
	Declare(site *Site) error
}

// Provisioner is a Policy that must be prepared.
type Provisioner interface {
	// Provision checks the configuration and prepares the policy for site. It does no
	// network I/O. Close closes what it opens. The chain also calls Close if this
	// or another policy fails to provision, and on policies that it had not reached.
	Provision(site *Site, settings Settings) error
}

// Router is a Policy whose configuration names routes.
type Router interface {
	// EachRoute calls do for each line that names routes, in the order of the configuration.
	EachRoute(do func(RouteLine))
}

// RouteLine is a line that names routes.
type RouteLine struct {
	At, Text string // its place, and what to call it
	Routes   []routes.Pattern
	// Own tells that the owner has written the routes: neither the catalogue of plugins nor the
	// program has.
	Own bool
	// Rule is the rule that the line is; nil for other lines.
	Rule *Rule
}

// ReadingChecker is a Policy that judges the reading of a request. The chain asks it even
// if there is no call to judge (Call.Kind is call.Refused).
type ReadingChecker interface {
	CheckReading(r *Request) (Verdict, error)
}

// Checker is a Policy that judges calls.
type Checker interface {
	// Check judges one call: a single one, a part of a batch, or the batch request as a
	// whole (Call.Kind is call.Batch). An error means that the policy could not decide; a
	// *call.Refusal means that the request has no certain reading.
	Check(ctx context.Context, r *Request) (Verdict, error)
}

// BatchChecker is a Policy that judges a batch with all its parts in one step.
type BatchChecker interface {
	CheckBatch(ctx context.Context, r *Request) (Verdict, error)
}

// EarlyChecker is a Policy that judges a batch by its own route before its body is read,
// so that a caller who may not use the batch route costs nothing more.
type EarlyChecker interface {
	CheckEarly(ctx context.Context, r *Request) (Verdict, error)
}

// PreflightChecker is a Policy that judges the preflights of browsers too, which pass all
// others.
type PreflightChecker interface {
	CheckPreflight(ctx context.Context, r *Request) (Verdict, error)
}

// PageChecker is a Policy that judges requests which are no REST calls, too.
type PageChecker interface {
	// CheckPage judges a page. It is asked about every page of the site, and asks the platform nothing.
	CheckPage(r *Request) (Verdict, error)
}

// Verifier is a Policy that verifies the signatures of calls. It enforces on a call with
// Request.MustSign, whatever the modes say.
type Verifier interface {
	Verifies()
}

// Companion is a Policy that asks another one of its chain.
type Companion interface {
	// Accompany is called once for each other policy of the chain, in order.
	Accompany(other Policy)
}

// RequestChanger is a Policy that changes the request that is sent on. It runs before the
// call is judged; the gateway reads the call again afterwards.
type RequestChanger interface {
	// Change changes req and tells whether it did.
	Change(r *Request, req *http.Request) bool
}

// AnswerChanger is a Policy that changes answers on their way to the client.
type AnswerChanger interface {
	// Rewrites tells whether the policy changes the answer to r, which may be a call or a
	// page, and how much of the answer it needs.
	Rewrites(r *Request) Rewrite
	// Rewrite changes the answer in place: the header, and the body if Rewrites asked for
	// it. An error means that the answer must not be sent.
	Rewrite(r *Request, answer *ask.Answer) error
}

// Rewrite is how much of an answer an AnswerChanger needs.
type Rewrite uint8

// What Rewrites can ask for.
const (
	RewriteNothing Rewrite = iota
	RewriteHeader          // status and header
	RewriteBody            // the whole body too, decoded, up to a bound
)

// RefusalWriter is a Policy that words the refusals of all policies for clients of another
// protocol than REST.
type RefusalWriter interface {
	// WriteRefusal returns what to answer a refused call with, in place of the platform's error
	// object, or nil.
	WriteRefusal(r *Request, v Verdict) *ask.Answer
}

// Explainer is a Policy that words its own refusals for support staff.
type Explainer interface {
	// Why returns one sentence about a refusal, made of what the verdict says of itself alone, or ""
	// where that of its code or of the platform's answer is right. It says nothing of a record.
	Why(v Verdict) string
}

// AgentAuditor is a Policy that knows which requests run something for an agent.
type AgentAuditor interface {
	// AgentCalls returns what r runs, or would have run if it had not been refused: one call
	// for a message or a run over REST, one for each such part of a batch. It returns nil for
	// nearly all requests, and must be called before the request is forwarded.
	AgentCalls(r *Request) []AgentCall
}

// AgentCall is one call that an agent makes of an ability, a tool, a prompt or a resource.
// What has no certain reading is empty.
type AgentCall struct {
	Call     *call.Call // the request, or the part of a batch
	Method   string     // of the protocol, "tools/call"; of HTTP for a run over REST
	ID       string     // of the message, as written; "" for a run over REST
	Ability  string     // the id, where it is known
	Tool     string     // as called; likewise Prompt and Resource
	Prompt   string
	Resource string
	// Hash is the SHA-256 in hex of the canonical arguments, "" if there are none. Arguments of more
	// than 16 KiB are not made canonical.
	Hash string
	// Arguments are the same arguments, cut at a bound, if the log shall hold them.
	Arguments string
}

// Confirmer is a Policy that lets calls wait for a person.
type Confirmer interface {
	// Confirms tells whether any call may have to wait.
	Confirms() bool
	// Notifies returns the address that is told of each new confirmation, or "". It is a
	// secret.
	Notifies() string
}

// Watcher is a Policy that keeps facts which a forwarded request may end.
type Watcher interface {
	// Watch returns the function to call with status and header once the platform has
	// answered r. It returns nil if r cannot end any fact.
	Watch(r *Request) func(*ask.Answer)
}

// Learner is a Policy that learns facts from answers as they pass.
type Learner interface {
	// Learn returns what reads the answer to r. It is nil for nearly all requests, whose
	// answers are then sent without a look. The gateway calls Learn before it sends r on.
	Learn(r *Request) Lesson
}

// Lesson reads one answer while it is sent. Its methods are called one after another, after
// Begin perhaps by another goroutine than the request's, and beyond its end.
type Lesson interface {
	// Begin tells whether an answer with this status and header teaches anything.
	Begin(*ask.Answer) bool
	// Write takes the body, decoded. After an error nothing of it is needed any more.
	Write([]byte) (int, error)
	// End tells whether the body has come to its end. It is called once after a Begin that
	// returned true, and must not wait for anybody.
	End(whole bool)
}

// Settings is what the owner can set for every policy. The gateway reads it; a policy
// receives it in Provision.
type Settings struct {
	// Off switches the policy off.
	Off bool `json:"off,omitempty"`
	// Mode is "enforce", "observe" (judge, count and log, refuse nothing), or
	// empty: the directive's mode.
	Mode Mode `json:"mode,omitempty"`
	// OnError says what happens to a call on which the policy could not decide: "refuse"
	// (503, the default) or "pass".
	OnError OnError `json:"on_error,omitempty"`
	// At is where the policy is configured, "Caddyfile:12"; see Entry.Words.
	At string `json:"at,omitempty"`

	// Named tells whether the configuration names the policy. A named policy guards even
	// a release of the platform that has its own check.
	Named bool `json:"-"`
}

// Mode says whether refusals are carried out.
type Mode string

// OnError says what happens to a call on which a policy could not decide.
type OnError string

// The modes, and what happens to a call that is undecided.
const (
	Enforce Mode = "enforce"
	Observe Mode = "observe"

	RefuseOnError OnError = "refuse"
	PassOnError   OnError = "pass"
)

// settingsWords are the options of configure.
var settingsWords = []string{"mode", "on_error"}

// configure takes the options that every policy's block may hold; known is false for any
// other option.
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

// validate checks the settings, from Caddyfile and JSON alike.
func (s *Settings) validate() error {
	if err := s.Mode.Validate(); err != nil {
		return err
	}
	return typo.CheckOption("on_error", s.OnError, string(RefuseOnError), string(PassOnError))
}

// Validate returns an error if m is neither empty nor a mode.
func (m Mode) Validate() error {
	return typo.CheckOption("mode", m, string(Enforce), string(Observe))
}

// errorf returns err with the policy's name, and with its place unless err has one.
func (s *Settings) errorf(name string, err error) error {
	err = fmt.Errorf("%s: %w", name, err)
	if _, placed := errors.AsType[*PlacedError](err); placed {
		return err
	}
	return Option{Pos: s.At}.Errorf("%w", err)
}
