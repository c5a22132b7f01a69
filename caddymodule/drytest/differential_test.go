//go:build !race

package drytest

import (
	"fmt"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/caddyserver/caddy/v2/caddyconfig"

	"github.com/restwarden/restwarden/caddymodule/dryrun"
	"github.com/restwarden/restwarden/cmd/check/testkit/caddyrun"
	"github.com/restwarden/restwarden/cmd/check/testkit/environment"
	"github.com/restwarden/restwarden/cmd/check/testkit/recordings"
)

// comparison is one configuration in both.
type comparison struct {
	t       *testing.T
	config  config
	mixer   *mixer
	file    string // the Caddyfile
	caddy   *running
	answers []answer // of the running Caddy, by request
}

// siteFiles are files of the platform.
var siteFiles = strings.Fields("index.php style.css wp-login.php wp-cron.php wp-comments-post.php wp-mail.php wp-links-opml.php wp-load.php " +
	"wp-admin/index.php wp-admin/admin-post.php wp-admin/admin-ajax.php wp-admin/async-upload.php")

// write writes the Caddyfile and the files of the site.
func (c *comparison) write() {
	c.t.Helper()
	dir := c.t.TempDir()
	root := filepath.Join(dir, "www")
	c.file = filepath.Join(dir, "Caddyfile")
	files := map[string]string{c.file: withRoots(c.config.caddyfile, root)}
	for _, name := range siteFiles {
		files[filepath.Join(root, name)], files[filepath.Join(root, "blog", name)] = "x", "x"
	}
	for name, text := range files {
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			c.t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			c.t.Fatal(err)
		}
	}
}

func (c *comparison) adapted() []byte {
	c.t.Helper()
	source, err := os.ReadFile(c.file)
	if err != nil {
		c.t.Fatal(err)
	}
	config, _, err := caddyconfig.GetAdapter("caddyfile").Adapt(source, map[string]any{"filename": c.file})
	if err != nil {
		c.t.Fatal(err)
	}
	return config
}

// senders is how many requests are under way at once.
const senders = 4

// finish waits until the gateway of each site has learnt what it learns in the background.
func (c *comparison) finish() {
	c.t.Helper()
	root := plain("GET "+c.mixer.base+"/wp-json/", "")
	for _, at := range c.mixer.hosts {
		c.first(at, root)
	}
}

// first sends a request that is not compared, and waits until the gateway asks nothing.
func (c *comparison) first(at string, raw []byte) {
	c.t.Helper()
	m := c.mixer
	m.addTo(at, "first", raw, "anonymous")
	first := m.made[len(m.made)-1]
	m.made = m.made[:len(m.made)-1]
	if _, err := c.caddy.send(first); err != nil {
		c.t.Fatal(err)
	}
	m.platform.rest(c.t)
}

// send sends all requests to the running Caddy.
func (c *comparison) send() {
	c.answers = make([]answer, len(c.mixer.made))
	var group sync.WaitGroup
	for sender := range senders {
		group.Go(func() {
			for i := sender; i < len(c.mixer.made); i += senders {
				got, err := c.caddy.send(c.mixer.made[i])
				if err != nil {
					c.t.Errorf("%s: %v", c.mixer.made[i].name, err)
				}
				c.answers[i] = got
			}
		})
	}
	group.Wait()
}

// usualSeed chooses the requests of every day; the nightly mode chooses others each time.
const usualSeed = 1795385575687319281

func seed(t *testing.T) uint64 {
	t.Helper()
	seed, err := environment.Seed(usualSeed)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("RESTWARDEN_SEED=%d repeats this run", seed)
	return seed
}

// whole are the configurations that get every recording: those of a sub-folder need a base.
var whole = []string{"base", "php_fastcgi"}

// share is the share of the recordings that every other configuration gets.
const share = 0.004

