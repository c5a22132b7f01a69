package suggest

import (
	"regexp"
	"slices"
	"strings"

	"github.com/restwarden/restwarden/policies/access"
	"github.com/restwarden/restwarden/policies/call/routes"
	"github.com/restwarden/restwarden/policies/index"
	"github.com/restwarden/restwarden/policies/openings"
)

// facts are what the catalogue and the built-in rules say, with the names of a platform.
type facts struct{ *openings.Opener }

// attack tells whether only attacks call a route, as far as is known: lists of users and what
// else a built-in rule guards, and known holes that nobody needs. A route that only may meet
// one, since it has a parameter, is an honest route.
func (f *facts) attack(method, route string) bool {
	forms := formsOf(route)
	if len(forms) > 0 && !slices.ContainsFunc(forms, func(form routes.Pattern) bool { return access.GuardedBy(f.Platform, method, form) == "" }) {
		return true
	}
	need := f.Needed(method, forms)
	r := f.Risky(method, forms, need)
	return r != nil && len(r.CVE) > 0 && need == nil && covers(r.Pattern, forms)
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
func formsOf(route string) (forms []routes.Pattern) {
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
		form, err := routes.ParsePattern(text)
		if _, wide := form.Segments(); err != nil || wide { // no route of an index has such a name
			return nil
		}
		forms = append(forms, form)
	}
	return forms
}
