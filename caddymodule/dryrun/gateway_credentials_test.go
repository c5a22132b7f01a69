package dryrun_test

import (
	"net/http"
	"net/url"
	"os"
	"strings"
	"testing"

	"github.com/restwarden/restwarden/caddymodule/dryrun"
	"github.com/restwarden/restwarden/policies/call/platforms"
	"github.com/restwarden/restwarden/policies/caller"
)

// TestCredentials_AsTheGateway: a dry run takes the same requests for anonymous ones as the gateway. A
// request without a credential gets one of its caller, so that a user comes through in any case.
func TestCredentials_AsTheGateway(t *testing.T) {
	file := t.TempDir() + "/Caddyfile"
	if err := os.WriteFile(file, []byte("shop.example.com {\n\trestwarden wordpress {\n\t\tlogin_only\n\t\tcredentials header X-Staff-Token\n\t\tcredentials cookie staff\n\t}\n\treverse_proxy 127.0.0.1:1\n}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := dryrun.Load(dryrun.Options{File: file})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close() }()
	p, _ := platforms.ByName("wordpress")
	own := caller.Own{Headers: []string{"X-Staff-Token"}, Cookies: []string{"staff"}}
	site := caller.NewSite(p, own)
	lines := []string{"Cookie: staff=a", "Cookie: " + p.LoginCookie() + "x=a", "Cookie: " + p.AuthCookie + "test_cookie=a", "Cookie: a=a"}
	for _, name := range caller.Headers(&p, own) {
		if name != "Cookie" {
			lines = append(lines, name+": a")
		}
	}
	run := func(as, line string) dryrun.Answer {
		t.Helper()
		r, err := dryrun.Build("", "https://shop.example.com/wp-json/wp/v2/posts", []string{line}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if as != "" {
			if r.As, err = dryrun.ParseAs(as); err != nil {
				t.Fatal(err)
			}
		}
		res, err := c.Run(t.Context(), r)
		if err != nil {
			t.Fatal(err)
		}
		return res.Answer
	}
	said := 0
	for _, line := range lines {
		name, value, _ := strings.Cut(line, ": ")
		says := site.SaysWho(&http.Request{Header: http.Header{name: {value}}, URL: new(url.URL)})
		if strings.HasPrefix(value, p.LoginCookie()) {
			continue // of a login that lacks the nonce
		}
		alone, want := run("", line), dryrun.Refused
		if says {
			said, want = said+1, dryrun.Unknown // nobody has said whose credential it is
		}
		if alone != want {
			t.Errorf("%s: %s, want %s", line, alone, want)
		}
		if got := run("user", line); got != dryrun.Pass {
			t.Errorf("%s: as a user: %s", line, got)
		}
	}
	if said < 4 {
		t.Errorf("%d lines say who is calling", said)
	}
}
