package suggest

import (
	"regexp"
	"slices"
	"strings"

	"github.com/restwarden/restwarden/policies"
	"github.com/restwarden/restwarden/policies/call"
	"github.com/restwarden/restwarden/policies/index"
	"github.com/restwarden/restwarden/policies/plugins"
)

// facts are what the catalogue and the built-in rules say, with the names of a platform.
type facts struct {
	platform call.Platform
	needs    []needed
	risks    []risky
}

type needed struct {
	plugin  *plugins.Plugin
	need    *plugins.Need
	pattern call.Pattern
}

type risky struct {
	plugin  *plugins.Plugin
	risk    *plugins.Risk
	pattern call.Pattern
}

func factsOf(platform call.Platform) *facts {
	f := &facts{platform: platform}
	for _, p := range plugins.All() {
		for i := range p.Needed {
			n := &p.Needed[i]
			f.needs = append(f.needs, needed{p, n, call.MustPattern(policies.PluginRoute(platform, n.Route))})
		}
		for i := range p.Risky {
			if r := &p.Risky[i]; r.Scope == "" { // else the hole is in other calls, too
				f.risks = append(f.risks, risky{p, r, call.MustPattern(policies.PluginRoute(platform, r.Route))})
			}
		}
	}
	return f
}

// needed returns the row of the catalogue that needs all forms of a route, or nil. No two
// plugins need the same.
func (f *facts) needed(method string, forms []call.Pattern) *needed {
	var found *needed
	for _, form := range forms {
		i := slices.IndexFunc(f.needs, func(n needed) bool {
			return (found == nil || n.plugin == found.plugin) && slices.Contains(n.need.Methods, method) && n.pattern.Covers(form)
		})
		if i < 0 {
			return nil
		}
		if found == nil {
			found = &f.needs[i]
		}
	}
	return found
}

// risky returns a row of the catalogue that says that some form of a route is risky, or nil; a
// known hole goes first. A row that is not wider than what a plugin needs is risky all the same,
// unless it is the same and no hole is known.
func (f *facts) risky(method string, forms []call.Pattern, need *needed) (found *risky) {
	for i := range f.risks {
		r := &f.risks[i]
		hole := len(r.risk.CVE) > 0
		switch {
		case !slices.Contains(r.risk.Methods, method), !slices.ContainsFunc(forms, r.pattern.Meets), found != nil && !hole:
			continue
		case need != nil && r.pattern.Covers(need.pattern) && (!hole || !need.pattern.Covers(r.pattern)):
			continue
		}
		if found = r; hole {
			break
		}
	}
	return found
}

// attack tells whether only attacks call a route, as far as is known: lists of users and what
// else a built-in rule guards, and known holes that nobody needs. A route that only may meet
// one, since it has a parameter, is an honest route.
func (f *facts) attack(method, route string) bool {
	forms := formsOf(route)
	if len(forms) > 0 && !slices.ContainsFunc(forms, func(form call.Pattern) bool { return policies.GuardedBy(f.platform, method, form) == "" }) {
		return true
	}
	need := f.needed(method, forms)
	r := f.risky(method, forms, need)
	return r != nil && len(r.risk.CVE) > 0 && need == nil && covers(r.pattern, forms)
}

// guardedBy returns the line of the built-in rule that guards one of the forms, or "".
func (f *facts) guardedBy(method string, forms []call.Pattern) string {
	for _, form := range forms {
		if line := policies.GuardedBy(f.platform, method, form); line != "" {
			return line
		}
	}
	return ""
}

// isIndex tells whether a route is the root or the index of a namespace, which list routes.
func isIndex(route string) bool {
	return route == "/" || versioned.MatchString(route) || strings.EqualFold(index.Known(route), strings.Trim(route, "/"))
}

var versioned = regexp.MustCompile(`^/[^/]+/v?[0-9.]+$`)

// maxForms bounds the forms of a route.
const maxForms = 16

// formsOf returns the patterns that the name of a route stands for: "/a[/:id]" is "/a" and
// "/a/:id", "/(a|b)" is "/a" and "/b". It is empty if no rule can name them.
func formsOf(route string) (forms []call.Pattern) {
	texts := []string{route}
	for i := 0; i < len(texts); i++ {
		open := strings.LastIndexAny(texts[i], "[(") // an innermost one
		if open < 0 {
			continue
		}
		text, closing := texts[i], map[byte]string{'[': "]", '(': ")"}[texts[i][open]]
		end := strings.Index(text[open:], closing)
		if end < 0 {
			return nil
		}
		alternatives := strings.Split(text[open+1:open+end], "|")
		if text[open] == '[' {
			alternatives = append(alternatives, "")
		}
		for j, a := range alternatives {
			switch form := text[:open] + a + text[open+end+1:]; {
			case j == 0:
				texts[i] = form
			case !slices.Contains(texts, form):
				texts = append(texts, form)
			}
		}
		if i--; len(texts) > maxForms {
			return nil
		}
	}
	for _, text := range texts {
		form, err := call.ParsePattern(text)
		if _, wide := form.Segments(); err != nil || wide { // no route of an index has such a name
			return nil
		}
		forms = append(forms, form)
	}
	return forms
}
