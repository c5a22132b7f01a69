package redisstore

import (
	"cmp"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/restwarden/restwarden/caddymodule/option"
	"github.com/restwarden/restwarden/policies/policy"
	"github.com/restwarden/restwarden/policies/typo"
)

// Options says which store the gateways of this process use.
type Options struct {
	// Kind is "memory", as without a store at all, or "redis".
	Kind string `json:"kind"`
	// Addresses are host:port: one server, several servers of a Cluster, or the
	// Sentinels.
	Addresses []string `json:"addresses,omitempty"`
	// Sentinel names the master, if Addresses are Sentinels.
	Sentinel *Sentinel `json:"sentinel,omitempty"`
	// Username is the ACL user; "" means the default user.
	Username string `json:"username,omitempty"`
	// Password should be a placeholder, such as {env.REDIS_PASSWORD}.
	Password string `json:"password,omitempty"`
	// DB is the number of the database; a Cluster has only 0.
	DB int `json:"db,omitempty"`
	// TLS, if set, encrypts all connections. Certificates are always verified.
	TLS *TLS `json:"tls,omitempty"`
	// Prefix begins every key; default "restwarden". Sites that should not share facts
	// use different prefixes.
	Prefix string `json:"prefix,omitempty"`
	// Timeout is how long one operation may wait for its answer; default 100ms.
	Timeout policy.Duration `json:"timeout,omitempty"`
	// At is where the store is configured, "Caddyfile:3"; for messages.
	At string `json:"at,omitempty"`
	// Imported is where the lines of the store were imported, "Caddyfile:3"; for messages.
	Imported string `json:"imported,omitempty"`
}

// Sentinel names a master and how to log in to its Sentinels.
type Sentinel struct {
	// Master is the name of the master.
	Master string `json:"master"`
	// Username and Password are those of the Sentinels, if these require any.
	Username string `json:"username,omitempty"`
	Password string `json:"password,omitempty"`
}

// TLS says which authorities to trust; by default those of the system.
type TLS struct {
	// CA are files with the certificates of authorities, in PEM.
	CA []string `json:"ca,omitempty"`
	// ServerName is the name in the certificate, if it is not the address.
	ServerName string `json:"server_name,omitempty"`
	// Certificate and Key are files of the gateway's own certificate, in PEM.
	Certificate string `json:"certificate,omitempty"`
	Key         string `json:"key,omitempty"`
}

// UsesRedis tells whether the store is a Redis. No options mean memory.
func (s *Options) UsesRedis() bool { return s != nil && s.Kind == "redis" }

// Validate checks what does not depend on the environment. Its error says where the store is
// configured.
func (s *Options) Validate() error { return s.placed(s.validate()) }

func (s *Options) placed(err error) error {
	if err == nil {
		return nil
	}
	return policy.Option{Pos: s.At, Imported: s.Imported}.Errorf("store: %w", err)
}

const (
	defaultPrefix  = "restwarden"
	defaultTimeout = 100 * time.Millisecond
	maxTimeout     = 10 * time.Second
)

// validate returns an error for options that are invalid or contradict each other.
func (s *Options) validate() error {
	switch s.Kind {
	case "memory":
		if s.Addresses != nil || s.Sentinel != nil || s.Username+s.Password+s.Prefix != "" || s.DB != 0 || s.TLS != nil || s.Timeout != 0 {
			return errors.New("memory takes no options")
		}
		return nil
	case "redis":
	default:
		return typo.Check(s.Kind, "memory", "redis")
	}
	switch {
	case len(s.Addresses) == 0:
		return errors.New("redis needs an address such as 10.0.0.5:6379")
	case s.DB < 0:
		return fmt.Errorf("db: %d is not the number of a database", s.DB)
	case s.DB != 0 && len(s.Addresses) > 1 && s.Sentinel == nil:
		return errors.New("db: a Cluster has only database 0")
	case s.Username != "" && s.Password == "":
		return errors.New("username: there is no password")
	case s.Timeout < 0 || time.Duration(s.Timeout) > maxTimeout:
		return fmt.Errorf("timeout: %s is not between 0 and %s", time.Duration(s.Timeout), maxTimeout)
	case strings.ContainsAny(s.Prefix, "{} \t\r\n*?[]"):
		return fmt.Errorf("prefix: %q holds blanks, braces or wildcards", s.Prefix)
	case s.Sentinel != nil && s.Sentinel.Master == "":
		return errors.New("sentinel: no name of a master")
	case s.TLS != nil && (s.TLS.Certificate == "") != (s.TLS.Key == ""):
		return errors.New("tls: a certificate needs its key")
	}
	return nil
}

