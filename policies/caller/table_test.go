package caller

import (
	"bytes"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/restwarden/restwarden/policies/ask"
	"github.com/restwarden/restwarden/policies/call"
	"github.com/restwarden/restwarden/policies/call/platforms"
)

// carrying is a request whose credential of row r has the value.
func carrying(t *testing.T, s *Site, r *row, value string) *Whole {
	t.Helper()
	const target = "/wp-json/wp/v2/posts"
	switch {
	case r.in == inHeader:
		return request(t, s, nil, "GET", target, "", r.name+": "+value)
	case r.in == inCookie && r.prefix:
		return request(t, s, nil, "GET", target, "", "Cookie: "+r.name+"logged_in_x="+value)
	case r.in == inCookie:
		return request(t, s, nil, "GET", target, "", "Cookie: "+r.name+"="+value)
	}
	return request(t, s, nil, "GET", target+"?"+r.name+"="+value, "")
}

// TestTable: all that the gateway does with a credential follows from its line.
func TestTable(t *testing.T) {
	for _, p := range platforms.All() {
		own := Own{Headers: []string{"X-Own"}, Cookies: []string{"own"}}
		s := NewSite(p, own)
		for i := range s.rows {
			r := &s.rows[i]
			t.Run(p.Name+"/"+r.name, func(t *testing.T) {
				one, two := carrying(t, s, r, "value-1"), carrying(t, s, r, "value-2")
				a, err := one.Credentials()
				b, err2 := two.Credentials()
				if err != nil || err2 != nil {
					t.Fatal(err, err2)
				}
				if claim, err := one.Claim(); err != nil || r.user && claim != ClaimUser {
					t.Errorf("claim %d, %v", claim, err)
				}
				for claim := ClaimNothing; claim <= ClaimUncertain; claim++ {
					if claim == ClaimOAuth1 {
						continue // its answer is about the site
					}
					r.decides(t, claim, a, b)
				}
				if got := s.HasCredentials(one.HTTP); got != r.private {
					t.Errorf("answers are private: %t", got)
				}
				if variable := r.in == inQuery || r.in == inVariable; variable && Strippable(r.name) == r.kept {
					t.Errorf("may be stripped: %t", !r.kept)
				}
			})
		}
	}
}

// decides compares what two values of r make of the key of an answer and of questions.
func (r *row) decides(t *testing.T, claim Claim, a, b *Credentials) {
	t.Helper()
	if told := !bytes.Equal(a.appendKey(nil, claim), b.appendKey(nil, claim)); told != r.keyed.has(claim) {
		t.Errorf("claim %d: the key tells values apart: %t", claim, told)
	}
	for kind, want := range map[ask.Kind]bool{ask.KindCaller: r.carried.has(claim), ask.KindCart: r.cart} {
		if r.in == inCookie && kind == ask.KindCart {
			continue // carried with all cookies, see the line of the header Cookie
		}
		sent := a.query(claim, kind, "")
		for _, values := range a.header(claim, kind) {
			sent += strings.Join(values, " ")
		}
		if got := strings.Contains(sent, "value-1"); got != want {
			t.Errorf("claim %d: a question of kind %s carries it: %t", claim, kind, got)
		}
	}
}

// TestTable_HeadersDecide: a header of the table may stand once, under one name.
func TestTable_HeadersDecide(t *testing.T) {
	for _, p := range platforms.All() {
		read := func(name string, values ...string) *call.Call {
			r := request(t, newSite(t), nil, "GET", "/"+p.Prefix+"/a", "").HTTP
			r.Header[name] = values
			return NewReader(call.Config{Platform: p}).Read(r, nil)
		}
		names := []string{}
		for _, r := range table(&p, Own{}) {
			if r.in != inHeader {
				continue
			}
			names = append(names, r.name)
			if r.name != http.CanonicalHeaderKey(r.name) {
				t.Errorf("%s is not the canonical name", r.name)
			}
			if c := read(r.name, "a", "a"); c.Kind != call.Refused || c.Refusal.Reason != "repeated_header" {
				t.Errorf("%s twice: %s", r.name, c.Kind)
			}
			if alias := strings.Replace(r.name, "-", "_", 1); alias != r.name {
				if c := read(alias, "a"); c.Kind != call.Refused || c.Refusal.Reason != "header_alias" {
					t.Errorf("%s: %s", alias, c.Kind)
				}
			}
		}
		if !slices.Contains(names, "Authorization") {
			t.Errorf("%s: headers %q", p.Name, names)
		}
	}
}

