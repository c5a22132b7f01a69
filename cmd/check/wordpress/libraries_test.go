//go:build wordpress

package wordpress

import (
	"context"
	"encoding/base64"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/restwarden/restwarden/cmd/check/testkit/libraries"
	"github.com/restwarden/restwarden/cmd/check/testkit/machine"
	"github.com/restwarden/restwarden/cmd/check/testkit/rawhttp"
	"github.com/restwarden/restwarden/cmd/check/testkit/wire"
)

// dot is a PNG image of one pixel.
const dot = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="

// differing are the fields that differ by right: the time, what these tests add themselves, and
// what keeps private answers out of caches, where an old WordPress has less
// (docs/policies/no_store.md).
var differing = []rawhttp.Field{{Name: "Date"}, {Name: "X-Check-Decision"}, {Name: "Cache-Control", Value: "no-store"}}

// librarySession is a session of a library in front of a site. Without a role nobody logs in.
type librarySession struct {
	program, site, role string
	cookie              bool              // and a nonce, in place of an application password
	failing             map[string]string // codes by step, without the gateway
	locked              map[string]string // and under login_only, where they differ: other answers, which are not compared
	refused             int               // how many refusals of the gateway's under login_only say what WordPress says
}

func (l librarySession) String() string {
	way := "application password"
	switch {
	case l.role == "":
		way = "anonymous"
	case l.cookie:
		way = "cookie and nonce"
	}
	return strings.Join(strings.Fields(strings.TrimSuffix(l.program, ".mjs")+" "+l.site+" "+l.role+" "+way), " ")
}

var (
	ofAdministrator = map[string]string{"read what is gone": "rest_post_invalid_id", "no such route": "rest_no_route"}
	ofEditor        = with(ofAdministrator, "settings", "rest_forbidden", "change settings", "rest_forbidden")
)

// with is codes and two more.
func with(codes map[string]string, pairs ...string) map[string]string {
	all := maps.Clone(codes)
	for i := 0; i < len(pairs); i += 2 {
		all[pairs[i]] = pairs[i+1]
	}
	return all
}

var librarySessions = []librarySession{
	{program: "api-fetch.mjs", site: fpm, role: "editor", cookie: true, failing: ofEditor, refused: 1}, // an old nonce
	{program: "api-fetch.mjs", site: plain, role: "administrator", failing: ofAdministrator},
	{program: "wpapi.mjs", site: fpm, role: "administrator", cookie: true, failing: ofAdministrator},
	{program: "wpapi.mjs", site: fpm, role: "editor", failing: with(ofEditor, "orders", "woocommerce_rest_cannot_view")},
	{ // the library cannot read this index, and falls back on the routes of an old core
		program: "discover.mjs", site: fpm, failing: map[string]string{"a route of a plugin": "Error: namespace wc/v3 is not recognized"},
		locked: map[string]string{"posts": "rest_not_logged_in", "a route of a plugin": "Error: namespace wc/v3 is not recognized"},
	},
}

// TestLibraries: sessions of the libraries that programs use in front of WordPress come out the
// same through the gateway and without it, byte for byte.
func TestLibraries(t *testing.T) {
	s := setUps(t)
	for _, session := range librarySessions {
		t.Run(session.String(), func(t *testing.T) { s.testLibrary(t, session) })
	}
}

func (s *stack) testLibrary(t *testing.T, session librarySession) {
	t.Helper()
	c := count(t)
	recorder := wire.Record(t, nil)
	bare := s.gate(session.site, modeBare)
	recorder.Lead(bare.host())
	given, err := session.given(t.Context(), recorder, bare)
	if err != nil {
		t.Fatal(err)
	}
	dump := s.dump(t, bare.Site)
	if _, err := recorder.Take(); err != nil { // the login
		t.Fatal(err)
	}
	var first []wire.Exchange
	for _, mode := range []string{modeBare, modeDefault, modeLocked} {
		s.restore(t, bare.Site, dump, prepared)
		recorder.Lead(s.gate(session.site, mode).host())
		steps := libraries.Run(t, session.program, "", given)
		exchanges, err := recorder.Take()
		c.check(mode+": recording", err)
		compared, refused := bareRefusals(first, exchanges)
		want := session.failing
		if mode == modeLocked && session.locked != nil {
			want = session.locked
		}
		err = nil
		if got := libraries.Failed(steps); !maps.Equal(got, want) {
			err = fmt.Errorf("failed %v, want %v", got, want)
		}
		c.check(mode+": steps", err)
		switch {
		case mode == modeBare:
			first = exchanges
		case mode == modeDefault || session.locked == nil:
			c.check(fmt.Sprintf("%s: %d answers", mode, len(exchanges)), wire.Compare(compared, exchanges, differing...))
			if want := map[string]int{modeLocked: session.refused}[mode]; refused != want {
				t.Errorf("%s: the gateway refused %d requests, want %d", mode, refused, want)
			}
		}
	}
}

