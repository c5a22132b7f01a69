package credentials

import (
	"cmp"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/restwarden/restwarden/policies/caller"
	"github.com/restwarden/restwarden/policies/policy"
)

// Text writes the report for people. The texts of r must be printable.
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

func (s *Site) text(b *strings.Builder) {
	fmt.Fprintf(b, "%s: %s\n", s.Name, count(len(s.Credentials), "credential"))
	if text := s.Claimed.String(); text != "" {
		fmt.Fprintf(b, "Left out: %s\n", text)
	}
	for i := range s.Credentials {
		b.WriteString("\n")
		s.Credentials[i].text(b)
	}
	if len(s.Unused)+len(s.UnusedScopes) == 0 {
		return
	}
	b.WriteString("\nIn the configuration, and not used in the logs:\n")
	for _, name := range s.UnusedScopes {
		fmt.Fprintf(b, "  scope %s: no credential of the logs has it\n", name)
	}
	for _, u := range s.Unused {
		fmt.Fprintf(b, "  scope %s: allow %s%s\n", u.Scope, strings.TrimSpace(u.Method+" "+u.Route), policy.Prefixed(" at ", u.At))
	}
}

// String says what is left out, "" for nothing.
func (c *Claimed) String() string {
	if c.Calls == 0 {
		return ""
	}
	return fmt.Sprintf("%s that nobody has verified, with %s", people(c.Credentials, c.More, "credential"), count(c.Calls, "call"))
}

// Name is how people call the credential.
func (of *Credential) Name() string {
	switch {
	case of.Kind == caller.CredentialPassword && of.UUID == "":
		return fmt.Sprintf("password of %s, its uuid is not in the log", of.Login)
	case of.Kind == caller.CredentialPassword && of.Login != "":
		return fmt.Sprintf("password %s of %s", of.UUID, of.Login)
	}
	return string(of.Kind) + " " + cmp.Or(of.Key, of.UUID, of.Login)
}

// Used says how often the credential was used, when and from where.
func (of *Credential) Used() string {
	text := fmt.Sprintf("%s on %s from %s", count(of.Calls, "call"), count(of.Days, "day"), people(of.Addresses.Count, of.Addresses.More, "address"))
	if of.First != "" {
		text += fmt.Sprintf(", %s to %s", of.First, of.Last)
	}
	return text
}

func (of *Credential) text(b *strings.Builder) {
	b.WriteString(of.Name())
	if of.Scope != "" {
		b.WriteString(", scope " + of.Scope)
	}
	fmt.Fprintf(b, "\n  %s\n", of.Used())
	var most []string
	for _, a := range of.Addresses.Most {
		most = append(most, fmt.Sprintf("%s (%d)", a.Address, a.Calls))
	}
	if len(most) > 0 {
		fmt.Fprintf(b, "  from %s\n", strings.Join(most, ", "))
	}
	if of.Strange > 0 {
		fmt.Fprintf(b, "  left out: %s with nothing but its name, from other addresses\n", count(of.Strange, "call"))
	}
	for _, r := range of.Refusals {
		fmt.Fprintf(b, "  %s: %s with %s\n", strings.ReplaceAll(r.Outcome, "would_refuse", "would be refused"), count(r.Calls, "call"), r.Code)
	}
	w := tabwriter.NewWriter(b, 0, 0, 2, ' ', 0)
	for _, r := range of.Routes {
		_, _ = fmt.Fprintf(w, "    %s\t%s\t%d\tlast %s%s\n", r.Method, r.Route, r.Calls, r.Last, r.note())
	}
	_ = w.Flush() // into memory
}

// note says what else is known of the calls.
func (r *Route) note() string {
	switch {
	case r.Batch:
		return ", as parts of its batches"
	case r.Denied > 0:
		return fmt.Sprintf(", %d of them denied by the platform", r.Denied)
	}
	return ""
}

// count is a number of things: "1 day", "2 days", "3 addresses".
func count[N int | int64](n N, one string) string {
	if n != 1 {
		one += map[bool]string{true: "es", false: "s"}[strings.HasSuffix(one, "s")]
	}
	return fmt.Sprintf("%d %s", n, one)
}

// people says how many there are, of whom no more than n were counted.
func people(n int, more bool, one string) string {
	if more {
		return "more than " + count(n, one)
	}
	return count(n, one)
}
