package access

import (
	"fmt"
	"slices"
	"strings"

	"github.com/restwarden/restwarden/policies/call/platforms"
	"github.com/restwarden/restwarden/policies/plugins"
	"github.com/restwarden/restwarden/policies/policy"
	"github.com/restwarden/restwarden/policies/typo"
)

// PluginLine is one plugin of a line `allow plugin <name>… [for …]` or `deny plugin <name>…`.
// Its rules, limits and signatures stand beside it, with the plugin's name in their From.
type PluginLine struct {
	Plugin string `json:"plugin"` // slug
	Deny   bool   `json:"deny,omitempty"`
	// Groups are those of the line; none are plugins.DefaultGroups.
	Groups []plugins.Group `json:"for,omitempty"`
	// At is where the line stands, "Caddyfile:12".
	At string `json:"at,omitempty"`
}

// IsPluginLine tells whether o is `allow plugin …` or `deny plugin …`.
func IsPluginLine(o policy.Option) bool {
	return (o.Name == "allow" || o.Name == "deny") && len(o.Args) > 0 && o.Args[0] == "plugin"
}

// ExpandPlugins returns the lines that a plugin line stands for on a platform: rules that
// allow anyone what visitors and others without a login need, or a signature where the line
// has a key for it; and the limits of what must not be tried too often. A deny line becomes
// rules that take away what is risky, see Guard. Errors name file and line.
func ExpandPlugins(o policy.Option, platform platforms.Platform) ([]policy.Option, error) {
	line, err := readPluginLine(o)
	if err != nil {
		return nil, err
	}
	var all []policy.Option
	for _, p := range line.plugins {
		e := expansion{line: line, plugin: p, platform: platform}
		e.add(o.Name, append([]string{"plugin", p.Slug}, line.words...)...)
		e.rewrites()
		if o.Name == "deny" {
			e.deny()
		} else {
			e.allow()
		}
		all = append(all, e.options...)
	}
	return all, nil
}

// ExpandLine is ExpandPlugins for a line without a block, such as "allow plugin x for apps".
func ExpandLine(line string, platform platforms.Platform) ([]policy.Option, error) {
	words := strings.Fields(line)
	return ExpandPlugins(policy.Option{Name: words[0], Args: words[1:]}, platform)
}

// pluginLine is a line, taken apart.
type pluginLine struct {
	policy.Option
	plugins []*plugins.Plugin
	groups  []plugins.Group
	words   []string // the groups as written
	keys    []string
}

func readPluginLine(o policy.Option) (*pluginLine, error) {
	l := &pluginLine{Option: o, groups: plugins.DefaultGroups}
	names := o.Args[1:]
	if at := slices.Index(names, "for"); at >= 0 {
		if err := l.readGroups(names[at+1:]); err != nil {
			return nil, err
		}
		names = names[:at]
	}
	if len(names) == 0 {
		const needs = "plugin needs the name of a plugin"
		if o.Imported != "" { // {args[:]} of an import without arguments is nothing
			return nil, o.Errorf("%s %s: does the import of the snippet give one, or %s", o.Name, needs, policy.UnsetHint)
		}
		return nil, o.Missing(needs)
	}
	for _, name := range names {
		p, err := plugins.ByName(name)
		if err != nil {
			return nil, o.Errorf("%s plugin: %w", o.Name, err)
		}
		if !slices.Contains(l.plugins, p) {
			l.plugins = append(l.plugins, p)
		}
	}
	return l, l.readBlock()
}

// readGroups reads what follows "for".
func (l *pluginLine) readGroups(args []string) error {
	switch {
	case l.Name == "deny":
		return l.Errorf("deny plugin takes no for: it closes what is risky to everybody without a login")
	case len(args) == 0:
		return l.Missing("plugin … for needs a list such as visitors,payments")
	case len(args) > 1:
		return l.Errorf("allow plugin … for takes one list, with commas: %s", strings.Join(wordsOf(args), ","))
	}
	l.groups, l.words = nil, strings.Split(args[0], ",")
	for _, word := range l.words {
		if err := typo.Check(word, groupWords()...); err != nil {
			return l.Errorf("%s plugin … for: %w", l.Name, err)
		}
		l.groups = append(l.groups, plugins.Group(word))
	}
	return nil
}

