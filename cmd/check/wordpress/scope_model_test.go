//go:build wordpress

package wordpress

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/restwarden/restwarden/cmd/check/scopes"
	"github.com/restwarden/restwarden/cmd/check/testkit/machine"
	"github.com/restwarden/restwarden/cmd/check/testkit/rawhttp"
)

// modelled is a gate with the scopes of the model, and the platform of their credentials.
type modelled struct {
	s     *stack
	t     *testing.T
	gate  *gate
	table *scopes.Table
}

// TestScope_Model: what the model of scopes says has to become of a request becomes of it in front of WordPress, over all
// protocols: what is refused does not reach it, and what is inside passes.
func TestScope_Model(t *testing.T) {
	s := setUps(t)
	for _, name := range []string{fpm, apache} {
		t.Run(name, func(t *testing.T) {
			m := s.modelled(t, s.site(name))
			c, n := count(t), options.requests/3
			t.Logf("RESTWARDEN_SEED=%d makes the same %d requests again", options.seed, n)
			var group sync.WaitGroup
			const senders = 4
			for first := range senders {
				from := &scopes.Generator{
					Base: m.gate.Site.Base, Credentials: m.table.Credentials, Scopes: m.table.Scopes,
					Clients: []string{"203.0.113.7", "203.0.113.207", "198.51.100.7", "2001:db8:1::7"},
				}
				group.Go(func() {
					for i := first; i < n; i += senders {
						r := from.Next(rand.New(rand.NewPCG(options.seed, uint64(i))))
						c.check(fmt.Sprintf("request %d", i), m.try(t.Context(), i, r))
					}
				})
			}
			group.Wait()
		})
	}
}

// modelled starts a Caddy with the scopes in front of a site.
func (s *stack) modelled(t *testing.T, site *site) *modelled {
	t.Helper()
	ports, err := machine.FreePorts(2)
	if err != nil {
		t.Fatal(err)
	}
	m := &modelled{s: s, t: t, gate: &gate{Name: site.Name + " model", Site: site, Mode: "model", Port: ports[0], TLS: ports[1]}}
	for login, email := range map[string]string{scopes.Mail: m.Email(scopes.Mail), scopes.Staff: m.Email(scopes.Staff)} {
		m.asAdmin("POST", "/wp/v2/users", fmt.Sprintf(`{"username":%q,"email":%q,"password":"standin"}`, login, email))
	}
	m.table = scopes.NewTable(m)
	m.start()
	m.table.LogIn(m)
	return m
}

func (m *modelled) start() {
	m.t.Helper()
	var block strings.Builder
	for _, scope := range m.table.Scopes {
		block.WriteString(scope.Caddyfile())
	}
	dir, site := m.t.TempDir(), fmt.Sprintf(`	bind 127.0.0.1
	header {
		defer
		X-Check-Decision "{http.vars.restwarden.kind} {http.vars.restwarden.outcome} {http.vars.restwarden.code}"
	}
	restwarden wordpress {
		recommended off
		credentials header %s
		order_type off
%s		identity {
			rate 1000000/1m
		}
	}
	%s
}
`, scopes.TokenHeader, block.String(), m.upstream())
	text := fmt.Sprintf("{\n\tadmin off\n\tauto_https disable_redirects\n\tskip_install_trust\n\tstorage file_system %s/data\n\tpersist_config off\n"+
		"\tlog {\n\t\toutput discard\n\t}\n\tservers {\n\t\ttrusted_proxies static 127.0.0.1/32\n\t}\n}\nhttp://127.0.0.1:%d {\n%shttps://127.0.0.1:%d {\n\ttls internal\n%s",
		dir, m.gate.Port, site, m.gate.TLS, site)
	config := filepath.Join(dir, "Caddyfile")
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		m.t.Fatal(err)
	}
	p, err := machine.Server{Dir: dir, Name: filepath.Join(m.s.dir, "caddy"), Args: []string{"run", "--config", config, "--adapter", "caddyfile"}}.Start()
	if err != nil {
		m.t.Fatal(err)
	}
	m.t.Cleanup(p.Stop)
	if err := p.Ready(m.t.Context(), machine.Connects("tcp", m.gate.host())); err != nil {
		m.t.Fatal(err)
	}
}

// upstream is the directives that lead to the site.
func (m *modelled) upstream() string {
	if port := m.gate.Site.Apache; port != 0 {
		return fmt.Sprintf("reverse_proxy 127.0.0.1:%d", port)
	}
	return fmt.Sprintf("root * %s\n\tphp_fastcgi unix/%s\n\tfile_server", m.gate.Site.Root, m.s.fpmSocket())
}

