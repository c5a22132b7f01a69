package wordpress

import (
	"encoding/base64"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/restwarden/restwarden/caddymodule/command/rawrequest"
	"github.com/restwarden/restwarden/policies"
	"github.com/restwarden/restwarden/policies/call"
	"github.com/restwarden/restwarden/policies/call/platforms"
)

var testSite = &site{
	Name: "test", Orders: []int{101, 102}, Subscriptions: []int{201, 202},
	Accounts: map[string]account{
		"shop_manager": {Login: "m", Application: "p"}, "editor": {Login: "e", Application: "p"},
		"author": {Login: "a", Application: "p"}, "subscriber": {Login: "s", Application: "p"},
	},
}

func rendered(t *testing.T, seed uint64, n int) []string {
	t.Helper()
	g, at := newGenerator(rand.New(rand.NewPCG(seed, 0)), testSite), &gate{Site: testSite, Port: 1}
	var all []string
	for range n {
		all = append(all, string(g.next().render(at, "tag")))
	}
	return all
}

// A printed seed is worth nothing unless it makes the same requests again.
func TestGeneratorIsDeterministic(t *testing.T) {
	first, second := rendered(t, 7, 500), rendered(t, 7, 500)
	for i := range first {
		if first[i] != second[i] {
			t.Fatalf("request %d: %q, then %q", i, first[i], second[i])
		}
	}
	if strings.Join(first, "") == strings.Join(rendered(t, 8, 500), "") {
		t.Error("another seed makes the same requests")
	}
}

// A differential of requests that are all refused, or all pages, proves nothing.
func TestGeneratorMakesAllKinds(t *testing.T) {
	platform, _ := platforms.ByName("wordpress")
	reader := policies.NewReader(call.Config{Platform: platform})
	counts, reasons := map[call.Kind]int{}, map[string]bool{}
	for _, raw := range rendered(t, 1, 3000) {
		c := rawrequest.Read(reader, []byte(raw))
		counts[c.Kind]++
		if c.Refusal != nil {
			reasons[c.Refusal.Reason] = true
		}
		c.Close()
	}
	for _, kind := range []call.Kind{call.Page, call.Single, call.Batch, call.Refused} {
		if counts[kind] < 100 {
			t.Errorf("%d of 3000 are a %s", counts[kind], kind)
		}
	}
	if len(reasons) < 10 {
		t.Errorf("refused for only %d reasons: %v", len(reasons), reasons)
	}
}

func TestRender(t *testing.T) {
	at := &gate{Site: &site{Base: "/blog", Accounts: testSite.Accounts}, Port: 8080}
	m := message{method: "PUT", target: "/wp-json/x", headers: []string{"A: b"}, body: "{}", as: "editor"}
	want := "PUT /blog/wp-json/x HTTP/1.1\r\nHost: 127.0.0.1:8080\r\nX-Request-Tag: t-1\r\nConnection: close\r\n" +
		"Authorization: Basic " + base64.StdEncoding.EncodeToString([]byte("e:p")) + "\r\nA: b\r\nContent-Length: 2\r\n\r\n{}"
	if got := string(m.render(at, "t-1")); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
