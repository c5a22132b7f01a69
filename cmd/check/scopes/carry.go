package scopes

import (
	"encoding/base64"
	"fmt"
	"net/url"
	"strings"
)

// Way is where a credential stands.
type Way int

// The ways. Those with Alone leave the secret out.
const (
	InBasic Way = iota
	InBasicAlone
	InQuery
	InQueryAlone
	InForm
	InOAuthHeader
	InOAuthQuery
	InOAuthForm
	InMCP
	InCookie      // with its nonce in a header
	InCookieAlone // without one
	InCookieQuery // with its nonce in the query
	InBearer
	InOther // a log-in of its own
)

var ways = map[Kind][]Way{
	Nobody: {InOther}, Jetpack: {InOther}, Token: {InOther}, Login: {InBasic}, Bearer: {InBearer},
	Cookie: {InCookie, InCookieAlone, InCookieQuery},
	Key:    {InBasic, InBasicAlone, InQuery, InQueryAlone, InForm, InOAuthHeader, InOAuthQuery, InOAuthForm, InMCP},
}

// authorization tells whether a way takes the header Authorization.
func (w Way) authorization() bool {
	return w == InBasic || w == InBasicAlone || w == InOAuthHeader || w == InBearer
}

func (w Way) form() bool { return w == InForm || w == InOAuthForm }

// signed tells whether a way is a signature of OAuth 1.
func (w Way) signed() bool { return w == InOAuthHeader || w == InOAuthQuery || w == InOAuthForm }

// Spelling is how the name of a key is written.
type Spelling struct {
	Name  string                   // for messages, "" for the plain one
	clean func(key string) string  // a name that the shop cleans to key
	param func(name string) string // another spelling of a parameter's name
	value func(text string) string // encodes a value, in place of the usual encoding
	twice bool
	list  bool
}

// misspelled tells whether a key is not certain where it stands. Of a form the last one of several counts.
func (c *Carried) misspelled() bool {
	s := &c.Spelling
	return c.isKey() && (s.clean != nil || s.list || s.twice && !c.Way.form())
}

// misspelled are the ways to write a key that the shop would clean, or cannot be certain of.
var misspelled = []Spelling{
	{Name: "twice", twice: true},
	{Name: "a blank before", clean: func(k string) string { return " " + k }},
	{Name: "a blank behind", clean: func(k string) string { return k + " " }},
	{Name: "a tab behind", clean: func(k string) string { return k + "\t" }},
	{Name: "a line end behind", clean: func(k string) string { return k + "\n" }},
	{Name: "tags within", clean: func(k string) string { return k[:5] + "<b></b>" + k[5:] }},
	{Name: "a tag before", clean: func(k string) string { return "<i>" + k }},
	{Name: "an escape within", clean: func(k string) string { return k[:5] + "%41" + k[5:] }},
	{Name: "an escape behind", clean: func(k string) string { return k + "%0a" }},
	{Name: "NUL and tags", clean: func(k string) string { return k[:1] + "\x00" + k[1:5] + "<b></b>" + k[5:] }},
}

// listed makes a list of a parameter.
var listed = Spelling{Name: "a list", list: true, param: func(name string) string { return name + "[]" }}

// otherwise are spellings of a parameter that are the same to PHP.
var otherwise = []Spelling{
	{Name: "every byte encoded", value: everyByte},
	{Name: "a dot in the name", param: func(name string) string { return strings.Replace(name, "_", ".", 1) }},
	{Name: "a plus in the name", param: func(name string) string { return strings.Replace(name, "_", "+", 1) }},
	{Name: "a blank before the name", param: func(name string) string { return "%20" + name }},
	{Name: "a byte of the name encoded", param: func(name string) string { return "%6" + fmt.Sprintf("%X", name[0]&15) + name[1:] }},
}

