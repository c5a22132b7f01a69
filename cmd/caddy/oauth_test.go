package main

import (
	"net/http"
	"strings"
	"testing"

	"github.com/restwarden/restwarden/cmd/platform/site"
)

// newPlainShop starts a gateway before a shop that is as real with keys: over plain http it takes
// signatures only (docs/platform III.8).
func newPlainShop(t *testing.T, options site.Options, key func(site.Keys) string, lines ...string) *world {
	t.Helper()
	options.KeysNeedTLS = true
	w := newPlatform(t, options)
	block := "order_type"
	if key != nil {
		block += " {\ncredential " + key(w.info.Keys) + "\n}"
	}
	w.start(block, lines...)
	return w
}

func readKey(k site.Keys) string { return k.ReadKey }

// secretsStay checks that no question carries the secret of the credential, or any key in
// Authorization.
func (w *world) secretsStay() {
	w.t.Helper()
	_, secret, _ := strings.Cut(w.info.Keys.ReadKey, ":")
	signed := 0
	for _, q := range w.tap.asked(0) {
		name, _, _ := q.BasicAuth()
		if strings.Contains(q.URL.String(), secret) || strings.HasPrefix(name, "ck_") {
			w.t.Errorf("a question carries the key: %s %v", q.URL, q.Header)
		}
		if q.URL.Query().Has("oauth_signature") {
			signed++
		}
	}
	if signed == 0 {
		w.t.Error("no question was signed")
	}
}

// TestOAuth_PlainHTTP: on a shop of plain http the credential of order_type works: a caller
// who signs by OAuth 1 updates orders, and a subscription stays one.
func TestOAuth_PlainHTTP(t *testing.T) {
	const body = `{"customer_note":"x"}`
	for name, options := range map[string]site.Options{
		"pretty":            {Release: "10.7"},
		"sub-folder":        {Release: "10.7", Base: "/blog"},
		"other names":       {Release: "10.7", Platform: "wordpress", Base: "/a-b/c~d"},
		"plain permalinks":  {Release: "11.1", Permalinks: "plain"},
		"plain, sub-folder": {Release: "11.1", Permalinks: "plain", Base: "/blog"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newPlainShop(t, options, readKey)
			paths := []string{"/cms-json/shop/v3/orders/"}
			if options.Permalinks == "plain" {
				paths = []string{"/?rest_route=/shop/v3/orders/", "/index.php?rest_route=/shop/v3/orders/"}
			}
			signs := oauth1At(w.info.Keys.ReadWriteKey, options.Base)
			for i, path := range paths {
				w.gate("PUT "+path+w.ids()([]string{"<order>", "<second>"}[i]), body, signs).want(http.StatusOK).passed()
				w.gate("PUT "+path+w.ids()("<sub>"), body, signs).want(http.StatusForbidden, "rest_forbidden").stopped()
				w.gate("PUT "+path+w.ids()("<sub>"), body, w.as("editor")).want(http.StatusBadRequest, invalidID).stopped()
			}
			w.secretsStay()
		})
	}
}

// TestOAuth_OldQueryForm: before 11.1 a question in the query form carries a marker, which is
// signed too.
func TestOAuth_OldQueryForm(t *testing.T) {
	w := newPlainShop(t, site.Options{Release: "10.7"}, readKey)
	for _, path := range []string{"/?rest_route=", "/index.php?rest_route=", "/?x=%2B%20%7E%C3%A9%25&a[b][]=1&rest_route="} {
		w.gate("PUT "+path+"/shop/v3/orders/"+w.ids()("<sub>"), "{}", w.as("editor")).want(http.StatusBadRequest, invalidID).stopped()
	}
	w.secretsStay()
}

// TestOAuth_OtherAddress: the question is signed for the address that the shop takes for its
// own, whatever the client asks for.
func TestOAuth_OtherAddress(t *testing.T) {
	for name, lines := range map[string]string{
		"another host":         "PROXY {\nheader_up Host shop.example:8081\n}",
		"https, told to PHP":   "PROXY {\nheader_up X-Forwarded-Proto https\n}",
		"both":                 "PROXY {\nheader_up Host shop.example\nheader_up X-Forwarded-Proto https\n}",
		"a host with capitals": "PROXY {\nheader_up Host Shop.Example\n}",
	} {
		t.Run(name, func(t *testing.T) {
			w := newPlainShop(t, site.Options{Release: "10.7"}, readKey, lines)
			w.gate("PUT /cms-json/shop/v3/orders/"+w.ids()("<sub>"), "{}", w.as("editor")).want(http.StatusBadRequest, invalidID).stopped()
			w.gate("PUT /cms-json/shop/v3/orders/"+w.ids()("<order>"), "{}", w.as("editor")).want(http.StatusOK).passed()
			w.secretsStay()
		})
	}
}

