package gateway

import (
	"errors"
	"strconv"

	"github.com/caddyserver/caddy/v2/caddyconfig"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
	"github.com/caddyserver/caddy/v2/caddyconfig/httpcaddyfile"

	"github.com/restwarden/restwarden/policies/policy"
)

func init() { httpcaddyfile.RegisterGlobalOption("restwarden", parseGlobalOption) }

// parseGlobalOption reads what all sites share:
//
//	restwarden {
//		store memory
//		store redis <address>... {
//			sentinel <master> {
//				username <name>
//				password <secret>
//			}
//			username <name>
//			password <secret>
//			db <n>
//			tls {
//				ca <file>...
//				server_name <name>
//				certificate <file> <key_file>
//			}
//			prefix <text>
//			timeout <duration>
//		}
//	}
func parseGlobalOption(d *caddyfile.Dispenser, existing any) (any, error) {
	d.Next() // consume option name
	global := option(d)
	if err := errors.Join(global.Once(existing != nil), global.Complete()); err != nil {
		return nil, err
	}
	var a App
	if err := a.configure(global); err != nil {
		return nil, err
	}
	return httpcaddyfile.App{Name: "restwarden", Value: caddyconfig.JSON(&a, nil)}, nil
}

func (a *App) configure(global policy.Option) error {
	if len(global.Args) > 0 {
		return global.Errorf("the global option restwarden takes a block only")
	}
	return global.Each(func(inner policy.Option) error {
		if inner.Name != "store" {
			return inner.Unknown("store")
		}
		if len(inner.Args) == 0 {
			return inner.Missing("takes memory, or redis and addresses")
		}
		a.Store = &StoreOptions{Kind: inner.Args[0], Addresses: inner.Args[1:], At: inner.Pos, Imported: inner.Imported}
		if len(a.Store.Addresses) == 0 {
			a.Store.Addresses = nil
		}
		if err := inner.Each(a.Store.configure); err != nil {
			return err
		}
		if err := a.Store.validate(); err != nil {
			return inner.Errorf("store: %w", err)
		}
		return nil
	})
}

func (s *StoreOptions) configure(o policy.Option) (err error) {
	switch o.Name {
	case "username":
		s.Username, err = o.One()
	case "password":
		s.Password, err = o.One()
	case "prefix":
		s.Prefix, err = o.One()
	case "db":
		err = database(o, &s.DB)
	case "timeout":
		err = o.Duration(&s.Timeout)
	case "sentinel":
		s.Sentinel = new(SentinelOptions)
		err = s.Sentinel.configure(o)
	case "tls":
		s.TLS = new(TLSOptions)
		err = s.TLS.configure(o)
	default:
		err = o.Unknown("username", "password", "prefix", "db", "timeout", "sentinel", "tls")
	}
	return err
}

func (s *SentinelOptions) configure(o policy.Option) (err error) {
	switch len(o.Args) {
	case 0:
		return o.Missing("takes the name of one master")
	case 1:
		s.Master = o.Args[0]
	default:
		return o.Errorf("sentinel takes the name of one master")
	}
	return o.Each(func(o policy.Option) (err error) {
		switch o.Name {
		case "username":
			s.Username, err = o.One()
		case "password":
			s.Password, err = o.One()
		default:
			err = o.Unknown("username", "password")
		}
		return err
	})
}

func (t *TLSOptions) configure(o policy.Option) error {
	if len(o.Args) > 0 {
		return o.Errorf("tls takes no arguments, its options stand in a block")
	}
	return o.Each(func(o policy.Option) (err error) {
		switch o.Name {
		case "ca":
			if len(o.Args) == 0 || len(o.Block) > 0 {
				return o.Missing("takes one file or several")
			}
			t.CA = o.Args
		case "server_name":
			t.ServerName, err = o.One()
		case "certificate":
			if len(o.Args) != 2 || len(o.Block) > 0 {
				return o.Errorf("certificate takes a file and the file of its key")
			}
			t.Certificate, t.Key = o.Args[0], o.Args[1]
		default:
			err = o.Unknown("ca", "server_name", "certificate")
		}
		return err
	})
}

func database(o policy.Option, to *int) error {
	text, err := o.One()
	if err != nil {
		return err
	}
	n, err := strconv.ParseUint(text, 10, 16)
	if err != nil {
		return o.Errorf("db: %q is not the number of a database", text)
	}
	*to = int(n)
	return nil
}
