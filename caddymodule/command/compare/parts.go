package compare

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/restwarden/restwarden/caddymodule/dryrun"
	"github.com/restwarden/restwarden/policies/call/routes"
	"github.com/restwarden/restwarden/policies/diff"
	"github.com/restwarden/restwarden/policies/policy"
)

// parts are the parts of a configuration that judge calls, in JSON without the places of lines.
type parts struct {
	said     map[string]map[string]any // what directives say, by [dryrun.Config.Said]
	forms    map[string][]string       // by the same, in all ways in which directives with other placeholders say it
	beside   map[string]string         // what they say beside access
	at       map[string]string         // where the first of each stands
	app      map[string]any            // of restwarden
	servers  map[string]any            // in place of a directive is its Said
	compared map[string]bool           // by Said
	taken    map[place]bool            // routes that are on the way to a site
}

// place is a route of a server.
type place struct {
	server string
	number int
}

// saidMember is the member of a directive that has its Said.
const saidMember = "said"

func partsOf(c *dryrun.Config, hidden secrets) (*parts, error) {
	config, err := c.Expanded()
	if err != nil {
		return nil, err
	}
	p := &parts{
		said: map[string]map[string]any{}, forms: map[string][]string{}, beside: map[string]string{}, at: map[string]string{}, compared: map[string]bool{}, taken: map[place]bool{},
		app: object(object(config["apps"])["restwarden"]),
	}
	dryrun.Each(config, "restwarden", func(d map[string]any) {
		said := c.Said(d)
		delete(d, "tag") // it decides nothing, and directives that say the same may have others
		err = errors.Join(err, hidden.hide(d))
		says := plain(d).(map[string]any)
		if p.said[said] == nil {
			p.said[said] = says
			p.at[said], _ = d["at"].(string)
			p.beside[said] = textOf(besideAccess(says))
		}
		if form := textOf(says); !slices.Contains(p.forms[said], form) {
			p.forms[said] = append(p.forms[said], form)
			slices.Sort(p.forms[said])
		}
		d[saidMember] = said
	})
	p.servers = object(marked(object(object(config["apps"])["http"])["servers"]))
	return p, err
}

func object(v any) map[string]any {
	m, _ := v.(map[string]any)
	return m
}

// plain returns a copy of v without places of lines.
func plain(v any) any {
	switch v := v.(type) {
	case map[string]any:
		copied := map[string]any{}
		for name, inner := range v {
			if name != "at" && name != "imported" && name != "lines" {
				copied[name] = plain(inner)
			}
		}
		return copied
	case []any:
		copied := make([]any, len(v))
		for i := range v {
			copied[i] = plain(v[i])
		}
		return copied
	}
	return v
}

func textOf(v any) string {
	text, _ := json.Marshal(v) // it was read from JSON
	return string(text)
}

// applications adds what changes in the options of all sites.
func (c *comparer) applications() {
	old, now := c.before.parts.app, c.after.parts.app
	for _, name := range namesIn(old, now) {
		if textOf(old[name]) != textOf(now[name]) {
			c.report.beside(Beside{What: "application", Text: "the option " + name + " of all sites " + changed(old[name], now[name]), Effects: both}, "")
		}
	}
}

// namesIn returns the names of members, each once, in order.
func namesIn(old, now map[string]any) []string {
	names := slices.Sorted(maps.Keys(old))
	for name := range now {
		names = append(names, name)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// changed says in a few words how a value changes. Values are not shown: they may hold secrets.
func changed(old, now any) string {
	switch {
	case old == nil:
		return "is new"
	case now == nil:
		return "is gone"
	}
	return "is another"
}

// around adds what changes in what the directive of a site says beside access.
func (c *comparer) around(m *meeting) {
	c.directives(m.old.Said, m.now.Said, m.name)
	c.spellings(m.old.Policies, m.now.Policies, m.name)
}

// besideAccess returns what a directive says without the lines of access.
func besideAccess(says map[string]any) map[string]any {
	kept, policies := maps.Clone(says), maps.Clone(object(says["policies"]))
	access := maps.Clone(object(policies["access"]))
	for _, member := range decided["access"] {
		delete(access, member)
	}
	if policies != nil {
		policies["access"], kept["policies"] = access, policies
	}
	return kept
}

// directives adds what two directives say otherwise beside access.
func (c *comparer) directives(old, now, site string) {
	was, is := c.before.parts.of(old), c.after.parts.of(now)
	if textOf(was) == textOf(is) && !slices.Equal(c.before.parts.forms[old], c.after.parts.forms[now]) {
		c.report.beside(Beside{What: "setting", Text: "placeholders that have no value here are others", Effects: both}, site)
	}
	c.settings(was, is, site)
}

// of returns what a directive says, which is compared.
func (p *parts) of(said string) map[string]any {
	p.compared[said] = true
	return p.said[said]
}

// sizes are options that bound what a request may have. Without one a default counts.
var sizes = []string{"body_limit", "upload_limit", "batch_limit"}

// sizeEffects says what another bound does.
func sizeEffects(old, now any) []diff.Effect {
	was, err := strconv.ParseInt(fmt.Sprint(old), 10, 64)
	is, unread := strconv.ParseInt(fmt.Sprint(now), 10, 64)
	switch {
	case err != nil || unread != nil || was == 0 || is == 0:
		return both
	case was < is:
		return both[:1]
	}
	return both[1:]
}

// settings adds what changes in what a directive says beside access.
func (c *comparer) settings(before, after map[string]any, site string) {
	for _, name := range namesIn(before, after) {
		switch {
		case textOf(before[name]) == textOf(after[name]):
		case name == "policies":
		case name == "mode":
			c.mode("the directive", modeOf(before, nil), modeOf(after, nil), site)
		case slices.Contains(sizes, name):
			c.report.beside(Beside{What: "setting", Text: "the option " + name + " " + shown(before[name], after[name]), Effects: sizeEffects(before[name], after[name])}, site)
		default:
			c.report.beside(Beside{What: "setting", Text: "the option " + name + " " + shown(before[name], after[name]), Effects: effective(name, both...)}, site)
		}
	}
	c.policies(before, after, site)
}

// spellings adds routes that only one side names, and for whose sake other spellings of calls are refused.
func (c *comparer) spellings(before, after *policy.Site, site string) {
	for _, kind := range []struct {
		of    func(*policy.Site) []routes.Pattern
		calls string // with %s for the route
	}{
		{(*policy.Site).Dots, "calls with another character in place of the dot of %s"},
		{func(s *policy.Site) []routes.Pattern { return s.Worded(c.Index) }, "calls of %s with a parameter that takes the place of a word of it"},
	} {
		texts := func(s *policy.Site) (all []string) {
			for _, p := range kind.of(s) {
				all = append(all, p.String())
			}
			return all
		}
		was, is := texts(before), texts(after)
		add := func(some, others []string, becomes string, effects []diff.Effect) {
			for _, route := range some {
				if !slices.Contains(others, route) {
					c.report.beside(Beside{What: "policy", Text: fmt.Sprintf(kind.calls, route) + becomes, Effects: effects}, site)
				}
			}
		}
		add(is, was, " are refused", both[1:])
		add(was, is, " are no longer refused for it", both[:1])
	}
}
