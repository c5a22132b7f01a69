//go:build wordpress

package wordpress

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// want is what a caller gets: the status and, unless empty, the error code. The
// gateway's own refusals are written with a leading "!".
type want string

func (w want) matches(a *answer) bool {
	text, own := strings.CutPrefix(string(w), "!")
	status, code, _ := strings.Cut(text, " ")
	return strconv.Itoa(a.status) == status && a.code == code && (own == (a.refused() && !a.platform()))
}

// platform tells whether the gateway handed on what the platform said of the
// caller.
func (a *answer) platform() bool { return strings.HasSuffix(a.decision, " refused platform") }

// access is one call, and what each caller gets on a locked site.
type access struct {
	method, path, body string
	headers            func() []string
	anonymous          want
	subscriber         want
	author             want
	editor             want
	manager            want
	admin              want
}

const (
	notLoggedIn want = "!401 rest_not_logged_in"
	forbidden   want = "!403 rest_forbidden"
	unsigned    want = "!401 rest_invalid_signature"
)

// table is who may what on a locked site.
func table(s *site) []access {
	// Nobody who may read orders has asked for this one before the editor does,
	// who may only write: the gateway cannot know what it is.
	order := s.Orders[len(s.Orders)-1-s.Index]
	post := fmt.Sprintf("/wp/v2/posts/%d", s.Post)
	note := `{"customer_note":"table"}`
	return []access{
		{method: "GET", path: "/wp/v2/types", anonymous: notLoggedIn, subscriber: "200", author: "200", editor: "200", manager: "200", admin: "200"},
		{method: "GET", path: "/wp/v2/users", anonymous: notLoggedIn, subscriber: "200", author: "200", editor: "200", manager: "200", admin: "200"},
		{method: "GET", path: "/wp/v2/users/me", anonymous: notLoggedIn, subscriber: "200", author: "200", editor: "200", manager: "200", admin: "200"},
		{
			method: "GET", path: "/wp/v2/users?context=edit", anonymous: notLoggedIn, subscriber: "403 rest_forbidden_context",
			author: "403 rest_forbidden_context", editor: "403 rest_forbidden_context", manager: "403 rest_forbidden_context", admin: "200",
		},
		{
			method: "GET", path: "/wp/v2/settings", anonymous: notLoggedIn, subscriber: "403 rest_forbidden", author: "403 rest_forbidden",
			editor: "403 rest_forbidden", manager: "403 rest_forbidden", admin: "200",
		},
		{
			method: "POST", path: "/wp/v2/posts", body: `{"title":"table","status":"draft"}`, anonymous: notLoggedIn,
			subscriber: "403 rest_cannot_create", author: "201", editor: "201", manager: "403 rest_cannot_create", admin: "201",
		},
		{
			method: "POST", path: post, body: `{"excerpt":"table"}`, anonymous: notLoggedIn, subscriber: "403 rest_cannot_edit",
			author: "200", editor: "200", manager: "403 rest_cannot_edit", admin: "200",
		},
		{
			method: "POST", path: "/wp/v2/users", body: `{}`, anonymous: notLoggedIn, subscriber: "400 rest_missing_callback_param",
			author: "400 rest_missing_callback_param", editor: "400 rest_missing_callback_param", manager: "400 rest_missing_callback_param",
			admin: "400 rest_missing_callback_param",
		},
		{method: "POST", path: "/batch/v1", body: `{"requests":[]}`, anonymous: notLoggedIn, subscriber: "207", author: "207", editor: "207", manager: "207", admin: "207"},
		{
			method: "GET", path: "/no/such/route", anonymous: notLoggedIn, subscriber: "404 rest_no_route", author: "404 rest_no_route",
			editor: "404 rest_no_route", manager: "404 rest_no_route", admin: "404 rest_no_route",
		},
		{
			method: "GET", path: "/wc/v3/orders", anonymous: notLoggedIn, subscriber: "403 woocommerce_rest_cannot_view",
			author: "403 woocommerce_rest_cannot_view", editor: "403 woocommerce_rest_cannot_view", manager: "200", admin: "200",
		},
		{
			method: "PUT", path: fmt.Sprintf("/wc/v3/orders/%d", order), body: note, anonymous: notLoggedIn,
			subscriber: "403 woocommerce_rest_cannot_edit", author: "403 woocommerce_rest_cannot_edit",
			editor: "403 woocommerce_rest_cannot_edit", manager: "200", admin: "200",
		},
		{
			method: "POST", path: fmt.Sprintf("/wc/v3/orders/%d/refunds", order), body: `{"compute_totals":true}`, anonymous: notLoggedIn,
			subscriber: "403 woocommerce_rest_cannot_create", author: "403 woocommerce_rest_cannot_create",
			editor: "403 woocommerce_rest_cannot_create", manager: "!400 woocommerce_rest_compute_totals_unsupported",
			admin: "!400 woocommerce_rest_compute_totals_unsupported",
		},
		{method: "GET", path: "/feed/troubleshooting", anonymous: notLoggedIn, subscriber: forbidden, author: forbidden, editor: forbidden, manager: forbidden, admin: "200"},
		{method: "POST", path: "/cookie/v1/upload-logo", anonymous: forbidden, subscriber: forbidden, author: forbidden, editor: forbidden, manager: forbidden, admin: forbidden},
		{method: "POST", path: "/cookie/v1/store-auth", anonymous: unsigned, subscriber: unsigned, author: unsigned, editor: unsigned, manager: unsigned, admin: unsigned},
		{method: "POST", path: "/cookie/v1/store-auth", headers: signed, anonymous: "200", subscriber: "200", author: "200", editor: "200", manager: "200", admin: "200"},
		{method: "POST", path: "/complianz/v1/track", body: `{"choice":"all"}`, anonymous: "200", subscriber: "200", author: "200", editor: "200", manager: "200", admin: "200"},
		{method: "GET", path: "/wc/store/v1/cart", anonymous: "200", subscriber: "200", author: "200", editor: "200", manager: "200", admin: "200"},
	}
}

