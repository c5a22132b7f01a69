package dryrun_test

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/restwarden/restwarden/caddymodule/dryrun"
	"github.com/restwarden/restwarden/caddymodule/gateway"
)

const behindSites = `shop.example.com {
	restwarden wordpress {
		login_only
	}
	route {
		restwarden wordpress {
			login_only
		}
		reverse_proxy ADDRESS
	}
}
http://open.example.com:8081 {
	restwarden wordpress
	reverse_proxy ADDRESS
}
*.w.example.com {
	@m method DELETE
	restwarden @m wordpress
	restwarden wordpress {
		login_only
		deny /w/**
	}
	reverse_proxy ADDRESS
}
own.w.example.com {
	restwarden wordpress
	reverse_proxy ADDRESS
}
equal.example.com {
	restwarden wordpress
	reverse_proxy ADDRESS
}
bare.example.com {
	reverse_proxy ADDRESS
}
https://here.example.com {
	restwarden wordpress
	respond 200
}
https://scripts.example.com {
	restwarden wordpress
	reverse_proxy unix//nowhere
}
`

// TestRoundTrip: what reads comes to the real site past the directives, as it comes to the host; nothing else does, and no dry run.
func TestRoundTrip(t *testing.T) {
	var asked atomic.Int32
	real := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		if r.URL.Path == "/gone" {
			w.WriteHeader(http.StatusBadGateway)
		}
		_, _ = io.WriteString(w, r.Method+" "+r.Host+r.URL.String()+" "+r.Header.Get("X-Forwarded-Proto")+" "+r.Header.Get("Accept"))
	}))
	defer real.Close()
	c := load(t, strings.ReplaceAll(behindSites, "ADDRESS", real.Listener.Addr().String()), func(o *dryrun.Options) { o.Behind = true })
	for _, test := range []struct{ method, address, want string }{
		{"GET", "https://shop.example.com/wp-json/?a=b", "200 GET shop.example.com/wp-json/?a=b https text/plain"},
		{"HEAD", "https://shop.example.com/wp-json/", "200 "},
		{"GET", "http://open.example.com:8081/gone", "502 GET open.example.com:8081/gone http text/plain"},
		{"POST", "https://shop.example.com/wp-json/", "a dry run sends no such request: POST"},
		{"GET", "https://here.example.com/wp-json/", dryrun.ErrNothingBehind.Error()},
		{"GET", "http://open.example.com:8099/", "200 GET open.example.com:8099/ http text/plain"}, // a proxy in front
		{"GET", "http://other.example.com:8099/ of shop", dryrun.ErrNothingBehind.Error()},
		{"GET", "https://other.example.com/ of shop", dryrun.ErrNothingBehind.Error()},
		{"GET", "http://open.example.com:8081/ of shop", "open.example.com:8081 is another site"},
		{"GET", "https://any.w.example.com/", "200 GET any.w.example.com/ https text/plain"},
		{"GET", "https://own.w.example.com/ of any.w", "own.w.example.com is another site"},
		{"GET", "https://equal.example.com/ of scripts", "equal.example.com is another site"},
		{"GET", "https://bare.example.com/ of shop", "bare.example.com is another site"},
		{"GET", "https://scripts.example.com/", "its backend: dial unix /nowhere: connect: no such file or directory"},
	} {
		address, _, _ := strings.Cut(test.address, " of ")
		r, err := http.NewRequestWithContext(t.Context(), test.method, address, nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Accept", "text/plain")
		got := ""
		res, err := c.Behind(homeOf(t, c, test.address)).RoundTrip(r)
		if err != nil {
			got = err.Error()
		} else {
			body, _ := io.ReadAll(res.Body)
			_ = res.Body.Close()
			got = res.Status[:4] + string(body)
		}
		if got != test.want {
			t.Errorf("%s %s: %s", test.method, test.address, got)
		}
	}
	asked.Store(0)
	run(t, c, "", "GET https://shop.example.com/wp-json/wp/v2/posts", "Cookie: wordpress_logged_in_1=a")
	run(t, c, "", "GET http://open.example.com:8081/wp-json/wp/v2/posts")
	if n := asked.Load(); n > 0 {
		t.Errorf("dry runs have asked the real site %d times", n)
	}
	plain := load(t, strings.ReplaceAll(behindSites, "ADDRESS", real.Listener.Addr().String()))
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://shop.example.com/", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	res, err := plain.Behind(homeOf(t, plain, "https://shop.example.com")).RoundTrip(r)
	if err == nil || errors.Is(err, dryrun.ErrNothingBehind) {
		t.Error(err, "without the option")
	}
	if res != nil {
		_ = res.Body.Close()
	}
}

// homeOf returns the site of an address, or the one that stands behind it.
func homeOf(t *testing.T, c *dryrun.Config, address string) *gateway.ServedSite {
	t.Helper()
	_, named, other := strings.Cut(address, " of ")
	homes, err := c.Homes(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, home := range homes {
		u, err := url.Parse(home.Address)
		if err == nil && (other && u.Hostname() == named+".example.com" || !other && strings.Contains(address, "://"+u.Hostname())) {
			return home.ServedSite
		}
	}
	t.Fatal("no site of", address)
	return nil
}
