package gateway

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/caddyserver/caddy/v2"

	"github.com/restwarden/restwarden/caddymodule/pool"
	"github.com/restwarden/restwarden/caddymodule/redisstore"
	"github.com/restwarden/restwarden/cmd/check/testkit/machine"
	"github.com/restwarden/restwarden/policies/store"
)

// TestAdapt_GlobalOption compares the JSON of the app with the golden files of the global
// option.
func TestAdapt_GlobalOption(t *testing.T) { golden(t, goldenDir+"/store", 30, adaptGlobalOption) }

// adaptGlobalOption returns the JSON of the app, or the error.
func adaptGlobalOption(_ *testing.T, source string) string {
	b, failed := adapted(source, "provision restwarden: ")
	if failed != "" {
		return failed
	}
	var parsed struct{ Apps map[string]json.RawMessage }
	if err := json.Unmarshal(b, &parsed); err != nil {
		return err.Error()
	}
	var out bytes.Buffer
	if err := json.Indent(&out, parsed.Apps["restwarden"], "", "\t"); err != nil {
		return err.Error()
	}
	return out.String()
}

// TestOptions_JSON: JSON has the checks of the Caddyfile.
func TestOptions_JSON(t *testing.T) {
	for text, want := range map[string]string{
		`{"store":{}}`:                                                                                             "neither memory nor redis",
		`{"store":{"kind":"etcd"}}`:                                                                                `"etcd"`,
		`{"store":{"kind":"memory","db":1}}`:                                                                       "memory takes no options",
		`{"store":{"kind":"memory","tls":{}}}`:                                                                     "memory takes no options",
		`{"store":{"kind":"redis"}}`:                                                                               "needs an address",
		`{"stor":{}}`:                                                                                              `unknown field "stor"`,
		`{"store":{"kind":"redis","address":"x"}}`:                                                                 `unknown field "address"`,
		`{"store":{"kind":"redis","addresses":["127.0.0.1"]}}`:                                                     "is not an address",
		`{"store":{"kind":"redis","addresses":["redis://127.0.0.1:1"]}}`:                                           "is not an address",
		`{"store":{"kind":"redis","addresses":["127.0.0.1:1"],"db":-1}}`:                                           "db:",
		`{"store":{"kind":"redis","addresses":["127.0.0.1:1","127.0.0.1:2"],"db":1}}`:                              "db:",
		`{"store":{"kind":"redis","addresses":["127.0.0.1:1"],"timeout":-1}}`:                                      "timeout:",
		`{"store":{"kind":"redis","addresses":["127.0.0.1:1"],"timeout":"1h"}}`:                                    "timeout:",
		`{"store":{"kind":"redis","addresses":["127.0.0.1:1"],"prefix":"a b"}}`:                                    "prefix:",
		`{"store":{"kind":"redis","addresses":["127.0.0.1:1"],"username":"u"}}`:                                    "username:",
		`{"store":{"kind":"redis","addresses":["127.0.0.1:1"],"sentinel":{}}}`:                                     "sentinel:",
		`{"store":{"kind":"redis","addresses":["127.0.0.1:1"],"tls":{"key":"k"}}}`:                                 "tls:",
		`{"store":{"kind":"redis","addresses":["127.0.0.1:1"],"tls":{"insecure":true}}}`:                           `unknown field "insecure"`,
		`{"store":{"kind":"redis","addresses":["127.0.0.1:1"],"tls":{"certificate":"/nowhere","key":"/nowhere"}}}`: "tls:",
		`{"store":{"kind":"redis","addresses":["127.0.0.1:1"],"at":"x:1","password":"{env.NOT_SET_ANYWHERE}"}}`:    "store: evaluated placeholder {env.NOT_SET_ANYWHERE} is empty, at x:1",
	} {
		var cfg caddy.Config
		if err := json.Unmarshal([]byte(`{"apps":{"restwarden":`+text+`}}`), &cfg); err != nil {
			t.Fatal(err)
		}
		if err := caddy.Validate(&cfg); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}

// TestOptions_Leases: sites and reloads share one client, and the last release closes it.
// Redis is down all the time.
func TestOptions_Leases(t *testing.T) {
	s := redisstore.Options{Kind: "redis", Addresses: []string{machine.FreeAddress(t)}}
	options, err := s.Resolve()
	if err != nil {
		t.Fatal(err)
	}
	open := func() *redisstore.Store {
		var l pool.Leases
		t.Cleanup(func() {
			if err := l.Release(); err != nil {
				t.Error(err)
			}
		})
		store, err := pool.Lease(&l, options.Key(), func() (*redisstore.Store, error) { return redisstore.New(options, storeLogger), nil })
		if err != nil {
			t.Fatal(err)
		}
		return store
	}
	if a, b := open(), open(); a != b {
		t.Error("two clients for one store")
	}
	b, err := json.Marshal(s)
	if err != nil || strings.Contains(string(b), "Resolved") {
		t.Error(string(b), err)
	}
	var _ store.Store = open()
}
