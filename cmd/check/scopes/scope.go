package scopes

import (
	"fmt"
	"strings"
)

// Any stands in a scope for every credential of a kind that no scope names.
const Any = "*"

// Scope is a block of the directive.
type Scope struct {
	Name      string
	Keys      []string // last seven characters, or Any
	Passwords []string // uuids, or Any
	Users     []string // logins, or Any
	Allow     []Line
	Hide      []Hidden
	From      []string // networks; none is everywhere
	Between   Hours
	Until     string // a day, "" for none
	Ended     bool   // Until is over
	Observe   bool
	Open      bool // other_doors open
}

// Hours are a condition "between"; without a text they are all hours.
type Hours struct {
	Text string
	Shut bool // they are over as long as the test runs
}

// Line is a line "allow".
type Line struct {
	Methods  []string // none are all
	Routes   []string
	Only     []string
	Compare  []Comparison
	Optional []string
	From     []string
	Between  Hours
}

// Comparison is a condition such as "amount <= 100".
type Comparison struct {
	Member, Is string
	Values     []string // one, but for "="
}

// Hidden is a line "hide".
type Hidden struct {
	Route  string
	Fields []string
}

// Caddyfile returns the block.
func (s *Scope) Caddyfile() string {
	var b strings.Builder
	line := func(words ...string) {
		if words[len(words)-1] != "" {
			b.WriteString("\t\t\t" + strings.Join(words, " ") + "\n")
		}
	}
	fmt.Fprintf(&b, "\t\tscope %s {\n", s.Name)
	line("key", strings.Join(s.Keys, " "))
	line("password", strings.Join(s.Passwords, " "))
	line("user", strings.Join(s.Users, " "))
	for _, l := range s.Allow {
		line(l.caddyfile())
	}
	for _, h := range s.Hide {
		line("hide", h.Route, strings.Join(h.Fields, " "))
	}
	line("from", strings.Join(s.From, " "))
	line("between", s.Between.Text)
	line("until", s.Until)
	if s.Observe {
		line("mode observe")
	}
	if s.Open {
		line("other_doors open")
	}
	b.WriteString("\t\t}\n")
	return b.String()
}

func (l *Line) caddyfile() string {
	words := []string{"allow"}
	if l.Methods != nil {
		words = append(words, strings.Join(l.Methods, ","))
	}
	words = append(words, l.Routes...)
	var conditions []string
	add := func(word string, list []string) {
		if len(list) > 0 {
			conditions = append(conditions, word+" "+strings.Join(list, " "))
		}
	}
	add("only", l.Only)
	for _, c := range l.Compare {
		conditions = append(conditions, c.Member+" "+c.Is+" "+strings.Join(c.Values, ","))
	}
	add("optional", l.Optional)
	add("from", l.From)
	if l.Between.Text != "" {
		conditions = append(conditions, "between "+l.Between.Text)
	}
	if conditions == nil {
		return strings.Join(words, " ")
	}
	return strings.Join(words, " ") + " {\n\t\t\t\t" + strings.Join(conditions, "\n\t\t\t\t") + "\n\t\t\t}"
}
