package suggest

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
)

// maxLeft bounds the routes that are listed for one reason. JSON has all of them.
const maxLeft = 20

// Text writes the report as lines for the directive, with comments. It is as "caddy fmt" has it.
// The texts of r must be printable.
func (r *Report) Text(out io.Writer) error {
	var b strings.Builder
	for i := range r.Sites {
		if i > 0 {
			b.WriteString("\n")
		}
		r.Sites[i].text(&b)
	}
	_, err := io.WriteString(out, b.String())
	return err
}

func comment(b *strings.Builder, format string, args ...any) {
	text := strings.TrimSpace(fmt.Sprintf("# "+format, args...))
	b.WriteString(text + "\n")
}

func (s *SiteReport) text(b *strings.Builder) {
	comment(b, "%s: %s", s.Name, &s.Seen)
	if len(s.Lines) == 0 {
		comment(b, "No line is suggested.")
	} else {
		comment(b, "Put these lines at the end of the block of restwarden, behind your own rules. Nothing has been applied.")
	}
	for i := range s.Lines {
		l := &s.Lines[i]
		if !strings.HasPrefix(l.Line, "deny ") {
			b.WriteString("\n")
		}
		for _, about := range l.About {
			comment(b, "%s", about)
		}
		for j := range l.Calls {
			c := &l.Calls[j]
			comment(b, "- %s %s, %s", c.Method, c.Route, &c.Seen)
			if c.Why != "" {
				comment(b, "  %s", c.Why)
			}
		}
		b.WriteString(l.Line + "\n")
	}
	s.textLeft(b)
}

func (s *SiteReport) textLeft(b *strings.Builder) {
	for _, reason := range reasons {
		var of []*Left
		for i := range s.LeftOut {
			if s.LeftOut[i].Reason == reason.reason {
				of = append(of, &s.LeftOut[i])
			}
		}
		if len(of) == 0 {
			continue
		}
		slices.SortStableFunc(of, func(a, b *Left) int { return int(max(-1, min(1, b.Seen.Calls-a.Seen.Calls))) })
		b.WriteString("\n")
		comment(b, "Left out: %s.", reason.text)
		for i, l := range of {
			if i == maxLeft {
				comment(b, "- %s; --format json has all", count(int64(len(of)-i), "more route"))
				break
			}
			l.text(b)
		}
	}
}

func (l *Left) text(b *strings.Builder) {
	what := strings.TrimSpace(l.Method + " " + l.Route)
	if l.Rule != "" && l.Rule != "login_only" {
		what += " (" + strings.TrimSpace(l.Rule+" "+l.At) + ")"
	}
	comment(b, "- %s, %s", what, &l.Seen)
	if l.Why != "" {
		comment(b, "  %s", l.Why)
	}
	if l.Users > 0 {
		comment(b, "  Logged in: %s.", people(l.Users, l.MoreUsers, "user"))
	}
	switch {
	case l.Opened != "":
		comment(b, "  The line %q opens it all the same.", l.Opened)
	case l.Line != "" && l.Reason == ReasonOwn:
		comment(b, "  %s, before %s, opens it to everybody who is logged in.", l.Line, cmp.Or(l.At, "that rule"))
	case l.Line != "":
		comment(b, "  %s", l.Line)
	}
}

// String says how often, by how many and when.
func (s *Seen) String() string {
	clients := people(s.Clients, s.MoreClients, "client")
	if s.Clients+s.Scanners+s.Unsure == 0 {
		clients = "clients without an address"
	}
	if s.Scanners > 0 {
		clients += " and " + people(s.Scanners, s.MoreScanners, "scanner")
	}
	if s.Unsure > 0 {
		clients += fmt.Sprintf(" (nothing is known of %s)", people(s.Unsure, s.MoreUnsure, "more client"))
	}
	text := fmt.Sprintf("%s by %s, from page %d, other %d, none %d", count(s.Calls, "call"), clients, s.From.Page, s.From.Other, s.From.None)
	if s.Since != "" {
		text += fmt.Sprintf(", %s to %s", s.Since, s.Until)
	}
	return text
}

// people says how many there are, of whom no more than n were counted.
func people(n int, more bool, one string) string {
	if more {
		return "more than " + count(int64(n), one)
	}
	return count(int64(n), one)
}
