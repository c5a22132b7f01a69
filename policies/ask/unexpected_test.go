package ask

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/restwarden/restwarden/policies/call"
)

// TestForCaller: a caller may have only what the call itself would get, and only of its own
// questions and of those that anybody may put.
func TestForCaller(t *testing.T) {
	page := &Answer{Status: 404, Body: []byte("<html>")}
	for name, test := range map[string]struct {
		q    Question
		a    *Answer
		want bool
	}{
		"a page in place of REST": {Question{}, page, true},
		"a firewall":              {Question{Method: "GET"}, &Answer{Status: 403}, true},
		"the gateway's key":       {Question{As: AsKey}, page, false},
		"nobody's":                {Question{As: AsNobody, Method: "OPTIONS"}, page, true},
		"a write":                 {Question{Method: "POST"}, page, false},
		"in the platform's words": {Question{}, &Answer{Status: 404, Body: []byte(`{"code":"rest_no_route"}`)}, false},
		"a login of the server":   {Question{}, &Answer{Status: 401}, false},
		"a success":               {Question{}, &Answer{Status: 200, Body: page.Body}, false},
		"a redirect":              {Question{}, &Answer{Status: 302}, false},
		"too large":               {Question{}, &Answer{Status: 404, Body: make([]byte, handOnLimit+1)}, false},
	} {
		got, err := Send(t.Context(), answering{test.a}, nil, test.q)
		if err != nil || got.ForCaller != test.want || test.a.ForCaller {
			t.Errorf("%s: %v, %v", name, got.ForCaller, err)
		}
	}
}

type answering struct{ answer *Answer }

func (b answering) Ask(context.Context, Question) (*Answer, error) { return b.answer, nil }
func (b answering) Detach() Backend                                { return b }

// FuzzUnexpected: what is said of an answer is one line of printable text that holds nothing
// of it but the status, a plain code and the host of a redirect.
func FuzzUnexpected(f *testing.F) {
	seeds := []struct {
		status                    int
		kind, location, body, has string // has must stand in the text
	}{
		{404, "text/html", "", "<html>Not Found</html>", "stale"},
		{403, "", "", "", "firewall"},
		{403, "application/json", "", `{"code":"rest_forbidden","message":"secret\nline"}`, `"rest_forbidden"`},
		{404, "application/json", "", `{"code":"rest_no_route"}`, "does not have the route"},
		{401, "", "", "", "login"},
		{302, "", "https://user:pw@www.shop.example:8443/a?key=secret#x", "", "to www.shop.example:8443"},
		{301, "", "/there", "", "another path"},
		{301, "", "http://a\x00b/", "", "odd address"},
		{301, "", "http://sch%C3%B6n/", "", "odd host"},
		{200, "text/html", "", "<html>", "page"},
		{200, "", "", "", "empty"},
		{200, "", "", "[1]", "form"},
		{500, "", "", "x", "fatal"},
		{502, "", "", "x", "down"},
		{503, "", "", "x", "maintenance"},
		{504, "", "", "x", "in time"},
		{599, "", "", "x", "failed"},
		{429, "", "", "x", "limits"},
		{400, "", "", `{"code":"x\"y\u2028<b>"}`, "plugins"},
	}
	if len(seeds) == 0 {
		f.Fatal("no seeds")
	}
	for _, s := range seeds {
		f.Add(s.status, s.kind, s.location, s.body)
		if got := Unexpected(&Answer{Status: s.status, Header: http.Header{"Content-Type": {s.kind}, "Location": {s.location}}, Body: []byte(s.body)}).Error(); !strings.Contains(got, s.has) {
			f.Errorf("%d %s: %s lacks %s", s.status, s.body, got, s.has)
		}
	}
	f.Fuzz(func(t *testing.T, status int, kind, location, body string) {
		a := &Answer{Status: status, Header: http.Header{"Content-Type": {kind}, "Location": {location}}, Body: []byte(body)}
		err := Unexpected(a)
		var unexpected *UnexpectedError
		if !errors.Is(err, ErrUndecided) || !errors.As(err, &unexpected) {
			t.Fatalf("%v", err)
		}
		if same := Unexpected(a.like()).Error(); same != err.Error() {
			t.Fatalf("the body tells: %q, %q", same, err)
		}
		known := []string{fmt.Sprintf("status %d", status)}
		if code := a.PlainCode(); code != "" {
			known = append(known, fmt.Sprintf("code %q", code))
		}
		if status >= 300 && status < 400 {
			known = append(known, a.cause().operator)
		}
		for _, said := range []string{err.Error(), unexpected.Note(), PublicCause(err)} {
			if len(said) > 600 || !utf8.ValidString(said) || strings.ContainsFunc(said, func(c rune) bool { return !unicode.IsPrint(c) }) {
				t.Fatalf("%q", said)
			}
			for _, word := range known {
				said = strings.Replace(said, word, "", 1)
			}
			if strings.ContainsAny(said, "<>{}\\@?#") {
				t.Fatalf("a byte of the answer: %q", said)
			}
		}
		for _, as := range []As{AsCaller, AsNobody, AsKey} {
			for _, form := range []call.Form{call.Pretty, call.Query} {
				if q := (&Question{As: as, Form: form}); q.forCaller(a) && (as == AsKey || a.Code() != "" || status != 403 && status != 404) {
					t.Fatalf("%d as %d is for the caller", status, as)
				}
			}
		}
	})
}

// like returns an answer of the same kind with as little of the body as can be.
func (a *Answer) like() *Answer {
	like := &Answer{Status: a.Status, Header: a.Header}
	switch code := a.Code(); {
	case code != "":
		like.Body, _ = json.Marshal(map[string]string{"code": code})
	case isPage(a):
		like.Body = []byte("<")
	case len(a.Body) > 0:
		like.Body = []byte("x")
	}
	return like
}