// TestOAuth_NoRoot: a site that closes its REST root gives no home address; the one that the
// client asks for is taken.
func TestOAuth_NoRoot(t *testing.T) {
	for _, base := range []string{"", "/blog"} {
		w := newPlainShop(t, site.Options{Release: "10.7", LoginOnly: true, Base: base}, readKey)
		w.gate("PUT /cms-json/shop/v3/orders/"+w.ids()("<sub>"), "{}", w.as("editor")).want(http.StatusBadRequest, invalidID).stopped()
		w.gate("PUT /?rest_route=/shop/v3/orders/"+w.ids()("<sub>"), "{}", w.as("editor")).want(http.StatusBadRequest, invalidID).stopped()
		w.secretsStay()
	}
}

// TestOAuth_TLS: over https the question carries the key itself.
func TestOAuth_TLS(t *testing.T) {
	w := newPlainShop(t, site.Options{Release: "10.7"}, readKey)
	w.gate("PUT /cms-json/shop/v3/orders/"+w.ids()("<sub>"), "{}", w.as("editor"), header("X-Forwarded-Proto", "https")).want(http.StatusBadRequest, invalidID)
	asked := w.tap.asked(0)
	last := asked[len(asked)-1]
	if name, secret, _ := last.BasicAuth(); name+":"+secret != w.info.Keys.ReadKey || last.URL.Query().Has("oauth_signature") {
		t.Errorf("asked %s %v", last.URL, last.Header)
	}
}

// TestOAuth_Records: a key that cannot work is named in the record, with the reason, and a
// caller whom only a credential helps is refused with the name of that option.
func TestOAuth_Records(t *testing.T) {
	wrong := func(k site.Keys) string { return k.ReadKey + "x" }
	unknown := func(site.Keys) string { return "ck_unknown:cs_unknown" }
	writes := func(k site.Keys) string { return k.WriteKey }
	const order = "PUT /cms-json/shop/v3/orders/<order>"
	https := header("X-Forwarded-Proto", "https")
	for name, c := range map[string]struct {
		key    func(site.Keys) string
		line   string
		edits  func(*world) []edit
		lines  string
		status int
		record string // part of it
	}{
		"no credential":     {nil, order, signer, "", 503, `order_type { credential <key:secret> } would help`},
		"wrong secret":      {wrong, order, signer, "", 503, `the shop says \"Invalid signature - provided signature does not match.\"`},
		"unknown":           {unknown, order, signer, "", 503, `the shop says \"Consumer key is invalid.\"`},
		"write-only":        {writes, order, signer, "", 503, `the shop says \"The API key provided does not have read permissions.\"`},
		"where it stands":   {unknown, order, signer, "", 503, `the credential of order_type (Caddyfile:`},
		"unknown, https":    {unknown, order, func(w *world) []edit { return append(signer(w), https) }, "", 503, `the shop takes the question for anonymous`},
		"PHP sees no https": {readKey, order, func(w *world) []edit { return append(signer(w), https) }, "PROXY {\nheader_up X-Forwarded-Proto http\n}", 503, `if PHP is not told that the client came by https`},
		"a caller's key":    {readKey, order, keyed, "", 401, `over plain http, where the shop takes none`},
		"a key in the query": {
			nil, order, func(w *world) []edit { return []edit{queryKey(w.info.Keys.ReadWriteKey)} }, "", 401,
			`over plain http, where the shop takes none`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newPlainShop(t, site.Options{Release: "10.7"}, c.key, c.lines)
			w.gate(w.ids()(c.line), "{}", c.edits(w)...).want(c.status).stopped()
			w.eventually("the record", func() bool { return strings.Contains(w.logged(), c.record) })
			for _, pair := range []string{w.info.Keys.ReadKey, w.info.Keys.ReadWriteKey, w.info.Keys.WriteKey} {
				if _, secret, _ := strings.Cut(pair, ":"); strings.Contains(w.logged(), secret) {
					t.Error("the log has a secret")
				}
			}
		})
	}
}

func signer(w *world) []edit { return []edit{oauth1(w.info.Keys.ReadWriteKey)} }
func keyed(w *world) []edit  { return []edit{withKey(w.info.Keys.ReadWriteKey)} }

// TestOAuth_LoginOnly: a rule that refuses a key over plain http says why. A signature
// passes, and so does the key over https.
func TestOAuth_LoginOnly(t *testing.T) {
	for _, rule := range []string{"login_only", "allow users /shop/v3/**"} {
		w := newWorld(t, site.Options{KeysNeedTLS: true}, rule)
		const orders = "GET /cms-json/shop/v3/orders"
		key := withKey(w.info.Keys.ReadWriteKey)
		w.gate(orders, "", key).stopped()
		w.eventually("the record", func() bool { return strings.Contains(w.logged(), "over plain http, where the shop takes none") })
		w.gate(orders, "", key, header("X-Forwarded-Proto", "https")).want(http.StatusOK).passed()
		w.gate(orders, "", oauth1(w.info.Keys.ReadWriteKey)).want(http.StatusOK).passed()
		if n := strings.Count(w.logged(), "where the shop takes none"); n != 1 {
			t.Errorf("%d records", n)
		}
	}
}