// Resolved are [Options] with all values resolved, secrets included. They never become JSON.
type Resolved struct {
	addresses                          []string
	sentinel                           string
	username, password                 string
	sentinelUsername, sentinelPassword string
	db                                 int
	tls                                *tls.Config
	tlsKey                             []byte // everything that the TLS configuration was made from
	prefix                             string
	timeout                            time.Duration
}

// Key identifies a store by everything that changes its behaviour.
type Key struct{ sum [sha256.Size]byte }

// Key returns what two stores have in common if they may be one.
func (o Resolved) Key() Key {
	text, _ := json.Marshal([]any{ // strings and numbers only: it cannot fail
		o.addresses, o.sentinel, o.username, o.password, o.sentinelUsername, o.sentinelPassword,
		o.db, o.tls != nil, o.tlsKey, o.prefix, o.timeout,
	})
	return Key{sha256.Sum256(text)}
}

// Resolve replaces the placeholders and reads the files of a Redis. The error says where the store is
// configured.
func (s *Options) Resolve() (Resolved, error) {
	o, err := s.resolve()
	return o, s.placed(err)
}

func (s *Options) resolve() (Resolved, error) {
	if err := s.validate(); err != nil {
		return Resolved{}, err
	}
	o := Resolved{
		addresses: slices.Clone(s.Addresses), username: s.Username, password: s.Password, db: s.DB,
		prefix: cmp.Or(s.Prefix, defaultPrefix), timeout: cmp.Or(time.Duration(s.Timeout), defaultTimeout),
	}
	if s.Sentinel != nil {
		o.sentinel, o.sentinelUsername, o.sentinelPassword = s.Sentinel.Master, s.Sentinel.Username, s.Sentinel.Password
	}
	fields := []*string{&o.username, &o.password, &o.sentinel, &o.sentinelUsername, &o.sentinelPassword}
	for i := range o.addresses {
		fields = append(fields, &o.addresses[i])
	}
	for _, field := range fields {
		var err error
		if *field, err = option.Resolved(*field); err != nil {
			return o, err
		}
	}
	for _, address := range o.addresses {
		if host, port, err := net.SplitHostPort(address); err != nil || host == "" || port == "" {
			return o, fmt.Errorf("%q is not an address such as 10.0.0.5:6379", address)
		}
	}
	if s.TLS == nil {
		return o, nil
	}
	var err error
	o.tls, o.tlsKey, err = s.TLS.load()
	return o, err
}

// load reads the files. made is everything that config was made from.
func (t *TLS) load() (config *tls.Config, made []byte, err error) {
	config = &tls.Config{MinVersion: tls.VersionTLS12, ServerName: t.ServerName}
	made = []byte(t.ServerName + "\x00")
	if len(t.CA) > 0 {
		config.RootCAs = x509.NewCertPool()
		for _, file := range t.CA {
			pem, err := os.ReadFile(file) //nolint:gosec // the configuration names it
			if err != nil {
				return nil, nil, fmt.Errorf("tls: %w", err)
			}
			if !config.RootCAs.AppendCertsFromPEM(pem) {
				return nil, nil, fmt.Errorf("tls: %s holds no certificate", file)
			}
			made = append(made, pem...)
		}
	}
	if t.Certificate != "" {
		pair, err := tls.LoadX509KeyPair(t.Certificate, t.Key)
		if err != nil {
			return nil, nil, fmt.Errorf("tls: %w", err)
		}
		config.Certificates = []tls.Certificate{pair}
		made = append(made, slices.Concat(pair.Certificate...)...)
	}
	return config, made, nil
}
