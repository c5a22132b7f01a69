package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/restwarden/restwarden/cmd/check/testkit/mailsink"
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
	protocol                string // of the gateway's clients
	mail                    string // the mail server of both platforms
	mails                   <-chan mailsink.Mail
	webhook                 string // where both platforms send their webhooks
	webhooks                <-chan string
}

func newDocument(t *testing.T, platform, release, base string) *document {
	t.Helper()
	webhooks := make(chan string, 100)
	receiver := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body) // what is missing shows in the test
		webhooks <- string(body)
	}))
	t.Cleanup(receiver.Close)
	d := &document{platform: platform, release: release, base: base, now: time.Now(), webhook: receiver.URL, webhooks: webhooks}
	d.mail, d.mails = mailsink.Start(t)
	return d
}

// start starts both. In lines <cookie plugin> and <read key> stand for keys.
func (d *document) start(t *testing.T, lines string, options site.Options) {
	t.Helper()
	d.twin, d.gated = newPlatform(t, options), newPlatform(t, options)
	d.twin.protocol, d.gated.protocol = d.protocol, d.protocol
	keys := strings.NewReplacer("<cookie plugin>", d.gated.info.Keys.CookiePlugin, "<read key>", d.gated.info.Keys.ReadKey)
	d.gated.start(keys.Replace(lines))
	d.gated.learned()
}

// optionsOf are those of the platforms for a row.
func (d *document) optionsOf(r *row) site.Options {
	options := site.Options{Platform: d.platform, Release: d.release, Base: d.base, SMTP: d.mail, Webhook: d.webhook, Now: func() time.Time { return d.now }}
	if r.options != nil {
		r.options(&options)
	}
	return options
}