// TestTable_VariablesDecide: a variable that says who is calling is refused in another letter case.
// Everyday words, which others write as they like, are not: an honest notification may have them.
func TestTable_VariablesDecide(t *testing.T) {
	p, _ := platforms.ByName("wordpress")
	for query, kind := range map[string]call.Kind{
		"Consumer_Key=ck_1": call.Refused, "OAUTH_NONCE=1": call.Refused, "_WPnonce=1": call.Refused, "a=1;consumer_key=ck_1": call.Refused,
		"Status=APPROVED&Token=abc": call.Single, "TOKEN=EC-1": call.Single, "AWSAccessKeyId=x&Signature=abc%3D&Expires=1": call.Single, "_For=x": call.Single,
	} {
		r := request(t, newSite(t), nil, "POST", "/wp-json/payment/v1/notify?"+query, "").HTTP
		if c := NewReader(call.Config{Platform: p}).Read(r, nil); c.Kind != kind {
			t.Errorf("%s: %s", query, c.Kind)
		}
	}
}

// TestSaysWho: a dry run takes a request for one that says who is calling where the gateway finds a
// claim in it, and where the platform would but for a nonce that is missing. Rows of variables are
// tried alone and with all that they need.
func TestSaysWho(t *testing.T) {
	whole := map[string]string{
		"consumer_key": "&consumer_secret=cs_1", "signature": "&token=a&_for=jetpack", "oauth_consumer_key": "",
	}
	for _, p := range platforms.All() {
		s := NewSite(p, Own{Headers: []string{"x-own"}, Cookies: []string{"own"}})
		tried := map[bool]int{}
		try := func(query string, header ...string) {
			t.Helper()
			w := request(t, s, nil, "GET", "/"+p.Prefix+"/"+p.Shop[2]+"/orders?"+query, "", header...)
			w.Secure = true
			claim, err := w.Claim()
			if err != nil {
				t.Fatal(err)
			}
			want := claim != ClaimNothing || w.IgnoresCookie()
			if tried[want]++; s.SaysWho(w.HTTP) != want {
				t.Errorf("%s: query %q, header %q: claim %d, says who: %t", p.Name, query, header, claim, !want)
			}
		}
		try("")
		try("", "Cookie: "+p.AuthCookie+"test_cookie=a")
		for i := range s.rows {
			switch r := &s.rows[i]; {
			case r.name == "Cart-Token": // of a session
			case r.in == inHeader:
				try("", r.name+": a")
				try("", r.name+": ")
			case r.in == inCookie && r.prefix:
				try("", "Cookie: "+r.name+"logged_in_x=a")
			case r.in == inCookie:
				try("", "Cookie: "+r.name+"=a")
			default:
				more, known := whole[r.name]
				if r.whole != nil != known {
					t.Errorf("%s: the test does not know what belongs to it", r.name)
				}
				try(r.name + "=a")
				try(r.name + "=")
				try(r.name + "=a" + more)
			}
		}
		if tried[true] < 8 || tried[false] < 8 {
			t.Errorf("%s: %v", p.Name, tried)
		}
	}
}

// TestIsCredential: what a person is not asked about, and what does not change a list.
func TestIsCredential(t *testing.T) {
	s := newSite(t)
	for name, want := range map[string]bool{
		"consumer_key": true, "consumer_secret": true, s.Platform.NonceParam: true, "oauth_nonce": true, "oauth_token": true, "oauth_version": true,
		"consumer_id": false, "oauth_scope": false, "signature": false, "token": false, "status": false, "": false,
	} {
		if s.IsCredential(name) != want {
			t.Errorf("%s: %t", name, !want)
		}
	}
}
