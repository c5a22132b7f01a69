package scopes

import (
	"fmt"
	"strings"
	"time"
)

// Platform is where the credentials come from.
type Platform interface {
	// Login returns the login name of a user of the table.
	Login(user string) string
	// Keys returns keys of the shop, "ck_…:cs_…": one that reads, one that writes, one for both.
	Keys() [3]string
	// Password returns a new application password of a login, and its uuid.
	Password(login string) (secret, uuid string)
	// Session logs in by a cookie.
	Session(login string) (name, value, nonce string)
	// Bearer returns the token of a login, "" where the platform has none.
	Bearer(login string) string
	// Email returns the e-mail of a login.
	Email(login string) string
}

// The users of the table. The platform has to have them, those with a login of this name as they are called here.
const (
	Admin    = "admin"
	Manager  = "manager"
	Editor   = "editor"
	Author   = "author"
	Customer = "customer"
	Mail     = "shop@erp.test" // a login that is an e-mail, but not this user's
	Staff    = "ck_staff"      // a login that begins as keys do
)

// Table is the credentials and the scopes of a site.
type Table struct {
	Credentials []*Credential
	Scopes      []*Scope
}

// forgedKey returns a key that no shop knows. Two with one ending differ at their heads.
func forgedKey(head, ending string) string {
	return "ck_" + strings.Repeat(head, 33)[:33] + ending
}

// NewTable returns 12 scopes and the credentials that need no log-in, with those of the platform.
func NewTable(p Platform) *Table {
	t := &Table{}
	add := func(c Credential) *Credential { t.Credentials = append(t.Credentials, &c); return &c }
	add(Credential{Label: "nobody"})
	add(Credential{Label: "Jetpack", Kind: Jetpack})
	add(Credential{Label: "a single sign-on", Kind: Token, Forged: true})
	var known []*Credential
	for i, pair := range p.Keys() {
		name, secret, _ := strings.Cut(pair, ":")
		known = append(known, add(Credential{Label: fmt.Sprintf("key %d", i), Kind: Key, Name: name, Secret: secret}))
	}
	for _, k := range forged {
		add(Credential{Label: "key " + k.ending, Kind: Key, Name: forgedKey(k.head, k.ending), Secret: "cs_x", Forged: true})
	}
	add(Credential{Label: "a short key", Kind: Key, Name: "ck_ab", Secret: "cs_x", Forged: true})
	uuids := t.logins(p)
	t.Scopes = table(p, known, uuids)
	return t
}

// forged are keys, by what is repeated in them and their last seven characters. A scope cannot
// tell the first two apart, and the last two have none.
var forged = []struct{ head, ending string }{
	{"0", "aaaaaa1"},
	{"1", "aaaaaa1"},
	{"2", "bbbbbb2"},
	{"3", "ccccccc"},
	{"4", "ddddddd"},
	{"5", "eeeeeee"},
	{"6", "fffffff"},
	{"7", "0000007"},
	{"8", "0000008"},
	{"9", "0000009"},
	{"a", "000000a"},
	{"b", "000000b"},
}

// logins adds passwords. It returns their uuids by a name.
func (t *Table) logins(p Platform) map[string]string {
	uuids := map[string]string{}
	password := func(name, login string, as ...string) {
		secret, uuid := p.Password(login)
		uuids[name] = uuid
		for _, given := range append([]string{login}, as...) {
			c := &Credential{Label: name + " as " + given, Kind: Login, Name: given, Secret: secret, Login: given, User: login, Password: uuid}
			if c.isKey() {
				c.Login, c.User, c.Password = "", "", ""
			}
			t.Credentials = append(t.Credentials, c)
		}
	}
	admin, manager, editor := p.Login(Admin), p.Login(Manager), p.Login(Editor)
	password("agent", admin)
	password("free", admin, p.Email(admin))
	password("stock", manager, p.Email(manager))
	password("free manager", manager)
	password("editor", editor, p.Email(editor), strings.ToUpper(editor[:1])+editor[1:])
	password("author", p.Login(Author)) // its user has a scope as well
	password("customer", p.Login(Customer))
	password("mail", Mail, p.Email(Mail))
	password("staff", Staff)
	for _, login := range []string{editor, p.Login(Customer), p.Email(editor)} {
		t.Credentials = append(t.Credentials, &Credential{Label: "wrong password of " + login, Kind: Login, Name: login, Secret: "wrong", Login: login, Forged: true})
	}
	return uuids
}

// LogIn adds cookies and tokens: a login may need the site to run with its scopes.
func (t *Table) LogIn(p Platform) {
	for _, user := range []string{Editor, Author, Customer, Admin} {
		login := p.Login(user)
		name, value, nonce := p.Session(login)
		t.Credentials = append(t.Credentials, &Credential{Label: "cookie of " + login, Kind: Cookie, Cookie: name, Secret: value, Nonce: nonce, Login: login, User: login})
		if user == Editor {
			t.Credentials = append(t.Credentials, &Credential{Label: "forged cookie", Kind: Cookie, Cookie: name, Secret: login + "%7C1999999999%7Cx%7Cy", Login: login})
		}
	}
	for _, user := range []string{Editor, Customer} {
		if token := p.Bearer(p.Login(user)); token != "" {
			t.Credentials = append(t.Credentials, &Credential{Label: "token of " + user, Kind: Bearer, Secret: token, User: p.Login(user)})
		}
	}
}

