package main

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	"github.com/restwarden/restwarden/caddymodule/command/terminal"
	"github.com/restwarden/restwarden/cmd/check/testkit/caddyrun"
	"github.com/restwarden/restwarden/cmd/platform/site"
)

// walked runs the demo to the end of its table, and returns what it prints.
func walked(t *testing.T, flags ...string) (string, error) {
	t.Helper()
	var d demo
	if err := d.command().ParseFlags(append([]string{"--once"}, flags...)); err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	err := d.run(t.Context(), &out)
	if _, missing := os.Stat(d.dir); d.dir == "" || !os.IsNotExist(missing) {
		t.Errorf("its directory %q is left behind: %v", d.dir, missing)
	}
	return out.String(), err
}

// TestDemo_Walk: every row is as expected, for every release and both sets of names. The
// counts say how many attacks the bare platform of those releases lets through.
func TestDemo_Walk(t *testing.T) {
	for flags, through := range map[string]int{
		"":                                     15,
		"--platform cms":                       15,
		"--base /blog":                         15,
		"--platform cms --base /shop/de":       15,
		"--release 10.8":                       13,
		"--cookie-plugin 4.4.2":                13,
		"--release 11.1 --cookie-plugin 4.4.2": 9,
		"--release 11.1 --cookie-plugin 4.4.2 --platform cms --base /blog": 9,
	} {
		out, err := walked(t, strings.Fields(flags)...)
		counts := fmt.Sprintf("\nattacks: %d through on the bare platform, 0 behind the gateway; honest calls: 8 and 8\n", through)
		if err != nil || !strings.HasPrefix(out, "ATTACKS ") || !strings.HasSuffix(out, counts) {
			t.Errorf("%q: %v, want%s\n%s", flags, err, counts, out)
		}
		for line := range strings.Lines(out) {
			if width := len([]rune(line)) - 1; width > 120 || flags == "" && width > 110 {
				t.Errorf("%q: %d columns: %s", flags, width, line)
			}
		}
	}
}

// TestDemo_Unexpected: a row that is not as expected stands in the table, and is an error
// that names it.
func TestDemo_Unexpected(t *testing.T) {
	whole := attackTrials
	defer func() { attackTrials = whole }()
	attackTrials = append(whole[:1:1], trial{what: "an attack that gets through", try: honestTrials[0].try})
	out, err := walked(t)
	if err == nil || err.Error() != `demo: not as expected: "an attack that gets through"` {
		t.Error(err)
	}
	if !strings.Contains(out, "\nan attack that gets through       200, the page      200, the page           no REST call  <- not as expected\n") || !strings.Contains(out, "attacks: 2 through on the bare platform, 1 behind the gateway") {
		t.Error(out)
	}
}

// TestDemo_Holes: a hole in the gateway, and a call that it should let pass, are in the
// table. So no row is as expected whatever the gateway does.
func TestDemo_Holes(t *testing.T) {
	noticed := map[string]bool{}
	more := func(line string) [2]string { return [2]string{"login_only", "login_only\n" + line} }
	for want, change := range map[string][2]string{ // the rows that are odd if a line of the Caddyfile is another
		"user names; user names, by ?rest_route=; user names, by ?rest.route=; user names, form overridden to GET": more("allow anyone /wp/v2/users"), // GET alone leaves the override closed
		"user names, at the posts' address":                                      more("call {\nmode observe\n}"),
		"feed plugin, stored secrets":                                            more("allow anyone /feed/troubleshooting\nredact off"),
		"order update of a subscription; the same as part of a batch":            more("order_type off"),
		"computed refund that books 0.00":                                        more("refund_totals off"),
		"checkout after the total changed":                                       more("checkout_total off"),
		"cookie plugin, upload of a file":                                        more("allow anyone POST /cookie/v1/upload-logo"),
		"cookie plugin, unsigned store-auth; cookie plugin, replayed store-auth": more("allow anyone POST /cookie/v1/store-auth"),
		"cookie plugin, replayed store-auth":                                     {"once", ""},
		"agent deletes a product; agent completes order by a detour":             {"abilities {", "abilities {\nmode observe"},
		"a page":                           {"reverse_proxy", "respond / 404\nreverse_proxy"},
		"choice in the consent banner":     {"allow anyone POST /consent/v1/consent", ""},
		"payment notification":             {"allow anyone POST /pay/v1/notify", ""},
		"a post saved in the block editor": more("deny PUT /wp/v2/posts/*"),
		"update of a real order":           more("deny PUT /wc/v3/orders/:id"),
		"checkout at the total on display": more("deny POST /wc/store/v1/checkout"),
		"agent looks for products":         {"allow readonly woocommerce/*", ""},
		"cookie plugin, signed store-auth": more("deny /cookie/v1/store-auth"),
	} {
		if odd := oddRows(t, change[0], change[1]); odd != want {
			t.Errorf("%q in place of %q: %q, want %q", change[1], change[0], odd, want)
		}
		for what := range strings.SplitSeq(want, "; ") {
			noticed[what] = true
		}
	}
	for _, row := range slices.Concat(attackTrials, honestTrials) {
		if !noticed[row.what] {
			t.Errorf("nothing makes the row %q odd", row.what)
		}
	}
}

