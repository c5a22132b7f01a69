package caller

import (
	"encoding/binary"
	"net/http"
	"net/url"
	"strings"

	"github.com/restwarden/restwarden/policies/ask"
	"github.com/restwarden/restwarden/policies/call"
)

// Credentials are the values of one request that may say who is calling. They are read
// once and never change, since a question made of them may outlive the request.
type Credentials struct {
	where  where
	values []value
	room   [6]value // the space of values; enough for most requests

	byHeader bool // of ClaimOAuth1, see Whole
}

// where is how a request reaches the platform. It is part of what decides who is calling.
type where struct {
	host      string
	forwarded string // host that a trusted proxy was asked for; the platform may go by it
	base      string
	form      call.Form
	secure    bool
	rewritten *call.Rewritten
}

// value is what a request has for one row of the table.
type value struct {
	row  *row
	text string
}

// readCredentials reads the values of w into c. It leaves out a variable of a form without a
// certain reading: where the claim depends on it there is no claim, see Whole.hasNonce.
func (w *Whole) readCredentials(c *Credentials) {
	*c = Credentials{byHeader: w.byHeader, where: where{
		host: w.HTTP.Host, forwarded: strings.Join(w.HTTP.Header["X-Forwarded-Host"], ","), base: w.Call.Base,
		form: w.Call.Form, secure: w.Secure, rewritten: w.Call.Rewritten,
	}}
	c.values = c.room[:0]
	for i := range w.Site.rows {
		c.readRow(w, &w.Site.rows[i])
	}
	for pair := range cookiePairs(w.HTTP.Header) { // in the order sent: of two with one name PHP takes the first
		if r := w.Site.cookieRow(pair); r != nil {
			c.values = append(c.values, value{r, pair})
		}
	}
}

// maxNonce is the size up to which questions carry the platform's nonce, of ten characters, from
// a variable or a header: a longer one is wrong, whatever follows.
const maxNonce = 256

// nonceOf returns the beginning of a long nonce. It is as wrong, and holds no form.
func nonceOf(text string) string {
	if len(text) <= maxNonce {
		return text
	}
	return strings.Clone(text[:maxNonce])
}

func (c *Credentials) readRow(w *Whole, r *row) {
	if r.keyed|r.carried == 0 && !r.cart {
		return
	}
	switch r.in {
	case inHeader:
		for _, text := range w.HTTP.Header[r.name] {
			if r.name == w.Site.Platform.NonceHeader {
				text = nonceOf(text)
			}
			c.values = append(c.values, value{r, text})
		}
	case inCookie: // see readCredentials
	case inQuery:
		if text, set := w.Call.QueryVariable(r.name); set {
			c.values = append(c.values, value{r, text})
		}
	case inVariable:
		if text, set, err := w.Call.Variable(r.name); set && err == nil {
			c.values = append(c.values, value{r, nonceOf(text)}) // no other variable may stand in a form
		}
	}
}

// appendKey appends to b everything that decides who is calling: the claim, how the
// request reaches the platform, and the credentials. Different inputs append different
// bytes. Gateways that share a store make its keys of these bytes: after a change they
// ask again.
func (c *Credentials) appendKey(b []byte, claim Claim) []byte {
	b = c.where.appendKey(append(b, byte(claim)))
	if claim == ClaimOAuth1 { // about the site, not the caller
		if c.byHeader {
			return append(b, 1)
		}
		return append(b, 0)
	}
	for _, v := range c.values {
		if v.row.keyed.has(claim) {
			b = appendPart(append(b, v.row.line), v.text)
		}
	}
	return b
}

// refusals returns what a refusal of the credentials under key is kept under. It counts for requests that come from the same address
// with the same words of proxies, which questions carry: the platform may go by them. Whether a signature arrives is about the site.
func (w *Whole) refusals(claim Claim, key cacheKey) cacheKey {
	if claim == ClaimOAuth1 {
		return key
	}
	return w.Site.Identities.cache.hasher.Load().macOf(func(b []byte) []byte {
		b = appendPart(append(b, key[:]...), w.Client.String())
		for _, name := range ask.ForwardedHeaders {
			for _, text := range w.HTTP.Header[name] {
				b = appendPart(append(b, name...), text)
			}
		}
		return b
	})
}

// appendKey appends the way to b. The byte of the form says whether the way of a rewritten
// request follows.
func (w *where) appendKey(b []byte) []byte {
	form, secure := byte(w.form), byte(0)
	if w.secure {
		secure = 1
	}
	if w.rewritten != nil {
		form |= 0x10
		if w.rewritten.Pretty {
			form |= 0x20
		}
	}
	b = append(b, form, secure)
	b = appendPart(b, w.host)
	b = appendPart(b, w.forwarded)
	b = appendPart(b, w.base)
	if w.rewritten != nil {
		b = appendPart(b, w.rewritten.Client)
		b = appendPart(b, w.rewritten.Script)
	}
	return b
}

// appendPart appends s with its length, so that different lists give different bytes.
func appendPart(b []byte, s string) []byte {
	return append(binary.BigEndian.AppendUint32(b, uint32(len(s))), s...)
}

// carries tells whether a question of this kind carries the values of r.
func (r *row) carries(claim Claim, kind ask.Kind) bool {
	if kind == ask.KindCart {
		return r.cart
	}
	return r.carried.has(claim)
}

// header returns the headers of a question with these credentials.
func (c *Credentials) header(claim Claim, kind ask.Kind) http.Header {
	h := http.Header{}
	var cookies []string
	for _, v := range c.values {
		switch {
		case !v.row.carries(claim, kind):
		case v.row.in == inHeader:
			h[v.row.name] = append(h[v.row.name], v.text)
		case v.row.in == inCookie:
			cookies = append(cookies, v.text)
		}
	}
	if cookies != nil {
		h.Set("Cookie", strings.Join(cookies, "; "))
	}
	return h
}

// query appends to query the credentials that are variables.
func (c *Credentials) query(claim Claim, kind ask.Kind, query string) string {
	for _, v := range c.values {
		if (v.row.in == inQuery || v.row.in == inVariable) && v.row.carries(claim, kind) {
			query = ask.WithPair(query, url.QueryEscape(v.row.name)+"="+url.QueryEscape(v.text))
		}
	}
	return query
}
