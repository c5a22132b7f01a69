package gateway

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/restwarden/restwarden/caddymodule/adminapi"
	"github.com/restwarden/restwarden/caddymodule/confirming"
	"github.com/restwarden/restwarden/cmd/check/testkit/caddyrun"
	"github.com/restwarden/restwarden/policies/confirm"
)

const (
	runDelete  = "POST /wp-json/wp-abilities/v1/abilities/shop/delete/run"
	onShop     = "Host: shop.example.com"
	secretWord = "hush-7f3a"
	someInput  = `{"input":{"note":"` + secretWord + ` <script>alert(1)</script>"}}`
	someTool   = `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"shop-delete","arguments":{"note":"` + secretWord + `"}}}`
)

// newDeletingShop is a platform with one destructive ability, which a server of tools offers.
func newDeletingShop(t *testing.T) *platform {
	t.Helper()
	return newAbilityPlatform(t, "shop/delete", `{"destructive":true}`, func(user string) string {
		if user == "" {
			return ""
		}
		return fmt.Sprintf(`{"id":%d,"roles":["administrator"],"capabilities":{"read":true}}`, len(user))
	}, func(w http.ResponseWriter, _ string) { _, _ = io.WriteString(w, `{"ran":true}`) })
}

// confirmingSite is a site block for hosts, where shop/delete waits for a person.
func confirmingSite(p *platform, lines string, hosts ...string) string {
	var b strings.Builder
	b.WriteString("\tlog\n")
	for i, host := range hosts {
		_, _ = fmt.Fprintf(&b, "\t@h%d host %s\n\thandle @h%d {\n\t\trestwarden wordpress {\n\t\t\tabilities {\n\t\t\t\tconfirm shop/delete\n%s\t\t\t}\n\t\t}\n\t%s\n\t}\n", i, host, i, lines, p.proxied())
	}
	return b.String()
}

// confirming runs a gateway of shop.example.com. Notices go to the channel.
func confirmingGateway(t *testing.T, lines string) (*gateway, *platform, chan confirming.Notice) {
	t.Helper()
	notices := make(chan confirming.Notice, 100)
	hook := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		var n confirming.Notice
		body, _ := io.ReadAll(r.Body)
		if r.Method != http.MethodPost || r.URL.Path != "/h00k" || strings.Contains(string(body), secretWord) || json.Unmarshal(body, &n) != nil {
			t.Errorf("%s %s got %s", r.Method, r.URL, body)
		}
		notices <- n
	}))
	t.Cleanup(hook.Close)
	p := newDeletingShop(t)
	lines += "\t\t\t\tnotify " + hook.URL + "/h00k\n"
	return administered(t, "\tmetrics\n", caddyrun.Site{Body: confirmingSite(p, lines, "shop.example.com")}), p, notices
}

// told returns the next notice.
func told(t *testing.T, notices chan confirming.Notice) confirming.Notice {
	t.Helper()
	select {
	case n := <-notices:
		return n
	case <-time.After(5 * time.Second):
		t.Fatal("nobody is told")
		return confirming.Notice{}
	}
}

// run runs shop/delete as the administrator.
func (g *gateway) run() reply { return g.do(runDelete, someInput, asAdmin, asJSON, onShop) }

// waitingAt returns the confirmations that an admin endpoint lists.
func waitingAt(t *testing.T, address string) []adminapi.Confirmation {
	t.Helper()
	var answer struct{ Confirmations []adminapi.Confirmation }
	status, text := adminOf(t, address, "GET", "confirmations", "")
	if err := json.Unmarshal([]byte(text), &answer); err != nil || status != 200 {
		t.Fatal(status, text, err)
	}
	return answer.Confirmations
}

// pathOf returns the path of a link to the gateway.
func (g *gateway) pathOf(link string) string {
	g.t.Helper()
	u, err := url.Parse(link)
	if err != nil || u.Hostname() != "shop.example.com" || !strings.HasPrefix(u.Path, confirming.Path) {
		g.t.Fatalf("the link is %q, the gateway %s: %v", link, g.addr, err)
	}
	return u.Path
}

// TestConfirm_Door: on a server of tools the refusal is a message. A rejected call stays
// refused.
func TestConfirm_Door(t *testing.T) {
	g, p, notices := confirmingGateway(t, "")
	call := func() reply { return g.do("POST "+agentsDoor, someTool, asAdmin, asJSON, onShop) }
	first := call()
	n := told(t, notices)
	var message struct {
		ID    int
		Error struct {
			Code int
			Data map[string]any
		}
	}
	if err := json.Unmarshal([]byte(first.body), &message); err != nil || first.status != 403 || message.ID != 7 || message.Error.Code != -32008 || message.Error.Data["confirmation"] != n.Confirmation {
		t.Errorf("%d %s, told %+v, %v", first.status, first.body, n, err)
	}
	g.do("POST "+g.pathOf(n.Link), "decision=reject", form, onShop).want(t, 200, "Rejected")
	call().want(t, 403, "rejected")
	if ran := p.received(); len(ran) != 0 {
		t.Errorf("ran %q", ran)
	}
}

