package credentials

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/restwarden/restwarden/policies/call/platforms"
	"github.com/restwarden/restwarden/policies/call/routes"
	"github.com/restwarden/restwarden/policies/caller"
	"github.com/restwarden/restwarden/policies/index"
	"github.com/restwarden/restwarden/policies/openings"
	"github.com/restwarden/restwarden/policies/policy"
	"github.com/restwarden/restwarden/policies/scope"
)

// Scopes writes the smallest scopes under which the credentials can do what they did, as lines for the directive with comments.
// Credentials that were seen on fewer than minDays days are left out. The texts of r must be printable.
func (r *Report) Scopes(out io.Writer, platform platforms.Platform, minDays int) error {
	var b strings.Builder
	for i := range r.Sites {
		s := &r.Sites[i]
		if i > 0 {
			b.WriteString("\n")
		}
		p := &proposal{Builder: &b, platform: platform, names: map[string]bool{}}
		few := 0
		comment(&b, "", "%s: %s. Put these lines into the block of restwarden, at first with mode observe. Nothing has been applied.", s.Name, count(len(s.Credentials), "credential"))
		if text := s.Claimed.String(); text != "" {
			comment(&b, "", "Left out: %s.", text)
		}
		for j := range s.Credentials {
			if of := &s.Credentials[j]; of.Days < minDays {
				few++
			} else {
				b.WriteString("\n")
				p.scope(of)
			}
		}
		if few > 0 {
			comment(&b, "", "Left out: %s seen on fewer than %s.", count(few, "credential"), count(minDays, "day"))
		}
	}
	_, err := io.WriteString(out, b.String())
	return err
}

func comment(b *strings.Builder, indent, format string, args ...any) {
	b.WriteString(indent + strings.TrimSpace(fmt.Sprintf("# "+format, args...)) + "\n")
}

// proposal writes the scopes of a site.
type proposal struct {
	*strings.Builder

	platform platforms.Platform
	names    map[string]bool // of scopes that it has written
}

// scope writes the scope of a credential. One that no line can name, or that has nothing to allow, is a comment.
func (p *proposal) scope(of *Credential) {
	comment(p.Builder, "", "%s: %s.", of.Name(), of.Used())
	who, lacks := whoOf(of)
	lines, left := p.lines(of)
	if len(lines) == 0 {
		lacks = cmp.Or(lacks, "No route of its calls is known, so that a scope would allow nothing.")
	}
	var b strings.Builder
	fmt.Fprintf(&b, "scope %s {\n\t%s\n", p.name(of), who)
	for _, l := range lines {
		for _, about := range l.about {
			comment(&b, "\t", "%s", about)
		}
		fmt.Fprintf(&b, "\tallow %s %s\n", l.methods, strings.Join(l.routes, " "))
	}
	for _, about := range left {
		comment(&b, "\t", "Left out: %s", about)
	}
	b.WriteString("}\n")
	text := b.String()
	if lacks != "" {
		comment(p.Builder, "", "%s", lacks)
		text = "# " + strings.ReplaceAll(strings.TrimSuffix(text, "\n"), "\n", "\n# ") + "\n"
	}
	p.WriteString(text)
}

// whoOf returns the line that names a credential, and what lacks for it.
func whoOf(of *Credential) (line, lacks string) {
	switch of.Kind {
	case caller.CredentialKey:
		if !caller.PlainKeyEnd(of.Key) {
			lacks = "A scope names a key by its last seven characters, and the log has another text."
		}
		return "key " + of.Key, lacks
	case caller.CredentialPassword:
		if !caller.PlainUUID(of.UUID) {
			return "password <uuid>", "The scope needs the uuid of the password: caddy restwarden credentials --live URL -H HEADER lists those of the login, " +
				"and a scope with password * and mode observe has the gateway ask for it, so that the log has it from then on."
		}
		return "password " + of.UUID, ""
	case caller.CredentialUser:
	}
	if !caller.PlainLogin(of.Login) || strings.TrimSpace(of.Login) != of.Login || strings.HasPrefix(of.Login, "ck_") {
		return "user <login>", "The login has characters that this command does not write into a Caddyfile."
	}
	if strings.Contains(of.Login, " ") {
		return `user "` + of.Login + `"`, ""
	}
	return "user " + of.Login, ""
}

