package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"
	"regexp"
	"strings"
	"testing"
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

// row is one statement of the interface document as a request.
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
	// shows is text by release.
	shows func(release string) string
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
		"<item>", fmt.Sprint(item.ID), "<size>", fmt.Sprint(item.VariationID)).Replace
}

// volatile is what differs between two platforms with the same history:
// addresses and random keys.
var volatile = regexp.MustCompile(`"(order_key|access_token|feed_id|password|uuid)":"[^"]*"|(shop|woocommerce)_order_\w+|127\.0\.0\.1:\d+|nonce" value="\w+"|<code>\w+</code>|[0-9a-f]{16}`)

func settled(s string) string {
	return volatile.ReplaceAllStringFunc(s, func(found string) string {
		name, _, quoted := strings.Cut(found, ":")
		if quoted && name[0] == '"' {
			return name + `:"…"`
		}
		return "…"
	})
}

// sameHeaders are compared where an answer is to be the platform's.
var sameHeaders = []string{"Content-Type", "Location", "Allow", "Link", "X-Cms-Total", "X-Cms-Totalpages", "Access-Control-Allow-Headers", "X-Content-Type-Options"}

// document is a gateway in front of one platform and a twin of that platform,
// bare; both are replaced for each row.
type document struct {
	release     string
	base        string
	gated, twin *world
	now         time.Time
}

func newDocument(t *testing.T, release, base, directive string) *document {
	t.Helper()
	now := time.Now()
	options := site.Options{Release: release, Base: base, Now: func() time.Time { return now }}
	d := &document{release: release, base: base, twin: newPlatform(t, options), gated: newWorld(t, options, directive), now: now}
	d.gated.learned()
	return d
}

// check runs one row through bare platform and gateway.
func (d *document) check(t *testing.T, r *row, want verdict) {
	d.gated.t, d.twin.t = t, t
	options := site.Options{Release: d.release, Base: d.base, Now: func() time.Time { return d.now }}
	if r.options != nil {
		r.options(&options)
	}
	var replies [2]reply
	var worlds = [2]*world{d.twin, d.gated}
	var ids func(string) string
	for i, w := range worlds {
		w.replace(options)
		ids = w.ids()
		edits := w.caller(r.as)
		if r.prepare != nil {
			edits = append(edits, r.prepare(w)...)
		}
		if i == 0 {
			replies[i] = w.bare(ids(r.line), ids(r.body), edits...)
		} else {
			replies[i] = w.gate(ids(r.line), ids(r.body), edits...)
		}
	}
	bare, through := replies[0], replies[1]
	text := r.text
	if r.shows != nil {
		text = r.shows(d.release)
	}
	if wanted := r.bare(d.release); bare.status != wanted || !strings.Contains(bare.body, ids(text)) {
		t.Errorf("bare: %d %.300s; want %d %s", bare.status, bare.body, wanted, text)
	}
	if !r.page && bare.status >= 400 && strings.HasPrefix(bare.header.Get("Content-Type"), "application/json") {
		if bare.code() == "" || bare.at("message") == nil || bare.at("data", "status") != float64(bare.status) {
			t.Errorf("bare: not the error object of section 7: %s", bare.body)
		}
	}
	switch want {
	case same:
		through.passed()
		if got := settled(through.body); through.status != bare.status || got != settled(bare.body) {
			t.Errorf("gateway: %d %.600s\nbare: %d %.600s", through.status, got, bare.status, settled(bare.body))
		}
		for _, name := range sameHeaders {
			if got, wanted := settled(through.header.Get(name)), settled(bare.header.Get(name)); got != wanted {
				t.Errorf("gateway: %s %q, bare %q", name, got, wanted)
			}
		}
		if !reflect.DeepEqual(d.records(d.gated), d.records(d.twin)) {
			t.Errorf("other records than on the bare platform")
		}
	case words:
		through.stopped()
		var a, b any
		json.Unmarshal([]byte(through.body), &a)
		json.Unmarshal([]byte(bare.body), &b)
		if through.status != bare.status || fmt.Sprint(a) != fmt.Sprint(b) {
			t.Errorf("gateway: %d %s; bare: %d %s", through.status, through.body, bare.status, bare.body)
		}
	case redacted:
		through.passed()
		hidden := regexp.MustCompile(`"access_token":"[^"]*"`).ReplaceAllString(bare.body, `"access_token":"[redacted]"`)
		if settled(through.body) != settled(hidden) || hidden == bare.body {
			t.Errorf("gateway: %s", through.body)
		}
	default:
		status, code := 0, ""
		fmt.Sscan(want, &status, &code) //nolint:errcheck // a mistake shows below
		through.refusedWith(status, code)
		d.unchanged(t, options)
	}
}

// records is what a platform stores, without its random keys.
func (d *document) records(w *world) map[int]site.Record {
	out := map[int]site.Record{}
	for id := 11; id < 80; id++ {
		if r, ok := w.site.Record(id); ok {
			r.Key = ""
			out[id] = r
		}
	}
	return out
}

// unchanged checks that a refused row changed no record.
func (d *document) unchanged(t *testing.T, options site.Options) {
	t.Helper()
	fresh, err := site.New(options)
	if err != nil {
		t.Fatal(err)
	}
	if now, then := d.records(d.gated), d.records(&world{site: fresh}); !reflect.DeepEqual(now, then) {
		t.Error("a refused request changed a record")
	}
}

// TestDocument walks the rows of the interface document's sections 3, 4, 5, 7
// and 9 through the bare platform and through the gateway, with its defaults
// and with login_only, for each release.
func TestDocument(t *testing.T) {
	for _, release := range releases {
		for mode, directive := range map[string]string{"defaults": "", "login_only": "login_only"} {
			for _, base := range []string{"", "/blog"} {
				t.Run(release+" "+mode+base, func(t *testing.T) {
					d := newDocument(t, release, base, directive)
					for _, r := range rows() {
						if r.base != (base != "") {
							continue
						}
						want := r.defaults(release)
						if mode == "login_only" {
							want = r.closed(release)
						}
						t.Run(r.of+" "+r.says, func(t *testing.T) { d.check(t, &r, want) })
					}
				})
			}
		}
	}
}
