package gateway

import (
	"fmt"
	"maps"
	"slices"

	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
	"github.com/caddyserver/caddy/v2/caddyconfig/httpcaddyfile"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/restwarden/restwarden/caddymodule/option"
	"github.com/restwarden/restwarden/policies"
	"github.com/restwarden/restwarden/policies/access"
	"github.com/restwarden/restwarden/policies/call"
	"github.com/restwarden/restwarden/policies/call/platforms"
	"github.com/restwarden/restwarden/policies/caller"
	"github.com/restwarden/restwarden/policies/policy"
	"github.com/restwarden/restwarden/policies/typo"
)

func init() {
	httpcaddyfile.RegisterHandlerDirective("restwarden", parseDirective)
	// Before basic_auth: after rewrites and body limits, before every handler that
	// answers.
	httpcaddyfile.RegisterDirectiveOrder("restwarden", httpcaddyfile.Before, "basic_auth")
}

func parseDirective(h httpcaddyfile.Helper) (caddyhttp.MiddlewareHandler, error) {
	g := new(Gateway)
	if err := g.UnmarshalCaddyfile(h.Dispenser); err != nil {
		if g.Imported[""] != "" {
			err = option.InSite(err, h)
		}
		return nil, err
	}
	return saidBefore(h, g), nil
}

// UnmarshalCaddyfile reads the directive:
//
//	restwarden [<matcher>] cms|wordpress {
//		base <path>
//		prefix <name>
//		release auto|<x.y>[.<z>]
//		mode enforce|observe
//		tag <name>...
//		request_id on|off
//		misread count|refuse
//		journal writes|all|off
//		credentials header|cookie <name>...
//		credentials jetpack
//		identity { ttl <d>  timeout <d>  max_in_flight <n>  rate <n>/<d> }
//		body_limit|upload_limit|spool_limit <size>
//		spool_dir <path>
//		batch_limit <n>
//		<policy> off
//		<option of a policy> ...
//	}
//
// The catalog says which policy takes an option. Errors name file, line and import.
func (g *Gateway) UnmarshalCaddyfile(d *caddyfile.Dispenser) error {
	d.Next() // consume directive name
	directive := option.Read(d)
	g.At, g.Imported = directive.Pos, option.ImportsOf(directive)
	g.Lines = option.TakeLines(&directive)
	return g.placed(g.unmarshal(directive))
}

func (g *Gateway) unmarshal(directive policy.Option) error {
	if err := directive.Complete(); err != nil {
		return err
	}
	if len(directive.Args) > 1 {
		return directive.Errorf("restwarden takes one platform, %s, not %q", platforms.List("or"), directive.Args)
	}
	if len(directive.Args) == 1 {
		g.Platform = directive.Args[0]
	}
	if g.Platform == "" {
		return directive.Missing("needs a platform, " + platforms.List("or"))
	}
	if err := validatePlatform(g.Platform); err != nil {
		return directive.Errorf("%w", err)
	}
	return g.configure(directive)
}

// configure takes the options of the block: the gateway's own itself, the others by their
// policy.
func (g *Gateway) configure(directive policy.Option) error {
	own := map[string]bool{}
	guests := guests{}
	lines, err := expanded(directive.Block, g.Platform)
	if err != nil {
		return err
	}
	for _, o := range lines {
		set, known := gatewayOptions[o.Name]
		if !known {
			if err := guests.configure(o); err != nil {
				return err
			}
			continue
		}
		if err := o.Once(own[o.Name] && o.Name != "credentials" && o.Name != "alias"); err != nil {
			return err
		}
		own[o.Name] = true
		if err := set(g, o); err != nil {
			return err
		}
	}
	for _, c := range guests {
		if err := g.SetPolicy(c); err != nil {
			return err
		}
	}
	return nil
}

// expanded returns the options with what the lines `allow plugin` and `deny plugin` stand
// for in their place. Their limits come last: there a line of the owner's own may say the
// same, wherever it stands.
func expanded(block []policy.Option, platform string) (all []policy.Option, err error) {
	names, _ := platforms.ByName(platform)
	var last []policy.Option
	for _, o := range block {
		lines := []policy.Option{o}
		if access.IsPluginLine(o) {
			if lines, err = access.ExpandPlugins(o, names); err != nil {
				return nil, err
			}
		}
		for _, line := range lines {
			if line.From != "" && line.Name == "rate_limit" {
				last = append(last, line)
			} else {
				all = append(all, line)
			}
		}
	}
	return append(all, last...), nil
}

