//go:build wordpress

package wordpress

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/restwarden/restwarden/cmd/check/testkit/rawhttp"
	"github.com/restwarden/restwarden/policies/ask"
	"github.com/restwarden/restwarden/policies/call"
	identity "github.com/restwarden/restwarden/policies/caller"
)

// signingShopKey counts over plain http as a signature only.
const signingShopKey = "ck_signs:cs_signs"

// signedTarget returns the target of a call below the site's base, signed as the gateway signs
// its own questions, for the home address that the site itself gives.
func signedTarget(ctx context.Context, g *gate, q ask.Question, form call.Form, folder string) (string, error) {
	root, err := fetch(ctx, g, request{path: "/?rest_route=/&_fields=home"})
	if err != nil {
		return "", err
	}
	var found struct{ Home string }
	if err := json.Unmarshal(root.body, &found); err != nil {
		return "", fmt.Errorf("%s: %w", root, err)
	}
	platform, _ := call.PlatformByName("wordpress")
	w := &identity.Whole{
		Site: identity.NewSite(platform, identity.Own{}), HTTP: &http.Request{},
		Call: &call.Call{Base: g.Site.Base + folder, Form: form},
	}
	w.Site.Home = func(*identity.Whole) string { return found.Home }
	q.Kind, q.As, q.Key = ask.KindRecord, ask.AsKey, signingShopKey
	q, err = w.Question(q)
	if err != nil {
		return "", err
	}
	path, query := q.Target(platform.Prefix)
	return strings.TrimPrefix(path, g.Site.Base) + "?" + query, nil
}

// forms are the forms of address of a site, with what follows its base in them.
func forms(site *site) map[string]call.Form {
	all := map[string]call.Form{"/": call.Query, "/index.php": call.Query}
	if site.Permalinks != "" {
		all[""] = call.Pretty
	}
	return all
}

// oddQueries are parameters that are easily signed wrongly.
var oddQueries = []string{
	"", "per_page=1&_fields=id&status=any", "include=1,2,3", "include[]=101&include[]=102", "a[b][c]=1&a[b][]=2&a[d]=3", "a%5Bb%20c%5D=x",
	"x=%C3%A9%E2%82%AC%F0%9F%9B%92", "x=100%25+%2B+%252B", "x=~%7E-._", "x=a+b%20c", "x=%26%3D%3F%23%2F%5C%22%27", "x", "x=", "=y&x=1",
	"B=1&a=2&_=3&%7E=4&A=5", "a.b=1&c+d=2", "x=1&x=2", "x=%00%0a%ff", "x=wp-json/wc/", "a[]=%5B%5D&a[x~y]=~",
}

// checkSignatures is that PHP takes signatures of any parameters in every form of address,
// and none after a change.
func checkSignatures(ctx context.Context, c *checks, bare *gate) {
	random := rand.New(rand.NewPCG(options.seed, 1))
	for folder, form := range forms(bare.Site) {
		queries := append([]string(nil), oddQueries...)
		for range 30 {
			queries = append(queries, randomQuery(random))
		}
		for _, query := range queries {
			c.check(fmt.Sprintf("%s?%s", folder, query), checkSignature(ctx, bare, form, folder, query))
		}
	}
	c.check("a key as it is", plainKey(ctx, bare, "401 woocommerce_rest_cannot_view"))
}

func checkSignature(ctx context.Context, bare *gate, form call.Form, folder, query string) error {
	target, err := signedTarget(ctx, bare, ask.Question{Route: "/wc/v3/orders", Query: query}, form, folder)
	if err != nil {
		return err
	}
	for changed, expect := range map[string]want{target: "200", target + "&more=1": "401 woocommerce_rest_authentication_error"} {
		a, err := fetch(ctx, bare, request{path: changed})
		if err == nil && !expect.matches(a) {
			err = fmt.Errorf("%s: expected %q, got %s", changed, expect, a)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// randomQuery returns parameters with bytes of all kinds in names and values.
func randomQuery(random *rand.Rand) string {
	text := func() string {
		b := make([]byte, random.IntN(6))
		for i := range b {
			b[i] = byte(random.IntN(256))
		}
		return string(b)
	}
	pairs := make([]string, 1+random.IntN(4))
	for i := range pairs {
		name := "p" + text()
		for range random.IntN(3) {
			name += "[" + strings.Trim(text(), "[]") + "]"
		}
		pairs[i] = url.QueryEscape(name) + "=" + url.QueryEscape(text())
	}
	return strings.Join(pairs, "&")
}

// overTLS takes the certificates of the gates.
var overTLS = &http.Client{Timeout: time.Minute, Transport: &http.Transport{TLSClientConfig: rawhttp.Trusting("http/1.1")}}

// plainKey sends the key itself.
func plainKey(ctx context.Context, g *gate, expect want) error {
	key, secret, _ := strings.Cut(signingShopKey, ":")
	path := "/wp-json/wc/v3/orders"
	if g.Site.Permalinks == "" {
		path = "/index.php?rest_route=/wc/v3/orders&x=wp-json/wc/"
	}
	a, err := fetch(ctx, g, request{path: path, headers: []string{"Authorization: " + basic(key, secret)}})
	if err == nil && !expect.matches(a) {
		err = fmt.Errorf("expected %q, got %s", expect, a)
	}
	return err
}

// checkCredential is that a caller who may write orders but not read them, and one who
// signs, update orders and nothing else: the gateway asks with its own key.
func (s *stack) checkCredential(ctx context.Context, c *checks, g *gate) {
	order, sub := g.Site.Orders[3], g.Site.Subscriptions[3]
	for folder, form := range forms(g.Site) {
		for id, expect := range map[int]want{order: "200", sub: "!400 woocommerce_rest_shop_order_invalid_id"} {
			c.check(fmt.Sprintf("an editor, %s %d", folder, id), s.tryUpdate(ctx, g, form, folder, id, expect, true))
		}
		if g.Scheme == "https" || form == call.Query {
			continue // a signature is for http; in the query form it needs the marker, which no client may send
		}
		for id, expect := range map[int]want{order: "200", sub: "!403 rest_forbidden"} {
			c.check(fmt.Sprintf("a signature, %s %d", folder, id), s.tryUpdate(ctx, g, form, folder, id, expect, false))
		}
	}
}

// tryUpdate updates a record, as an editor or with a signature.
func (s *stack) tryUpdate(ctx context.Context, g *gate, form call.Form, folder string, id int, expect want, editor bool) error {
	before, err := s.recordType(ctx, g.Site, id)
	if err != nil {
		return err
	}
	q := ask.Question{Method: http.MethodPut, Route: fmt.Sprintf("/wc/v3/orders/%d", id), Base: g.Site.Base + folder, Form: form}
	path, query := q.Target("wp-json")
	r := request{client: overTLS, method: q.Method, path: strings.TrimPrefix(path, g.Site.Base) + "?" + query, body: `{"customer_note":"x"}`}
	if editor {
		account := g.Site.Accounts["editor"]
		r.as = &account
	} else if r.path, err = signedTarget(ctx, g, q, form, folder); err != nil {
		return err
	}
	a, err := fetch(ctx, g, r)
	if err == nil && !expect.matches(a) {
		err = fmt.Errorf("expected %q, got %s", expect, a)
	}
	if err != nil {
		return err
	}
	if now, err := s.recordType(ctx, g.Site, id); err != nil || now != before {
		return fmt.Errorf("%d is now %s: %w", id, now, err)
	}
	return nil
}
