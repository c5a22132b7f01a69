package main

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/restwarden/restwarden/cmd/platform/site"
)

var releases = []string{"10.7", "10.8", "11.1"}

// since returns before for releases below one, and from for the others.
func since[T any](release string, before, from T) func(string) T {
	return func(of string) T {
		if of < release {
			return before
		}
		return from
	}
}

func always[T any](v T) func(string) T { return func(string) T { return v } }

// answer is what a request gets: a status below 400 alone, "200"; the whole error object,
// `400 rest_code "The message."`; or an error that is no JSON, "404 page".
type answer = string

var ok, made = always[answer]("200"), always[answer]("201")

// whole returns r in that form.
func (r reply) whole() answer {
	message, isText := r.at("message").(string)
	switch {
	case r.status < http.StatusBadRequest:
		return fmt.Sprint(r.status)
	case r.code() == "" || !isText:
		return fmt.Sprintf("%d page", r.status)
	}
	return fmt.Sprintf(`%d %s "%s"`, r.status, r.code(), message)
}

// row is one statement of docs/project/interface.md as a request.
type row struct {
	of   string // the statements by name (see item), separated by "; "
	says string // what the request shows of it
	line string // <order>, <sub>, … stand for ids
	body string
	as   string // who is calling, by the names of world.caller; "" is anonymous
	// options and prepare set the platform up. prepare may return edits of the request.
	options func(*site.Options)
	prepare func(w *world) []edit
	base    bool // in a sub-folder
	// with names lines of the directive, one of configurations. The row is then sent
	// through a gateway with these lines only, and gate is the verdict.
	with string

	bare func(release string) answer // of the bare platform
	text string                      // in its answer
	// shows is text by release. lacks, if set, must not be in the answer.
	shows, lacks func(release string) string
	// cookie, if set, matches a Set-Cookie of the platform's answer; gateCookie one of the
	// gateway's, if that is another.
	cookie, gateCookie string
	// after, if set, looks at what the request has caused.
	after func(d *document, w *world)
	// wordpress is the answer under the other platform's names, if the document's is not
	// the real one. The text is not compared then.
	wordpress answer
	// gate is the verdict with defaults; nil means same. loginOnly is the verdict with
	// login_only; nil means that anonymous calls are refused and all others are as with
	// defaults. Pages are the same in both.
	gate, loginOnly func(release string) verdict
	page            bool
}

// names returns the statements that r is a row of.
func (r *row) names() []string { return strings.Split(r.of, "; ") }

func (r *row) defaults(release string) verdict {
	if r.gate == nil {
		return same
	}
	return r.gate(release)
}

func (r *row) closed(release string) verdict {
	switch {
	case r.with != "":
		return r.defaults(release)
	case r.loginOnly != nil:
		return r.loginOnly(release)
	case r.as == "" && !r.page:
		return loggedOut
	}
	return r.defaults(release)
}

// honest tells whether the caller of r has good credentials.
func (r *row) honest() bool {
	login, kind, _ := strings.Cut(r.as, " ")
	return login != "" && login != "feed" && // everybody knows the feed's public identifier
		slices.Contains([]string{"", "nonce", "nonce variable", "bearer", "request"}, kind)
}

// caller returns what logs a caller of a row in.
func (w *world) caller(as string) []edit {
	login, kind, _ := strings.Cut(as, " ")
	switch kind {
	case "cookie", "bad nonce", "nonce":
		cookie, nonce := w.session(login)
		switch kind {
		case "cookie":
			return []edit{cookie}
		case "bad nonce":
			return []edit{cookie, header(w.branded("X-CMS-Nonce"), "0123456789")}
		}
		return []edit{cookie, nonce}
	case "nonce variable":
		cookie, nonce := w.session(login)
		return []edit{cookie, func(r *http.Request) { r.URL.RawQuery += "&" + w.branded("_cmsnonce=") + w.nonceOf(nonce) }}
	case "lost": // the cookie has another path
		_, nonce := w.session(login)
		return []edit{nonce}
	case "request":
		return []edit{w.signedStoreAuth(time.Now())}
	case "bearer":
		return []edit{header("Authorization", "Bearer "+w.info.Users[login].BearerToken)}
	case "wrong password":
		return []edit{func(r *http.Request) { r.SetBasicAuth(login, "abcd efgh ijkl mnop qrst uvwx") }}
	}
	switch as {
	case "":
		return nil
	case "feed": // anybody who knows the public identifier
		return []edit{signed(w.info.Keys.FeedPublicID, time.Now())}
	case "plugin":
		return []edit{signed(w.info.Keys.CookiePlugin, time.Now())}
	case "key":
		return []edit{withKey(w.info.Keys.ReadWriteKey)}
	case "write-only":
		return []edit{withKey(w.info.Keys.WriteKey)}
	case "tools":
		return []edit{header("X-MCP-API-Key", w.info.Keys.ReadWriteKey)}
	case "oauth":
		return []edit{oauth1(w.info.Keys.ReadWriteKey)}
	}
	return []edit{w.as(login)}
}

// ids returns a function that writes the ids of a fresh world into a text of a row.
func (w *world) ids() func(string) string {
	item := w.record(w.info.Orders[0]).Items[0]
	return strings.NewReplacer("<order>", fmt.Sprint(w.info.Orders[0]), "<second>", fmt.Sprint(w.info.Orders[1]), "<third>", fmt.Sprint(w.info.Orders[2]), "<sub>", fmt.Sprint(w.info.Subscriptions[0]),
		"<mug>", fmt.Sprint(w.info.Products[1]), "<shirt>", fmt.Sprint(w.info.Products[0]),
		"<item>", fmt.Sprint(item.ID), "<size>", fmt.Sprint(item.VariationID), "<line>", fmt.Sprint(w.record(w.info.Orders[1]).Items[0].ID),
		"<password>", w.info.Users["admin"].Password).Replace
}

// words returns a function that writes a text of a row for a fresh world: with its ids,
// and with the names of its platform also where the other tests have none to translate.
func (w *world) words() func(string) string {
	ids, more := w.ids(), strings.NewReplacer()
	if w.info.Platform == "wordpress" {
		more = strings.NewReplacer("abilities/shop/", "abilities/woocommerce/", "shop/orders-query", "woocommerce/orders-query", `"shop/order`, `"woocommerce/order`,
			"cms-block-shop-", "wp-block-woocommerce-", "shop-settings", "wc-settings", "shop-ajax", "wc-ajax")
	}
	return func(s string) string { return w.branded(ids(more.Replace(s))) }
}
