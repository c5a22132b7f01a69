package gateway

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/caddyserver/caddy/v2"
	"go.uber.org/zap"

	"github.com/restwarden/restwarden/caddymodule/adminapi"
	"github.com/restwarden/restwarden/caddymodule/confirming"
	"github.com/restwarden/restwarden/policies/abilities"
	"github.com/restwarden/restwarden/policies/ask"
	"github.com/restwarden/restwarden/policies/confirm"
	"github.com/restwarden/restwarden/policies/hosts"
)

type peopleKey struct{}

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

// switchLog is the logger that has all switches and confirmations.
func (s *site) switchLog() *zap.Logger { return s.g.app.logger.Named(switchLogs) }

// waits is called for each new confirmation.
func (s *site) waits(c *confirm.Confirmation) {
	s.switchLog().Info("a call waits for a person", zap.String("site", s.Name), zap.String("confirmation", c.ID), zap.Time("expires", c.Expires))
	if to := s.confirmer.Notifies(); to != "" {
		s.desk.Tell(s.life, to, c)
	}
}

// forwardConfirmed forwards a call that has used up a confirmation, and gives it back if the
// call provably never ran.
func (s *site) forwardConfirmed(w http.ResponseWriter, x *exchange) error {
	x.r.Header.Set("Accept-Encoding", "identity")
	attempt := confirming.NewAttempt(w, x.next, maxHeard, func(status int, h http.Header) bool {
		return abilities.ReadsAnswer(status) && isPlainJSON(h)
	})
	x.next = attempt.Next()
	defer s.answered(x, nil, false) // where the platform breaks off; it does nothing a second time
	err := s.forward(attempt, x)
	never := attempt.NeverRan(x.r, err)
	s.answered(x, attempt.Answer(), never)
	attempt.Release()
	return err
}

// answered ends the use of the confirmation of x, if there is one.
func (s *site) answered(x *exchange, a *ask.Answer, never bool) {
	// The client may have gone.
	back, err := abilities.Answered(context.WithoutCancel(x.r.Context()), &x.req, a, never)
	switch {
	case err != nil:
		s.switchLog().Warn("a used confirmation could not be ended", zap.String("site", s.Name), zap.Error(err))
	case back:
		s.switchLog().Info("confirmation given back: the call never ran", zap.String("site", s.Name), zap.String("request_id", x.id()))
	}
}

// confirming returns the sites where calls may have to wait for a person.
func (a *App) confirming() []*site {
	return a.sitesWith(func(s *site) bool { return s.confirmer != nil })
}

// confirmation returns what is said of c. A link that cannot be made is left out.
func (s *site) confirmation(ctx context.Context, c *confirm.Confirmation) adminapi.Confirmation {
	st := adminapi.Confirmation{
		Site: s.Name, ID: c.ID, State: c.State, Caller: c.Caller, Ability: c.Ability, Door: c.Door,
		Arguments: json.RawMessage(c.Arguments), Beside: json.RawMessage(c.Beside), Expires: c.Expires,
	}
	if c.State == confirm.Pending {
		if link, err := s.desk.Link(ctx, c); err == nil {
			st.Link = link
		}
	}
	return st
}