// signed are the headers of a call that the cookie plugin has signed.
func signed() []string {
	stamp := strconv.FormatInt(time.Now().Unix(), 10)
	mac := hmac.New(sha256.New, []byte(signingKey))
	mac.Write([]byte(stamp))
	return []string{"X-Timestamp: " + stamp, "X-Signature: " + hex.EncodeToString(mac.Sum(nil))}
}

// checkAccounts goes through the table at one site.
func (s *stack) checkAccounts(ctx context.Context, c *checks, site *site) {
	g, bare := s.gate(site.Name, modeLocked), s.gate(site.Name, modeBare)
	for _, role := range []string{"", "subscriber", "author", "editor", "shop_manager", "administrator"} {
		account := site.Accounts[role]
		ways := map[string]*caller{"anonymous": {}}
		if role != "" {
			browser, err := newBrowserCaller(ctx, g, bare, account)
			c.check(role+" logs in", err)
			ways = map[string]*caller{"application password": {as: &account}}
			if err == nil {
				ways["cookie and nonce"] = browser
			}
		}
		for way, who := range ways {
			for _, row := range table(site) {
				name := fmt.Sprintf("%s %s: %s %s", role, way, row.method, row.path)
				c.check(name, who.try(ctx, g, bare, &row, row.of(role)))
			}
		}
	}
}

func (a *access) of(role string) want {
	return map[string]want{
		"": a.anonymous, "subscriber": a.subscriber, "author": a.author, "editor": a.editor,
		"shop_manager": a.manager, "administrator": a.admin,
	}[role]
}

// caller sends requests with one kind of credentials, through the gateway and
// past it.
type caller struct {
	as           *account
	header, bare []string
}

func newBrowserCaller(ctx context.Context, g, bare *gate, user account) (*caller, error) {
	through, err := login(ctx, g, user)
	if err != nil {
		return nil, err
	}
	past, err := login(ctx, bare, user)
	if err != nil {
		return nil, fmt.Errorf("past the gateway: %w", err)
	}
	return &caller{header: through.header, bare: past.header}, nil
}

// try makes one call. An error that WordPress itself answers must be the same,
// byte for byte, without the gateway.
func (c *caller) try(ctx context.Context, g, bare *gate, row *access, w want) error {
	query := strings.Replace(row.path, "?", "&", 1)
	r := request{method: row.method, path: "/index.php?rest_route=" + query, body: row.body, as: c.as, headers: c.header}
	if row.headers != nil {
		r.headers = append(slices.Clip(r.headers), row.headers()...)
	}
	a, err := fetch(ctx, g, r)
	if err != nil {
		return err
	}
	if !w.matches(a) {
		return fmt.Errorf("expected %q, got %s", w, a)
	}
	if a.status == 200 && bytes.Contains(a.body, []byte("standin-secret")) {
		return fmt.Errorf("a secret is not redacted: %s", a)
	}
	if a.status < 400 || a.refused() {
		return nil
	}
	if c.as == nil {
		r.headers = c.bare
	}
	return sameAnswer(ctx, bare, r, a)
}

// sameAnswer expects of the bare platform what came through the gateway.
func sameAnswer(ctx context.Context, bare *gate, r request, through *answer) error {
	past, err := fetch(ctx, bare, r)
	if err != nil {
		return err
	}
	if past.status != through.status || !bytes.Equal(past.body, through.body) {
		return fmt.Errorf("through the gateway: %s\nwithout it: %s", through, past)
	}
	return nil
}
