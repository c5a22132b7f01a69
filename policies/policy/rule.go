package policy

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/restwarden/restwarden/policies/call"
	"github.com/restwarden/restwarden/policies/call/routes"
	"github.com/restwarden/restwarden/policies/condition"
	"github.com/restwarden/restwarden/policies/typo"
)

// Rule is one line `allow <who> [<methods>] <route>...`, with or without a block of conditions, or
// `deny [<methods>] <route>... [as 404]`.
type Rule struct {
	// Allow names the admitted callers: "anyone", "users", "role <name>[,<name>]",
	// "capability <name>", "signed <signature>[,<signature>]", "scope <name>[,<name>]". It is
	// empty in a deny rule.
	Allow string `json:"allow,omitempty"`
	// Deny is true if the rule admits no caller.
	Deny bool `json:"deny,omitempty"`
	// Methods are effective methods. Empty means all; GET covers HEAD.
	Methods []string `json:"methods,omitempty"`
	// Routes are written as in the REST index.
	Routes []string `json:"routes"`
	// Conditions must hold for a call that an allow rule admits; nil for none.
	Conditions *condition.Conditions `json:"conditions,omitempty"`
	// As404 denies with 404 rest_no_route instead of 403.
	As404 bool `json:"as_404,omitempty"`
	// From is the plugin whose line `allow plugin` or `deny plugin` the rule comes from. Such
	// a rule never replaces a built-in one.
	From string `json:"from,omitempty"`
	// At is where the rule stands, "Caddyfile:12".
	At string `json:"at,omitempty"`

	who    Who
	names  []string // of roles, signatures or scopes, or the capability
	target Target
	origin Origin // "" where From tells, see Rule.Origin
	guards bool   // it only takes away, see access.Guard
	text   string // the rule's name in the log, if the Caddyfile has no such line
}

// RuleOption reads an allow or deny line.
func RuleOption(o Option) (Rule, error) {
	conditions, err := ConditionsOption(o)
	if err != nil {
		return Rule{}, err
	}
	r := Rule{From: o.From, At: o.Pos, Deny: o.Name == "deny", Conditions: conditions}
	args := o.Args
	if !r.Deny {
		n := 1
		if len(args) > 0 && whoWords[args[0]] >= ByRole {
			n = 2
		}
		if len(args) < n || strings.HasPrefix(args[0], "/") {
			return r, o.Missing("needs whom, then routes")
		}
		if err := typo.Check(args[0], append(slices.Clip(whoNames), "plugin")...); err != nil {
			return r, o.Invalid(err)
		}
		if n == 2 && (strings.HasPrefix(args[1], "/") || slices.Contains(KnownMethods, args[1])) {
			return r, o.Missing(args[0] + " needs a name before methods and routes")
		}
		r.Allow, args = strings.Join(args[:n], " "), args[n:]
	} else if n := len(args); n > 2 && args[n-2] == "as" {
		if args[n-1] != "404" {
			return r, o.Errorf("deny … as %s: only 404 is possible", args[n-1])
		}
		r.As404, args = true, args[:n-2]
	}
	r.Methods, r.Routes = MethodsAndRoutes(args)
	if err := r.Compile(); err != nil {
		return r, o.Invalid(err)
	}
	return r, nil
}

// MustRule returns a rule that is written in the program.
func MustRule(allow string, methods []string, routes ...string) Rule {
	r := Rule{Allow: allow, Methods: methods, Routes: routes}
	return r.MustCompile()
}

// MustCompile returns r, compiled. It panics where r is wrong: it is written in the program.
func (r Rule) MustCompile() Rule {
	if err := r.Compile(); err != nil {
		panic(err)
	}
	return r
}

// MethodsAndRoutes splits `[<methods>] <route>...`.
func MethodsAndRoutes(args []string) (methods, routes []string) {
	if len(args) > 0 && !strings.HasPrefix(args[0], "/") {
		return strings.Split(args[0], ","), args[1:]
	}
	return nil, args
}

