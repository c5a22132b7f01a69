package caller

import (
	"encoding/base64"
	"encoding/binary"
	"net/http"
	"net/url"
	"strings"

	"github.com/restwarden/restwarden/policies/ask"
	"github.com/restwarden/restwarden/policies/call"
)

// Credentials are what one request carries that may say who is calling. They are read
// once and never change: what is made of them may outlive the request.
type Credentials struct {
	Claim Claim

	site   *Site
	where  where
	frozen bool
	values []value
	room   [12]value // of values, enough for most requests
}

// where is how a request reaches the platform: who is calling depends on it.
type where struct {
	host, base string
	form       call.Form
	secure     bool
}

// value is what stands in a request for one line of the table.
type value struct {
	row  *row
	text string
}

// freeze reads the values, once. The error is a *call.Refusal.
func (c *Credentials) freeze(w *Whole) error {
	if c.frozen {
		return nil
	}
	c.site, c.frozen = w.Site, true
	c.where = where{w.HTTP.Host, w.Call.Base, w.Call.Form, w.Secure}
	c.values = c.room[:0]
	for i := range w.Site.rows {
		if err := c.readRow(w, &w.Site.rows[i]); err != nil {
			return err
		}
	}
	return nil
}

func (c *Credentials) readRow(w *Whole, r *row) error {
	if r.keyed|r.carried == 0 && !r.cart {
		return nil
	}
	switch r.in {
	case inHeader:
		for _, text := range w.HTTP.Header[r.name] {
			c.values = append(c.values, value{r, text})
		}
	case inCookie:
		for pair := range cookiePairs(w.HTTP.Header) {
			if is, _ := r.fits(&w.Site.Platform, pair); is {
				c.values = append(c.values, value{r, pair})
			}
		}
	case inQuery:
		if text, set := w.Call.QueryVariable(r.name); set {
			c.values = append(c.values, value{r, text})
		}
	case inVariable:
		text, set, err := w.Call.Variable(r.name)
		if set {
			c.values = append(c.values, value{r, text})
		}
		return err
	}
	return nil
}

// appendKey adds to b all that decides who is calling: the claim, how the platform is
// reached, and the credentials. No two different ones add the same. Gateways that share
// a store make its keys of this: where it changes, they ask again.
func (c *Credentials) appendKey(b []byte) []byte {
	secure := byte(0)
	if c.where.secure {
		secure = 1
	}
	b = append(b, byte(c.Claim), byte(c.where.form), secure)
	b = appendPart(b, c.where.host)
	b = appendPart(b, c.where.base)
	for i := range c.site.rows {
		for _, v := range c.values {
			if v.row == &c.site.rows[i] && v.row.keyed.has(c.Claim) {
				b = appendPart(append(b, byte(i)), v.text)
			}
		}
	}
	return b
}

// appendPart adds s with its length, so that no two lists of parts are the same.
func appendPart(b []byte, s string) []byte {
	return append(binary.BigEndian.AppendUint32(b, uint32(len(s))), s...)
}

// carried tells whether a question of this kind carries values of r.
func (c *Credentials) carried(r *row, kind ask.Kind) bool {
	if kind == ask.KindCart {
		return r.cart
	}
	return r.carried.has(c.Claim)
}

// header returns the headers of a question with these credentials.
func (c *Credentials) header(kind ask.Kind) http.Header {
	h := http.Header{}
	var cookies []string
	for _, v := range c.values {
		switch {
		case !c.carried(v.row, kind):
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

// query adds to query what of these credentials stands in variables.
func (c *Credentials) query(kind ask.Kind, query string) string {
	for _, v := range c.values {
		if (v.row.in == inQuery || v.row.in == inVariable) && c.carried(v.row, kind) {
			query = joined(query, url.QueryEscape(v.row.name)+"="+url.QueryEscape(v.text))
		}
	}
	return query
}

func joined(query, more string) string {
	if query == "" {
		return more
	}
	return query + "&" + more
}

// withKey gives q a shop key, and what makes the shop look at it (docs/platform III.8).
func (s *Site) withKey(q *ask.Question) {
	q.Header = http.Header{"Authorization": {"Basic " + base64.StdEncoding.EncodeToString([]byte(q.Key))}}
	if q.Form == call.Query {
		marker := s.Prefix + strings.TrimPrefix(s.Platform.KeyMarker, s.Platform.Prefix) + "/"
		q.Query = joined(q.Query, "_marker="+marker)
	}
}