// bareRefusals strips the gateway's own refusals, and what first has for them, of their header
// fields: those of a refusal are the gateway's (docs/operations.md, Refusals), status and body
// the platform's.
func bareRefusals(first, through []wire.Exchange) (stripped []wire.Exchange, refused int) {
	stripped = slices.Clone(first)
	for i := range through {
		if !strings.Contains(through[i].Field("X-Check-Decision"), " refused") {
			continue
		}
		refused++
		through[i] = through[i].Bare()
		if i < len(stripped) {
			stripped[i] = stripped[i].Bare()
		}
	}
	return stripped, refused
}

// given is what a session is told. Who logs in by a cookie does so at the recorder's address,
// which the cookie's name is made of.
func (l librarySession) given(ctx context.Context, r *wire.Recorder, bare *gate) (map[string]any, error) {
	given := map[string]any{"url": r.URL(), "rest": r.URL() + "/wp-json/", "image": dot}
	if bare.Site.Permalinks == "" {
		given["rest"] = r.URL() + "/index.php?rest_route=/"
	}
	if l.role == "administrator" { // an editor who updates orders needs order_type's credential
		given["order"] = bare.Site.Orders[0]
	}
	user, known := bare.Site.Accounts[l.role]
	switch {
	case !known:
	case l.cookie:
		at := *bare
		var err error
		if at.Port, err = strconv.Atoi(machine.Port(r.Address())); err != nil {
			return nil, err
		}
		browser, err := login(ctx, &at, user)
		if err != nil {
			return nil, err
		}
		given["nonce"], given["cookie"] = browser.nonce, strings.TrimPrefix(browser.header[1], "Cookie: ")
	default:
		given["username"], given["password"] = user.Login, user.Application
		given["authorization"] = "Basic " + base64.StdEncoding.EncodeToString([]byte(user.Login+":"+user.Application))
	}
	return given, nil
}

// prepared makes each run begin alike: the must-use plugin takes the dates of posts from the
// option, and there are more tags than one page holds.
const prepared = `
INSERT INTO {prefix}options (option_name, option_value) VALUES ('standin_clock', '2020-02-03 04:05:06');
INSERT INTO {prefix}terms (name, slug) SELECT CONCAT('Tag ', seq), CONCAT('tag-', seq) FROM seq_1_to_120;
INSERT INTO {prefix}term_taxonomy (term_id, taxonomy, description) SELECT term_id, 'post_tag', '' FROM {prefix}terms WHERE slug LIKE 'tag-%';`

// dump keeps a site's database in a file. It is restored at the end of the test, for the others.
// The sessions delete what they upload.
func (s *stack) dump(t *testing.T, site *site) (file string) {
	t.Helper()
	file = filepath.Join(t.TempDir(), "dump.sql")
	out, err := machine.Run(t.Context(), s.dir, nil, "mariadb-dump", "--no-defaults", "--socket="+s.socket,
		"--user=wordpress", "--password=wordpress", "--no-tablespaces", "--result-file="+file, site.database())
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	t.Cleanup(func() { s.restore(t, site, file, "") })
	return file
}

// restore makes a site's database what it was, and changes that by a statement.
func (s *stack) restore(t *testing.T, site *site, file, statement string) {
	t.Helper()
	if _, err := s.sql(context.WithoutCancel(t.Context()), site, "SOURCE "+file+"\n"+statement); err != nil {
		t.Fatal(err)
	}
}
