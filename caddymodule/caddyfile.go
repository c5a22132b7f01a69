package caddymodule

import (
	"fmt"
	"math"
	"strconv"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
	"github.com/caddyserver/caddy/v2/caddyconfig/httpcaddyfile"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"github.com/dustin/go-humanize"

	"github.com/restwarden/restwarden/policies"
	"github.com/restwarden/restwarden/policies/call"
	"github.com/restwarden/restwarden/policies/caller"
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
		return nil, err
	}
	return g, nil
}

// UnmarshalCaddyfile reads the directive:
//
//	restwarden [<matcher>] cms|wordpress {
//		base <path>
//		prefix <name>
//		release auto|<x.y>
//		mode enforce|observe
//		request_id on|off
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
// The catalog says which policy takes an option. Errors name file and line.
func (g *Gateway) UnmarshalCaddyfile(d *caddyfile.Dispenser) error {
	d.Next() // consume directive name
	directive := policies.Option{Name: d.Val(), Pos: position(d), Args: d.RemainingArgs()}
	directive.Block = options(d)
	g.At = directive.Pos
	if len(directive.Args) > 1 {
		return directive.Errorf("restwarden takes one platform, %s, not %q", call.ListPlatforms("or"), directive.Args)
	}
	if len(directive.Args) == 1 {
		g.Platform = directive.Args[0]
	}
	if err := validatePlatform(g.Platform); err != nil {
		return directive.Errorf("%w", err)
	}
	return g.configure(directive)
}

// options converts the block that follows to options, inner blocks included.
func options(d *caddyfile.Dispenser) []policies.Option {
	var found []policies.Option
	for nesting := d.Nesting(); d.NextBlock(nesting); {
		o := policies.Option{Name: d.Val(), Pos: position(d), Args: d.RemainingArgs()}
		o.Block = options(d)
		found = append(found, o)
	}
	return found
}

func position(d *caddyfile.Dispenser) string { return fmt.Sprintf("%s:%d", d.File(), d.Line()) }

// configure takes the options of the block: the gateway's own itself, the others by their
// policy.
func (g *Gateway) configure(directive policies.Option) error {
	own := map[string]bool{}
	guests := guests{}
	for _, o := range directive.Block {
		set, known := gatewayOptions[o.Name]
		if !known {
			if err := guests.configure(o); err != nil {
				return err
			}
			continue
		}
		if err := o.Once(own[o.Name] && o.Name != "credentials"); err != nil {
			return err
		}
		own[o.Name] = true
		if err := set(g, o); err != nil {
			return err
		}
	}
	g.PoliciesRaw = guests.raw()
	return nil
}

// gatewayOptions are the gateway's own options.
var gatewayOptions = map[string]func(*Gateway, policies.Option) error{
	"base":         func(g *Gateway, o policies.Option) error { return checked(o, &g.Base, validateBase) },
	"prefix":       func(g *Gateway, o policies.Option) error { return checked(o, &g.Prefix, validatePrefix) },
	"release":      func(g *Gateway, o policies.Option) error { return checked(o, &g.Release, validateRelease) },
	"mode":         func(g *Gateway, o policies.Option) error { return checked(o, &g.Mode, validateMode) },
	"request_id":   func(g *Gateway, o policies.Option) (err error) { g.RequestID, err = o.Word("on", "off"); return err },
	"credentials":  (*Gateway).credentialsOption,
	"identity":     (*Gateway).identityOption,
	"body_limit":   func(g *Gateway, o policies.Option) error { return size(o, &g.BodyLimit) },
	"upload_limit": func(g *Gateway, o policies.Option) error { return size(o, &g.UploadLimit) },
	"spool_limit":  func(g *Gateway, o policies.Option) error { return size(o, &g.SpoolLimit) },
	"spool_dir":    func(g *Gateway, o policies.Option) error { return checked(o, &g.SpoolDir, anyText) },
	"batch_limit":  func(g *Gateway, o policies.Option) error { return number(o, &g.BatchLimit) },
}

// checked takes the single argument of o if check returns no error.
func checked[T ~string](o policies.Option, to *T, check func(T) error) error {
	text, err := o.One()
	if err != nil {
		return err
	}
	if text == "" {
		return o.Errorf("%s is empty", o.Name)
	}
	*to = T(text)
	if err := check(*to); err != nil {
		return o.Errorf("%w", err)
	}
	return nil
}

func anyText(string) error { return nil }

func size(o policies.Option, to *int64) error {
	text, err := o.One()
	if err != nil {
		return err
	}
	n, err := humanize.ParseBytes(text)
	if err != nil || n == 0 || n > math.MaxInt64 {
		return o.Errorf("%s: %q is not a positive size such as 8MiB", o.Name, text)
	}
	*to = int64(n)
	return nil
}

func number(o policies.Option, to *int) error {
	text, err := o.One()
	if err != nil {
		return err
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		return o.Errorf("%s: %q is not a positive number", o.Name, text)
	}
	*to = n
	return nil
}

func (g *Gateway) credentialsOption(o policies.Option) error {
	if g.Credentials == nil {
		g.Credentials = new(caller.Own)
	}
	c := g.Credentials
	switch {
	case len(o.Block) > 0 || len(o.Args) == 0:
		return o.Errorf("credentials takes header <name>..., cookie <name>... or jetpack")
	case o.Args[0] == "jetpack" && len(o.Args) == 1:
		if err := o.Once(c.Jetpack); err != nil {
			return err
		}
		c.Jetpack = true
	case o.Args[0] == "header" && len(o.Args) > 1:
		c.Headers = append(c.Headers, o.Args[1:]...)
	case o.Args[0] == "cookie" && len(o.Args) > 1:
		c.Cookies = append(c.Cookies, o.Args[1:]...)
	default:
		return o.Errorf("credentials takes header <name>..., cookie <name>... or jetpack, not %q", o.Args)
	}
	if err := validateCredentials(c); err != nil {
		return o.Errorf("%w", err)
	}
	return nil
}

func (g *Gateway) identityOption(o policies.Option) error {
	if len(o.Args) > 0 {
		return o.Errorf("identity takes a block, no arguments")
	}
	g.Identity = new(Identity)
	return o.Each(func(o policies.Option) error {
		switch o.Name {
		case "ttl":
			return o.Duration(&g.Identity.TTL)
		case "timeout":
			return o.Duration(&g.Identity.Timeout)
		case "max_in_flight":
			return number(o, &g.Identity.MaxInFlight)
		case "rate":
			return checked(o, &g.Identity.Rate, func(text string) error {
				if _, err := policies.ParseRate(text); err != nil {
					return fmt.Errorf("rate: %w", err)
				}
				return nil
			})
		}
		return o.Unknown()
	})
}

// guests are the policies that the lines of one directive have named so far, by name.
type guests map[string]*policies.Configured

// configure passes o to its policy.
func (gs guests) configure(o policies.Option) error {
	e, ok := policies.Lookup(o.Name)
	if !ok {
		return o.Unknown()
	}
	if gs[e.Name] == nil {
		gs[e.Name] = policies.NewConfigured(e)
	}
	return gs[e.Name].Configure(o)
}

// raw writes the policies as JSON.
func (gs guests) raw() caddy.ModuleMap {
	if len(gs) == 0 {
		return nil
	}
	raw := caddy.ModuleMap{}
	for name, policy := range gs {
		raw[name] = caddyconfig.JSON(policy, nil)
	}
	return raw
}
