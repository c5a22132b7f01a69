package main

import (
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/restwarden/restwarden/cmd/platform/site"
)

var releases = []string{"10.7", "10.8", "11.1"}

// since gives before to releases below one, and from to the others.
func since[T any](release string, before, from T) func(string) T {
	return func(of string) T {
		if of < release {
			return before
		}
		return from
	}
}

func always[T any](v T) func(string) T { return func(string) T { return v } }

// verdict is what the gateway makes of a row: "same" forwards it and answers
// as the bare platform does, "words" refuses it as the bare platform does,
// "redacted" forwards it and hides the secrets; anything else is a refusal of
// the gateway's own, "403 rest_forbidden".
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
	as   string // who is calling, of world.caller; "" is anonymous
	// options and prepare set the platform up; prepare may return more of the
	// request.
	options func(*site.Options)
	prepare func(w *world) []edit
	base    bool // in a sub-folder

	bare func(release string) int // status of the bare platform
	text string                   // in its answer
	// shows is text by release; lacks is what is not in the answer, where it is set.
	shows, lacks func(release string) string
	// cookie is what a Set-Cookie of the answer matches, where it is set.
	cookie string
	// wordpress is the status under the other platform's names, where the document's
	// is not the real one's; the text is not looked for there.
	wordpress int
	// gate is the verdict with defaults, same where it is nil; loginOnly that
	// with login_only: where it is nil anonymous calls are refused and all else
	// is as with defaults. Pages are the same in both.
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
	case "feed": // whoever knows the public identifier
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

// ids writes the ids of a fresh world into a text of a row.
func (w *world) ids() func(string) string {
	item := w.record(w.info.Orders[0]).Items[0]
	return strings.NewReplacer("<order>", fmt.Sprint(w.info.Orders[0]), "<second>", fmt.Sprint(w.info.Orders[1]), "<sub>", fmt.Sprint(w.info.Subscriptions[0]),
		"<mug>", fmt.Sprint(w.info.Products[1]), "<shirt>", fmt.Sprint(w.info.Products[0]),
		"<item>", fmt.Sprint(item.ID), "<size>", fmt.Sprint(item.VariationID), "<line>", fmt.Sprint(w.record(w.info.Orders[1]).Items[0].ID),
		"<password>", w.info.Users["admin"].Password).Replace
}

// words writes texts of a row for a fresh world: its ids, and the names of its
// platform also where the other tests have none to translate.
func (w *world) words() func(string) string {
	ids, more := w.ids(), strings.NewReplacer()
	if w.info.Platform == "wordpress" {
		more = strings.NewReplacer("abilities/shop/", "abilities/woocommerce/", "shop/orders-query", "woocommerce/orders-query",
			"cms-block-shop-", "wp-block-woocommerce-", "shop-ajax", "woocommerce-ajax")
	}
	return func(s string) string { return w.branded(ids(more.Replace(s))) }
}
