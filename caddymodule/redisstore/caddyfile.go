package redisstore

import (
	"strconv"

	"github.com/restwarden/restwarden/policies/policy"
)

// Parse reads the option store of a Caddyfile:
//
//	store memory
//	store redis <address>... {
//		sentinel <master> {
//			username <name>
//			password <secret>
//		}
//		username <name>
//		password <secret>
//		db <n>
//		tls {
//			ca <file>...
//			server_name <name>
//			certificate <file> <key_file>
//		}
//		prefix <text>
//		timeout <duration>
//	}
//
// The options that it returns are valid.
func Parse(o policy.Option) (*Options, error) {
	if len(o.Args) == 0 {
		return nil, o.Missing("takes memory, or redis and addresses")
	}
	s := &Options{Kind: o.Args[0], Addresses: o.Args[1:], At: o.Pos, Imported: o.Imported}
	if len(s.Addresses) == 0 {
		s.Addresses = nil
	}
	if err := o.Each(s.configure); err != nil {
		return nil, err
	}
	return s, s.Validate()
}

func (s *Options) configure(o policy.Option) (err error) {
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
		s.Sentinel = new(Sentinel)
		err = s.Sentinel.configure(o)
	case "tls":
		s.TLS = new(TLS)
		err = s.TLS.configure(o)
	default:
		err = o.Unknown("username", "password", "prefix", "db", "timeout", "sentinel", "tls")
	}
	return err
}

func (s *Sentinel) configure(o policy.Option) (err error) {
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

func (t *TLS) configure(o policy.Option) error {
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