// TestConfirm_OfOneCall: a yes is for the call as it was shown, not for one with a query, another
// member or an override. Who is told no keeps the place.
func TestConfirm_OfOneCall(t *testing.T) {
	g, p, notices := confirmingGateway(t, "")
	g.run().want(t, 403, "rest_confirmation_required")
	g.admin("POST", "confirmations/"+told(t, notices).Confirmation, `{"give":true}`, 200, "given")
	for _, other := range []struct{ line, body, header string }{
		{runDelete + "?force=true", someInput, "Accept: */*"},
		{runDelete + "?%69nput[note]=x", someInput, "Accept: */*"},
		{runDelete + "?_method=PUT", someInput, "Accept: */*"},
		{runDelete, strings.TrimSuffix(someInput, "}") + `,"force":true}`, "Accept: */*"},
		{runDelete, strings.Replace(someInput, secretWord, "", 1), "Accept: */*"},
		{runDelete, someInput, "X-HTTP-Method-Override: PUT"},
		{runDelete, someInput, "X-Forwarded-Host: other.example.com"},
	} {
		if got := g.do(other.line, other.body, other.header, asAdmin, asJSON, onShop); got.status != 403 && got.status != 400 {
			t.Errorf("%+v: %d %s", other, got.status, got.body)
		}
	}
	if ran := p.received(); len(ran) != 0 {
		t.Errorf("ran %q", ran)
	}
	g.run().want(t, 200, "ran")
	p.received()
	for _, c := range waitingAt(t, g.file.Admin) {
		g.admin("POST", "confirmations/"+c.ID, `{"give":false}`, 200, "rejected")
	}
	last := reply{status: 403}
	for i := 0; last.status == 403 && i <= confirm.PerCaller; i++ {
		last = g.do(runDelete, fmt.Sprintf(`{"input":%d}`, i), asAdmin, asJSON, onShop)
		for _, c := range waitingAt(t, g.file.Admin) {
			g.admin("POST", "confirmations/"+c.ID, `{"give":false}`, 200, "rejected")
		}
	}
	last.want(t, 429, "rest_too_many_requests")
	if left, err := strconv.Atoi(last.header.Get("Retry-After")); err != nil || left < 1 || left > 900 {
		t.Errorf("Retry-After: %q", last.header["Retry-After"])
	}
}

// TestConfirm_Admin: what the admin endpoint takes.
func TestConfirm_Admin(t *testing.T) {
	g, _, notices := confirmingGateway(t, "\t\t\t\tconfirm_within 1h\n")
	g.run().want(t, 403, "within 60 minutes")
	n := told(t, notices)
	path := "confirmations/" + n.Confirmation
	for body, want := range map[string]string{
		``: "body", `{}`: "give", `{"give":1}`: "give", `{"give":null}`: "give", `{"give":true,"by":"me"}`: "by", `[true]`: "",
		`{"give":true}{}`: "", strings.Repeat(" ", adminapi.MaxBody+1): "",
	} {
		g.admin("POST", path, body, 400, want)
	}
	g.admin("GET", path, "", 405, "POST")
	g.admin("POST", "confirmations", `{"give":true}`, 405, "GET")
	g.admin("POST", "confirmations/NOSUCH", `{"give":true}`, 404, "no such confirmation")
	g.admin("POST", path+"/x", `{"give":true}`, 404, "there is no")
	g.admin("POST", path, `{"give":true}`, 200, `"state":"given"`)
	g.admin("POST", path, `{"give":false}`, 409, "already decided")
	g.do("GET "+g.pathOf(n.Link), "", onShop).want(t, 404, "used up")
	if all := waitingAt(t, g.file.Admin); len(all) != 1 || all[0].State != confirm.Given || all[0].Link != "" {
		t.Errorf("given: %+v", all)
	}
	g.run().want(t, 200, "ran")
}

// TestConfirmations_OfTwoDirectives: one directive of a site confirms and another does not.
func TestConfirmations_OfTwoDirectives(t *testing.T) {
	p := newToolServer(t)
	g := administered(t, "", caddyrun.Site{Body: "\thandle /shop/* {\n\t\trestwarden wordpress\n\t" + p.proxied() + "\n\t}\n" +
		"\thandle {\n\t\trestwarden wordpress {\n\t\t\tabilities {\n\t\t\t\tallow shop/*\n\t\t\t\tconfirm shop/query\n\t\t\t}\n\t\t}\n\t" + p.proxied() + "\n\t}\n"})
	g.do("POST "+agentsDoor, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"shop-query","arguments":{}}}`, asAdmin, jsonBody).
		want(t, 403, "rest_confirmation_required")
	g.admin("GET", "confirmations", "", 200, `"ability":"shop/query"`)
}
