//go:build clients

package clients

import (
	"context"
	"crypto/tls"
	"encoding/pem"
	"fmt"
	"math/rand/v2"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	_ "github.com/restwarden/restwarden/caddymodule"
	"github.com/restwarden/restwarden/cmd/check/testkit/caddyrun"
	"github.com/restwarden/restwarden/cmd/check/testkit/libraries"
	"github.com/restwarden/restwarden/cmd/check/testkit/machine"
	"github.com/restwarden/restwarden/cmd/check/testkit/rawhttp"
	"github.com/restwarden/restwarden/cmd/check/testkit/wait"
	"github.com/restwarden/restwarden/cmd/check/testkit/wire"
	"github.com/restwarden/restwarden/cmd/platform/site"
)

func TestMain(m *testing.M) {
	code := m.Run()
	libraries.Packages.Remove()
	os.Exit(code)
}

// way is how the library proves who it is.
type way struct {
	name    string
	secure  bool // over plain http it signs by OAuth 1
	inQuery bool
	rules   string // what the gateway needs for it
}

// credential is a key of the gateway's own, by which it asks for clients that sign
// (docs/policies/order_type.md).
const credential = "order_type {\ncredential {read key}\n}\n"

var ways = []way{
	{name: "OAuth over http", rules: credential},
	{name: "Basic over https", secure: true},
	{name: "query over https", secure: true, inQuery: true},
}

// gateway is a directive with these rules.
func gateway(rules string) string { return "restwarden wordpress {\n" + rules + "}" }

// shops makes the same shop again and again: with the same secrets, at the same time, at the
// same address. So nothing in its answers depends on the run.
type shops struct {
	way      way
	release  string
	now      time.Time
	recorder *wire.Recorder
	caddy    string // its address
	journal  string // file for the journal of a gateway; "" for none
	trusted  string // file with the recorder's certificate; "" over http
}

func newShops(t *testing.T, w way, release string) *shops {
	t.Helper()
	s := &shops{way: w, release: release, now: time.Now(), caddy: machine.FreeAddress(t)}
	var certificate *tls.Certificate
	if w.secure {
		lender := httptest.NewTLSServer(nil) // it has a certificate for the address
		lender.Close()
		certificate = &lender.TLS.Certificates[0]
		s.trusted = filepath.Join(t.TempDir(), "certificate.pem")
		text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: certificate.Certificate[0]})
		if err := os.WriteFile(s.trusted, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s.recorder = wire.Record(t, certificate)
	s.recorder.Lead(s.caddy)
	return s
}

// run is what came of one session.
type run struct {
	steps     []libraries.Step
	exchanges []wire.Exchange
	site      *site.Site
	info      site.Info
}

// open makes a new shop, of real sites' names, behind a Caddy with this directive, "" for none,
// in which {read key} stands for a key of the shop that may read.
func (s *shops) open(t *testing.T, directive string) *run {
	t.Helper()
	platform, err := site.New(site.Options{
		Platform: "wordpress", Release: s.release, KeysNeedTLS: true,
		Now: func() time.Time { return s.now }, Random: rand.NewChaCha8([32]byte{}),
	})
	if err != nil {
		t.Fatal(err)
	}
	behind := httptest.NewServer(platform)
	t.Cleanup(behind.Close)
	r := &run{site: platform, info: platform.Info()}
	directive = strings.ReplaceAll(directive, "{read key}", r.info.Keys.ReadKey)
	file := &caddyrun.File{Sites: []caddyrun.Site{{
		Address: s.caddy, Secure: s.way.secure, Body: fmt.Sprintf("%s\nreverse_proxy %s", directive, behind.Listener.Addr()),
	}}}
	if s.journal != "" {
		file.Log = "file " + s.journal
	}
	caddyrun.Start(t, file)
	if s.way.secure { // Caddy makes the certificate in the background
		wait.For(t, 10*time.Second, "the certificate", func() bool { return s.shakesHands(t.Context()) })
	}
	return r
}

// shakesHands tells whether Caddy has a certificate.
func (s *shops) shakesHands(ctx context.Context) bool {
	dialer := tls.Dialer{Config: rawhttp.Trusting("http/1.1")}
	conn, err := dialer.DialContext(ctx, "tcp", s.caddy)
	if err == nil {
		_ = conn.Close() // nothing was said
	}
	return err == nil
}

// session runs one of the library's sessions at a new shop.
func (s *shops) session(t *testing.T, program, directive string) *run {
	t.Helper()
	r := s.open(t, directive)
	if s.journal != "" {
		s.learns(t, r.info.Keys.ReadKey)
	}
	key, secret, _ := strings.Cut(r.info.Keys.ReadWriteKey, ":")
	r.steps = libraries.Run(t, program, s.trusted, map[string]any{
		"url": s.recorder.URL(), "key": key, "secret": secret, "inQuery": s.way.inQuery,
		"orders": r.info.Orders, "products": r.info.Products, "subscriptions": r.info.Subscriptions,
	})
	var err error
	if r.exchanges, err = s.recorder.Take(); err != nil {
		t.Fatal(err)
	}
	return r
}

// clock is the one field that differs, and at most that: Caddy adds it itself to its own
// answers, and hands the shop's on.
var clock = rawhttp.Field{Name: "Date"}
