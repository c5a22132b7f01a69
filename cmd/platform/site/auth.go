package site

import (
	"net"
	"net/http"
	"net/netip"
	"regexp"
	"strings"
)

// shopKey is a consumer key of the shop; it acts for a user within its scope.
type shopKey struct {
	key, secret string
	scope       string // read, write or read_write
	user        *user
}

// authenticate finds the caller: login cookie, else shop key, else bearer
// token or application password; then the nonce decides about the cookie
// (docs/platform II), but not in the checkout API. s.mu is held.
func (s *Site) authenticate(q *request, in *input) error {
	q.user, q.session = s.cookieUser(q.wire)
	q.cookie = q.user != nil
	if q.user == nil {
		err := s.authenticateHeader(q, in)
		if s.takesSession(q.route) {
			return nil // nobody is refused there (docs/platform III.8)
		}
		if err != nil {
			return err
		}
	}
	if s.takesSession(q.route) {
		return nil
	}
	if q.user != nil && !q.cookie {
		return nil
	}
	return s.checkNonce(q, in)
}

// authenticateHeader reads the credentials that are not cookies.
func (s *Site) authenticateHeader(q *request, in *input) error {
	onShop := s.isShopCall(q)
	if onShop {
		if err := s.authenticateKey(q, in); err != nil || q.user != nil {
			return err
		}
	}
	authorization := q.header.Get("Authorization")
	if bearer, ok := strings.CutPrefix(authorization, "Bearer "); ok {
		for _, u := range s.users {
			if u.bearer != "" && equal(u.bearer, bearer) {
				q.user = u
				return nil
			}
		}
		return fail(http.StatusUnauthorized, "invalid_token", "The access token provided is invalid.")
	}
	login, secret, ok := q.wire.BasicAuth()
	if !ok {
		return nil
	}
	u, err := s.appPasswordUser(q.wire, login, secret)
	if err != nil && onShop {
		return nil // the shop's own check treats the caller as anonymous (docs/platform III.8)
	}
	q.user = u
	return err
}

// isShopCall tells whether the shop takes a call for one of its own: by the raw
// text of the address, from 11.1 also by rest_route (docs/project/interface
// 9, REST-request detection).
func (s *Site) isShopCall(q *request) bool {
	address := cleaned(q.wire.URL.EscapedPath() + "?" + q.wire.URL.RawQuery)
	if strings.Contains(address, s.names.KeyMarker+"/") || strings.Contains(address, s.names.KeyMarker+"-") {
		return true
	}
	_, word, _ := strings.Cut(s.names.KeyMarker, "/")
	route := strings.TrimLeft(text(q.query["rest_route"]), "/")
	return s.since("11.1") && (strings.HasPrefix(route, word+"/") || strings.HasPrefix(route, word+"-"))
}

// appPasswordUser checks an application password; what is neither letter nor
// digit in it does not count.
func (s *Site) appPasswordUser(r *http.Request, login, secret string) (*user, error) {
	u := s.userByLogin(login)
	if u == nil {
		return nil, fail(http.StatusUnauthorized, "invalid_username",
			"Unknown username. Check again or try your email address.")
	}
	p := u.appPassword(secret)
	if p == nil {
		return nil, fail(http.StatusUnauthorized, "incorrect_password",
			"The provided password is an invalid application password.")
	}
	p.lastUsed = s.opt.Now()
	p.lastIP = clientAddress(r)
	return u, nil
}

func (u *user) appPassword(secret string) *appPassword {
	secret = strings.Map(func(c rune) rune {
		if strings.ContainsRune(alphabet, c) {
			return c
		}
		return -1
	}, secret)
	for _, p := range u.passwords {
		if equal(p.secret, secret) {
			return p
		}
	}
	return nil
}

// checkNonce lets a cookie count only with a right nonce; without one the
// caller is anonymous. A wrong nonce is an error,
// with or without a cookie.
func (s *Site) checkNonce(q *request, in *input) error {
	v, set := in.variable(s.names.NonceParam)
	nonce := text(v)
	if !set {
		nonce, set = q.header.Get(s.names.NonceHeader), len(q.header.Values(s.names.NonceHeader)) > 0
	}
	if q.session == "" && s.cookiesMiss() && !s.names.real() {
		set = false // neither cookie nor nonce reaches the call (docs/project/interface 5, rule 3)
	}
	if !set {
		q.user = nil
		return nil
	}
	if !s.validNonce(nonce, q.user, q.session) {
		q.user = nil
		if s.names.real() {
			return fail(http.StatusForbidden, "rest_cookie_invalid_nonce", "Cookie check failed")
		}
		return fail(http.StatusBadRequest, "rest_cookie_invalid_nonce", "Cookie check failed: the cookie nonce is invalid.")
	}
	q.cookie = false
	q.reply.Set(s.names.NonceHeader, s.nonce(q.user, q.session))
	return nil
}

// authenticateKey logs a shop key in, from the query or from Basic, else by a signature. An
// unknown key leaves the caller anonymous, a wrong secret is an error. Over plain http the
// real shop looks for a signature only.
func (s *Site) authenticateKey(q *request, in *input) error {
	id, secret := text(q.query["consumer_key"]), text(q.query["consumer_secret"])
	if id == "" || secret == "" {
		id, secret, _ = q.wire.BasicAuth()
	}
	k := s.shopKey(id)
	if k == nil || s.opt.KeysNeedTLS && !isSecure(q.wire) {
		return s.authenticateOAuth(q, in)
	}
	if !equal(k.secret, secret) {
		return s.keyError("Consumer secret is invalid.")
	}
	q.user, q.key = k.user, k
	return nil
}

func (s *Site) shopKey(id string) *shopKey {
	for _, k := range s.keys {
		if equal(k.key, id) {
			return k
		}
	}
	return nil
}

func (s *Site) keyError(message string) error {
	return fail(http.StatusUnauthorized, s.names.code("authentication_error"), message)
}

// clientAddress is where a request comes from: the peer, or, behind a proxy on
// the same machine, the client that it names.
func clientAddress(r *http.Request) string {
	address, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		address = r.RemoteAddr
	}
	if peer, err := netip.ParseAddr(address); err != nil || !peer.Unmap().IsLoopback() {
		return address
	}
	first, _, _ := strings.Cut(r.Header.Get("X-Forwarded-For"), ",")
	if client, err := netip.ParseAddr(strings.TrimSpace(first)); err == nil {
		return client.String()
	}
	return address
}

// keyAllows judges a shop key's scope on the effective method (docs/platform
// III.8).
func (q *request) keyAllows() error {
	if q.key == nil {
		return nil
	}
	needed := "write"
	if q.method == http.MethodGet || q.method == http.MethodHead {
		needed = "read"
	}
	if !strings.Contains(q.key.scope, needed) {
		return q.site.keyError("The API key provided does not have " + needed + " permissions.")
	}
	return nil
}

var (
	notInAddress = regexp.MustCompile(`(?i)[^a-z0-9\-~+_.?#=!&;,/:%@$|*'()\[\]\x{80}-\x{10ffff}]`)
	lineEnds     = regexp.MustCompile(`(?i)%0[ad]`)
)

// cleaned is the platform's esc_url_raw, as far as the shop's search for its own
// routes sees it: odd bytes are dropped, encoded line ends until none is left.
func cleaned(address string) string {
	address = notInAddress.ReplaceAllString(address, "")
	for lineEnds.MatchString(address) {
		address = lineEnds.ReplaceAllString(address, "")
	}
	return address
}
