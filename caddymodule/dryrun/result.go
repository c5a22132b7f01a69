package dryrun

import (
	"strings"

	"github.com/restwarden/restwarden/caddymodule/routing"
	"github.com/restwarden/restwarden/policies/openings"
	"github.com/restwarden/restwarden/policies/policy"
)

// Answer is what becomes of a request.
type Answer string

// The answers.
const (
	Pass        Answer = "pass"         // the gateway forwards the call
	Refused     Answer = "refused"      // the gateway refuses it
	WouldRefuse Answer = "would_refuse" // the gateway would refuse it, but only observes: the call passes
	Page        Answer = "page"         // the request is no call, the gateway forwards it
	Unknown     Answer = "unknown"      // it depends on facts that nobody gave, see Result.Missing
	NotReached  Answer = "not_reached"  // the gateway is not on the request's way
)

// Result says what became of a request, and why. It is the JSON of "explain".
type Result struct {
	Version int    `json:"v"` // 1
	Answer  Answer `json:"answer"`
	// Request is the request line as judged, and As who made it.
	Request string `json:"request"`
	As      string `json:"as"`

	// Site is the site's name, with the place of its directive.
	Site     string `json:"site,omitempty"`
	At       string `json:"at,omitempty"`
	Imported string `json:"imported,omitempty"`
	// Missed is set if the gateway is not on the request's way.
	Missed *Missed `json:"missed,omitempty"`

	// Behind is what of Caddy's own answers behind the gateway, "respond 404": a call that
	// passes does not come to the site.
	Behind string `json:"behind,omitempty"`

	Reading   *Reading   `json:"reading,omitempty"`
	Caller    string     `json:"caller,omitempty"` // who is calling, as the gateway found out; "" if no policy asked
	Policies  []Policy   `json:"policies,omitempty"`
	Questions []Question `json:"questions,omitempty"`
	Decision  *Decision  `json:"decision,omitempty"` // of a refusal
	// Decided is the rule of access that decided on a call that passed.
	Decided *Rule `json:"decided,omitempty"`

	// Assumed says what the run took for granted, such as the answer of forward_auth.
	Assumed []string `json:"assumed,omitempty"`
	// Missing says what nobody gave and the answer depends on.
	Missing []string `json:"missing,omitempty"`
	Change  *Change  `json:"change,omitempty"`

	seeker openings.Seeker // who was calling, as the gateway found out
}

// Missed says why the gateway is not on a request's way.
type Missed struct {
	Answered string `json:"answered"`           // what answered: "respond 200", "reverse_proxy 127.0.0.1:8080"
	Status   int    `json:"status"`             // of that answer
	Matcher  string `json:"matcher,omitempty"`  // what left the request out: "path /wp-json/*"
	At       string `json:"at,omitempty"`       // the directive that would have guarded
	Imported string `json:"imported,omitempty"` // and where its snippet was imported

	handler bool // a handler of the configuration answered
}

// Leads tells whether what answered may be a platform.
func (m *Missed) Leads() bool { return m.handler && Leads(m.Answered) }

// Leads is Missed.Leads for what Serving returns.
func Leads(answers string) bool {
	name, _, _ := strings.Cut(answers, " ")
	return routing.KindOf(name).Leads()
}

// Reading is how the gateway reads the request.
type Reading struct {
	Kind    string   `json:"kind"` // "call", "batch", "page", "refused"
	Route   string   `json:"route,omitempty"`
	Pattern string   `json:"pattern,omitempty"` // the site's own, if its index is known
	Method  string   `json:"method,omitempty"`
	ID      string   `json:"id,omitempty"`
	Form    string   `json:"form,omitempty"` // "pretty", "query", "body" or "alias"
	Reason  string   `json:"reason,omitempty"`
	Sources []Source `json:"sources,omitempty"` // that the route, the method and the id were looked for in
	Parts   []Part   `json:"parts,omitempty"`
	// Message is how the body was read as a message of an AI agent.
	Message *Message `json:"message,omitempty"`
}

// Source is a place that may name the route, the method or the id.
type Source struct {
	Of    string `json:"of"`              // "route", "method" or "id"
	In    string `json:"in"`              // "path", "query rest_route", "header X-HTTP-Method-Override"
	Value string `json:"value,omitempty"` // what it says
	Named bool   `json:"named"`           // it named what Of says
	Why   string `json:"why,omitempty"`   // why it did not
}

// Message is a message to a server of tools.
type Message struct {
	Door      bool   `json:"door"` // the route is one of a server of tools
	Method    string `json:"method,omitempty"`
	Tool      string `json:"tool,omitempty"`
	Ability   string `json:"ability,omitempty"`
	Resource  string `json:"resource,omitempty"`
	Ambiguous string `json:"ambiguous,omitempty"` // why it has no certain reading
}

// Part is a part of a batch.
type Part struct {
	Method string `json:"method"`
	Route  string `json:"route"`
	ID     string `json:"id,omitempty"`
}

// Policy is a policy that was asked.
type Policy struct {
	Name    string `json:"name"`
	Verdict string `json:"verdict"` // "pass", "refuse", "would_refuse" or "undecided"
	Code    string `json:"code,omitempty"`
	Error   string `json:"error,omitempty"`
	Rules   []Rule `json:"rules,omitempty"`
}

// Rule is a rule that a policy considered.
type Rule struct {
	Rule string `json:"rule"`
	// Origin is where the rule comes from.
	Origin policy.Origin `json:"origin,omitempty"`
	// Allow is whom a rule of access admits: "role editor".
	Allow string `json:"-"`
	// Line is what the rule says, where Rule is only the plugin that it comes from.
	Line     string `json:"line,omitempty"`
	At       string `json:"at,omitempty"`
	Imported string `json:"imported,omitempty"`
	Matched  bool   `json:"matched"`
	Why      string `json:"why,omitempty"` // why it did not match: "method", "route", "id", "message", "except", "replaced"
}

// Text names the rule, and the line that it stands for.
func (r *Rule) Text() string {
	if r.Line == "" {
		return r.Rule
	}
	return r.Rule + ": " + r.Line
}

// Question is a question to the site.
type Question struct {
	Kind   string `json:"kind"`
	Method string `json:"method"`
	Route  string `json:"route"`
	Status int    `json:"status,omitempty"`
	Error  string `json:"error,omitempty"`
}

// Decision is a refusal.
type Decision struct {
	Policy  string `json:"policy"`
	Code    string `json:"code"`
	Status  int    `json:"status"`
	Message string `json:"message,omitempty"`
	Rule    string `json:"rule,omitempty"`
	At      string `json:"at,omitempty"`
	// Origin is where the rule comes from; "" where Rule is no rule.
	Origin   policy.Origin `json:"origin,omitempty"`
	Imported string        `json:"imported,omitempty"`
	Why      string        `json:"why"`
	Error    string        `json:"error,omitempty"`
}

// Change is the smallest line that changes the answer. It has been tried.
type Change struct {
	Line   string `json:"line"`             // "allow anyone POST /contact-form-7/v1/contact-forms/:id/feedback"
	Before string `json:"before,omitempty"` // the place that it must stand before; "" for anywhere in the directive
	Scope  string `json:"scope,omitempty"`  // the scope that takes the line; "" for the directive
	Answer Answer `json:"answer"`           // with the line
	// Risk is why the catalogue calls the route risky that the line opens.
	Risk string `json:"risk,omitempty"`
}