func everyByte(text string) string {
	var b strings.Builder
	for i := range len(text) {
		fmt.Fprintf(&b, "%%%02X", text[i])
	}
	return b.String()
}

// load is what the credentials of a request add to it. The pairs are encoded.
type load struct {
	header      []string
	query, form []string
}

// add adds a credential as it is carried.
func (l *load) add(c Carried) {
	name := c.Name
	if c.Spelling.clean != nil {
		name = c.Spelling.clean(name)
	}
	encode, param := url.QueryEscape, func(name string) string { return name }
	if c.Spelling.value != nil {
		encode = c.Spelling.value
	}
	if c.Spelling.param != nil {
		param = c.Spelling.param
	}
	again := 1
	if c.Spelling.twice {
		again = 2
	}
	header := func(line string) { l.header = append(l.header, line) }
	key := func(list *[]string, of string) {
		for range again {
			*list = append(*list, param(of)+"="+encode(name))
		}
	}
	signed := []string{"oauth_timestamp=1700000000", "oauth_nonce=abc", "oauth_signature=c2ln", "oauth_signature_method=HMAC-SHA256"}
	switch c.Way {
	case InBasic, InBasicAlone:
		secret := c.Secret
		if c.Way == InBasicAlone {
			secret = ""
		}
		for range again {
			header("Authorization: Basic " + base64.StdEncoding.EncodeToString([]byte(name+":"+secret)))
		}
	case InQuery, InQueryAlone:
		if key(&l.query, "consumer_key"); c.Way == InQuery {
			l.query = append(l.query, "consumer_secret="+c.Secret)
		}
	case InForm:
		key(&l.form, "consumer_key")
		l.form = append(l.form, "consumer_secret="+c.Secret)
	case InOAuthQuery:
		key(&l.query, "oauth_consumer_key")
		l.query = append(l.query, signed...)
	case InOAuthForm:
		key(&l.form, "oauth_consumer_key")
		l.form = append(l.form, signed...)
	case InOAuthHeader:
		for range again {
			fields := []string{`oauth_consumer_key="` + url.PathEscape(name) + `"`}
			for _, pair := range signed {
				of, value, _ := strings.Cut(pair, "=")
				fields = append(fields, of+`="`+value+`"`)
			}
			header("Authorization: OAuth " + strings.Join(fields, ", "))
		}
	case InMCP:
		for range again {
			header("X-MCP-API-Key: " + name + ":" + c.Secret)
		}
	default:
		l.addLogin(c)
	}
}

// addLogin adds a log-in that is neither a key nor a password.
func (l *load) addLogin(c Carried) {
	switch c.Kind {
	case Cookie:
		l.header = append(l.header, "Cookie: "+c.Cookie+"="+c.Secret)
		switch {
		case c.Way == InCookie && c.Nonce != "":
			l.header = append(l.header, "X-WP-Nonce: "+c.Nonce)
		case c.Way == InCookieQuery && c.Nonce != "":
			l.query = append(l.query, "_wpnonce="+c.Nonce)
		}
	case Bearer:
		l.header = append(l.header, "Authorization: Bearer "+c.Secret)
	case Jetpack:
		l.query = append(l.query, "_for=jetpack", "token=a%3A1%3A0", "timestamp=1700000000", "nonce=abc", "signature=c2ln")
	case Token:
		l.header = append(l.header, TokenHeader+": abc")
	default: // nobody
	}
}

// TokenHeader is the header of a single sign-on. The directive names it as a credential.
const TokenHeader = "X-Staff-Token" //nolint:gosec // a name

// writable tells whether a header can hold how a key is written: the protocols take no
// control bytes there, and drop or refuse blanks at its ends.
func (c *Carried) writable() bool {
	if c.Way != InMCP || c.Spelling.clean == nil {
		return true
	}
	name := c.Spelling.clean(c.Name)
	return !strings.ContainsAny(name, "\t\n\x00") && !strings.HasPrefix(name, " ")
}
