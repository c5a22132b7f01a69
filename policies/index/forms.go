package index

import (
	"slices"
	"strings"

	"github.com/restwarden/restwarden/policies/call/routes"
)

// maxForms bounds the forms of a route.
const maxForms = 16

// Forms returns the patterns that the name of a route stands for: "/a[/:id]" is "/a" and
// "/a/:id", "/(a|b)" is "/a" and "/b". It is empty if no rule can name them.
func Forms(route string) (forms []routes.Pattern) {
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
