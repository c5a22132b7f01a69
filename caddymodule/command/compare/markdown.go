package compare

import (
	"fmt"
	"strings"

	"github.com/restwarden/restwarden/policies/diff"
)

// Markdown writes the report as a comment of a pull request.
func (r *Report) Markdown() string {
	var b strings.Builder
	fmt.Fprintf(&b, "### What this change opens and closes\n\n")
	if !r.Any() && len(r.Sites.NotCompared)+len(r.Switches) == 0 && r.Log == nil {
		fmt.Fprintf(&b, "Nothing: every call of %d sites is decided as before.\n", r.Sites.Unchanged)
		return b.String()
	}
	items := func(list []string, shown func(string) string) {
		for _, text := range list {
			fmt.Fprintf(&b, "- %s\n", shown(text))
		}
		if len(list) > 0 {
			b.WriteString("\n")
		}
	}
	items(r.unguarded(), cell)
	for _, effect := range []diff.Effect{diff.Opened, diff.MayOpen, diff.Closed, diff.MayClose} {
		list := r.with(effect)
		if len(list) == 0 {
			continue
		}
		fmt.Fprintf(&b, "**%s**\n\n| calls | for | by | shown by | sites |\n|---|---|---|---|---|\n", titles[effect])
		for _, c := range r.inShort(list) {
			example := cell(c.Why)
			if e := c.Example; e != nil {
				example = fmt.Sprintf("%s as %s: %s; now %s. %s", code(e.Request), cell(e.As), code(e.Old), code(e.New), example)
			}
			fmt.Fprintf(&b, "| %s | %s | %s | %s | %s |\n", code(c.Calls()), cell(few(c.Who, ", ")), c.Cause(code), strings.TrimSpace(example), cell(few(c.Sites, ", ")))
		}
		b.WriteString("\n")
	}
	if len(r.Beside) > 0 {
		b.WriteString("**Beside**\n\n")
		for i := range r.Beside {
			one := &r.Beside[i]
			fmt.Fprintf(&b, "- %s%s%s\n", cell(one.Text), effectsIn(one.Effects), cell(at(one.Sites)))
		}
		b.WriteString("\n")
	}
	if r.Log != nil {
		fmt.Fprintf(&b, "%s\n\n", cell(r.Log.total()))
		items(r.Log.groups(""), code)
	}
	items(r.sites(), cell)
	b.WriteString(cell(r.ends()))
	b.WriteString("\n")
	return b.String()
}

// Replacers of what is markup in a cell of a table, and in code there.
var (
	inCell = strings.NewReplacer("|", `\|`, "\n", " ", "`", "'", "<", "&lt;", ">", "&gt;", "*", `\*`, "_", `\_`, "[", `\[`, "@", "&#64;", "#", `\#`, "~", `\~`,
		"://", ":&#47;/", "www.", "www&#46;")
	inCode = strings.NewReplacer("|", `\|`, "\n", " ", "`", "'")
)

// cell is a text for a cell of a table, none of which is markup.
func cell(text string) string { return inCell.Replace(text) }

// code is cell for a text that is shown as code.
func code(text string) string { return "`" + inCode.Replace(text) + "`" }
