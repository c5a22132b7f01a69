package caller

import (
	"net/http"
	"slices"
	"strings"

	"github.com/restwarden/restwarden/policies/call"
	"github.com/restwarden/restwarden/policies/call/phpvars"
	"github.com/restwarden/restwarden/policies/call/platforms"
)

// row is one line of the table of credentials: one place in a request that may say who is
// calling. These lines decide everything about credentials: the claim, the key of an
// answer, the content of a question, which variables may not be stripped, which
// answers are private, which headers may not stand twice, which headers nothing may change
// behind the gateway, to which requests a dry run adds credentials, and whom they name.
type row struct {
	line byte // its place in the table: names it in keys
	in   source
	name string // canonical name of a header, name of a cookie or variable

	prefix  bool   // name is only a prefix of the cookie's name, see Platform.LogsIn
	user    bool   // the platform is asked for the current user if the request has it
	empty   bool   // … even if it is empty, whose meaning only the site knows
	keyed   claims // claims for which an answer counts for this value only
	carried claims // claims whose questions carry it
	cart    bool   // questions about the cart, which belongs to the session, carry it
	private bool   // an answer to a request that has it is private
	kept    bool   // strip_query may not drop it

	// whole tells whether all variables are there that the credential is made of; nil where the row is one
	// by itself.
	whole func(variables) bool

	// names adds the credentials of the row to a list, without their secrets, see Whole.Presented; nil where
	// nothing in it says whose it is.
	names func(*Whole, []Credential) ([]Credential, error)
}

// variables returns a variable of the query, as call.Call.QueryVariable does.
type variables func(name string) (value string, set bool)

// source is the place of a credential in a request.
type source uint8

const (
	inHeader   source = iota
	inCookie          // one cookie, as sent
	inQuery           // a variable of the query
	inVariable        // a variable of a form, else of the query
)

// claims is a set of claims.
type claims uint16

const always = ^claims(0)

func only(c Claim) claims { return 1 << c }

func (s claims) has(c Claim) bool { return s&(1<<c) != 0 }

// table returns the rows of a site (docs/identity.md; docs/platform III.8). A new credential
// needs only a new row.
func table(p *platforms.Platform, own Own) []row {
	byKey := only(ClaimKey) | only(ClaimSession)                 // a key counts beside a cookie that has ended
	beside := always &^ (only(ClaimBasic) | only(ClaimPassword)) // of what says who is calling beside Authorization
	session := beside &^ only(ClaimToken)
	nonce := session
	if len(own.Cookies) > 0 { // one may be the platform's login cookie under another name, which counts with a nonce alone
		nonce = beside
	}
	rows := []row{
		{in: inHeader, name: "Authorization", user: true, keyed: always, carried: always, cart: true, private: true, names: basicNames},
		{in: inHeader, name: "X-Mcp-Api-Key", user: true, keyed: beside, carried: beside, cart: true, private: true, names: toolNames},
		{in: inCookie, name: p.AuthCookie, prefix: true, keyed: session, carried: session, private: true, names: cookieNames},
		{in: inHeader, name: p.NonceHeader, keyed: nonce, carried: nonce, cart: true},
		{in: inVariable, name: p.NonceParam, keyed: nonce, carried: nonce, cart: true, kept: true},
		{in: inQuery, name: "consumer_key", keyed: byKey, carried: byKey, private: true, kept: true, whole: hasQueryKey, names: keyNames},
		{in: inQuery, name: "consumer_secret", keyed: byKey, carried: byKey, kept: true},
		{in: inQuery, name: "oauth_consumer_key", private: true, whole: hasOAuth1, names: oauth1Names},
		{in: inQuery, name: "signature", private: true, whole: isJetpack},
		{in: inHeader, name: "Cart-Token", keyed: only(ClaimSession), carried: always, cart: true, private: true},
		{in: inHeader, name: "Cookie", cart: true}, // all cookies, the session's among them
		{in: inHeader, name: "Nonce", cart: true},
		{in: inHeader, name: "Origin", cart: true}, // decides whether its scripts may read the answer
	}
	for _, name := range own.Headers {
		rows = with(rows, row{in: inHeader, name: name, user: true, empty: true, keyed: beside, carried: beside, cart: true, private: true})
	}
	for _, name := range own.Cookies {
		rows = with(rows, row{in: inCookie, name: name, user: true, empty: true, keyed: beside, carried: beside, private: true})
	}
	for i := range rows {
		rows[i].line = byte(i)
	}
	return rows
}

// with adds a row of the site's own. It replaces a row of the same name, but for whom it names: a question
// carries each credential once.
func with(rows []row, own row) []row {
	i := slices.IndexFunc(rows, func(r row) bool { return r.in == own.in && r.name == own.name && !r.prefix })
	if i < 0 {
		return append(rows, own)
	}
	own.names, own.keyed, own.carried = rows[i].names, own.keyed|rows[i].keyed, own.carried|rows[i].carried
	rows[i] = own
	return rows
}

// NewReader returns a call.Reader that refuses a call with a header of the table twice, or
// under another name that PHP folds onto it.
func NewReader(site call.Config) *call.Reader {
	for _, r := range table(&site.Platform, Own{}) {
		switch {
		case r.in == inHeader:
			site.Credentials = append(site.Credentials, r.name)
		case r.kept: // not Jetpack's, which are everyday words: to hide one takes a valid signature, and gains nothing
			site.Variables = append(site.Variables, r.name)
		}
	}
	site.Variables = append(site.Variables, oauth1...)
	return call.NewReader(site)
}

