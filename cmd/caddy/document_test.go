package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/restwarden/restwarden/cmd/platform/site"
)

// volatile matches what differs between two platforms with the same history: addresses
// and random keys.
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

// sameHeaders are compared if the answer must be the platform's.
var sameHeaders = []string{"Content-Type", "Location", "Allow", "Link", "X-CMS-Total", "X-CMS-TotalPages", "Access-Control-Allow-Headers", "X-Content-Type-Options"}

// document is a gateway in front of one platform, and a bare twin of that platform. Both
// platforms are new for each row.
type document struct {
	platform, release, base string
	gated, twin             *world
	now                     time.Time
}

func newDocument(t *testing.T, platform, release, base, directive string) *document {
	t.Helper()
	d := &document{platform: platform, release: release, base: base, now: time.Now()}
	d.twin, d.gated = newPlatform(t, d.options()), newWorld(t, d.options(), directive)
	d.gated.learned()
	return d
}

func (d *document) options() site.Options {
	return site.Options{Platform: d.platform, Release: d.release, Base: d.base, Now: func() time.Time { return d.now }}
}

// check runs one row through bare platform and gateway.
func (d *document) check(t *testing.T, r *row, want verdict) {
	d.gated.t, d.twin.t = t, t
	options := d.options()
	if r.options != nil {
		r.options(&options)
	}
	d.twin.replace(options)
	d.gated.replace(options)
	in := d.twin.words() // before the request changes what they name
	bare := d.twin.ask(r, (*world).bare)
	through := d.gated.ask(r, (*world).gate)
	d.checkBare(t, r, bare, in)
	switch want {
	case same:
		through.passed()
		d.checkSame(t, through, bare)
		d.checkCookie(t, r, through)
	case words:
		through.stopped()
		var a, b any
		if err := errors.Join(json.Unmarshal([]byte(through.body), &a), json.Unmarshal([]byte(bare.body), &b)); err != nil {
			t.Error(err)
		}
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

// ask sends a row to a fresh platform, bare or through the gateway.
func (w *world) ask(r *row, send func(*world, string, string, ...edit) reply) reply {
	w.t.Helper()
	in := w.words()
	line, body := in(r.line), in(r.body)
	edits := w.caller(r.as)
	if r.prepare != nil {
		edits = append(edits, r.prepare(w)...)
	}
	return send(w, line, body, edits...)
}

// checkBare compares the bare platform's answer with the document.
func (d *document) checkBare(t *testing.T, r *row, bare reply, in func(string) string) {
	t.Helper()
	wanted, text := r.bare(d.release), r.text
	if r.shows != nil {
		text = r.shows(d.release)
	}
	if r.wordpress != 0 && d.platform == "wordpress" {
		wanted, text = r.wordpress, ""
	}
	if text = in(text); bare.status != wanted || !strings.Contains(bare.body, text) {
		t.Errorf("bare: %d %.300s; want %d %s", bare.status, bare.body, wanted, text)
	}
	if r.lacks != nil {
		if text := in(r.lacks(d.release)); text != "" && strings.Contains(bare.body, text) {
			t.Errorf("bare: %.300s; does not lack %s", bare.body, text)
		}
	}
	d.checkCookie(t, r, bare)
	if !r.page && bare.status >= 400 && strings.HasPrefix(bare.header.Get("Content-Type"), "application/json") {
		if bare.code() == "" || bare.at("message") == nil || bare.at("data", "status") != float64(bare.status) {
			t.Errorf("bare: not the error object of section 7: %s", bare.body)
		}
	}
}

func (d *document) checkCookie(t *testing.T, r *row, from reply) {
	t.Helper()
	pattern := regexp.MustCompile(r.cookie)
	if r.cookie != "" && !slices.ContainsFunc(from.header.Values("Set-Cookie"), pattern.MatchString) {
		t.Errorf("%s: cookies %q, none matches %s", from.line, from.header.Values("Set-Cookie"), r.cookie)
	}
}

// checkSame compares the gateway's answer with the bare platform's, and the records of
// both platforms after it.
func (d *document) checkSame(t *testing.T, through, bare reply) {
	t.Helper()
	if got := settled(through.body); through.status != bare.status || got != settled(bare.body) {
		t.Errorf("gateway: %d %.600s\nbare: %d %.600s", through.status, got, bare.status, settled(bare.body))
	}
	for _, name := range sameHeaders {
		name = d.twin.branded(name)
		if got, wanted := settled(through.header.Get(name)), settled(bare.header.Get(name)); got != wanted {
			t.Errorf("gateway: %s %q, bare %q", name, got, wanted)
		}
	}
	if !reflect.DeepEqual(d.records(d.gated), d.records(d.twin)) {
		t.Errorf("other records than on the bare platform")
	}
}

// records returns the records of a platform, without its random keys.
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

// TestDocument walks the rows of docs/interface 3, 4, 5, 7 and 9
// through the bare platform and through the gateway, with its defaults
// and with login_only, for each release and under both sets of names.
func TestDocument(t *testing.T) {
	for _, platform := range []string{"cms", "wordpress"} {
		for _, release := range releases {
			for mode, directive := range map[string]string{"defaults": "", "login_only": "login_only"} {
				for _, base := range []string{"", "/blog"} {
					t.Run(platform+" "+release+" "+mode+base, func(t *testing.T) {
						newDocument(t, platform, release, base, directive).walk(t, directive != "")
					})
				}
			}
		}
	}
}

func (d *document) walk(t *testing.T, loginOnly bool) {
	for _, r := range rows() {
		if r.base != (d.base != "") {
			continue
		}
		want := r.defaults(d.release)
		if loginOnly {
			want = r.closed(d.release)
		}
		t.Run(r.of+" "+r.says, func(t *testing.T) { d.check(t, &r, want) })
	}
}
