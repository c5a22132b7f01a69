package abilities

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/restwarden/restwarden/policies/caller"
	"github.com/restwarden/restwarden/policies/mcp"
	"github.com/restwarden/restwarden/policies/policy"
	"github.com/restwarden/restwarden/policies/typo"
)

// Rule is one pattern of a line `allow [<who>] [<kind>] <pattern>...` or
// `deny [<kind>] <pattern>...`.
type Rule struct {
	// Pattern is an ability's id, the name of a tool, or a resource's address, with * for
	// any part of it: "shop/*".
	Pattern string `json:"pattern"`
	Deny    bool   `json:"deny,omitempty"`
	// Kind is "readonly" for abilities that call themselves so, "tool" for tools and prompts
	// by the name that is called, "resource" for resources, and empty for abilities.
	Kind Kind `json:"kind,omitempty"`
	// Allow names the admitted callers as [policy.Rule.Allow] does. Empty means every caller.
	Allow string `json:"allow,omitempty"`
	// At is where the rule stands, "Caddyfile:12".
	At string `json:"at,omitempty"`

	by policy.Rule // compiled from Allow
}

// Kind is what the pattern of a Rule fits.
type Kind string

// The kinds of rules.
const (
	KindAbility  Kind = ""
	KindReadonly Kind = "readonly"
	KindTool     Kind = "tool"
	KindResource Kind = "resource"
)

func (k Kind) known() bool {
	return k == KindAbility || k == KindReadonly || k == KindTool || k == KindResource
}

// Subject is what a call runs, as far as it is known.
type Subject struct {
	ID    string   // of an ability; "" if the platform's list has none of that name
	Name  string   // of a tool or prompt, as called; "" if the id itself was sent
	by    string   // dashed name of a tool of the default server, which runs or describes id; "" for other ways
	URI   string   // of a resource
	about *ability // what the platform says of the ability; nil if nobody has asked

	unlisted bool // the platform has told the caller that it lists nothing of that name
}

// called is what the caller has called: a name, an id or an address.
func (s *Subject) called() string { return cmp.Or(s.Name, s.URI, s.ID) }

// abilityRules reads one line of the block.
func abilityRules(o policy.Option) (rules []Rule, err error) {
	r := Rule{Deny: o.Name == "deny", At: o.Pos}
	args := o.Args
	if !r.Deny && len(args) > 0 && policy.WhoOf(args[0]) != policy.Nobody {
		n := 1
		if policy.WhoOf(args[0]) >= policy.ByRole {
			n = 2
		}
		if len(args) <= n {
			return nil, o.Missing(strings.Join(args, " ") + " says whom, but not what: patterns come behind it")
		}
		r.Allow, args = strings.Join(args[:n], " "), args[n:]
	}
	if len(args) > 0 {
		if kind := Kind(args[0]); kind != KindAbility && kind.known() {
			r.Kind, args = kind, args[1:]
		}
	}
	if len(args) == 0 || len(o.Block) > 0 {
		return nil, o.Errorf("%s takes one pattern or several", o.Name)
	}
	for _, r.Pattern = range args {
		if err := misplaced(r.Pattern); err != nil {
			return nil, o.Invalid(err)
		}
		if err := r.compile(); err != nil {
			return nil, o.Invalid(err)
		}
		rules = append(rules, r)
	}
	return rules, nil
}

// ruleWords are the words of a line that stand before its patterns.
var ruleWords = []string{"anyone", "users", "role", "capability", "scope", string(KindReadonly), string(KindTool), string(KindResource)}

// misplaced refuses a pattern that is a word of the line: as a pattern it would leave the others
// in force for every caller. JSON keeps the words apart.
func misplaced(pattern string) error {
	if !slices.Contains(ruleWords, pattern) {
		return nil
	}
	return fmt.Errorf("%q stands where a pattern does: lines are allow [<who>] [readonly|tool|resource] <pattern>..., "+
		"deny [tool|resource] <pattern>... or confirm <pattern>... in this order", pattern)
}

