package audit

import (
	"fmt"
	"strings"
)

func (t *text) plugins() {
	t.title("Plugins that the site seems to have: %d", len(t.Plugins))
	var quiet, absent []string
	for i := range t.Plugins {
		switch p := &t.Plugins[i]; {
		case p.Absent:
			absent = append(absent, p.Slug)
		case len(p.Needed) == 0 && len(p.Risky) == 0:
			quiet = append(quiet, p.Slug)
		default:
			t.plugin(p)
		}
	}
	if len(absent) > 0 {
		t.line("  None of the routes that it needs is listed, and no risky one, so that no line is proposed:")
		t.list(absent)
	}
	if len(quiet) > 0 {
		t.line("  Nothing needed and nothing risky:")
		t.list(quiet)
	}
	if len(t.UnknownNamespaces) > 0 {
		t.title("Namespaces that no entry of the catalogue knows: %d", len(t.UnknownNamespaces))
		t.list(t.UnknownNamespaces)
	}
}

// maxRows is how many rows of a plugin the text lists.
const maxRows = 8

// words says what is risky, what opens it, and why it stays open.
func (r *Risk) words() string {
	parts := []string{fmt.Sprintf("risky: %s %s", strings.Join(r.Methods, ","), r.Route)}
	if r.Rule != "" {
		parts = append(parts, "by "+by(r.Rule, r.At))
	}
	if !r.Listed {
		parts = append(parts, "not in the REST root")
	}
	for _, cve := range r.CVE {
		parts = append(parts, fmt.Sprintf("%s of versions %s", cve.ID, cve.Versions))
	}
	switch {
	case r.Needed:
		parts = append(parts, "needed, so that it stays open")
	case r.Rule != "" && r.Proposed != None:
		parts = append(parts, "open as long as that rule stands")
	}
	return strings.Join(parts, ", ") + ". " + r.Why
}

// proposal writes the lines to add.
func (t *text) proposal() {
	if t.LoginOnly && len(t.Propose) == 0 && t.NotEnforced == "" {
		t.title("Nothing to add")
		return
	}
	t.title("Proposed")
	if t.NotEnforced != "" {
		t.line("  Take out %s: until then nothing is refused.", t.palette.Bad(t.NotEnforced))
	}
	if !t.LoginOnly {
		t.line("  %s", t.palette.Good("login_only"))
	}
	for _, line := range t.Propose {
		t.line("  %s", t.palette.Good(line))
	}
	t.line("Without a login calls of %s%s get through to WordPress now, and then of %s%s.", t.least(), t.Totals.Anonymous.words(), t.least(), t.Proposed.Anonymous.words())
	if shut := t.ShutUnknown(); len(shut) > 0 {
		t.line("These lines also close what the catalogue does not know, and something may need it:")
		var names []string
		for _, s := range shut {
			names = append(names, s.String())
		}
		t.list(names)
		t.line("Add \"mode observe\" first: then nothing is refused, and \"caddy restwarden suggest\" reads in the log what these need.")
	}
}