// name returns a name for the scope: that of the one that the credential has, else one of its own.
func (p *proposal) name(of *Credential) string {
	begin := of.Scope
	if begin == "" || strings.Contains(begin, ",") {
		begin = cmp.Or(of.Login, of.UUID)
		if of.Kind == caller.CredentialKey {
			begin = "key-" + of.Key
		}
	}
	begin = strings.Map(func(c rune) rune {
		if 'a' <= c && c <= 'z' || '0' <= c && c <= '9' || c == '-' || c == '_' {
			return c
		}
		return '-'
	}, strings.ToLower(begin))
	if begin == "off" { // a word of the directive
		begin = "user-off"
	}
	name := begin
	for i := 2; p.names[name]; i++ {
		name = fmt.Sprintf("%s-%d", begin, i)
	}
	p.names[name] = true
	return name
}

// line is a line "allow" with what speaks for it.
type line struct {
	methods string
	routes  []string
	about   []string
}

// lines returns the lines for the calls of a credential, and what no line is for.
func (p *proposal) lines(of *Credential) (lines []line, left []string) {
	methods, wide := map[string][]string{}, map[string][]string{} // of each pattern; wide are those by which it can widen its scope
	about := map[[2]string][]string{}
	for i := range of.Routes {
		r := &of.Routes[i]
		method, forms := openings.RuleMethod(r.Method), p.forms(r.Route)
		text := fmt.Sprintf("%s %s: %s, last %s%s", r.Method, r.Route, count(r.Calls, "call"), r.Last, r.note())
		switch {
		case !slices.Contains(policy.KnownMethods, method), len(forms) == 0:
			left = append(left, text+": no line can name it")
			continue
		case r.Denied == r.Calls:
			left = append(left, text)
			continue
		}
		for _, form := range forms {
			to := methods
			if scope.Widens(p.platform, method, routes.MustPattern(form)) {
				to = wide
			}
			if !slices.Contains(to[form], method) {
				to[form] = append(to[form], method)
			}
			about[[2]string{method, form}] = append(about[[2]string{method, form}], text)
		}
	}
	return slices.Concat(together(methods, about, ""), together(wide, about, "W23: by this the credential can widen its own scope. Does it need to?")), left
}

// together returns a line for each set of methods that patterns have.
func together(methods map[string][]string, about map[[2]string][]string, warning string) (lines []line) {
	for _, form := range slices.Sorted(maps.Keys(methods)) {
		set := methods[form]
		slices.SortFunc(set, func(a, b string) int {
			return cmp.Compare(slices.Index(policy.KnownMethods, a), slices.Index(policy.KnownMethods, b))
		})
		words := strings.Join(set, ",")
		i := slices.IndexFunc(lines, func(l line) bool { return l.methods == words && warning == "" })
		if i < 0 {
			i = len(lines)
			lines = append(lines, line{methods: words})
			if warning != "" {
				lines[i].about = append(lines[i].about, warning)
			}
		}
		lines[i].routes = append(lines[i].routes, form)
		for _, method := range set {
			for _, text := range about[[2]string{method, form}] {
				if !slices.Contains(lines[i].about, text) {
					lines[i].about = append(lines[i].about, text)
				}
			}
		}
	}
	return lines
}

// forms returns the patterns for what the name of a route stands for: an id is "*". The name of an ability has two segments.
func (p *proposal) forms(route string) (forms []string) {
	abilities := "/" + p.platform.Abilities + "/abilities/"
	for _, form := range index.Forms(route) {
		segments, _ := form.Segments()
		segments = slices.Clone(segments)
		for i, s := range segments {
			if s[0] == ':' {
				segments[i] = "*"
			}
		}
		text := "/" + strings.Join(segments, "/")
		if rest, is := strings.CutPrefix(text, abilities+"*"); is && (rest == "" || rest == "/run") {
			text = abilities + "*/*" + rest
		}
		if !slices.Contains(forms, text) {
			forms = append(forms, text)
		}
	}
	return forms
}
