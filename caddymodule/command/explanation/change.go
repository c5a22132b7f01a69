package explanation

import (
	"fmt"
	"slices"
	"strings"

	"github.com/restwarden/restwarden/caddymodule/adminapi"
	"github.com/restwarden/restwarden/caddymodule/command/testfile"
	"github.com/restwarden/restwarden/caddymodule/dryrun"
	"github.com/restwarden/restwarden/caddymodule/routing"
	"github.com/restwarden/restwarden/policies/access"
	"github.com/restwarden/restwarden/policies/plugins"
	"github.com/restwarden/restwarden/policies/policy"
)

// change writes the line that changes the answer, where it must stand and whom it concerns.
func (e Explanation) change(b *strings.Builder) {
	c := e.Change
	if line := e.takesBack(); line != "" {
		e.List(b, "A line that is switched on decides. This takes it back", []string{line})
		return
	}
	if c == nil {
		if e.Answer == dryrun.Refused || e.Answer == dryrun.WouldRefuse {
			e.List(b, "No single line of rules changes the answer", []string{e.instead()})
		}
		return
	}
	verb := map[dryrun.Answer]string{
		dryrun.Pass: "lets it pass", dryrun.Refused: "refuses it", dryrun.WouldRefuse: "would refuse it",
	}[c.Answer]
	stands := "in the block of restwarden at " + routing.Place(e.At, e.Imported)
	own := importBlock(e.At, e.Imported, c.Before)
	switch {
	case c.Scope != "":
		stands, own = "in the block of scope "+c.Scope+" at "+routing.Place(e.Decision.At, e.Decision.Imported), ""
	case own != "":
		stands = "in the site's own block, that of the import at " + own
	case c.Before != "":
		stands = "before " + c.Before
	}
	fmt.Fprintf(b, "\n%s\n  %s\n", e.Palette.Strong("A line that "+verb+", "+stands), c.Line)
	fmt.Fprintf(b, "  It has been tried. %s\n", opens(c))
	if c.Risk != "" {
		fmt.Fprintf(b, "  The catalogue calls the route risky: %s\n", c.Risk)
	}
	if d := e.Decision; own != "" {
		b.WriteString("  The snippet has {block} there: the line counts for this site alone.\n")
	} else if c.Before != "" && d != nil && d.Imported != "" || c.Before == "" && e.Imported != "" {
		b.WriteString("  It stands in a snippet: it counts for every site that imports the snippet.\n")
	}
	if d := e.Decision; d != nil && d.Origin == policy.OriginBuiltIn {
		b.WriteString("  The built-in rule that it replaces closes what is known to leak.\n")
	} else if d != nil && narrows(d.Rule, c.Line) {
		fmt.Fprintf(b, "  It decides for everybody: whom %q admits must stand in it as well.\n", d.Rule)
	}
}

// takesBack is the command that takes the line back that is switched on and decides; "" if none does.
func (e Explanation) takesBack() string {
	rule := ""
	switch {
	case e.Decided != nil && e.Decided.Origin == policy.OriginSwitch:
		rule = e.Decided.Rule
	case e.Decision != nil && e.Decision.Origin == policy.OriginSwitch:
		rule = e.Decision.Rule
	}
	word, line, ok := strings.Cut(rule, " ")
	if !ok {
		return ""
	}
	if plugin := (&adminapi.Line{Line: line}).Switch().Plugin; plugin != "" {
		line = "--plugin " + plugin
	}
	return fmt.Sprintf("caddy restwarden %s --site %s --for 0s %s", word, testfile.Quoted(e.Site), line)
}

// instead says what to look at where no line helps.
func (e Explanation) instead() string {
	if n := len(e.Policies); n > 0 && e.Policies[n-1].Code == string(policy.CodePlatform) {
		if e.As == string(dryrun.Key) {
			return "A shop key counts on the shop's own routes only; elsewhere the platform takes it for a wrong name and password"
		}
		return "The platform refuses the call or its credentials itself, in its own words"
	}
	if e.policyName() == access.LockdownName {
		return "It was switched on while Caddy runs, and can be taken back: docs/commands/open-close.md, docs/commands/status.md"
	}
	return "See the page of the policy: docs/policies/" + e.policyName() + ".md"
}

// narrows tells whether a line, which decides before a rule, may shut out somebody whom the
// rule admits.
func narrows(rule, line string) bool {
	words, other := strings.Fields(rule), strings.Fields(line)
	if len(words) < 3 || words[0] != "allow" || len(other) < 3 || other[1] == "anyone" || other[1] == "plugin" || other[1] == "users" {
		return false
	}
	return words[1] != other[1] || !strings.HasPrefix(other[2]+",", words[2]+",")
}

func (e Explanation) policyName() string {
	if e.Decision == nil {
		return "README"
	}
	return e.Decision.Policy
}

// opens says for whom a line opens or closes its route.
func opens(c *dryrun.Change) string {
	words := strings.Fields(c.Line)
	switch {
	case c.Scope != "":
		return "It allows this method and route to all credentials of the scope; other rules and the site still judge them."
	case len(words) > 2 && words[0] == "allow" && words[1] == "plugin":
		opened, more := "callers without a login need of the plugin", ""
		if len(words) > 4 { // for groups
			opened = "the plugin needs for " + strings.ReplaceAll(words[4], ",", " and ")
			if p, err := plugins.ByName(words[2]); err == nil && slices.ContainsFunc(strings.Split(words[4], ","), func(g string) bool { return plugins.Group(g).Default() }) {
				more = fmt.Sprintf(" %q opens what others without a login need, too.", p.AllowLine())
			}
		}
		return fmt.Sprintf("It opens what %s: caddy restwarden plugins %s shows the routes.%s", opened, words[2], more)
	case len(words) > 1 && words[0] == "allow" && words[1] == "anyone":
		return "It opens this method and route to everybody, without a login: should it be open?"
	case len(words) > 1 && words[0] == "allow" && words[1] == "users":
		return "It opens this method and route to everybody who is logged in; the site still checks their rights."
	case len(words) > 2 && words[0] == "allow":
		return fmt.Sprintf("It opens this method and route to the %s %s; the site still checks their rights.", words[1], words[2])
	case words[0] == "deny":
		return "It closes this method and route to everybody."
	}
	return ""
}
