package gateway

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

	"github.com/restwarden/restwarden/policies/policy"
	"github.com/restwarden/restwarden/policies/typo"
)

// StoreOptions says which store the gateways of this process use.
type StoreOptions struct {
	// Kind is "memory", as without a store at all, or "redis".
	Kind string `json:"kind"`
	// Addresses are host:port: one server, several servers of a Cluster, or the
	// Sentinels.
	Addresses []string `json:"addresses,omitempty"`
	// Sentinel names the master, if Addresses are Sentinels.
	Sentinel *SentinelOptions `json:"sentinel,omitempty"`
	// Username is the ACL user; "" means the default user.
	Username string `json:"username,omitempty"`
	// Password should be a placeholder, such as {env.REDIS_PASSWORD}.
	Password string `json:"password,omitempty"`
	// DB is the number of the database; a Cluster has only 0.
	DB int `json:"db,omitempty"`
	// TLS, if set, encrypts all connections. Certificates are always verified.
	TLS *TLSOptions `json:"tls,omitempty"`
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

// SentinelOptions names a master and how to log in to its Sentinels.
type SentinelOptions struct {
	// Master is the name of the master.
	Master string `json:"master"`
	// Username and Password are those of the Sentinels, if these require any.
	Username string `json:"username,omitempty"`
	Password string `json:"password,omitempty"`
}

// TLSOptions says which authorities to trust; by default those of the system.
type TLSOptions struct {
	// CA are files with the certificates of authorities, in PEM.
	CA []string `json:"ca,omitempty"`
	// ServerName is the name in the certificate, if it is not the address.
	ServerName string `json:"server_name,omitempty"`
	// Certificate and Key are files of the gateway's own certificate, in PEM.
	Certificate string `json:"certificate,omitempty"`
	Key         string `json:"key,omitempty"`
}

func (s *StoreOptions) errorf(err error) error {
	return policy.Option{Pos: s.At, Imported: s.Imported}.Errorf("store: %w", err)
}

const (
	defaultStorePrefix  = "restwarden"
	defaultStoreTimeout = 100 * time.Millisecond
	maxStoreTimeout     = 10 * time.Second
)

// validate returns an error for options that are invalid or contradict each other.
func (s *StoreOptions) validate() error {
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
	case s.Timeout < 0 || time.Duration(s.Timeout) > maxStoreTimeout:
		return fmt.Errorf("timeout: %s is not between 0 and %s", time.Duration(s.Timeout), maxStoreTimeout)
	case strings.ContainsAny(s.Prefix, "{} \t\r\n*?[]"):
		return fmt.Errorf("prefix: %q holds blanks, braces or wildcards", s.Prefix)
	case s.Sentinel != nil && s.Sentinel.Master == "":
		return errors.New("sentinel: no name of a master")
	case s.TLS != nil && (s.TLS.Certificate == "") != (s.TLS.Key == ""):
		return errors.New("tls: a certificate needs its key")
	}
	return nil
}

// redisOptions is a StoreOptions with all values resolved, secrets included. It never
// becomes JSON.
type redisOptions struct {
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

// redisKey identifies a client in the pool by everything that changes its behaviour.
type redisKey struct{ sum [sha256.Size]byte }

func (o redisOptions) key() redisKey {
	text, _ := json.Marshal([]any{ // strings and numbers only: it cannot fail
		o.addresses, o.sentinel, o.username, o.password, o.sentinelUsername, o.sentinelPassword,
		o.db, o.tls != nil, o.tlsKey, o.prefix, o.timeout,
	})
	return redisKey{sha256.Sum256(text)}
}

// resolve replaces the placeholders. A placeholder without a value is an error: an unset
// variable must not become an empty password.
func (s *StoreOptions) resolve() (redisOptions, error) {
	if err := s.validate(); err != nil {
		return redisOptions{}, err
	}
	o := redisOptions{
		addresses: slices.Clone(s.Addresses), username: s.Username, password: s.Password, db: s.DB,
		prefix: cmp.Or(s.Prefix, defaultStorePrefix), timeout: cmp.Or(time.Duration(s.Timeout), defaultStoreTimeout),
	}
	if s.Sentinel != nil {
		o.sentinel, o.sentinelUsername, o.sentinelPassword = s.Sentinel.Master, s.Sentinel.Username, s.Sentinel.Password
	}
	fields := []*string{&o.username, &o.password, &o.sentinel, &o.sentinelUsername, &o.sentinelPassword}
	for i := range o.addresses {
		fields = append(fields, &o.addresses[i])
	}
	for _, field := range fields {
		if err := resolvePlaceholders(field); err != nil {
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
func (t *TLSOptions) load() (config *tls.Config, made []byte, err error) {
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