// gatewayOptions are the gateway's own options.
var gatewayOptions = map[string]func(*Gateway, policy.Option) error{
	"base":    func(g *Gateway, o policy.Option) error { return option.Checked(o, &g.Base, validateBase) },
	"prefix":  (*Gateway).prefixOption,
	"alias":   (*Gateway).aliasOption,
	"release": func(g *Gateway, o policy.Option) error { return option.Checked(o, &g.Release, validateRelease) },
	"mode":    func(g *Gateway, o policy.Option) error { return option.Checked(o, &g.Mode, policy.Mode.Validate) },
	"tag":     (*Gateway).tagOption,
	"misread": func(g *Gateway, o policy.Option) (err error) {
		g.Misread, err = o.Word(misreadCount, misreadRefuse)
		return err
	},
	"journal": func(g *Gateway, o policy.Option) (err error) {
		g.Journal, err = o.Word(journalWrites, journalAll, journalOff)
		return err
	},
	"request_id":   func(g *Gateway, o policy.Option) (err error) { g.RequestID, err = o.Word("on", "off"); return err },
	"credentials":  (*Gateway).credentialsOption,
	"identity":     (*Gateway).identityOption,
	"body_limit":   func(g *Gateway, o policy.Option) error { return option.Size(o, &g.BodyLimit) },
	"upload_limit": func(g *Gateway, o policy.Option) error { return option.Size(o, &g.UploadLimit) },
	"spool_limit":  func(g *Gateway, o policy.Option) error { return option.Size(o, &g.SpoolLimit) },
	"spool_dir":    func(g *Gateway, o policy.Option) (err error) { g.SpoolDir, err = o.One(); return err },
	"batch_limit":  func(g *Gateway, o policy.Option) error { return option.Number(o, &g.BatchLimit) },
}

func (g *Gateway) prefixOption(o policy.Option) error {
	if len(o.Args) == 0 || len(o.Block) > 0 {
		return o.Missing("takes the names of the prefix, the site's own first")
	}
	if g.Prefix = o.Args; slices.Contains(o.Args, "") {
		return o.Errorf("prefix: a name is empty")
	}
	return option.Placed(o, g.Prefix.Validate())
}

// aliasOption takes one rewrite rule of the site. Of a plugin that is named twice it takes each
// rule once.
func (g *Gateway) aliasOption(o policy.Option) error {
	if len(o.Args) != 2 || len(o.Block) > 0 {
		return o.Missing("takes a pattern and a route, such as ^api/(.+) /$1")
	}
	a := call.Alias{Pattern: o.Args[0], Route: o.Args[1]}
	if o.From != "" && slices.Contains(g.Alias, a) {
		return nil
	}
	g.Alias = append(g.Alias, a)
	return option.Placed(o, validateAliases(g.Alias))
}

func (g *Gateway) credentialsOption(o policy.Option) error {
	if g.Credentials == nil {
		g.Credentials = new(caller.Own)
	}
	c := g.Credentials
	const needs = "takes header <name>..., cookie <name>... or jetpack"
	switch {
	case len(o.Block) > 0:
		return o.Errorf("credentials %s", needs)
	case len(o.Args) == 0, len(o.Args) == 1 && (o.Args[0] == "header" || o.Args[0] == "cookie"):
		return o.Missing(needs)
	case o.Args[0] == "jetpack" && len(o.Args) == 1:
		if err := o.Once(c.Jetpack && o.From == ""); err != nil {
			return err
		}
		c.Jetpack = true
	case o.Args[0] == "header" && len(o.Args) > 1:
		c.Headers = append(c.Headers, o.Args[1:]...)
	case o.Args[0] == "cookie" && len(o.Args) > 1:
		c.Cookies = append(c.Cookies, o.Args[1:]...)
	default:
		if err := typo.Check(o.Args[0], "header", "cookie", "jetpack"); err != nil {
			return o.Errorf("credentials: %w", err)
		}
		return o.Errorf("credentials %s, not %q", needs, o.Args)
	}
	return option.Placed(o, c.Validate())
}

func (g *Gateway) identityOption(o policy.Option) error {
	if len(o.Args) > 0 {
		return o.Errorf("identity takes a block, no arguments")
	}
	g.Identity = new(Identity)
	return o.Each(func(o policy.Option) error {
		switch o.Name {
		case "ttl":
			return o.Duration(&g.Identity.TTL)
		case "timeout":
			return o.Duration(&g.Identity.Timeout)
		case "max_in_flight":
			return option.Number(o, &g.Identity.MaxInFlight)
		case "rate":
			return option.Checked(o, &g.Identity.Rate, func(text string) error {
				if _, err := policy.ParseRate(text); err != nil {
					return fmt.Errorf("rate: %w", err)
				}
				return nil
			})
		}
		return o.Unknown("ttl", "timeout", "max_in_flight", "rate")
	})
}

// directiveWords are all options of the directive.
func directiveWords() []string {
	words := slices.Sorted(maps.Keys(gatewayOptions))
	for _, e := range policies.Catalog {
		words = append(words, e.Name)
		words = append(words, e.Words...)
	}
	slices.Sort(words)
	return slices.Compact(words)
}

// guests are the policies that the lines of one directive have named so far, by name.
type guests map[string]*policy.Configured

// configure passes o to its policy.
func (gs guests) configure(o policy.Option) error {
	e, ok := policies.Lookup(o.Name)
	if !ok {
		return o.Unknown(directiveWords()...)
	}
	if gs[e.Name] == nil {
		gs[e.Name] = policy.NewConfigured(e)
	}
	return gs[e.Name].Configure(o)
}
