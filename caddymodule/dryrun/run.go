package dryrun

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"sync"

	"github.com/restwarden/restwarden/caddymodule/gateway"
	"github.com/restwarden/restwarden/caddymodule/routing"
	"github.com/restwarden/restwarden/policies/abilities"
	"github.com/restwarden/restwarden/policies/ask"
	"github.com/restwarden/restwarden/policies/call"
	"github.com/restwarden/restwarden/policies/openings"
	"github.com/restwarden/restwarden/policies/policy"
	"github.com/restwarden/restwarden/policies/review"
)

// run is one request on its way. Questions of the gateway may outlive the request, so that
// a lock guards it.
type run struct {
	stub stub
	live bool                // the credentials are those of a client, so that the real site may be asked with them
	asks *gateway.ServedSite // it is that of [Config.Behind] for this site; nil for any other

	mu       sync.Mutex
	passed   bool          // the directive of asks
	reached  bool          // the real site, by a request of Behind
	failed   error         // why that has not answered
	began    *http.Request // as the server's first handler saw it
	last     string        // what may have answered: the last handler that was reached
	behind   string        // the same behind the gateway
	site     *gateway.ServedSite
	pending  map[string][]Rule // considered for a policy that has not spoken yet
	result   Result
	decision policy.Decision
	decided  bool
}

type contextKey int

const (
	runKey contextKey = iota
	questionKey
)

var errNoRun = errors.New("no dry run")

func runOf(ctx context.Context) *run {
	r, _ := ctx.Value(runKey).(*run)
	return r
}

// listening returns the run of a request; nil for a question, which another gateway on the
// way judges like any request.
func listening(ctx context.Context) *run {
	if questionOf(ctx) != nil {
		return nil
	}
	return runOf(ctx)
}

func questionOf(ctx context.Context) *ask.Question {
	q, _ := ctx.Value(questionKey).(*ask.Question)
	return q
}

// begin notes the request as the server's first handler sees it, for the matchers.
func (r *run) begin(req *http.Request) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.began == nil && questionOf(req.Context()) == nil {
		r.began = req.Clone(req.Context())
	}
}

// mark notes a handler that may answer.
func (r *run) mark(req *http.Request, name string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case name == "" || questionOf(req.Context()) != nil:
	case r.site == nil:
		r.last = name
	default:
		r.behind = name
	}
}

// pass notes a handler that the dry run has left out.
func (r *run) pass(req *http.Request, name string) {
	if questionOf(req.Context()) == nil {
		r.assume("%s, which is not run here, lets the request pass unchanged", name)
	}
}

func (r *run) assume(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if text := fmt.Sprintf(format, args...); !slices.Contains(r.result.Assumed, text) {
		r.result.Assumed = append(r.result.Assumed, text)
	}
}

// answer answers in the place of the site: a question as the stub, a request with an
// empty object.
func (r *run) answer(req *http.Request) (*ask.Answer, error) {
	q := questionOf(req.Context())
	if r.asks != nil {
		return nil, ErrNothingBehind
	}
	if q == nil {
		return answerJSON(http.StatusOK, map[string]any{}), nil
	}
	a, err := r.stub.answer(q, req)
	if r.live && !reads(req.Method) {
		a, err = nil, &missing{"the answer to a question that writes, which --live leaves out"}
	}
	if unknown, ok := errors.AsType[*missing](err); ok {
		r.mu.Lock()
		defer r.mu.Unlock()
		if !slices.Contains(r.result.Missing, unknown.what) {
			r.result.Missing = append(r.result.Missing, unknown.what)
		}
	}
	return a, err
}

