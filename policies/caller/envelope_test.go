package caller

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"testing"

	"github.com/restwarden/restwarden/policies/ask"
	"github.com/restwarden/restwarden/policies/ask/asktest"
	"github.com/restwarden/restwarden/policies/call/phpvars"
)

// TestWho_ErrorPages: where a server shows its own page in place of each error, the caller is who
// the platform says, and gets its words.
func TestWho_ErrorPages(t *testing.T) {
	const posts, orders = "/wp-json/wp/v2/posts", "/wp-json/wc/v3/orders"
	for name, test := range map[string]struct {
		target string
		header string
		answer *ask.Answer
		kind   Kind
		code   string // of the answer for the client
	}{
		"nobody":                    {posts, basicAuth, asktest.JSON(401, `{"code":"rest_not_logged_in"}`), Anonymous, ""},
		"an old nonce":              {posts, basicAuth, asktest.JSON(403, `{"code":"rest_cookie_invalid_nonce"}`), Anonymous, "rest_cookie_invalid_nonce"},
		"a wrong password":          {posts, basicAuth, asktest.JSON(401, `{"code":"incorrect_password"}`), Anonymous, "incorrect_password"},
		"a user":                    {posts, basicAuth, asktest.JSON(200, adminBody), User, ""},
		"an unknown key":            {orders, shopKey, asktest.JSON(401, `{"code":"woocommerce_rest_authentication_error","message":"No."}`), Anonymous, "woocommerce_rest_authentication_error"},
		"a key's user may not read": {orders, shopKey, asktest.JSON(403, `{"code":"woocommerce_rest_cannot_view"}`), KeyHolder, ""},
		"a key that only writes": {orders, shopKey, asktest.JSON(401,
			`{"code":"woocommerce_rest_authentication_error","message":"The API key provided does not have read permissions."}`), KeyHolder, ""},
		"signed, and arrives": {orders, "Authorization: OAuth oauth_consumer_key=\"ck_1\"", asktest.JSON(401, `{"code":"woocommerce_rest_authentication_error"}`), Unverified, ""},
	} {
		backend := asktest.ErrorPages(&asktest.Platform{Answer: func(ask.Question) (*ask.Answer, error) { return test.answer, nil }})
		w := request(t, newSite(t), backend, "GET", test.target, "", test.header)
		w.Secure = true
		who, answer, err := w.Who(t.Context())
		code := ""
		if answer != nil {
			code = answer.Code()
		}
		if err != nil || who.Kind != test.kind || code != test.code {
			t.Errorf("%s: %v, %+v, %v", name, who.Kind, answer, err)
		}
	}
}

// TestWithKey_Again: the variable of the envelope is signed, too, and so is the slash.
func TestWithKey_Again(t *testing.T) {
	q, err := signedQuestion(t, "/wp-json/wc/v3/orders/7", "shop.example", "")
	if err != nil || q.Again == nil {
		t.Fatalf("%+v, %v", q, err)
	}
	again := q.Again(true, true)
	for scheme, q := range map[string]*ask.Question{"http": &again, "https": again.Else} {
		path, text := q.Target("wp-json")
		params := phpvars.Query(text)
		sent, _ := params.String("oauth_signature")
		unsigned, _ := url.ParseQuery(text)
		unsigned.Del("oauth_signature")
		mac := hmac.New(sha256.New, []byte("cs_hidden&"))
		mac.Write([]byte(signatureBase("GET", scheme+"://shop.example"+path, phpvars.Query(unsigned.Encode()))))
		if want := base64.StdEncoding.EncodeToString(mac.Sum(nil)); sent != want || unsigned.Get("_envelope") != "1" || path != "/wp-json/wc/v3/orders/7/notes/0/" {
			t.Errorf("%s: %s is signed %q, want %q", scheme, text, sent, want)
		}
	}
}

// TestAsk_Enveloped: only questions about records go to such a host in an envelope from the start.
func TestAsk_Enveloped(t *testing.T) {
	s := newSite(t)
	backend := asktest.ErrorPages(asktest.Answering(404, `{"code":"woocommerce_rest_invalid_id"}`))
	w := request(t, s, backend, "PUT", "/wp-json/wc/v3/orders/7", "", basicAuth)
	for _, kind := range []ask.Kind{ask.KindCart, ask.KindRecord} {
		if a, err := w.Ask(t.Context(), ask.Question{Kind: kind, Route: "/wc/v3/orders/7/notes/0"}); err != nil || a.Code() != "woocommerce_rest_invalid_id" {
			t.Fatalf("%+v, %v", a, err)
		}
	}
	asked := backend.Questions()
	if len(asked) != 3 || asked[0].Envelope || !asked[1].Envelope || !asked[2].Envelope {
		t.Errorf("%+v", asked)
	}
}