const (
	idLetters  = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-/*"
	toolExtras = "_."
	// toolLetters are those of names that rules for tools judge.
	toolLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-*" + toolExtras
)

// compile checks the rule, from Caddyfile and JSON alike.
func (r *Rule) compile() error {
	switch {
	case !r.Kind.known():
		return typo.Check(string(r.Kind), string(KindReadonly), string(KindTool), string(KindResource))
	case r.Deny && r.Allow != "":
		return errors.New("a rule either allows somebody or denies")
	case r.Deny && r.Kind == KindReadonly:
		return errors.New("readonly goes with allow alone: what is denied is denied whatever it calls itself")
	}
	if err := r.compileWho(); err != nil {
		return err
	}
	return r.checkPattern()
}

func (r *Rule) compileWho() error {
	if r.Allow == "" {
		return nil
	}
	r.by = policy.Rule{Allow: r.Allow}
	if err := r.by.CompileWho(); err != nil {
		return err
	}
	if r.by.Who() == policy.BySignature {
		return errors.New("abilities know users, not signatures: anyone, users, role, capability or scope")
	}
	return nil
}

// checkPattern refuses patterns that fit nothing: no ability has an id without a slash, no tool
// that a rule judges has a name with one (docs/platform IV.3), and no resource has an address
// without a scheme.
func (r *Rule) checkPattern() error {
	wild := strings.Contains(r.Pattern, "*")
	var word, hint string
	var possible bool
	switch r.Kind {
	case KindTool:
		word, possible = "the name of a tool, such as shop-orders-query", strings.Trim(r.Pattern, toolLetters) == ""
		if strings.Contains(r.Pattern, "/") {
			hint = ": a line for an ability has its id without the word tool"
		}
	case KindResource:
		word = "the address of a resource, such as shop://products"
		possible = (wild || strings.Contains(r.Pattern, ":")) && strings.IndexFunc(r.Pattern, func(c rune) bool { return c <= ' ' || c > '~' }) < 0
	case KindAbility, KindReadonly:
		word = "the id of an ability, such as shop/orders-query"
		possible = (wild || strings.Contains(r.Pattern, "/")) && strings.Trim(r.Pattern, idLetters) == ""
		if near := typo.Hint(r.Pattern, ruleWords...); near != "" {
			hint = ": " + near
		} else if strings.Trim(r.Pattern, toolLetters) == "" {
			hint = ": the name of a tool that is no ability stands behind the word tool"
		}
	}
	if r.Pattern == "" || !possible {
		return fmt.Errorf("%q cannot be %s%s", r.Pattern, word, hint)
	}
	return nil
}

// fits tells whether the rule is about s. A rule for readonly abilities fits what the
// platform calls readonly. A rule that denies also fits the dashed name of an ability that
// the platform does not list.
func (r *Rule) fits(s *Subject) bool {
	switch r.Kind {
	case KindAbility:
		return s.ID != "" && Glob(r.Pattern, s.ID) || r.Deny && FitsName(r.Pattern, s)
	case KindResource:
		return s.URI != "" && Glob(r.Pattern, s.URI)
	case KindTool:
		return s.Name != "" && (s.ID == "" || r.Deny) && Glob(r.Pattern, s.Name) || r.Deny && s.by != "" && Glob(r.Pattern, s.by)
	case KindReadonly:
		return s.ID != "" && Glob(r.Pattern, s.ID) && s.about != nil && s.about.Meta.Annotations.Readonly
	}
	return false
}

// FitsName tells whether servers of tools may offer an ability that fits a pattern under the
// name of s. What only a name over 128 characters would be (docs/platform IV.3) is left out
// where the platform lists the ability of that name.
func FitsName(pattern string, s *Subject) bool {
	return s.Name != "" && (Glob(mcp.Dashed(pattern), s.Name) || s.ID == "" && mcp.MayOffer(pattern, s.Name))
}

// forAnyone tells whether the rule admits every caller.
func (r *Rule) forAnyone() bool { return r.Allow == "" || r.by.Who() == policy.Anyone }

// admits tells whether the rule admits the caller, as far as it is known.
func (r *Rule) admits(who caller.Caller) bool { return r.forAnyone() || r.by.Admits(who) }

// line returns the rule's name and place in the log. The zero rule is that none fits.
func (r *Rule) line() (name, at string) {
	if r.Pattern == "" {
		return ruleNone, ""
	}
	return r.String(), r.At
}

// names tells whether the rule names s without wildcard.
func (r *Rule) names(s *Subject) bool {
	return r.Pattern != "" && (r.Pattern == s.ID || r.Kind == KindTool && r.Pattern == s.Name || r.Kind == KindResource && r.Pattern == s.URI)
}

// Glob tells whether text fits a pattern in which * stands for any part.
func Glob(pattern, text string) bool {
	parts := strings.Split(pattern, "*")
	rest, ok := strings.CutPrefix(text, parts[0])
	for i := 1; ok && i < len(parts); i++ {
		if i == len(parts)-1 {
			return strings.HasSuffix(rest, parts[i])
		}
		_, rest, ok = strings.Cut(rest, parts[i])
	}
	return ok && rest == ""
}

// String is the rule's name in the log and in explain.
func (r Rule) String() string {
	words := []string{"abilities allow"}
	if r.Deny {
		words[0] = "abilities deny"
	}
	for _, word := range []string{r.Allow, string(r.Kind), r.Pattern} {
		if word != "" {
			words = append(words, word)
		}
	}
	return strings.Join(words, " ")
}

// Origin returns where the rule comes from.
func (r *Rule) Origin() policy.Origin { return policy.OriginOwn }
