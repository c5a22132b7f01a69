package testfile

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/restwarden/restwarden/caddymodule/dryrun"
	"github.com/restwarden/restwarden/caddymodule/gateway"
	"github.com/restwarden/restwarden/caddymodule/routing"
	"github.com/restwarden/restwarden/policies/discover"
	"github.com/restwarden/restwarden/policies/hosts"
	"github.com/restwarden/restwarden/policies/policy"
	"github.com/restwarden/restwarden/policies/respell"
	"github.com/restwarden/restwarden/policies/review"
)

// configuration is a Gateway of dry runs.
type configuration struct {
	*dryrun.Config
	index bool // a saved REST root was given
	rules []dryrun.Rule
}

// Load loads a configuration. The error is that of Caddy.
func Load(o dryrun.Options) (Gateway, error) {
	c, err := dryrun.Load(o)
	if err != nil {
		return nil, err
	}
	rules, err := c.Rules()
	if err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return &configuration{Config: c, index: o.Index != nil, rules: rules}, nil
}

// Rules implements Gateway.
func (c *configuration) Rules() []dryrun.Rule { return c.rules }

// SiteOf implements Gateway.
func (c *configuration) SiteOf(ctx context.Context, r dryrun.Request) (string, error) {
	site, _, err := c.Reach(ctx, r)
	if err != nil || site == nil {
		return "", err
	}
	return site.Name, nil
}

// Spell implements Gateway.
func (c *configuration) Spell(ctx context.Context, r *Request) ([]Spelling, error) {
	site, result, err := c.Reach(ctx, r.Request)
	switch {
	case err != nil:
		return nil, err
	case site == nil:
		return nil, unreached(result)
	}
	as, err := r.As.On(site.Policies)
	if err != nil {
		return nil, err
	}
	var all []Spelling
	for _, s := range respell.All(site.Policies.Platform, respell.Request{
		Method: r.Method, URL: r.URL, Header: r.Headers, Body: r.Body, Base: site.Base, Prefix: site.Prefix, Aliases: site.Aliases,
	}) {
		if s.Name != respell.Plain && (as.Kind != dryrun.Key || namesShop(s.Raw, site)) {
			all = append(all, Spelling{Name: s.Name, Raw: s.Raw, Overrides: s.Overrides})
		}
	}
	return all, nil
}

// namesShop tells whether the address of a request names the shop, as it must for a shop key to
// count on every release (docs/platform III.8).
func namesShop(raw []byte, site *gateway.ServedSite) bool {
	line, _, _ := bytes.Cut(raw, []byte("\n"))
	return bytes.Contains(line, []byte(" "+site.Base+"/"+site.Prefix+"/"+site.Policies.Platform.ShopWord()))
}

// unreached says that the gateway is not on the way of a request.
func unreached(result *dryrun.Result) error {
	if result.Missed == nil {
		return errors.New("the gateway is not on the way")
	}
	return fmt.Errorf("the gateway is not on the way: %s", missed(result.Missed))
}

// Prove implements Gateway.
func (c *configuration) Prove(ctx context.Context, p *Proof, i int) (*Proved, error) {
	request, err := dryrun.Build(http.MethodGet, p.URL, nil, nil)
	if err != nil {
		return nil, err
	}
	site, result, err := c.Reach(ctx, request)
	switch {
	case err != nil:
		return nil, err
	case site == nil:
		return nil, &hole{unreached(result).Error()}
	}
	u, err := url.Parse(p.URL)
	if err != nil {
		return nil, err
	}
	if f := c.finding(p, site, u.Host); f != nil {
		text := fmt.Sprintf("%s at %s: %s", f.Code, f.At, f.Text)
		if p.Always {
			return nil, errors.New(text)
		}
		return nil, &hole{text}
	}
	if err := c.reached(ctx, p, i, site, u); err != nil {
		return nil, err
	}
	holders, err := p.As[i].EachOn(site.Policies)
	if err != nil {
		return nil, err
	}
	claim := review.Claim{Never: !p.Always, Methods: p.Calls, Routes: p.Routes, InForce: site.Policies.Switches.InForce(time.Now)}
	if p.Always && claim.InForce.Locked {
		return nil, errors.New("a lockdown is in force, which proofs do not count")
	}
	proved := &Proved{Holds: true}
	for i, holder := range holders {
		claim.Caller, claim.Credential = holder.Caller(), holder.Credential
		one, err := c.proveOne(request, site, u, claim)
		if err != nil {
			return nil, err
		}
		if i > 0 {
			one.of(holder)
		}
		proved.add(one)
	}
	return proved, nil
}

