package gateway

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/caddyserver/caddy/v2"
	"go.uber.org/zap"

	"github.com/restwarden/restwarden/policies/confirm"
	"github.com/restwarden/restwarden/policies/hosts"
	"github.com/restwarden/restwarden/policies/store"
)

// people is what this process has for those who confirm calls. It outlives reloads, so that
// a link stays the same.
type people struct {
	links *confirm.Links
	// wrong bounds the tokens that an address may try.
	wrong *store.Limiter
	// telling has a place for each notification under way.
	telling chan struct{}
}

type peopleKey struct{}

// wrongTokens is how many wrong tokens an address may try. Nobody can guess one; the bound
// is for the store.
var wrongTokens = store.Rate{Count: 20, Per: time.Minute}

func newPeople() (*people, error) {
	wrong, err := store.NewLimiter(wrongTokens)
	return &people{links: confirm.NewLinks(), wrong: wrong, telling: make(chan struct{}, maxTelling)}, err
}

// confirmPath is where the page of a confirmation is, below the base; its token follows.
const confirmPath = "/.well-known/restwarden/confirm/"

// confirmToken returns the token in the path that the client asks for; ok is false for all
// other paths.
func (s *site) confirmToken(r *http.Request) (token string, ok bool) {
	if u := originalURL(r); u != nil {
		if token, ok = strings.CutPrefix(u.Path, s.Base+confirmPath); ok {
			return token, true
		}
	}
	return strings.CutPrefix(r.URL.Path, s.Base+confirmPath)
}

// linkTo returns the address of the page of a confirmation. Its host is one that the
// configuration names: a link with a host that the client has sent could lead the owner, and
// the token, to the client. Without such a host linkTo returns the path alone.
func (s *site) linkTo(ctx context.Context, c *confirm.Confirmation) (string, error) {
	token, err := s.g.app.people.links.Token(ctx, s.confirmations, c)
	if err != nil {
		return "", err
	}
	return s.origin() + s.Base + confirmPath + token, nil
}

// origin is "https://shop.example.com", or "" if the configuration names no host in full. The
// site's own home address tells scheme and port as visitors see them, if a root was read; a
// site that has TLS here has no link without.
func (s *site) origin() string {
	for _, host := range s.way.Hosts {
		if strings.ContainsAny(host, "*{") {
			continue
		}
		host = strings.ToLower(hosts.Name(host))
		port := portOf(s.g.server)
		for _, asked := range []string{host, host + port} {
			home, err := url.Parse(s.discovery.homeOf(asked))
			if err == nil && (home.Scheme == "https" || home.Scheme == "http" && !s.hasTLS()) && strings.EqualFold(home.Hostname(), host) {
				return home.Scheme + "://" + home.Host
			}
		}
		return "https://" + host + port
	}
	return ""
}

func (s *site) hasTLS() bool { return s.way.Server != nil && len(s.way.Server.TLSConnPolicies) > 0 }

// portOf is ":8443" for a server that listens on such a port, and "" for the usual ones.
func portOf(server string) string {
	address, _, _ := strings.Cut(server, " ")
	at, err := caddy.ParseNetworkAddress(address)
	if err != nil || at.IsUnixNetwork() || at.IsFdNetwork() || at.StartPort == 0 || at.StartPort == 443 || at.StartPort == 80 {
		return ""
	}
	return ":" + strconv.FormatUint(uint64(at.StartPort), 10)
}

// waits is called for each new confirmation.
func (s *site) waits(c *confirm.Confirmation) {
	s.logger.Info("a call waits for a person", zap.String("site", s.Name), zap.String("confirmation", c.ID), zap.Time("expires", c.Expires))
	if to := s.confirmer.Notifies(); to != "" {
		s.notify(to, c)
	}
}

// decide lets a person decide, and says in the log who has.
func (s *site) decide(ctx context.Context, id string, give bool, by string) (*confirm.Confirmation, error) {
	c, err := s.confirmations.Decide(ctx, id, give)
	if err == nil {
		s.logger.Info("confirmation "+string(c.State), zap.String("site", s.Name), zap.String("confirmation", c.ID), zap.String("by", by))
	}
	return c, err
}