// prepared returns a comparison whose files are written and whose requests are made.
func prepared(t *testing.T, one config, p *platform, seed uint64, all []*recordings.Recording) *comparison {
	t.Helper()
	for name, value := range map[string]string{
		"COOKIE_PLUGIN_KEY": p.info.Keys.CookiePlugin, "COOKIE_PLUGIN_OLD_KEY": "old", "STRIPE_WEBHOOK_SECRET": "whsec_x", "SHOP_READ_KEY": p.info.Keys.ReadKey, "REDIS_PASSWORD": "x", "CHAT_HOOK": "x",
	} {
		t.Setenv(name, value)
	}
	key, _, _ := strings.Cut(p.info.Keys.ReadWriteKey, ":")
	one.caddyfile = strings.ReplaceAll(one.caddyfile, "KEY\n", key[len(key)-7:]+"\n")
	c := &comparison{t: t, config: one}
	c.write()
	of := share
	if slices.Contains(whole, one.name) {
		of = 1
	}
	c.mixer = mixed(t, &c.config, p, seed, all, of)
	return c
}

// reported are the configurations for which the commands print what they print in JSON.
var reported = []string{"plain", "login_only", "several sites", "Caddyfile.example"}

// TestDryRun_Agrees sends requests through a running Caddy and through a dry run of the
// same configuration. The verdicts are the same.
func TestDryRun_Agrees(t *testing.T) {
	seed, all := seed(t), recordings.Requests(t)
	total, names := map[string]int{}, nameSet{}
	names.all(t)
	configs, ran := slices.Concat(documented(t), written), 0
	for _, one := range configs {
		t.Run(one.name, func(t *testing.T) {
			p := newPlatform(t)
			c := prepared(t, one, p, seed, all)
			c.caddy = startCaddy(t, caddyrun.Binary(t), c.adapted(), p.upstream)
			c.finish()
			var sent sync.WaitGroup
			sent.Go(c.send)
			dried := c.dryRun(p)
			sent.Wait()
			names.running(c.caddy)
			if slices.Contains(reported, one.name) {
				names.switches(c.caddy)
			}
			c.compare(dried, total)
			names.logged(c.caddy)
			if slices.Contains(reported, one.name) {
				names.reports(t, caddyrun.Binary(t), c.file, filepath.Join(c.caddy.dir, "records.log"))
			}
			ran++
		})
	}
	names.hold(t, ran == len(configs))
	t.Logf("of %d requests %d have another verdict in a dry run, %d an unknown one (%.2f%%)", total["all"], total["wrong"], total["unknown"],
		100*float64(total["unknown"])/float64(max(1, total["all"])))
	t.Attr("checks", strconv.Itoa(total["all"]-total["wrong"]-total["unknown"]))
	if total["unknown"]*40 > total["all"] {
		t.Error("more than one in 40 is unknown")
	}
}

// unlessDisputed returns the second run, or the first where the request is refused as ambiguous:
// a cookie needs a nonce, and a form can dispute it, which Basic credentials do not look for. It
// also does so for orders in a batch of the checkout, where a cookie is nobody's to them.
func unlessDisputed(second, first dried) dried {
	if second.err != nil || second.result.Decision == nil {
		return second
	}
	if d := second.result.Decision; d.Code == "rest_ambiguous_request" || d.Policy == "order_type" && d.Status == http.StatusUnauthorized && strings.HasSuffix(d.Code, "cannot_batch") {
		return first
	}
	return second
}

type dried struct {
	result *dryrun.Result
	err    error
}

