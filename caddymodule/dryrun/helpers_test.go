package dryrun_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	_ "github.com/caddyserver/caddy/v2/modules/standard"

	_ "github.com/restwarden/restwarden/caddymodule"
	"github.com/restwarden/restwarden/caddymodule/dryrun"
)

// load writes a Caddyfile and loads it.
func load(tb testing.TB, caddyfile string, opts ...func(*dryrun.Options)) *dryrun.Config {
	tb.Helper()
	c, err := tryLoad(tb, caddyfile, opts...)
	if err != nil {
		tb.Fatal(err)
	}
	return c
}

func tryLoad(tb testing.TB, caddyfile string, opts ...func(*dryrun.Options)) (*dryrun.Config, error) {
	tb.Helper()
	file := filepath.Join(tb.TempDir(), "Caddyfile")
	if err := os.WriteFile(file, []byte(caddyfile), 0o600); err != nil {
		tb.Fatal(err)
	}
	o := dryrun.Options{File: file}
	for _, opt := range opts {
		opt(&o)
	}
	c, err := dryrun.Load(o)
	if err == nil {
		tb.Cleanup(func() {
			if err := c.Close(); err != nil {
				tb.Error(err)
			}
		})
	}
	return c, err
}

// run runs "METHOD URL" with header lines as a caller.
func run(tb testing.TB, c *dryrun.Config, as, line string, header ...string) *dryrun.Result {
	tb.Helper()
	return runWith(tb, c, as, line, nil, nil, header...)
}

func runWith(tb testing.TB, c *dryrun.Config, as, line string, body []byte, records map[uint64]dryrun.RecordKind, header ...string) *dryrun.Result {
	tb.Helper()
	method, address, _ := strings.Cut(line, " ")
	r, err := dryrun.Build(method, address, header, body)
	if err != nil {
		tb.Fatal(err)
	}
	if r.As, err = dryrun.ParseAs(as); err != nil {
		tb.Fatal(err)
	}
	r.Records = records
	result, err := c.Run(tb.Context(), r)
	if err != nil {
		tb.Fatal(err)
	}
	return result
}

const shop = `shop.example.com {
	restwarden wordpress {
		login_only
		allow anyone POST /contact-form-7/v1/contact-forms/:id/feedback
		allow role administrator,shop_manager /wc-admin/**
		allow capability edit_posts POST /wp/v2/media
		allow anyone /wc/store/v1/**
		%s
	}
	reverse_proxy 127.0.0.1:1
}
`
