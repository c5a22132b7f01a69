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
		"calls":  func(n *yaml.Node) error { return d.calls(n, p) },
		"routes": func(n *yaml.Node) error { return d.routes(n, p) },
		"at": func(n *yaml.Node) (err error) {
			if p.URL, err = d.text(n, "at"); err != nil {
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
	}
	return nil
}

// String returns the proof in words: "never anonymous POST /wp/v2/** at https://shop.example.com".
func (p *Proof) String() string {
	words := []string{"never"}
	if p.Always {
		words[0] = "always"
	}
	words = append(words, strings.Join(p.Callers, ","))
	if len(p.Calls) > 0 {
		words = append(words, strings.Join(p.Calls, ","))
	}
	return strings.Join(append(append(words, p.Routes...), "at", p.URL), " ")
}

// callers reads one caller or a list.
func (d *document) callers(n *yaml.Node, p *Proof) error {
	return d.each(n, "as", func(item *yaml.Node) error {
		as, text, err := d.caller(item)
		p.As, p.Callers = append(p.As, as), append(p.Callers, text)
		return err
	})
}

// calls reads methods as rules of the Caddyfile have them.
func (d *document) calls(n *yaml.Node, p *Proof) error {
	return d.each(n, "calls", func(item *yaml.Node) error {
		text, err := d.text(item, "calls")
		if err != nil {
			return err
		}
		if _, err := policy.NewTarget([]string{text}, []string{"/**"}); err != nil {
			return d.fail(item, "calls: %v", err)
		}
		p.Calls = append(p.Calls, text)
		return nil
	})
}

// routes reads patterns as rules of the Caddyfile have them.
func (d *document) routes(n *yaml.Node, p *Proof) error {
	return d.each(n, "routes", func(item *yaml.Node) error {
		text, err := d.text(item, "routes")
		if err != nil {
			return err
		}
		if _, err := policy.NewTarget(nil, []string{text}); err != nil {
			return d.fail(item, "routes: %v", err)
		}
		p.Routes = append(p.Routes, text)
		return nil
	})
}

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