// Strippable tells whether strip_query may drop a variable. It is false for a credential
// of any platform.
func Strippable(name string) bool {
	for _, p := range platforms.All() {
		for _, r := range table(&p, Own{}) {
			if r.kept && r.name == name {
				return false
			}
		}
	}
	return true
}

// Headers returns the canonical names of the headers of the table.
func Headers(p *platforms.Platform, own Own) (names []string) {
	for _, r := range table(p, own.canonical()) {
		if r.in == inHeader {
			names = append(names, r.name)
		}
	}
	return names
}

// IsCredential tells whether a variable of the query says who is calling, alone or with others.
// Jetpack's, which are everyday words, do not count.
func (s *Site) IsCredential(variable string) bool {
	return slices.Contains(oauth1, variable) || slices.Contains(oauth1Beside, variable) ||
		slices.ContainsFunc(s.rows, func(r row) bool { return r.kept && r.name == variable })
}

// HasCredentials tells whether a request carries anything that may count as a credential,
// so that its answer is private.
func (s *Site) HasCredentials(r *http.Request) bool { return s.countCredentials(r, 1) > 0 }

// SaysWho tells whether a request carries a whole credential of somebody, and not of a session alone.
// It may be one that does not count for the call.
func (s *Site) SaysWho(r *http.Request) bool {
	query := func(name string) (string, bool) {
		v, set := phpvars.OfQuery(r.URL.RawQuery).Get(name, 1)
		text, _ := v.(string)
		return text, set
	}
	return slices.ContainsFunc(s.rows, func(row row) bool {
		switch {
		case !row.private || row.keyed == only(ClaimSession):
			return false
		case row.in == inHeader:
			return row.says(r.Header)
		case row.whole != nil:
			return row.whole(query)
		}
		return s.carries(r, &row)
	})
}

// says tells whether h has the row's header, with a value that means something.
func (r *row) says(h http.Header) bool {
	values := h[r.name]
	return len(values) > 0 && (r.empty || values[0] != "")
}

// SaysNonce tells whether a request carries a nonce, which says nothing without a login.
func (s *Site) SaysNonce(r *http.Request) bool {
	return len(r.Header[s.Platform.NonceHeader]) > 0 || phpvars.Has(r.URL.RawQuery, s.Platform.NonceParam)
}

// countCredentials returns how many rows of the table that make an answer private the request
// has a credential for, and at most most.
func (s *Site) countCredentials(r *http.Request, most int) (n int) {
	for i := range s.rows {
		if row := &s.rows[i]; row.private && s.carries(r, row) {
			if n++; n == most {
				return n
			}
		}
	}
	return n
}

func (s *Site) carries(r *http.Request, row *row) bool {
	switch row.in {
	case inHeader:
		return len(r.Header[row.name]) > 0
	case inCookie:
		found, err := s.hasCookie(r.Header, !row.prefix)
		return found || err != nil
	case inQuery, inVariable:
		return phpvars.Has(r.URL.RawQuery, row.name)
	}
	return false
}

// hasCookie tells whether a header has one of the site's own cookies (own) or a login
// cookie (not own). A cookie whose name PHP only folds onto such a name is a
// *call.Refusal, since no browser sends it.
func (s *Site) hasCookie(h http.Header, own bool) (found bool, err error) {
	for pair := range cookiePairs(h) {
		is, alias := s.cookie(pair, own)
		if alias {
			return false, call.Ambiguous("cookie_alias")
		}
		found = found || is
	}
	return found, nil
}

// cookie tells whether pair, "name=value", is one of the site's own cookies (own) or a
// login cookie (not own). alias means that some release of PHP would fold its name onto
// one.
func (s *Site) cookie(pair string, own bool) (is, alias bool) {
	for i := range s.rows {
		row := &s.rows[i]
		if row.in != inCookie || row.prefix == own {
			continue
		}
		matches, folds := row.fits(&s.Platform, pair)
		if matches {
			return true, false
		}
		alias = alias || folds
	}
	return false, alias
}

// cookieRow returns the row that a cookie, "name=value", fits, or nil. A name that the site gives goes before the prefix of
// login cookies.
func (s *Site) cookieRow(pair string) (found *row) {
	for i := range s.rows {
		r := &s.rows[i]
		if r.in != inCookie || found != nil && r.prefix {
			continue
		}
		if is, _ := r.fits(&s.Platform, pair); is {
			found = r
		}
	}
	return found
}

// fits compares the name of a cookie with the row's.
func (r *row) fits(p *platforms.Platform, pair string) (is, folds bool) {
	if r.prefix {
		if p.LogsIn(pair) {
			return true, false
		}
		_, folds = foldsOnto(pair, r.name)
		return false, folds && !strings.HasPrefix(pair, r.name)
	}
	name, _, _ := strings.Cut(pair, "=")
	if name == r.name {
		return true, false
	}
	rest, folds := foldsOnto(pair, r.name)
	return false, folds && (rest == "" || rest[0] == '[' || rest[0] == 0)
}