// Compile checks the rule, from Caddyfile and JSON alike.
func (r *Rule) Compile() error {
	if r.Deny == (r.Allow != "") {
		return errors.New("a rule either allows somebody or denies")
	}
	if r.As404 && !r.Deny {
		return errors.New("as 404 goes with deny")
	}
	if err := r.CompileWho(); err != nil {
		return err
	}
	var err error
	if r.target, err = NewTarget(r.Methods, r.Routes); err != nil {
		return err
	}
	return r.compileConditions()
}

var errDenyConditions = errors.New("deny takes no conditions")

const builtIn = string(OriginBuiltIn) + ":"

// String is the rule's name in the log and in explain: the line of the Caddyfile, or the
// plugin that it comes from, "plugin x" for a line `allow plugin x` and "deny plugin x" for
// the other. Built-in rules begin with builtIn.
func (r *Rule) String() string {
	switch {
	case r.text != "":
		return r.text
	case r.From != "":
		return "plugin " + r.From
	}
	return r.Line()
}

// Line writes the rule as a line of the Caddyfile.
func (r *Rule) Line() string {
	words := []string{"allow " + r.Allow}
	if r.Deny {
		words = []string{"deny"}
	}
	if len(r.Methods) > 0 {
		words = append(words, strings.Join(r.Methods, ","))
	}
	words = append(words, r.Routes...)
	if r.As404 {
		words = append(words, "as 404")
	}
	if r.origin == OriginBuiltIn { // it only takes away, and must not read as if it allowed
		words[0] = builtIn + " only " + r.Allow
		if r.Deny {
			words[0] = builtIn + " nobody"
		}
	}
	return strings.Join(words, " ")
}

// As gives the rule an origin that its line does not show, and a name in the log, "" for its line.
func (r *Rule) As(origin Origin, name string) { r.origin, r.text = origin, name }

// TakesAway makes the rule one that only takes away. It is called after line, that of a plugin which stands
// for it, or after its own where line is "".
func (r *Rule) TakesAway(line string) { r.guards, r.text = true, line }

// OnlyTakesAway tells whether whom the rule admits needs another one that admits as well, so that it opens nothing.
func (r *Rule) OnlyTakesAway() bool { return r.guards || r.origin == OriginBuiltIn }

// RuleNamed is a rule of a policy whose lines are of another kind: it has a name and a place alone.
func RuleNamed(name, at string) *Rule { return &Rule{text: name, At: at} }

// Match is a rule that matches a call.
type Match struct {
	Rule  *Rule
	Route *routes.Pattern // the first of its routes that the call fits
}

// Match tells whether r matches c.
func (r *Rule) Match(c *call.Call) (m Match, ok bool) {
	route := r.target.Route(c)
	return Match{r, route}, route != nil
}

// ProtectNames refuses a call whose ":name" parameter the platform would take from
// elsewhere than the path (docs/platform I.3).
func (m Match) ProtectNames(c *call.Call) error {
	for _, name := range m.Route.Names() {
		v, set, err := c.Scalar(name)
		if err != nil {
			return err
		}
		if set && !m.isGroup(c, name, v) {
			return errOutsidePath
		}
	}
	return nil
}

var errOutsidePath = call.Ambiguous("parameter_outside_path")

// Depends names, in a text for programs, what else than method, route and caller decides on a call that the rule lets pass:
// its conditions, and the parameters of its route. It is "" where nothing does. Rules that say the same let the same pass.
func (m Match) Depends() string {
	if m.Rule == nil {
		return ""
	}
	names := m.Route.Names()
	if m.Rule.Conditions == nil && len(names) == 0 {
		return ""
	}
	text, _ := json.Marshal(m.Rule.Conditions) // of texts and numbers alone
	return fmt.Sprintf("%q%s", names, text)
}

// isGroup tells whether a value of a parameter is what stands in the path.
func (m Match) isGroup(c *call.Call, name string, v any) bool {
	_, compound := v.(call.Compound)
	return !compound && fmt.Sprint(v) == m.Route.Group(c.Key, name)
}

// Invalid is err of r, with the line where r stands.
func (r *Rule) Invalid(err error) error {
	return Option{Pos: r.At}.Errorf("%s: %w", r, err)
}

// Target returns the calls that the rule is about.
func (r *Rule) Target() *Target { return &r.target }
