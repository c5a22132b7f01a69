package redisstore

import (
	"testing"
	"time"

	"github.com/restwarden/restwarden/policies/policy"
)

// TestDefaults: those that the comments state.
func TestDefaults(t *testing.T) {
	t.Parallel()
	key := func(prefix string, timeout time.Duration) Key {
		o, err := (&Options{Kind: "redis", Addresses: []string{"a:1"}, Prefix: prefix, Timeout: policy.Duration(timeout)}).Resolve()
		if err != nil {
			t.Fatal(err)
		}
		return o.Key()
	}
	none := key("", 0)
	if key("restwarden", 100*time.Millisecond) != none || key("other", 0) == none || key("", time.Second) == none {
		t.Error("the defaults are others")
	}
}

func TestRedis_PoolKey(t *testing.T) {
	base := Options{Addresses: []string{"127.0.0.1:1"}, Password: "s3cret"}
	seen := map[Key]int{resolved(t, base).Key(): -1}
	for i, change := range []func(*Options){
		func(s *Options) { s.Addresses = []string{"127.0.0.1:2"} },
		func(s *Options) { s.Addresses = []string{"127.0.0.1:1", "127.0.0.1:2"} },
		func(s *Options) { s.Password = "other" },
		func(s *Options) { s.Username = "u" },
		func(s *Options) { s.DB = 1 },
		func(s *Options) { s.Prefix = "p" },
		func(s *Options) { s.Timeout = 1e9 },
		func(s *Options) { s.Sentinel = &Sentinel{Master: "m"} },
		func(s *Options) { s.Sentinel = &Sentinel{Master: "m", Password: "p"} },
		func(s *Options) { s.TLS = &TLS{} },
		func(s *Options) { s.TLS = &TLS{ServerName: "redis.example"} },
	} {
		changed := base
		change(&changed)
		key := resolved(t, changed).Key()
		if other, known := seen[key]; known {
			t.Errorf("change %d has the key of %d", i, other)
		}
		seen[key] = i
	}
	if again := resolved(t, base); seen[again.Key()] != -1 {
		t.Error("the same options have another key")
	}
}
