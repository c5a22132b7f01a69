//go:build wordpress

package wordpress

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"github.com/restwarden/restwarden/cmd/check/testkit/machine"
)

// Modes of a gate.
const (
	modeDefault = "default"            // restwarden wordpress, nothing else
	modeLocked  = "locked"             // login_only with the exceptions
	modeObserve = "observe"            // the same, deciding only
	modeCookies = "no_session_cookies" // locked, without the policy that the sub-folder needs
	modeMisread = "misread"            // nothing else but misread refuse
	modeBare    = "bare"               // no gateway
	modeKey     = "credential"         // order_type with a shop key of its own
	modeScoped  = "scopes"             // nothing else but scopes of a key, a user and a password
	modeLogins  = "scopes of logins"   // those of a user and a password alone
	modeKept    = "conditions"         // login_only, and rules with conditions about parameters
)

// secure is the same gate over TLS.
func (g *gate) secure() *gate {
	over := *g
	over.Name, over.Port, over.TLS, over.Scheme = g.Name+" TLS", g.TLS, 0, "https"
	return &over
}

// url returns the address of a path of the site.
func (g *gate) url(path string) string {
	return cmp.Or(g.Scheme, "http") + "://" + g.host() + g.Site.Base + path
}

// signingKey is the cookie plugin's.
const signingKey = "standin-signing-key"

// caddyConfig is what the Caddyfile is filled with.
type caddyConfig struct {
	Admin, Inner, Nginx          int // ports
	FrankenPHP                   bool
	Dir, FPM, SigningKey, Behind string
	Credential                   string // of order_type
	Gates                        []*gate
	Gate                         *gate // the one that is written
	Early                        []earlyPool
	Targets                      []string // site blocks of the part attack
}

// earlyPool is a pool of PHP that ends pages early, and the port of the Caddy in front of it.
type earlyPool struct {
	Inner int
	FPM   string
}

// Of returns c for one gate.
func (c *caddyConfig) Of(g *gate) *caddyConfig {
	of := *c
	of.Gate = g
	return &of
}

// caddyConfig is that of the Caddy whose PHP is FrankenPHP, or of the other one.
func (s *stack) caddyConfig(admin int, frankenPHP bool) *caddyConfig {
	c := &caddyConfig{Admin: admin, FrankenPHP: frankenPHP, Dir: s.dir, SigningKey: signingKey, Credential: signingShopKey}
	for _, g := range s.gates {
		if g.Site.FrankenPHP == frankenPHP {
			c.Gates = append(c.Gates, g)
		}
	}
	return c
}

// gatewayVariable names a checkout whose gateway stands in front in place of this
// one's, to see what the checks find in it.
const gatewayVariable = "RESTWARDEN_GATEWAY"

// startCaddy builds the gateway from the repository and starts all gates.
func (s *stack) startCaddy(ctx context.Context) error {
	binary := filepath.Join(s.dir, "caddy")
	built, cancel := context.WithTimeout(ctx, 10*time.Minute)
	defer cancel()
	source := cmp.Or(os.Getenv(gatewayVariable), s.root)
	if out, err := machine.Run(built, source, nil, "go", "build", "-o", binary, "./cmd/caddy"); err != nil {
		return fmt.Errorf("%w\n%s", err, out)
	}
	config := filepath.Join(s.dir, "Caddyfile")
	data := s.caddyConfig(s.admin, false)
	data.Inner, data.Nginx, data.FPM, data.Behind = s.inner, s.nginx, s.fpmSocket(), s.site(fpm).Root
	data.Early = []earlyPool{{s.early.caddy, s.earlySocket()}, {s.early.other, s.otherSocket()}}
	for _, target := range s.targets {
		data.Targets = append(data.Targets, s.blocks(target))
	}
	if err := s.render("Caddyfile", config, data); err != nil {
		return err
	}
	p, err := s.start(binary, "run", "--config", config, "--adapter", "caddyfile")
	if err != nil {
		return err
	}
	return p.Ready(ctx, machine.Connects("tcp", s.gates[0].host()))
}

// metrics returns the gateway's metrics as they are scraped.
func (s *stack) metrics(ctx context.Context) (string, error) { return metricsAt(ctx, s.admin) }

// metricsAt returns those of the Caddy with that port of the admin interface.
func metricsAt(ctx context.Context, admin int) (string, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, fmt.Sprintf("http://127.0.0.1:%d/metrics", admin), http.NoBody)
	if err != nil {
		return "", err
	}
	resp, err := httpClient.Do(req)
	if err != nil {
		return "", err
	}
	defer func() { _ = resp.Body.Close() }() // it has been read
	body, err := io.ReadAll(resp.Body)
	return string(body), err
}
