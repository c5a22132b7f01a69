package main

import (
	"fmt"
	"net/http"
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

// verdict is the expected result of a row through the gateway: "same" is forwarded and
// answered as by the bare platform, "words" is refused as by the bare platform,
// "redacted" is forwarded and the secrets are hidden. Any other text is a refusal of the
// gateway, "403 rest_forbidden".
type verdict = string

const (
	same      verdict = "same"
	words     verdict = "words"
	redacted  verdict = "redacted"
	loggedOut verdict = "401 rest_not_logged_in"
	forbidden verdict = "403 rest_forbidden"
)

// row is one statement of docs/interface.md as a request.
type row struct {
	of   string // section and row
	says string // the statement
	line string // <order>, <sub>, … stand for ids
	body string
	as   string // who is calling, by the names of world.caller; "" is anonymous
	// options and prepare set the platform up. prepare may return edits of the request.
	options func(*site.Options)
	prepare func(w *world) []edit
	base    bool // in a sub-folder

	bare func(release string) int // status of the bare platform
	text string                   // in its answer
	// shows is text by release. lacks, if set, must not be in the answer.
	shows, lacks func(release string) string
	// cookie, if set, matches a Set-Cookie of the answer.
	cookie string
	// wordpress is the status under the other platform's names, if the document's is not
	// the real one. The text is not compared then.
	wordpress int
	// gate is the verdict with defaults; nil means same. loginOnly is the verdict with
	// login_only; nil means that anonymous calls are refused and all others are as with
	// defaults. Pages are the same in both.
	gate, loginOnly func(release string) verdict
	page            bool
}

func (r *row) defaults(release string) verdict {
	if r.gate == nil {
		return same
	}
	return r.gate(release)
}

func (r *row) closed(release string) verdict {
	switch {
	case r.loginOnly != nil:
		return r.loginOnly(release)
	case r.as == "" && !r.page:
		return loggedOut
	}
	return r.defaults(release)
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
	case "oauth":
		return []edit{oauth1(w.info.Keys.ReadWriteKey)}
	}
	return []edit{w.as(login)}
}

// ids returns a function that writes the ids of a fresh world into a text of a row.
func (w *world) ids() func(string) string {
	item := w.record(w.info.Orders[0]).Items[0]
	return strings.NewReplacer("<order>", fmt.Sprint(w.info.Orders[0]), "<second>", fmt.Sprint(w.info.Orders[1]), "<sub>", fmt.Sprint(w.info.Subscriptions[0]),
		"<mug>", fmt.Sprint(w.info.Products[1]), "<shirt>", fmt.Sprint(w.info.Products[0]),
		"<item>", fmt.Sprint(item.ID), "<size>", fmt.Sprint(item.VariationID), "<line>", fmt.Sprint(w.record(w.info.Orders[1]).Items[0].ID),
		"<password>", w.info.Users["admin"].Password).Replace
}

// words returns a function that writes a text of a row for a fresh world: with its ids,
// and with the names of its platform also where the other tests have none to translate.
func (w *world) words() func(string) string {
	ids, more := w.ids(), strings.NewReplacer()
	if w.info.Platform == "wordpress" {
		more = strings.NewReplacer("abilities/shop/", "abilities/woocommerce/", "shop/orders-query", "woocommerce/orders-query",
			"cms-block-shop-", "wp-block-woocommerce-", "shop-ajax", "woocommerce-ajax")
	}
	return func(s string) string { return w.branded(ids(more.Replace(s))) }
}
