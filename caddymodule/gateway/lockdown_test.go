package gateway

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/restwarden/restwarden/cmd/check/testkit/caddyrun"
	"github.com/restwarden/restwarden/cmd/check/testkit/redisrun"
	"github.com/restwarden/restwarden/cmd/check/testkit/wait"
)

// TestLockdown_ThousandSites: one operation of the store locks all sites, in under a
// second, without a reload.
func TestLockdown_ThousandSites(t *testing.T) {
	const sites = 1000
	redis := redisrun.Start(t)
	p := newPlatform(t)
	var body strings.Builder
	for i := range sites {
		fmt.Fprintf(&body, "\t@s%d host shop-%d.example\n\thandle @s%d {\n\t\trestwarden cms {\n\t\t\tmode observe\n\t\t}\n\t%s\n\t}\n", i, i, i, p.proxied())
	}
	g := administered(t, "\trestwarden {\n\t\tstore redis "+redis.Addr+" {\n\t\t\ttimeout 2s\n\t\t}\n\t}\n", caddyrun.Site{Body: body.String()})
	get := func(i int) reply {
		return g.do("GET /cms-json/cms/v2/posts", "", fmt.Sprintf("Host: shop-%d.example", i))
	}
	for _, i := range []int{0, sites - 1} {
		get(i).want(t, 200, "")
	}
	if n := len(current.Load().sites()); n != sites {
		t.Fatalf("%d sites", n)
	}
	wait.For(t, 5*time.Second, "the link to the store", func() bool { return current.Load().shared.Secret() != nil })
	admin := redis.Admin()
	commands := func() int64 {
		var n int64
		for line := range strings.Lines(admin.Info(t.Context(), "stats").Val()) {
			_, _ = fmt.Sscanf(line, "total_commands_processed:%d", &n)
		}
		return n
	}
	time.Sleep(500 * time.Millisecond) // for what the gateway reads when it starts
	before, start := commands(), time.Now()
	g.admin("POST", "lockdown", `{"for":"1h"}`, 200, `"gateways":"all"`)
	took := time.Since(start)
	if n := commands() - before; n > 10 {
		t.Errorf("%d commands of Redis", n)
	}
	for _, i := range []int{0, 1, sites / 2, sites - 1} {
		get(i).want(t, 401, "rest_not_logged_in")
	}
	t.Logf("%d sites locked after %s, four of them seen closed after %s", sites, took, time.Since(start))
	if took > time.Second {
		t.Errorf("it took %s", took)
	}
	locked := 0
	for _, of := range current.Load().scraped {
		if of.Locked {
			locked++
		}
	}
	if locked < sites {
		t.Errorf("the metrics say it of %d sites", locked)
	}
	g.admin("POST", "lockdown", `{"for":"0s"}`, 200, `"lockdown":null`)
	get(7).want(t, 200, "")
}

// TestGateways_Switches: what is switched on one gateway counts on the other within a
// second, on one that starts later, and after an outage of Redis.
func TestGateways_Switches(t *testing.T) {
	redis, p := redisrun.Start(t), newPlatform(t)
	store := "redis " + redis.Addr + " {\n\t\t\ttimeout 2s\n\t\t}"
	var block strings.Builder
	for _, host := range []string{"a.example", "b.example"} {
		fmt.Fprintf(&block, "\t@%s host %s\n\thandle @%s {\n\t\trestwarden cms\n\t%s\n\t}\n", host, host, host, p.proxied())
	}
	first, second := startProcess(t, store, block.String()), startProcess(t, store, block.String())
	answers := func(g *process, host string, status int) bool {
		got, _, err := g.send(getPosts, "", "Host: "+host)
		return err == nil && got == status
	}
	within := func(what string, limit time.Duration, g *process, host string, status int) {
		t.Helper()
		start := time.Now()
		wait.For(t, limit, what, func() bool { return answers(g, host, status) })
		t.Logf("%s: after %s", what, time.Since(start))
	}
	admin := func(g *process, path, body, contains string) {
		t.Helper()
		if status, text := adminOf(t, g.adminAddress(), "POST", path, body); status != 200 || !strings.Contains(text, contains) {
			t.Errorf("%s %s: %d %s, want %s", path, body, status, text, contains)
		}
	}
	within("open", 5*time.Second, first, "a.example", 200)
	within("open", 5*time.Second, second, "a.example", 200)
	time.Sleep(300 * time.Millisecond) // both connect

	admin(first, "lockdown", `{"for":"1h","site":"a.example"}`, `"gateways":"all"`)
	within("one site on the other", time.Second, second, "a.example", 401)
	within("another site on the other", time.Second, second, "b.example", 200)
	admin(second, "lockdown", `{"for":"1h"}`, `"sites":2`)
	within("all sites on the other", time.Second, first, "b.example", 401)
	second.stop()
	second.Start()
	within("all sites on one that starts later", time.Second, second, "b.example", 401)
	admin(second, "lockdown", `{"for":"0s"}`, `"sites":1`)
	within("the end on the other", time.Second, first, "b.example", 200)
	within("the site's own lockdown", time.Second, first, "a.example", 401)
	admin(first, "lockdown", `{"for":"0s","site":"a.example"}`, `"sites":0`)
	within("the end of that", time.Second, second, "a.example", 200)

	admin(second, "sites/a.example/mode", `{"mode":"observe","for":"1h"}`, `"gateways":"all"`)
	wait.For(t, time.Second, "the mode on the other", func() bool {
		_, text := adminOf(t, first.adminAddress(), "GET", "sites", "")
		return strings.Contains(text, `"site":"a.example","platform":"cms","mode":"observe"`)
	})

	redis.Kill()
	admin(first, "lockdown", `{"for":"1h"}`, `"gateways":"this one","error":"the other gateways could not be told`)
	within("here without Redis", time.Second, first, "b.example", 401)
	within("not there", time.Second, second, "b.example", 200)
	redis.Start()
	within("there once Redis is back", 10*time.Second, second, "b.example", 401)
}
