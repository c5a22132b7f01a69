package testfile

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/restwarden/restwarden/caddymodule/command/sitename"
	"github.com/restwarden/restwarden/caddymodule/dryrun"
)

// Status is what became of a test.
type Status string

// The statuses. A test that cannot be known has not passed.
const (
	Passed  Status = "passed"
	Failed  Status = "failed"
	Unknown Status = "unknown"
)

// Outcome is what became of one test.
type Outcome struct {
	Position
	Name     string `json:"name"`
	Status   Status `json:"status"`
	Expected string `json:"expected"`
	Got      string `json:"got"`
	// Spelling names the spelling that failed; "" for the request as written.
	Spelling string `json:"spelling,omitempty"`
	// Requests counts what was judged.
	Requests int `json:"requests"`
	// Rule decided, at the place At, whose snippet was imported at Imported.
	Rule     string `json:"rule,omitempty"`
	At       string `json:"at,omitempty"`
	Imported string `json:"imported,omitempty"`
	// Why says more, in a sentence.
	Why string `json:"why,omitempty"`
	// Curl and Explain are command lines of the request that failed.
	Curl    string `json:"curl,omitempty"`
	Explain string `json:"explain,omitempty"`
	// Also are further counter-examples, each by another rule.
	Also []string `json:"also,omitempty"`
}

// Runner runs the tests of one configuration.
type Runner struct {
	Gateway Gateway
	// Choice says at which sites tests run.
	Choice sitename.Choice
	// Flags say in command lines of explain which configuration it is.
	Flags string
	// Step is called before each test; it may be nil.
	Step func(t *Test)

	decided map[decider]bool
	*sites  // nil until somebody asks
}

// decider is a rule at its place.
type decider struct{ rule, at string }

// Run runs the tests of a file. The error says that the context has ended, or that sites are named which the configuration has not.
func (r *Runner) Run(ctx context.Context, f *File) ([]Outcome, error) {
	if !r.Choice.All() {
		if err := r.look(ctx); err != nil {
			return nil, err
		}
	}
	outcomes := make([]Outcome, 0, len(f.Tests))
	for i := range f.Tests {
		t := &f.Tests[i]
		if r.Step != nil {
			r.Step(t)
		}
		each, err := r.each(ctx, t)
		if err != nil {
			return nil, &Error{t.At, "at: " + err.Error()}
		}
		for _, one := range each {
			o := r.test(ctx, one)
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
			o.Position, o.Name = t.At, one.Name
			outcomes = append(outcomes, o)
		}
		outcomes = append(outcomes, r.lost(t)...)
	}
	return outcomes, nil
}

func (r *Runner) test(ctx context.Context, t *Test) Outcome {
	if t.Proof != nil {
		return r.prove(ctx, t.Proof)
	}
	o := r.judge(ctx, t, t.Raw, "")
	if o.Status != Passed || !t.Spellings {
		return o
	}
	spellings, err := r.Gateway.Spell(ctx, t.Request)
	if err == nil && len(spellings) == 0 {
		err = errors.New("the request is no call that has other spellings")
	}
	if err != nil {
		return Outcome{Status: Failed, Expected: o.Expected, Got: "no spellings", Why: err.Error(), Requests: o.Requests}
	}
	for _, s := range spellings {
		if s.Overrides && t.Expect.Answer == dryrun.Pass {
			continue // it passes only where another call does, too
		}
		another := r.judge(ctx, t, s.Raw, s.Name)
		another.Requests = o.Requests + 1
		if o = another; o.Status != Passed {
			return o
		}
	}
	return o
}

// judge runs one spelling of a request. A spelling may be refused by whatever code.
func (r *Runner) judge(ctx context.Context, t *Test, raw []byte, spelling string) Outcome {
	want := t.Expect
	if spelling != "" {
		want = Expect{Answer: want.Answer}
	}
	o := Outcome{Status: Failed, Expected: want.String(), Spelling: spelling, Requests: 1}
	request := t.Request.Request
	request.Raw = raw
	result, err := r.Gateway.Run(ctx, request)
	if err != nil {
		o.Got, o.Why = "no request", err.Error()
		return o
	}
	r.note(result)
	o.tell(result)
	switch {
	case result.Answer == dryrun.Unknown:
		o.Status = Unknown
	case want.met(result):
		o.Status = Passed
	}
	switch {
	case o.Status == Passed:
	case spelling == "":
		o.Curl, o.Explain = r.curl(t.Request), r.explain(t.Request)
	default:
		o.Explain = r.explainRaw(t.Request, raw)
	}
	return o
}

// met tells whether a result is what was expected.
func (e Expect) met(result *dryrun.Result) bool {
	if result.Answer != e.Answer || e.Answer == dryrun.Pass && result.Behind != "" {
		return false
	}
	d := result.Decision
	if d == nil {
		return e.Code == "" && e.By == "" && e.Rule == ""
	}
	return (e.Code == "" || e.Code == d.Code) && (e.By == "" || e.By == d.Policy) &&
		(e.Rule == "" || e.Rule == d.At || strings.HasSuffix(d.At, ":"+e.Rule))
}

// tell writes what came, and by which rule.
func (o *Outcome) tell(result *dryrun.Result) {
	o.Got = said(result.Answer, "")
	switch d, rule := result.Decision, result.Decided; {
	case result.Answer == dryrun.Unknown:
		o.Why = depends(result.Missing)
	case d != nil:
		o.Got = said(result.Answer, d.Code)
		o.Rule, o.At, o.Imported, o.Why = d.Rule, d.At, d.Imported, d.Why
		if o.Rule != d.Policy {
			o.Got += " by " + d.Policy
		}
		if result.Answer == dryrun.WouldRefuse {
			o.Why = strings.TrimSpace(o.Why + " The site only observes.")
		}
	case result.Answer == dryrun.Pass && result.Behind != "":
		o.Got = "the call does not come to the site: " + result.Behind + " answers behind the gateway"
	case rule != nil:
		o.Rule, o.At, o.Imported = rule.Rule, rule.At, rule.Imported
	case result.Missed != nil:
		o.Why = missed(result.Missed)
	}
}

// Hints of dry runs name flags of explain.
var (
	recordHint  = regexp.MustCompile(`\(--id (\d+)=[^()]*\)`)
	abilityHint = regexp.MustCompile(`\(--ability ([a-z0-9/-]+)=[^()]*\)`)
	flagHint    = regexp.MustCompile(` \([^()]*--[^()]*\)`)
)

// depends says what nobody gave.
func depends(on []string) string {
	text := "it depends on " + strings.Join(on, ", and on ")
	text = recordHint.ReplaceAllString(text, "(ids: { $1: order }, subscription or none)")
	text = abilityHint.ReplaceAllString(text, "(abilities: { $1: readonly }, write or destructive)")
	return flagHint.ReplaceAllString(text, "")
}

// missed says what keeps a request from the gateway.
func missed(m *dryrun.Missed) string {
	text := "answered by " + m.Answered
	if m.Matcher != "" {
		text += ", left out by " + m.Matcher
	}
	if m.At != "" {
		text += fmt.Sprintf(", past the directive at %s", m.At)
	}
	return text
}