// wordsOf returns the words of a list that was written with spaces.
func wordsOf(args []string) []string {
	return strings.FieldsFunc(strings.Join(args, ","), func(c rune) bool { return c == ',' })
}

// readBlock reads the keys.
func (l *pluginLine) readBlock() error {
	for _, inner := range l.Block {
		if inner.Name != "key" {
			return inner.Unknown("key")
		}
		if len(inner.Args) == 0 || len(inner.Block) > 0 {
			return inner.Missing("takes one secret or several")
		}
		l.keys = append(l.keys, inner.Args...)
	}
	switch {
	case len(l.keys) == 0:
		return nil
	case l.Name == "deny":
		return l.Errorf("deny plugin takes no key")
	case len(l.plugins) > 1:
		return l.Errorf("allow plugin: a key is for one plugin, which then has a line of its own")
	case signatureOf(l.plugins[0], l.groups) == nil:
		return l.Errorf("allow plugin %s: nothing that it opens is signed in a way that a key can check", l.plugins[0].Slug)
	}
	return nil
}

// signatureOf returns how the calls of a plugin are signed, or nil. An entry has one scheme.
func signatureOf(p *plugins.Plugin, groups []plugins.Group) *plugins.Signature {
	for i := range p.Needed {
		if n := &p.Needed[i]; n.Signature != nil && slices.Contains(groups, n.Caller.Group()) {
			return n.Signature
		}
	}
	return nil
}

// pluginLineOption reads what ExpandPlugins says of one plugin of a line.
func pluginLineOption(o policy.Option) PluginLine {
	l := PluginLine{Plugin: o.From, Deny: o.Name == "deny", At: o.Pos}
	for _, word := range o.Args[2:] {
		l.Groups = append(l.Groups, plugins.Group(word))
	}
	return l
}

// String writes the line for its one plugin.
func (l *PluginLine) String() string {
	if l.Deny {
		return plugins.DenyText(l.Plugin)
	}
	return plugins.AllowText(l.Plugin, l.Groups...)
}

// validate checks what JSON may say.
func (l *PluginLine) validate() error {
	if _, err := plugins.ByName(l.Plugin); err != nil {
		return err
	}
	for _, g := range l.Groups {
		if err := typo.Check(string(g), groupWords()...); err != nil {
			return fmt.Errorf("for: %w", err)
		}
	}
	return nil
}

func groupWords() (words []string) {
	for _, g := range plugins.Groups {
		words = append(words, string(g))
	}
	return words
}

// nothing says in a sentence that the line changes nothing. It is "" for other lines.
func (l *PluginLine) nothing() string {
	p, err := plugins.ByName(l.Plugin)
	switch {
	case err != nil:
		return ""
	case l.Deny && len(p.Risky) == 0:
		return fmt.Sprintf("deny plugin %s: the catalogue knows nothing risky of %s", p.Slug, p.Name)
	case l.Deny:
		return ""
	}
	groups, others := l.Groups, []string(nil)
	if len(groups) == 0 {
		groups = plugins.DefaultGroups
	}
	for i := range p.Needed {
		g := p.Needed[i].Caller.Group()
		if slices.Contains(groups, g) {
			return ""
		}
		if !slices.Contains(others, string(g)) {
			others = append(others, string(g))
		}
	}
	if len(others) > 0 {
		return fmt.Sprintf("allow plugin %s: %s needs nothing open for these callers, but for %s it does", p.Slug, p.Name, strings.Join(others, ","))
	}
	return fmt.Sprintf("allow plugin %s: %s needs nothing open", p.Slug, p.Name)
}