// slashed is p behind a server that redirects each question without a slash behind its route.
func slashed(p *asktest.Platform) *asktest.Platform {
	moved := &ask.Answer{Status: 301, Header: http.Header{"Location": {"/"}}}
	return &asktest.Platform{Answer: func(q ask.Question) (*ask.Answer, error) {
		if !q.Slash {
			return nil, fmt.Errorf("%w: %w", ask.ErrUndecided, &ask.SlashError{UnexpectedError: ask.UnexpectedError{Answer: moved}})
		}
		return p.Answer(q)
	}}
}

// TestAsk_Slash: a question is put again with a slash behind its route, and the next ones have one
// from the start. A server that has changed its mind is believed after one question.
func TestAsk_Slash(t *testing.T) {
	s := newSite(t)
	user := asktest.Answering(200, adminBody)
	w := request(t, s, slashed(user), "PUT", "/wp-json/wc/v3/orders/7", "", basicAuth)
	if who, _, err := w.Who(t.Context()); err != nil || who.Kind != User {
		t.Fatalf("%v, %v", who, err)
	}
	put := func(b *asktest.Platform, method string) error {
		w.Backend = b
		_, err := w.Ask(t.Context(), ask.Question{Kind: ask.KindRecord, Method: method, Route: "/wc/v3/orders/7"})
		return err
	}
	b := slashed(user)
	if err := put(b, ""); err != nil || len(b.Questions()) != 1 {
		t.Errorf("%v after %d questions", err, len(b.Questions()))
	}
	known, another := *w.Site, w.Site.Clone()
	w.Site, b = another, slashed(user)
	if err := put(b, ""); err != nil || len(b.Questions()) != 2 {
		t.Errorf("another site: %v after %d questions", err, len(b.Questions()))
	}
	w.Site = &known
	away := &asktest.Platform{Answer: func(q ask.Question) (*ask.Answer, error) {
		if q.Slash {
			return nil, ask.Unexpected(&ask.Answer{Status: 301})
		}
		return user.Answer(q)
	}}
	if first, second := put(away, ""), put(away, ""); first == nil || second != nil {
		t.Errorf("%v, %v", first, second)
	}
	b = slashed(user)
	if err := put(b, http.MethodPost); err == nil || len(b.Questions()) != 1 {
		t.Errorf("a write: %v after %d questions", err, len(b.Questions()))
	}
}

// TestWho_PathClosed: where a server closes the path of the question with a page of its own, it is
// put into the query, and the next ones begin there, until that form is closed.
func TestWho_PathClosed(t *testing.T) {
	page := &ask.Answer{Status: 403, Header: http.Header{"Content-Type": {"text/html"}}, Body: []byte("<html>")}
	closed := true // of the path; else the other form is
	platform := asktest.JSON(200, adminBody)
	b := &asktest.Platform{Answer: func(q ask.Question) (*ask.Answer, error) {
		switch {
		case q.ByQuery != closed:
			return page, nil
		case q.Envelope:
			return asktest.Envelope(platform), nil
		}
		return platform, nil
	}}
	s := newSite(t)
	for i, step := range []struct {
		closed bool
		answer *ask.Answer
		asked  int // with this step
		kind   Kind
		failed bool
	}{
		{true, asktest.JSON(200, adminBody), 3, User, false}, // the path, its envelope, the query
		{true, asktest.JSON(200, adminBody), 4, User, false},
		{true, asktest.JSON(401, `{"code":"rest_not_logged_in"}`), 5, Anonymous, false},
		{false, asktest.JSON(200, adminBody), 7, Anonymous, true},
		{false, asktest.JSON(200, adminBody), 8, User, false},
	} {
		closed, platform = step.closed, step.answer
		w := request(t, s, b, "GET", "/blog/wp-json/wp/v2/posts", "", fmt.Sprintf("Authorization: Basic eDp%d", i))
		who, _, err := w.Who(t.Context())
		if who.Kind != step.kind || (err != nil) != step.failed || len(b.Questions()) != step.asked {
			t.Errorf("step %d: %+v, %v after %d questions", i, who, err, len(b.Questions()))
		}
	}
	path, query := b.Questions()[3].Target("wp-json")
	if want := "rest_route=%2Fwp%2Fv2%2Fusers%2Fme&context=edit&"; path != "/blog/" || len(query) < len(want) || query[:len(want)] != want {
		t.Errorf("%s?%s", path, query)
	}
}

// TestWho_AllClosed: the server's page goes on where both forms are closed, and where the client's
// call is in the query or asks about a shop key, no other form is tried.
func TestWho_AllClosed(t *testing.T) {
	for target, asked := range map[string]int{"/wp-json/wp/v2/posts": 3, "/?rest_route=/wp/v2/posts": 2, "/wp-json/wc/v3/orders": 2} {
		header := basicAuth
		if asked == 2 {
			header = shopKey
		}
		b := asktest.Answering(403, "<html>")
		w := request(t, newSite(t), b, "GET", target, "", header)
		_, _, err := w.Who(t.Context())
		unexpected, ok := errors.AsType[*ask.UnexpectedError](err)
		if !ok || !unexpected.Answer.ForCaller || len(b.Questions()) != asked {
			t.Errorf("%s: %v after %d questions", target, err, len(b.Questions()))
		}
	}
}