// dryRun runs all requests through package dryrun.
func (c *comparison) dryRun(p *platform) []dried {
	c.t.Helper()
	loaded, err := dryrun.Load(dryrun.Options{File: c.file, Adapter: "caddyfile"})
	if err != nil {
		c.t.Errorf("a dry run does not load what Caddy runs: %v", err)
		return nil
	}
	defer func() {
		if err := loaded.Close(); err != nil {
			c.t.Error(err)
		}
	}()
	records := p.records()
	run := func(r *request, raw []byte) dried {
		client, _ := netip.ParseAddr(r.client)
		port, _ := strconv.Atoi(r.port)
		result, err := loaded.Run(c.t.Context(), dryrun.Request{
			Raw: raw, Secure: r.secure, Port: port, Client: client, As: c.mixer.callers[r.as].as, Records: records,
		})
		return dried{result, err}
	}
	all := make([]dried, len(c.mixer.made))
	for i, r := range c.mixer.made {
		all[i] = run(r, r.raw)
	}
	for i, r := range c.mixer.made {
		if i%10 == 0 {
			c.again(r, all[i], run(r, r.raw), "once more")
			if !slices.Contains(changing, c.config.name) {
				c.again(r, all[i], unlessDisputed(run(r, r.bare), all[i]), "with the credentials that a dry run adds")
			}
		}
	}
	return all
}

// again holds that a second dry run of r says the same.
func (c *comparison) again(r *request, first, second dried, what string) {
	c.t.Helper()
	if one, two := dry(first.result, first.err), dry(second.result, second.err); one != two {
		c.t.Errorf("%s as %s: %q, and %q %s\n%.600q", r.name, r.as, one, two, what, r.raw)
	}
}

// unknowable are the facts that a dry run may miss: nobody gave them.
var unknowable = []string{"the total of the shopper's cart", "what record ", "what the ability ", "which abilities the site has", "whether the shop is release 11.1"}

// changing are the configurations with a handler behind the gateway that changes questions.
// A dry run does not know how the site answers these. Credentials in another header than
// the caller's may also fare otherwise.
var changing = []string{"headers of the request", "a header is deleted"}

// unknown holds that a dry run misses only what it may.
func (c *comparison) unknown(missing []string) {
	c.t.Helper()
	if slices.Contains(changing, c.config.name) {
		return
	}
	for _, what := range missing {
		if !slices.ContainsFunc(unknowable, func(known string) bool { return strings.HasPrefix(what, known) }) {
			c.t.Errorf("unknown for lack of %q", what)
		}
	}
	if len(missing) == 0 {
		c.t.Error("unknown, and nothing is missing")
	}
}

// shown is how many examples of one difference are shown.
const shown = 2

// compare holds the verdicts of both against each other.
func (c *comparison) compare(all []dried, total map[string]int) {
	lines := c.caddy.stop()
	here, differ := map[dryrun.Answer]int{}, map[string]int{}
	for i, r := range c.mixer.made {
		l, logged := lines[r.client]
		want := seen(r, l, logged, c.answers[i])
		here[want.answer]++
		total["all"]++
		if !logged && !unlogged(c.answers[i].status) {
			c.t.Errorf("%s: %+v, and no line in the log\n%.300q", r.name, c.answers[i], r.raw)
		}
		if all == nil {
			continue
		}
		got := dry(all[i].result, all[i].err)
		if got.answer == dryrun.Unknown {
			if !slices.Contains(changing, c.config.name) {
				total["unknown"]++
			}
			c.unknown(all[i].result.Missing)
			continue
		}
		if want.same(got) {
			continue
		}
		total["wrong"]++
		difference := fmt.Sprintf("the running gateway says %q, a dry run %q", want, got)
		if differ[difference]++; differ[difference] <= shown {
			c.t.Errorf("%s\n%s, %s %s as %s from %s, %v, %q\n%.600q", difference,
				r.name, map[bool]string{true: "https", false: "http"}[r.secure], r.host, r.as, r.client, all[i].err, l.Error, r.raw)
		}
	}
	for difference, n := range differ {
		c.t.Logf("%d times %s", n, difference)
	}
	if c.t.Failed() {
		c.t.Log(c.config.caddyfile)
	}
	c.t.Logf("%d requests: %v", len(c.mixer.made), here)
}
