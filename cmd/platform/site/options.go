package site

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/restwarden/restwarden/policies/call"
)

// Options say which site to run. The zero value is the newest of everything
// under the neutral names, at the root of its address.
type Options struct {
	Platform     string            // "cms" or "wordpress": the set of names (docs/project/design 2)
	Base         string            // "" or the sub-folder, such as "/blog"
	Install      string            // the install path, such as "/core", where it is not Base
	CookiePath   string            // "" or the path that the site's settings give both login cookies
	CookieDomain string            // "" or the domain of both
	Permalinks   string            // "pretty" or "plain"
	Release      string            // of the shop: "10.7", "10.8" or "11.1"
	Core         string            // of the platform: "6.8", "6.9" or "7.0"
	Abilities    bool              // the abilities plugin, for a platform before 6.9; from then on they are in the core
	CookiePlugin string            // "4.4.1" or "4.4.2"
	ToolServer   bool              // the shop's tool server, a feature that docs/project/interface 2 does not list
	SMTP         string            // host:port of a mail server; empty sends no mail
	Webhook      string            // address that changed products are sent to; empty sends none
	Fault        string            // "" or one of multilingual, blocked-root, stale-rewrites, firewall
	LoginOnly    bool              // the site's own restriction of REST to logged-in users
	LoginAllow   []string          // routes that the restriction leaves open, such as "/consent/v1/consent"
	KeysNeedTLS  bool              // over plain http shop keys are ignored unless they sign, as on a real shop
	Symbols      map[string]string // by currency: what a filter of the site overrides
	Now          func() time.Time  // clock; nil is time.Now
	Random       io.Reader         // what secrets and ids are made of; nil is crypto/rand. With SMTP it is read from several goroutines

	// Logf notes what goes wrong in the background; nil is log.Printf.
	Logf func(format string, args ...any)
}

// The faults of docs/project/interface 7.
const (
	faultMultilingual  = "multilingual"
	faultBlockedRoot   = "blocked-root"
	faultStaleRewrites = "stale-rewrites"
	faultFirewall      = "firewall"
)

// complete checks o and fills in the defaults. The error names the option and
// its possible values.
func (o Options) complete() (Options, error) {
	choices := []struct {
		name   string
		value  *string
		values []string // the first is the default
	}{
		{"platform", &o.Platform, []string{"cms", "wordpress"}},
		{"permalinks", &o.Permalinks, []string{"pretty", "plain"}},
		{"release", &o.Release, []string{"11.1", "10.8", "10.7"}},
		{"core", &o.Core, []string{"7.0", "6.9", "6.8"}},
		{"cookie-plugin", &o.CookiePlugin, []string{"4.4.2", "4.4.1"}},
		{"fault", &o.Fault, []string{"", faultMultilingual, faultBlockedRoot, faultStaleRewrites, faultFirewall}},
	}
	for _, c := range choices {
		if *c.value == "" {
			*c.value = c.values[0]
		}
		if !slices.Contains(c.values, *c.value) {
			known := strings.TrimPrefix(strings.Join(c.values, ", "), ", ")
			return o, fmt.Errorf("%s: unknown value %q (one of %s)", c.name, *c.value, known)
		}
	}
	if err := call.CheckBase(o.Base); err != nil {
		return o, fmt.Errorf("base: %w", err)
	}
	if err := call.CheckBase(o.Install); err != nil {
		return o, fmt.Errorf("install: %w", err)
	}
	if o.CookiePath != "" && !strings.HasPrefix(o.CookiePath, "/") {
		return o, fmt.Errorf("cookie-path: %q does not begin with a slash", o.CookiePath)
	}
	if o.SMTP != "" {
		if _, _, err := net.SplitHostPort(o.SMTP); err != nil {
			return o, fmt.Errorf("smtp: %w", err)
		}
	}
	if target, err := url.Parse(o.Webhook); o.Webhook != "" && (err != nil || target.Host == "") {
		return o, fmt.Errorf("webhook: %q is not an address such as http://127.0.0.1:9000/", o.Webhook)
	}
	if len(o.LoginAllow) > 0 && !o.LoginOnly {
		return o, errors.New("login-allow: without login-only every route is open")
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Random == nil {
		o.Random = rand.Reader
	}
	if o.Logf == nil {
		o.Logf = log.Printf
	}
	return o, nil
}

// since tells whether the shop's release is version or newer, coreSince the same of the
// platform.
func (s *Site) since(version string) bool {
	return release(s.opt.Release) >= release(version)
}

func (s *Site) coreSince(version string) bool {
	return release(s.opt.Core) >= release(version)
}

// release makes versions of the form "x.y" comparable.
func release(version string) int {
	major, minor, _ := strings.Cut(version, ".")
	x, _ := strconv.Atoi(major)
	y, _ := strconv.Atoi(minor)
	return x*1000 + y
}