// of makes what was found of another credential of a scope than the first, as which a run plays its holder, one that no run can
// confirm.
func (p *Proved) of(holder dryrun.Holder) {
	for _, c := range p.Counter {
		p.Unproved = append(p.Unproved, fmt.Sprintf("A %s of %s breaks it with %s %s.", holder.Credential.Kind, holder.As, c.Method, c.URLs[0]))
	}
	p.Counter = nil
}

// add adds what is proved of more calls.
func (p *Proved) add(more *Proved) {
	p.Holds = p.Holds && more.Holds
	p.Counter = append(p.Counter, more.Counter...)
	p.Unproved = append(p.Unproved, more.Unproved...)
}

// proveOne proves a claim for the directive of a site, and for the others of its address.
func (c *configuration) proveOne(r dryrun.Request, site *gateway.ServedSite, u *url.URL, claim review.Claim) (*Proved, error) {
	if c.index {
		if claim.Index = discover.Of(site.Policies).Index(u.Host); claim.Index == nil {
			return nil, errors.New("the saved index has no routes")
		}
	}
	proof, err := review.Prove(site.Chain, claim)
	if err != nil {
		return nil, err
	}
	if c.index && proof.Holds {
		if err := vacuous(site.Chain, claim); err != nil {
			return nil, err
		}
	}
	proved := &Proved{Holds: proof.Holds, Unproved: proof.Unproved}
	for _, e := range proof.Counter {
		proved.Counter = append(proved.Counter, Counterexample{Method: e.Method, URLs: urls(u, site, e.Route)})
	}
	return proved, c.proveOthers(r, site, u, claim, proved)
}

// proveOthers proves a claim for the other directives of the site's address, too. Only a
// run can tell whether a call that breaks it there comes to that directive.
func (c *configuration) proveOthers(r dryrun.Request, site *gateway.ServedSite, at *url.URL, claim review.Claim, proved *Proved) error {
	others, err := c.Others(r, site)
	if err != nil {
		return err
	}
	for _, other := range others {
		proof, err := review.Prove(other.Chain, claim)
		if err != nil {
			return err
		}
		for _, e := range proof.Counter {
			proved.Counter = append(proved.Counter, Counterexample{Method: e.Method, URLs: urls(at, site, e.Route)})
		}
		proved.Unproved = append(proved.Unproved, proof.Unproved...)
		if !proof.Holds {
			proved.Holds = false
			proved.Unproved = append(proved.Unproved, fmt.Sprintf("The directive at %s judges some requests to this address, and its rules break the line.", other.At))
		}
	}
	return nil
}

// vacuous returns an error if a route of a proved claim is none of the index: a misspelled
// route proves nothing. No call breaks the opposite claim either then.
func vacuous(chain *policy.Chain, claim review.Claim) error {
	claim.Never = !claim.Never
	for _, route := range claim.Routes {
		one := claim
		one.Routes = []string{route}
		opposite, err := review.Prove(chain, one)
		if err != nil {
			return err
		}
		if opposite.Holds {
			return fmt.Errorf("the saved index has no call of %s", route)
		}
	}
	return nil
}

// hole is a way past the gateway, or past a part of it. No rule says what comes through.
type hole struct{ text string }

func (h *hole) Error() string { return h.text }

// holes are the findings with which calls reach the platform unjudged: past the gateway
// (W01 to W03), without a certain reading (W10), or as another call (W12).
var holes = []string{"W01", "W02", "W03", "W10", "W12"}

// finding returns a finding about a site with which nothing can be proved about its calls:
// for never a hole, for always another directive that may refuse them.
func (c *configuration) finding(p *Proof, site *gateway.ServedSite, host string) *routing.Finding {
	codes := holes
	if p.Always {
		codes = []string{"W09"}
	}
	for i := range c.Report.Odd {
		f := &c.Report.Odd[i]
		about := f.At == site.At && f.Imported == site.Imported || len(f.Sites) == 0 ||
			slices.ContainsFunc(f.Sites, func(pattern string) bool { return hosts.Fits(pattern, hosts.Name(host)) })
		if about && slices.Contains(codes, f.Code) {
			return f
		}
	}
	return nil
}

// urls write a route of a site in the pretty form and in the query form.
func urls(at *url.URL, site *gateway.ServedSite, route string) []string {
	base := site.Base
	if base == "" {
		base = strings.TrimRight(at.EscapedPath(), "/")
	}
	base = at.Scheme + "://" + at.Host + base + "/"
	return []string{
		base + cmp.Or(site.Prefix, site.Policies.Platform.Prefix) + (&url.URL{Path: route}).EscapedPath(),
		base + "?rest_route=" + strings.ReplaceAll(url.QueryEscape(route), "%2F", "/"),
	}
}