// observer returns the observer of a configuration: it finds the run in the context of
// what it hears.
func observer(odd func(f routing.Finding, at, imported string), installed func(at, imported string) *review.Installed) *gateway.Observer {
	return &gateway.Observer{
		Odd:       odd,
		Installed: installed,
		Read: func(r *http.Request, original *url.URL, s *gateway.ServedSite, c *call.Call) {
			if run := listening(r.Context()); run != nil {
				run.read(r, original, s, c)
			}
		},
		Passed: func(ctx context.Context, said, name string) {
			if run := runOf(ctx); run != nil && run.asks != nil && run.asks.Said == said && run.asks.Name == name {
				run.mu.Lock()
				defer run.mu.Unlock()
				run.passed = true
			}
		},
		Asking: func(ctx context.Context, q *ask.Question) context.Context {
			return context.WithValue(ctx, questionKey, q)
		},
		Answered: func(ctx context.Context, q *ask.Question, a *ask.Answer, err error) {
			if run := runOf(ctx); run != nil && questionOf(ctx) == q {
				run.answered(q, a, err)
			}
		},
		Trace: policy.Trace{
			Asked: func(r *policy.Request, policy string, v policy.Verdict, err error, _ bool) {
				if run := listening(r.HTTP.Context()); run != nil {
					run.asked(r, policy, v, err)
				}
			},
			Rule: func(r *policy.Request, policy string, c policy.Considered) {
				if run := listening(r.HTTP.Context()); run != nil {
					run.considered(policy, c)
				}
			},
			Decided: func(r *policy.Request, d policy.Decision) {
				if run := listening(r.HTTP.Context()); run != nil {
					run.decide(r, d)
				}
			},
		},
	}
}

// read notes that a gateway has read the request.
func (r *run) read(req *http.Request, original *url.URL, s *gateway.ServedSite, c *call.Call) {
	if r.last != "" && r.site == nil {
		r.assume("%s, before the gateway, lets the request pass", r.last)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.site = s
	if c.Base != "" && c.Form == call.Pretty && s.Base == "" {
		r.result.Assumed = append(r.result.Assumed, "a site answers below "+c.Base)
	}
	r.result.Site, r.result.At, r.result.Imported = s.Name, s.At, s.Imported
	r.result.Reading = readingOf(req, original, s, c)
}

// answered notes a question. The REST root is asked for in the background.
func (r *run) answered(q *ask.Question, a *ask.Answer, err error) {
	if q.Kind == ask.KindIndex {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	asked := Question{Kind: string(q.Kind), Method: cmp.Or(q.Method, http.MethodGet), Route: cmp.Or(q.Route, q.Page)}
	if q.Query != "" {
		asked.Route += "?" + q.Query
	}
	var unknown *missing
	switch {
	case errors.As(err, &unknown):
		asked.Error = "not known"
	case err != nil:
		asked.Error = err.Error()
	default:
		asked.Status = a.Status
	}
	r.result.Questions = append(r.result.Questions, asked)
}

// considered notes a rule for the policy that will speak next.
func (r *run) considered(name string, c policy.Considered) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.pending == nil {
		r.pending = map[string][]Rule{}
	}
	rule := Rule{Rule: c.Rule, Origin: c.Origin, Allow: c.Allow, Line: c.Line, At: c.At, Matched: c.Why == policy.Matches, Why: string(c.Why)}
	if c.At != "" {
		rule.Imported = r.site.ImportedAt(c.At)
	}
	r.pending[name] = append(r.pending[name], rule)
}

// asked notes the verdict of a policy.
func (r *run) asked(req *policy.Request, policy string, v policy.Verdict, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	p := Policy{Name: policy, Verdict: "pass", Rules: r.pending[policy]}
	delete(r.pending, policy)
	var unread *call.Refusal
	switch {
	case errors.As(err, &unread):
		p.Verdict, p.Code, p.Error = "refuse", string(unread.Code), unread.Reason
	case err != nil:
		p.Verdict, p.Error = "undecided", err.Error()
	case v.Refused():
		p.Verdict, p.Code = "refuse", string(v.Code)
		if req.Observed || v.Observed {
			p.Verdict = "would_refuse"
		}
	}
	r.result.Policies = append(r.result.Policies, p)
}

// decide notes the decision, and what is known only while the call is open.
func (r *run) decide(req *policy.Request, d policy.Decision) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.decision, r.decided = d, true
	r.result.seeker = openings.SeekerOf(req)
	if who, known := req.Known(); known {
		r.result.Caller = who.Kind.String()
	}
	if rule := req.Matched.Rule; rule != nil && d.Outcome == policy.Pass {
		r.result.Decided = &Rule{Rule: rule.String(), Origin: rule.Origin(), Allow: rule.Allow, At: rule.At, Matched: true}
		if rule.Origin() == policy.OriginPlugin {
			r.result.Decided.Line = rule.Line()
		}
	}
	if r.result.Reading != nil {
		r.result.Reading.Parts = partsOf(req.Call)
		if m, read := abilities.ToolMessageOf(req); read {
			message := Message(m)
			r.result.Reading.Message = &message
		}
	}
}
