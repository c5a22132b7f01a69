package testfile

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/restwarden/restwarden/caddymodule/command/sitename"
	"github.com/restwarden/restwarden/caddymodule/dryrun"
)

// sites reads the sites of a test, "all" or "tag:" and a tag. It returns any other text.
func (d *document) sites(n *yaml.Node, t *Test) (other string, err error) {
	text, err := d.text(n, "at")
	if err != nil {
		return "", err
	}
	if text == "all" {
		t.Sites = new(sitename.Choice)
		return "", nil
	}
	tag, tagged := strings.CutPrefix(text, "tag:")
	if !tagged {
		return text, nil
	}
	if tag == "" {
		return "", d.fail(n, "at: write the tag behind tag:, such as tag:shops")
	}
	t.Sites = &sitename.Choice{Tags: []string{tag}}
	return "", nil
}

// at is the test at one site.
func (t *Test) at(home dryrun.Home) (*Test, error) {
	one := *t
	one.Sites, one.Name = nil, t.Name+" at "+home.Address
	if t.Proof != nil {
		p := *t.Proof
		p.URL = home.Address
		one.Proof = &p
		return &one, nil
	}
	r := *t.Request
	r.URL = strings.TrimRight(home.Address, "/") + r.URL
	built, err := dryrun.Build(r.Method, r.URL, r.Headers, r.Body)
	if err != nil {
		return nil, err
	}
	built.As, built.Records, built.Abilities, built.Client = r.As, r.Records, r.Abilities, r.Client
	r.Request = built
	one.Request = &r
	return &one, nil
}

// target returns the request of a test, or one for the address of its proof.
func (t *Test) target() (dryrun.Request, error) {
	if t.Proof == nil {
		return t.Request.Request, nil
	}
	return dryrun.Build("", t.Proof.URL, nil, nil)
}

// sites are those of a configuration, and which of them are meant.
type sites struct {
	homes     []dryrun.Home
	unreached []dryrun.Unreached
	known     []sitename.Site // of homes, and then of unreached
	meant     []string        // names
}

// look finds the sites, where tests or the choice ask for them.
func (r *Runner) look(ctx context.Context) (err error) {
	if r.sites != nil {
		return nil
	}
	s := new(sites)
	if s.homes, err = r.Gateway.Addressed(ctx); err != nil {
		return err
	}
	if s.unreached, err = r.Gateway.Unreached(ctx); err != nil {
		return err
	}
	s.known = sitename.Known(s.homes, s.unreached)
	if s.meant, err = r.Choice.Among(s.known); err == nil {
		r.sites = s
	}
	return err
}

// each returns a test for each site that it is about, of those that are meant. A test is about none where its request comes to another
// site.
func (r *Runner) each(ctx context.Context, t *Test) (all []*Test, err error) {
	if t.Sites == nil && r.Choice.All() {
		return []*Test{t}, nil
	}
	if err := r.look(ctx); err != nil {
		return nil, err
	}
	if t.Sites == nil {
		request, err := t.target()
		if err != nil {
			return nil, err
		}
		name, err := r.Gateway.SiteOf(ctx, request)
		if err != nil || r.isKnown(name) && !slices.Contains(r.meant, name) {
			return nil, err
		}
		return []*Test{t}, nil
	}
	if err := t.Sites.Check(r.known); err != nil {
		return nil, err
	}
	for i, home := range r.homes {
		if !t.Sites.Wants(r.known[i]) || !slices.Contains(r.meant, home.Name) {
			continue
		}
		one, err := t.at(home)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", home.Name, err)
		}
		all = append(all, one)
	}
	if len(r.known) == 0 {
		err = errors.New("the configuration guards no site")
	}
	return all, err
}

func (s *sites) isKnown(name string) bool {
	return slices.ContainsFunc(s.known, func(k sitename.Site) bool { return k.Names[0] == name })
}

// lost are the outcomes of a test at the sites that it is about and nobody knows the address of: it cannot run there.
func (r *Runner) lost(t *Test) (all []Outcome) {
	if t.Sites == nil {
		return nil
	}
	expected := t.Expect.String()
	if t.Proof != nil {
		expected = t.claim()
	}
	for i, u := range r.unreached {
		if t.Sites.Wants(r.known[len(r.homes)+i]) && slices.Contains(r.meant, u.Name) {
			all = append(all, Outcome{Position: t.At, Name: t.Name + " at " + u.Name, Status: Unknown, Expected: expected, Got: said(dryrun.Unknown, ""), Why: u.Why()})
		}
	}
	return all
}
