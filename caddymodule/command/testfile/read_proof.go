package testfile

import (
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/restwarden/restwarden/policies/policy"
)

// proof reads the mapping under never or always.
func (d *document) proof(n *yaml.Node, t *Test, always bool) error {
	p := &Proof{Always: always}
	t.Proof = p
	word := "never"
	if always {
		word = "always"
	}
	given, err := d.fields(n, word, map[string]func(*yaml.Node) error{
		"as":     func(n *yaml.Node) error { return d.callers(n, p) },
		"calls":  func(n *yaml.Node) error { return d.parts(n, "calls", &p.Calls, ofMethod) },
		"routes": func(n *yaml.Node) error { return d.parts(n, "routes", &p.Routes, ofRoute) },
		"at": func(n *yaml.Node) (err error) {
			if p.URL, err = d.sites(n, t); err != nil || t.Sites != nil {
				return err
			}
			return d.site(n, p.URL)
		},
	})
	if err != nil {
		return err
	}
	for _, key := range []string{"as", "routes", "at"} {
		if given[key] == nil {
			return d.fail(n, "%s needs the key %s", word, key)
		}
	}
	if t.Name == "" {
		t.Name = p.String()
		if t.Sites == nil {
			t.Name += " at " + p.URL
		}
	}
	return nil
}

// String returns the proof in words: "never anonymous POST /wp/v2/**".
func (p *Proof) String() string {
	words := []string{"never"}
	if p.Always {
		words[0] = "always"
	}
	words = append(words, strings.Join(p.Callers, ","))
	if len(p.Calls) > 0 {
		words = append(words, strings.Join(p.Calls, ","))
	}
	return strings.Join(append(words, p.Routes...), " ")
}

// callers reads one caller or a list.
func (d *document) callers(n *yaml.Node, p *Proof) error {
	return d.each(n, "as", func(item *yaml.Node) error {
		as, text, err := d.caller(item)
		p.As, p.Callers = append(p.As, as), append(p.Callers, text)
		return err
	})
}

// parts reads methods, or patterns of routes, as rules of the Caddyfile have them. rule makes a
// rule of one.
func (d *document) parts(n *yaml.Node, what string, to *[]string, rule func(part string) (policy.Target, error)) error {
	return d.each(n, what, func(item *yaml.Node) error {
		text, err := d.text(item, what)
		if err != nil {
			return err
		}
		if _, err := rule(text); err != nil {
			return d.fail(item, "%s: %v", what, err)
		}
		*to = append(*to, text)
		return nil
	})
}

func ofMethod(method string) (policy.Target, error) {
	return policy.NewTarget([]string{method}, []string{"/**"})
}

func ofRoute(route string) (policy.Target, error) { return policy.NewTarget(nil, []string{route}) }

// each reads one value or a list of at least one.
func (d *document) each(n *yaml.Node, what string, read func(*yaml.Node) error) error {
	n, err := d.value(n)
	if err != nil {
		return err
	}
	if n.Kind != yaml.SequenceNode {
		return read(n)
	}
	if len(n.Content) == 0 {
		return d.fail(n, "%s is empty", what)
	}
	for _, item := range n.Content {
		if err := read(item); err != nil {
			return err
		}
	}
	return nil
}
