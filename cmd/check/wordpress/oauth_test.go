//go:build wordpress

package wordpress

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/restwarden/restwarden/cmd/check/testkit/rawhttp"
	"github.com/restwarden/restwarden/policies/ask"
	"github.com/restwarden/restwarden/policies/call"
	"github.com/restwarden/restwarden/policies/call/platforms"
	identity "github.com/restwarden/restwarden/policies/caller"
)

// signingShopKey counts over plain http as a signature only.
const signingShopKey = "ck_signs:cs_signs"

// homeOf is the home address that a site gives at a gate.
func homeOf(ctx context.Context, g *gate) (string, error) {
	root, err := fetch(ctx, g, request{path: "/?rest_route=/&_fields=home", client: overTLS})
	if err != nil {
		return "", err
	}
	var found struct{ Home string }
	if err := json.Unmarshal(root.body, &found); err != nil {
		return "", fmt.Errorf("%s: %w", root, err)
	}
	return found.Home, nil
}

// signedTarget returns the target of a call below the site's base, signed for its home address
// as the gateway signs its own questions.
func signedTarget(g *gate, home string, q ask.Question, form call.Form, folder string) (string, error) {
	platform, _ := platforms.ByName("wordpress")
	w := &identity.Whole{
		Site: identity.NewSite(platform, identity.Own{}), HTTP: &http.Request{},
		Call: &call.Call{Base: g.Site.Base + folder, Form: form},
	}
	w.Site.Home = func(*identity.Whole) string { return home }
	q.Kind, q.As, q.Key = ask.KindRecord, ask.AsKey, signingShopKey
	q, err := w.Question(q)
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
	home, err := homeOf(ctx, bare)
	c.check("the home address", err)
	random := rand.New(rand.NewPCG(options.seed, 1))
	for folder, form := range forms(bare.Site) {
		queries := slices.Clone(oddQueries)
		for range 10 {
			queries = append(queries, randomQuery(random))
		}
		for _, query := range queries {
			target, err := signedTarget(bare, home, ask.Question{Route: "/wc/v3/orders", Query: query}, form, folder)
			c.check(folder+"?"+query, errors.Join(err, expects(ctx, bare, target, "200")))
		}
		target, err := signedTarget(bare, home, ask.Question{Route: "/wc/v3/orders"}, form, folder)
		c.check(folder+", one parameter more", errors.Join(err, expects(ctx, bare, target+"&x=1", "401 woocommerce_rest_authentication_error")))
		c.check(folder+", once", errors.Join(err, expects(ctx, bare, target, "200")))
		c.check(folder+", twice", errors.Join(err, expects(ctx, bare, target, "401 woocommerce_rest_authentication_error")))
	}
	c.check("a key as it is", plainKey(ctx, bare, "401 woocommerce_rest_cannot_view"))
}

// expects reads target.
func expects(ctx context.Context, g *gate, target string, expect want, headers ...string) error {
	a, err := fetch(ctx, g, request{path: target, headers: headers})
	if err == nil && !expect.matches(a) {
		err = fmt.Errorf("%s: expected %q, got %s", target, expect, a)
	}
	return err
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
	return expects(ctx, g, path, expect, "Authorization: "+basic(key, secret))
}

// checkCredential is that a caller who may write orders but not read them, and one who
// signs, update orders and nothing else: the gateway asks with its own key.
func (s *stack) checkCredential(ctx context.Context, c *checks, g *gate) {
	order, sub := g.Site.Orders[3], g.Site.Subscriptions[3]
	home, err := homeOf(ctx, g)
	c.check("the home address", err)
	for folder, form := range forms(g.Site) {
		for id, expect := range map[int]want{order: "200", sub: "!400 woocommerce_rest_shop_order_invalid_id"} {
			c.check(fmt.Sprintf("an editor, %s %d", folder, id), s.tryUpdate(ctx, g, "", form, folder, id, expect))
		}
		if g.Scheme == "https" || form == call.Query {
			continue // a signature is for http; in the query form it needs the marker, which no client may send
		}
		for id, expect := range map[int]want{order: "200", sub: "!403 rest_forbidden"} {
			c.check(fmt.Sprintf("a signature, %s %d", folder, id), s.tryUpdate(ctx, g, home, form, folder, id, expect))
		}
	}
}

// tryUpdate updates a record with a signature for the home address, or as an editor if that is "".
func (s *stack) tryUpdate(ctx context.Context, g *gate, home string, form call.Form, folder string, id int, expect want) error {
	before, err := s.recordType(ctx, g.Site, id)
	if err != nil {
		return err
	}
	q := ask.Question{Method: http.MethodPut, Route: fmt.Sprintf("/wc/v3/orders/%d", id), Base: g.Site.Base + folder, Form: form}
	path, query := q.Target("wp-json")
	r := request{client: overTLS, method: q.Method, path: strings.TrimPrefix(path, g.Site.Base) + "?" + query, body: `{"customer_note":"x"}`}
	if home == "" {
		account := g.Site.Accounts["editor"]
		r.as = &account
	} else if r.path, err = signedTarget(g, home, q, form, folder); err != nil {
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
