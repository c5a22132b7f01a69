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

// Credentials are the values of one request that may say who is calling. They are read
// once and never change, since a question made of them may outlive the request.
type Credentials struct {
	site   *Site
	where  where
	values []value
	room   [6]value // the space of values; enough for most requests
}

// where is how a request reaches the platform. It is part of what decides who is calling.
type where struct {
	host, base string
	form       call.Form
	secure     bool
}

// value is what a request has for one row of the table.
type value struct {
	row  *row
	text string
}

// readCredentials reads the values of w. The error is a *call.Refusal.
func readCredentials(w *Whole) (*Credentials, error) {
	c := &Credentials{site: w.Site, where: where{w.HTTP.Host, w.Call.Base, w.Call.Form, w.Secure}}
	c.values = c.room[:0]
	for i := range w.Site.rows {
		if err := c.readRow(w, &w.Site.rows[i]); err != nil {
			return nil, err
		}
	}
	return c, nil
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

// appendKey appends to b everything that decides who is calling: the claim, how the
// request reaches the platform, and the credentials. Different inputs append different
// bytes.
func (c *Credentials) appendKey(b []byte, claim Claim) []byte {
	secure := byte(0)
	if c.where.secure {
		secure = 1
	}
	b = append(b, byte(claim), byte(c.where.form), secure)
	b = appendPart(b, c.where.host)
	b = appendPart(b, c.where.base)
	for i := range c.site.rows {
		for _, v := range c.values {
			if v.row == &c.site.rows[i] && v.row.keyed.has(claim) {
				b = appendPart(append(b, byte(i)), v.text)
			}
		}
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

// withKey adds a shop key to q, and what makes the shop accept it (docs/platform III.8).
func (s *Site) withKey(q *ask.Question) {
	q.Header = http.Header{"Authorization": {"Basic " + base64.StdEncoding.EncodeToString([]byte(q.Key))}}
	if q.Form == call.Query {
		marker := s.Prefix + strings.TrimPrefix(s.Platform.KeyMarker, s.Platform.Prefix) + "/"
		q.Query = joined(q.Query, "_marker="+marker)
	}
}
