package wordpress

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"time"
)

// gate is one address of a site: with the gateway in one of its modes, or bare.
type gate struct {
	Name string
	Site *site
	Mode string
	Port int
}

// Modes of a gate.
const (
	modeDefault = "default"            // restwarden wordpress, nothing else
	modeLocked  = "locked"             // login_only with the exceptions
	modeObserve = "observe"            // the same, deciding only
	modeCookies = "no_session_cookies" // locked, without the policy that the sub-folder needs
	modeBare    = "bare"               // no gateway
)

func (g *gate) host() string { return fmt.Sprintf("127.0.0.1:%d", g.Port) }

// url returns the address of a path of the site.
func (g *gate) url(path string) string { return "http://" + g.host() + g.Site.Base + path }

// signingKey is the cookie plugin's.
const signingKey = "standin-signing-key"

// startCaddy builds the gateway from the repository and starts all gates.
func (s *stack) startCaddy(ctx context.Context) error {
	binary := filepath.Join(s.dir, "caddy")
	built, cancel := context.WithTimeout(ctx, 10*time.Minute)
	defer cancel()
	if out, err := run(built, s.root, nil, "go", "build", "-o", binary, "./cmd/caddy"); err != nil {
		return fmt.Errorf("%w\n%s", err, out)
	}
	config := filepath.Join(s.dir, "Caddyfile")
	err := s.render("Caddyfile", config, map[string]any{
		"Admin": s.admin, "Dir": s.dir, "Gates": s.gates, "FPM": s.fpmSocket(), "SigningKey": signingKey,
	})
	if err != nil {
		return err
	}
	p, err := start(s.dir, binary, "run", "--config", config, "--adapter", "caddyfile")
	if err != nil {
		return err
	}
	s.children = append(s.children, p)
	return p.ready(ctx, connects("tcp", s.gates[0].host()))
}

// metrics returns the gateway's metrics as they are scraped.
func (s *stack) metrics(ctx context.Context) (string, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, fmt.Sprintf("http://127.0.0.1:%d/metrics", s.admin), http.NoBody)
	if err != nil {
		return "", err
	}
	resp, err := httpClient.Do(req)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	return string(body), err
}
