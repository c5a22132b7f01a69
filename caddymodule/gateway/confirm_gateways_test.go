package gateway

import (
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/restwarden/restwarden/caddymodule/confirming"
	"github.com/restwarden/restwarden/cmd/check/testkit/caddyrun"
	"github.com/restwarden/restwarden/cmd/check/testkit/redisrun"
)

// TestConfirm_Command runs "caddy restwarden confirmations" against a Caddy with two sites.
func TestConfirm_Command(t *testing.T) {
	p := newDeletingShop(t)
	g := administered(t, "", caddyrun.Site{Body: confirmingSite(p, "", "shop.example.com", "*.second.example")})
	command := func(args string, want int, contains ...string) string {
		t.Helper()
		out, problems, status := (&process{t: t}).command("caddy restwarden confirmations " + args + " --address " + g.file.Admin)
		for _, text := range contains {
			if status != want || !strings.Contains(out+problems, text) {
				t.Errorf("%s: exit status %d, want %d with %s\n%s\n%s", args, status, want, text, out, problems)
			}
		}
		return out
	}
	command("", 0, "no call waits for a person")
	g.run().want(t, 403, "rest_confirmation_required")
	second := func() reply { return g.do(runDelete, someInput, asAdmin, asJSON, "Host: a.second.example") }
	second().want(t, 403, "rest_confirmation_required")
	ids := map[string]string{}
	for _, c := range waitingAt(t, g.file.Admin) {
		ids[c.Site] = c.ID
	}
	one, two := ids["shop.example.com"], ids["*.second.example"]
	if one == "" || two == "" {
		t.Fatalf("waiting: %v", ids)
	}
	list := command("list", 0, one, two, "pending", "shop/delete", "://shop.example.com", "  "+confirming.Path)
	if own := command("list --site *.second.example", 0, two); strings.Contains(own, one) || strings.Contains(list, secretWord) {
		t.Errorf("%s\n%s", own, list)
	}
	command("show "+one, 0, secretWord, "user 5", "shop.example.com")
	command("give NOSUCH", 2, "no call waits with the confirmation NOSUCH")
	command("give "+one+" --site *.second.example", 2, "no call waits")
	command("show", 2, "say which one")
	command("list "+one, 2, "list takes no id")
	command("giv "+one, 2, "give")
	command("give "+one+" "+two, 2, "accepts at most 2 arg")
	command("give "+one+" --operator=", 2, "--operator: the name of an operator is empty")
	command("give "+one+" --operator Anna", 0, "shop.example.com: confirmation "+one+" given")
	if want := `.restwarden.switch","msg":"confirmation given","site":"shop.example.com","confirmation":"` + one + `","by":"admin, 127.0.0.1","operator":"Anna","claimed":true`; !strings.Contains(g.logged(), want) {
		t.Errorf("no %s in the log", want)
	}
	command("give "+one, 2, "already decided")
	command("reject "+two, 0, "*.second.example: confirmation "+two+" rejected")
	g.run().want(t, 200, "ran")
	second().want(t, 403, "rejected")
	command("list", 0, "no call waits for a person")
}

// TestConfirm_Gateways: what is given on one gateway passes on the other, which listens on other
// addresses, once; without Redis nothing passes.
func TestConfirm_Gateways(t *testing.T) {
	server := redisrun.Start(t)
	p := newDeletingShop(t)
	shared := "redis " + server.Addr + " {\n\t\t\ttimeout 2s\n\t\t}"
	pair := [2]*process{}
	for i := range pair {
		alsoAt := "\tbind unix/" + filepath.Join(t.TempDir(), "socket") + "\n"
		pair[i] = startProcess(t, shared, alsoAt+confirmingSite(p, "", "shop.example.com"))
	}
	crowd := func(n int) (statuses map[int]int) {
		statuses = map[int]int{}
		var mu sync.Mutex
		var wg sync.WaitGroup
		for i := range n {
			wg.Go(func() {
				status, _, err := pair[i%2].send(runDelete, someInput, asAdmin, asJSON, onShop)
				mu.Lock()
				defer mu.Unlock()
				if statuses[status]++; err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		return statuses
	}
	for round := range 3 {
		if got := crowd(6); got[403] != 6 {
			t.Fatalf("round %d: %v", round, got)
		}
		all := waitingAt(t, pair[round%2].adminAddress())
		if len(all) != 1 {
			t.Fatalf("waiting: %+v", all)
		}
		if round == 0 {
			other := waitingAt(t, pair[1].adminAddress())[0].Link
			page := other[strings.Index(other, confirming.Path):]
			if status, _, err := pair[0].send("GET "+page, "", onShop); status != 200 || err != nil {
				t.Errorf("the link of the other gateway: %d, %v", status, err)
			}
		}
		if status, text := adminOf(t, pair[round%2].adminAddress(), "POST", "confirmations/"+all[0].ID, `{"give":true}`); status != 200 {
			t.Fatal(status, text)
		}
		if got := crowd(6); got[200] != 1 || got[403] != 5 {
			t.Fatalf("round %d: %v", round, got)
		}
		if ran := p.received(); len(ran) != 1 {
			t.Errorf("round %d ran %q", round, ran)
		}
		left := waitingAt(t, pair[0].adminAddress())
		for _, c := range left { // the repeats that came too late
			if status, text := adminOf(t, pair[1].adminAddress(), "POST", "confirmations/"+c.ID, `{"give":true}`); status != 200 {
				t.Fatal(status, text)
			}
		}
		if got := crowd(1); got[200] != 1 {
			t.Fatalf("round %d, the next: %v", round, got)
		}
		p.received()
	}
	server.Kill()
	if got := crowd(4); got[503] != 4 {
		t.Errorf("without Redis: %v", got)
	}
	if ran := p.received(); len(ran) != 0 {
		t.Errorf("without Redis ran %q", ran)
	}
}