// check runs one row through bare platform and gateway.
func (d *document) check(t *testing.T, r *row, want verdict) {
	d.gated.t, d.twin.t = t, t
	in := d.twin.words() // before the request changes what they name
	bare := d.twin.ask(r, (*world).bare)
	through := d.gated.ask(r, (*world).gate)
	d.checkBare(t, r, bare, in)
	switch want {
	case same:
		through.passed()
		d.checkSame(t, through, bare)
		d.checkCookie(t, cmp.Or(r.gateCookie, r.cookie), through)
	case words:
		through.stopped()
		if through.status != bare.status || canonical(through.body) != canonical(bare.body) {
			t.Errorf("gateway: %d %s; bare: %d %s", through.status, through.body, bare.status, bare.body)
		}
		if !reflect.DeepEqual(d.records(d.gated), d.records(d.twin)) {
			t.Error("a refused request changed a record")
		}
	case redacted:
		through.passed()
		hidden := regexp.MustCompile(`"access_token":"[^"]*"`).ReplaceAllString(bare.body, `"access_token":"[redacted]"`)
		if settled(through.body) != settled(hidden) || hidden == bare.body {
			t.Errorf("gateway: %s", through.body)
		}
	default:
		refused := answerOf(want)
		status, code := 0, ""
		fmt.Sscan(refused, &status, &code) //nolint:errcheck // a mistake shows below
		through.refusedWith(status, code)
		if got := through.whole(); got != d.twin.branded(refused) {
			t.Errorf("gateway: %s; want %s", got, refused)
		}
		d.unchanged(t, d.optionsOf(r))
	}
	if r.after != nil && want == same {
		r.after(d, d.twin)
		r.after(d, d.gated)
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

// canonical writes JSON in one way; a page stays as it is.
func canonical(body string) string {
	var v any
	if err := json.Unmarshal([]byte(body), &v); err != nil {
		return body
	}
	return fmt.Sprint(v)
}

// checkBare compares the bare platform's answer with the document.
func (d *document) checkBare(t *testing.T, r *row, bare reply, in func(string) string) {
	t.Helper()
	wanted, text := r.bare(d.release), r.text
	if r.shows != nil {
		text = r.shows(d.release)
	}
	if r.wordpress != "" && d.platform == "wordpress" {
		wanted, text = r.wordpress, ""
	}
	wanted, text = in(wanted), in(text)
	if got := bare.whole(); got != wanted || !strings.Contains(bare.body, text) {
		t.Errorf("bare: %s; want %s with %s\n%.300s", got, wanted, text, bare.body)
	}
	if r.lacks != nil {
		if text := in(r.lacks(d.release)); text != "" && strings.Contains(bare.body, text) {
			t.Errorf("bare: %.300s; does not lack %s", bare.body, text)
		}
	}
	d.checkCookie(t, r.cookie, bare)
	if !strings.HasSuffix(wanted, " page") && bare.status >= 400 {
		d.checkError(t, bare)
	}
}

// checkError: the body of an error is {code, message, data:{status}} (docs/project/interface 7).
func (d *document) checkError(t *testing.T, from reply) {
	t.Helper()
	var object struct {
		Code, Message string
		Data          struct{ Status int }
	}
	err := json.Unmarshal([]byte(from.body), &object)
	if err != nil || object.Code == "" || object.Message == "" || object.Data.Status != from.status {
		t.Errorf("%s: not the error object of section 7: %s", from.line, from.body)
	}
}

func (d *document) checkCookie(t *testing.T, want string, from reply) {
	t.Helper()
	if want != "" && !slices.ContainsFunc(from.header.Values("Set-Cookie"), regexp.MustCompile(want).MatchString) {
		t.Errorf("%s: cookies %q, none matches %s", from.line, from.header.Values("Set-Cookie"), want)
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

// TestDocument walks the rows of docs/project/interface through the bare platform and through the
// gateway, with its defaults, with login_only and with the lines that a row names, for
// each release and under both sets of names.
func TestDocument(t *testing.T) {
	for _, platform := range []string{"cms", "wordpress"} {
		for _, release := range releases {
			for _, mode := range modes() {
				walk(t, http1, platform, release, mode)
			}
		}
	}
}

// walk walks the rows of a mode, at the root and in a sub-folder.
func walk(t *testing.T, protocol, platform, release string, mode mode) {
	t.Helper()
	for _, base := range []string{"", "/blog"} {
		var its []row
		for _, r := range rows() {
			if r.base == (base != "") && r.with == mode.with {
				its = append(its, r)
			}
		}
		if its == nil {
			continue
		}
		t.Run(platform+" "+release+" "+mode.name+base, func(t *testing.T) {
			d := newDocument(t, platform, release, base)
			d.protocol = protocol
			d.walk(t, its, mode)
		})
	}
}

// mode is how the gateway is configured for some rows: those with the lines of its name,
// or all others, by their verdict of defaults or of login_only.
type mode struct {
	name, with, lines string
	verdict           func(r *row, release string) verdict
}

func modes() []mode {
	all := []mode{{name: "defaults", verdict: (*row).defaults}, {name: "login_only", lines: "login_only", verdict: (*row).closed}}
	for _, c := range configurations {
		all = append(all, mode{name: c.name, with: c.name, lines: c.lines, verdict: (*row).defaults})
	}
	return all
}

// walk runs rows. Lines that hold the key of a plugin need a gateway for each row, since
// each row has a new platform with new keys.
func (d *document) walk(t *testing.T, its []row, m mode) {
	keyed := strings.Contains(m.lines, "<")
	for i := range its {
		r := &its[i]
		if keyed {
			d.start(t, m.lines, d.optionsOf(r))
		} else if i == 0 {
			d.start(t, m.lines, d.optionsOf(&row{}))
		}
		if !keyed {
			d.twin.replace(d.optionsOf(r))
			d.gated.replace(d.optionsOf(r))
		}
		t.Run(r.of+" "+r.says, func(t *testing.T) { d.check(t, r, m.verdict(r, d.release)) })
	}
}