// oddRows returns the rows that are not as expected with another line in the Caddyfile.
func oddRows(t *testing.T, line, other string) string {
	t.Helper()
	var d demo
	if err := d.command().ParseFlags(nil); err != nil {
		t.Fatal(err)
	}
	d.dir = demoDir(t)
	var platforms [2]*platform
	for i := range platforms {
		p, err := startPlatform(t.Context(), d.options, "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer p.stop()
		platforms[i] = p
	}
	running, err := d.newGateway(t.Context(), platforms[1].address.dial(), platforms[1].Info())
	if err != nil {
		t.Fatal(err)
	}
	if strings.Count(running.caddyfile, "\t"+line) != 1 {
		t.Fatalf("%q begins no line of\n%s", line, running.caddyfile)
	}
	running.caddyfile = string(caddyfile.Format([]byte(strings.Replace(running.caddyfile, "\t"+line, "\t"+other, 1))))
	if err := running.load(); err != nil {
		t.Fatal(err)
	}
	defer caddyrun.Stop(t)
	rows, err := running.compare(t.Context(), platforms[0], platforms[1])
	if err != nil {
		t.Fatal(err)
	}
	var odd []string
	for _, row := range rows {
		if row.odd {
			t.Logf("%q in place of %q, %s: bare %d %s, gateway %d %s", other, line, row.what, row.bare.answer.status, row.bare.answer.body, row.guarded.answer.status, row.guarded.answer.body)
			odd = append(odd, row.what)
		}
	}
	return strings.Join(odd, "; ")
}

// TestTried_Expected: what may not happen in a row.
func TestTried_Expected(t *testing.T) {
	t.Parallel()
	done, not := result{done: true}, result{}
	for name, c := range map[string]struct {
		tried
		want bool
	}{
		"attack, refused":                   {tried{attack: true, bare: done, guarded: not, refused: true}, true},
		"attack, through":                   {tried{attack: true, bare: done, guarded: done}, false},
		"attack, through though refused":    {tried{attack: true, bare: done, guarded: done, refused: true}, false},
		"attack, on neither side":           {tried{attack: true, bare: not, guarded: not, refused: true}, false},
		"attack, not refused":               {tried{attack: true, bare: done, guarded: not}, false},
		"fixed attack, by the platform":     {tried{trial: trial{fixed: []string{"11.1"}}, attack: true, bare: not, guarded: not}, true},
		"fixed attack, by the plugin":       {tried{trial: trial{fixed: []string{"4.4.2"}}, attack: true, bare: not, guarded: not, refused: true}, true},
		"fixed attack, through":             {tried{trial: trial{fixed: []string{"11.1"}}, attack: true, bare: done, guarded: not, refused: true}, false},
		"attack, fixed in another release":  {tried{trial: trial{fixed: []string{"12.0"}}, attack: true, bare: not, guarded: not, refused: true}, false},
		"honest call":                       {tried{bare: done, guarded: done}, true},
		"honest call, refused":              {tried{bare: done, guarded: not, refused: true}, false},
		"honest call, on the bare platform": {tried{bare: not, guarded: done}, false},
	} {
		if got := c.expected(site.Options{Release: "11.1", CookiePlugin: "4.4.2"}); got != c.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}

// tableFile is the table of a default run, and shortFile has some of its lines in a text block.
const (
	tableFile = "testdata/demo.txt"
	shortFile = "../../README.md"
)

// tableBlock matches such a block.
var tableBlock = regexp.MustCompile("(?s)```text\nATTACKS .*?\n```")

// TestDemo_Docs holds the table that is kept, and its lines in the docs, against what the demo prints.
func TestDemo_Docs(t *testing.T) {
	table, err := walked(t)
	if err != nil {
		t.Fatal(err)
	}
	kept, err := os.ReadFile(tableFile)
	if err != nil {
		t.Fatal(err)
	}
	switch {
	case string(kept) == table:
	case *update:
		if err := os.WriteFile(tableFile, []byte(table), 0o600); err != nil {
			t.Fatal(err)
		}
	default:
		t.Errorf("%s is not what the demo prints (run with -update):\n%s", tableFile, table)
	}
	rest, lines := table, strings.Split(strings.TrimSuffix(strings.TrimPrefix(tableIn(t, shortFile), "```text\n"), "\n```"), "\n")
	for _, line := range lines {
		_, after, found := strings.Cut("\n"+rest, "\n"+line+"\n")
		if !found {
			t.Errorf("%s: the demo prints no such line, or not there:\n%s", shortFile, line)
			continue
		}
		rest = after
	}
	if len(lines) < 12 {
		t.Errorf("%s has %d lines of the table", shortFile, len(lines))
	}
}

// tableIn returns the table in a page.
func tableIn(t *testing.T, file string) string {
	t.Helper()
	page, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	tables := tableBlock.FindAllString(string(page), -1)
	if len(tables) != 1 {
		t.Fatalf("%s: %d tables", file, len(tables))
	}
	return tables[0]
}

// TestTable_Plain: what is no terminal gets no colours.
func TestTable_Plain(t *testing.T) {
	t.Parallel()
	if text := tableOf([]*tried{{attack: true}, {}}, terminal.Palette{}); strings.Contains(text, "\x1b") {
		t.Errorf("%q", text)
	}
}