// table is the scopes.
func table(p Platform, keys []*Credential, uuids map[string]string) []*Scope {
	orders := []string{"/wc/v3/orders", "/wc/v3/orders/*", "/wc/v3/products/**"}
	later := time.Now().AddDate(1, 0, 0).Format(time.DateOnly)
	open, shut := hours(-2, 3), hours(3, 5)
	shut.Shut = true
	return []*Scope{
		{Name: "reader", Keys: []string{keys[0].end(), "aaaaaa1"}, Until: later, Allow: []Line{{Methods: []string{"GET"}, Routes: orders}}},
		{Name: "writer", Keys: []string{keys[1].end(), "0000009"}, Allow: []Line{
			{Methods: []string{"GET"}, Routes: []string{"/wc/*/orders/**"}},
			{Methods: []string{"POST"}, Routes: []string{"/wc/v3/orders/batch"}},
			{
				Methods: []string{"POST", "PUT"}, Routes: []string{"/wc/v3/orders/*"}, Only: []string{"status", "billing.email"},
				Compare: []Comparison{{"status", "=", []string{"processing", "completed"}}}, Optional: []string{"status"},
			},
			{Methods: []string{"POST"}, Routes: []string{"/wc/v3/orders"}, Compare: []Comparison{{"status", "=", []string{"processing"}}}},
			{
				Methods: []string{"POST"}, Routes: []string{"/wc/v3/orders/*/refunds"},
				Compare: []Comparison{{"amount", "<=", []string{"100"}}, {"amount", ">=", []string{"0"}}},
			},
		}},
		{Name: "wide", Keys: []string{keys[2].end()}, Allow: []Line{{Routes: []string{"/**"}}}},
		{Name: "ended", Keys: []string{"bbbbbb2"}, Until: "2020-01-31", Ended: true, Allow: []Line{{Routes: []string{"/**"}}}},
		{Name: "office", Keys: []string{"ccccccc"}, From: []string{"203.0.113.0/24", "2001:db8::/32"}, Allow: []Line{
			{Routes: []string{"/wc/v3/**"}, From: []string{"203.0.113.0/25", "2001:db8:1::/48"}}, {Routes: []string{"/wp/v2/posts/**"}},
		}},
		{Name: "night", Keys: []string{"ddddddd"}, Between: open, Allow: []Line{
			{Methods: []string{"GET"}, Routes: []string{"/wc/v3/**"}}, {Routes: []string{"/wc/v3/**"}, Between: shut}, {Routes: []string{"/wp/v2/**"}, Between: open},
		}},
		{Name: "watched", Keys: []string{"eeeeeee"}, Users: []string{p.Login(Customer)}, Observe: true, Allow: []Line{{Routes: []string{"/wp/v2/posts"}}}},
		{
			Name: "private", Keys: []string{"fffffff", "0000007"}, Allow: []Line{{Routes: []string{"/wc/v3/orders/**", "/wp/v2/posts/**", "/wp/v2/users/*", "/wp/v2/users"}}},
			Hide: []Hidden{{"/wc/v3/orders/**", []string{"billing.email", "billing.phone"}}, {"/wp/v2/posts/**", []string{"title.rendered"}}},
		},
		{Name: "pair", Keys: []string{"0000008"}, Users: []string{p.Login(Editor), Mail}, Allow: []Line{
			{Methods: []string{"GET", "POST"}, Routes: []string{"/wp/v2/**", "/wc/v3/orders/**", "/batch/v1"}},
			{Methods: []string{"PUT", "DELETE"}, Routes: []string{"/wp/v2/posts/:id"}},
			{Methods: []string{"POST"}, Routes: []string{"/wp/v2/users/*/application-passwords", "/wp/v2/users/me/application-passwords", "/wc/v3/webhooks"}},
			{Methods: []string{"PUT"}, Routes: []string{"/wp/v2/plugins/akismet"}},
		}},
		{Name: "both", Keys: []string{"0000009"}, Users: []string{p.Login(Author)}, Allow: []Line{{Routes: []string{"/wc/v3/orders/**", "/acme/v1/**", "/wp/v2/posts"}}}},
		{Name: "agent", Passwords: []string{uuids["agent"], uuids["author"]}, Allow: []Line{
			{Routes: []string{"/mcp/**", "/woocommerce-agent/v1/mcp", "/wp-abilities/v1/**", "/wp/v2/posts/**"}}, {Routes: []string{"/wp/v2/settings"}},
		}},
		{Name: "stock", Passwords: []string{uuids["stock"]}, Allow: []Line{
			{Methods: []string{"GET", "PUT"}, Routes: []string{"/wc/v3/products/**", "/acme/v1/things/*"}, Only: []string{"status"}}, {Routes: []string{"/wc/store/v1/**"}},
		}},
	}
}

// hours returns hours of the day around now, from some hours on for some more.
func hours(from, to int) Hours {
	now := time.Now().UTC()
	at := func(h int) string { return now.Add(time.Duration(h) * time.Hour).Format("15:04") }
	return Hours{Text: at(from) + "-" + at(to) + " UTC"}
}