// try sends a request and tells how its fate differs from what the model says.
func (m *modelled) try(ctx context.Context, n int, r *scopes.Request) error {
	verdict := scopes.Judge(m.table.Scopes, &r.Meaning)
	tag := fmt.Sprintf("%s-model-%06d", m.gate.Site.Name, n)
	r.Header = append(r.Header, "X-Request-Tag: "+tag)
	a, err := m.send(ctx, n, r)
	if err != nil {
		return fmt.Errorf("%w: %s", err, r)
	}
	seen, err := m.s.readTrace(tag)
	if err != nil {
		return err
	}
	code := a.decision[strings.LastIndexByte(a.decision, ' ')+1:]
	switch {
	case a.refused() && seen.loaded:
		err = fmt.Errorf("a refused request reached WordPress: %+v", seen)
	case a.refused() && !slices.Contains(verdict.Codes, code), !a.refused() && !verdict.Passes:
		err = fmt.Errorf("%s, WordPress: %+v", a, seen)
	default:
		return nil
	}
	return fmt.Errorf("%w\nthe model: %s, passes %t, %q\ncarries%s\n%s", err, verdict.Why, verdict.Passes, verdict.Codes, r.Note, r)
}

// send sends one request in ten over HTTP/2, and another one over HTTP/3.
func (m *modelled) send(ctx context.Context, n int, r *scopes.Request) (*answer, error) {
	ctx, cancel := context.WithTimeout(ctx, answerTime)
	defer cancel()
	secure := m.gate.secure().host()
	switch n % 10 {
	case 2:
		conn, err := rawhttp.DialHTTP2(ctx, secure)
		if err != nil {
			return nil, err
		}
		defer func() { _ = conn.Close() }()
		if err := conn.SetDeadline(time.Now().Add(answerTime)); err != nil {
			return nil, err
		}
		return streamAnswer(rawhttp.HTTP2(conn, r.Fields(secure)))
	case 3:
		conn, hangUp, err := rawhttp.DialHTTP3(ctx, secure)
		if err != nil {
			return nil, err
		}
		defer hangUp()
		return streamAnswer(rawhttp.HTTP3(conn, r.Fields(secure), time.Now().Add(answerTime)))
	}
	raw := strings.Replace(string(r.Bytes()), "Host: 127.0.0.1\r\n", "Host: "+m.gate.host()+"\r\n", 1)
	return send(ctx, m.gate, []byte(raw))
}

// asAdmin runs a call of the administrator's without the gateway.
func (m *modelled) asAdmin(method, route, body string) (answer string) {
	m.t.Helper()
	admin := m.gate.Site.Accounts["administrator"]
	a, err := fetch(m.t.Context(), m.s.gate(m.gate.Site.Name, modeBare), request{method: method, path: "/?rest_route=" + route, body: body, as: &admin})
	if err != nil || a.status >= 300 {
		m.t.Fatalf("%s %s: %v, %v", method, route, a, err)
	}
	return string(a.body)
}

// roles are those of the users that every site has.
var roles = map[string]string{
	scopes.Admin: "administrator", scopes.Manager: "shop_manager", scopes.Editor: "editor", scopes.Author: "author", scopes.Customer: "subscriber",
}

// Login implements scopes.Platform.
func (m *modelled) Login(user string) string { return m.gate.Site.Accounts[roles[user]].Login }

// Keys implements scopes.Platform.
func (m *modelled) Keys() [3]string {
	return [3]string{"ck_standin:cs_standin", "ck_signs:cs_signs", "ck_nobody00:cs_x"}
}

// Password implements scopes.Platform.
func (m *modelled) Password(login string) (secret, uuid string) {
	m.t.Helper()
	secret, uuid, err := scopes.NewPassword(func(method, route, query, body string) string {
		return m.asAdmin(method, route+"&"+query, body)
	}, login, fmt.Sprintf("model %d", rand.Int()))
	if err != nil {
		m.t.Fatal(err)
	}
	return secret, uuid
}

// Session implements scopes.Platform.
func (m *modelled) Session(of string) (name, value, nonce string) {
	m.t.Helper()
	for _, account := range m.gate.Site.Accounts {
		if account.Login != of {
			continue
		}
		s, err := login(m.t.Context(), m.gate, account)
		if err != nil {
			m.t.Fatal(err)
		}
		for pair := range strings.SplitSeq(strings.TrimPrefix(s.header[1], "Cookie: "), "; ") {
			if strings.HasPrefix(pair, "wordpress_logged_in_") {
				name, value, _ = strings.Cut(pair, "=")
			}
		}
		return name, value, s.nonce
	}
	m.t.Fatalf("no account %s", of)
	return "", "", ""
}

// Bearer implements scopes.Platform.
func (*modelled) Bearer(string) string { return "" }

// Email implements scopes.Platform.
func (*modelled) Email(login string) string {
	switch login {
	case scopes.Mail:
		return "other@erp.test"
	case scopes.Staff:
		return "staff@erp.test"
	}
	return login + "@example.test"
}
