package caddymodule

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/restwarden/restwarden/cmd/check/testkit/caddyrun"
	"github.com/restwarden/restwarden/cmd/check/testkit/client"
	"github.com/restwarden/restwarden/cmd/check/testkit/redisrun"
	"github.com/restwarden/restwarden/policies/confirm"
	"github.com/restwarden/restwarden/policies/store"
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
	const one = `{"name":"shop/delete","input_schema":[],"meta":{"annotations":{"destructive":true}}}`
	p := newPlatform(t)
	p.answer = func(w http.ResponseWriter, r *http.Request) bool {
		w.Header().Set("Content-Type", "application/json; charset=UTF-8")
		user, _, _ := r.BasicAuth()
		switch path := strings.TrimPrefix(r.URL.Path, "/wp-json"); {
		case path == "/wp/v2/users/me" && user != "":
			_, _ = fmt.Fprintf(w, `{"id":%d,"roles":["administrator"],"capabilities":{"read":true}}`, len(user))
		case path == "/wp/v2/users/me":
			w.WriteHeader(http.StatusUnauthorized)
			_, _ = io.WriteString(w, `{"code":"rest_not_logged_in","message":"no","data":{"status":401}}`)
		case path == "/" || path == "":
			_, _ = fmt.Fprintf(w, `{"home":"http://%s","url":"http://%s","namespaces":["mcp","wp-abilities/v1"],"routes":{"/mcp/mcp-adapter-default-server":{},"/wp-abilities/v1/abilities/(?P<name>[a-zA-Z0-9\\-\\/]+?)/run":{}}}`, r.Host, r.Host)
		case path == "/wp-abilities/v1/abilities":
			_, _ = io.WriteString(w, "["+one+"]")
		case path == "/wp-abilities/v1/abilities/shop/delete":
			_, _ = io.WriteString(w, one)
		default:
			_, _ = io.WriteString(w, `{"ran":true}`)
		}
		return true
	}
	return p
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
func confirming(t *testing.T, lines string) (*gateway, *platform, chan notice) {
	t.Helper()
	notices := make(chan notice, 100)
	hook := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		var n notice
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
func told(t *testing.T, notices chan notice) notice {
	t.Helper()
	select {
	case n := <-notices:
		return n
	case <-time.After(5 * time.Second):
		t.Fatal("nobody is told")
		return notice{}
	}
}

// run runs shop/delete as the administrator.
func (g *gateway) run() reply { return g.do(runDelete, someInput, asAdmin, asJSON, onShop) }

// waitingAt returns the confirmations that an admin endpoint lists.
func waitingAt(t *testing.T, address string) []confirmationStatus {
	t.Helper()
	var answer struct{ Confirmations []confirmationStatus }
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
	if err != nil || u.Scheme != "https" || u.Host != "shop.example.com:"+g.port() || !strings.HasPrefix(u.Path, confirmPath) {
		g.t.Fatalf("the link is %q, the gateway %s: %v", link, g.addr, err)
	}
	return u.Path
}

// TestConfirm_Page: the owner gets a link, sees what is to run, and decides once. No log,
// metric, status or event has arguments or token.
func TestConfirm_Page(t *testing.T) {
	g, p, notices := confirming(t, "")
	g.run().want(t, 403, "rest_confirmation_required")
	n := told(t, notices)
	page := g.pathOf(n.Link)
	if n.Ability != "shop/delete" || n.Caller != "user 5" || time.Until(n.Expires) <= 0 || n.Site != "shop.example.com" {
		t.Errorf("told %+v", n)
	}
	if all := waitingAt(t, g.file.Admin); len(all) != 1 || all[0].Link != n.Link || all[0].ID != n.Confirmation || !strings.Contains(string(all[0].Arguments), secretWord) {
		t.Errorf("waiting: %+v", all)
	}
	shown := g.do("GET "+page, "", onShop)
	shown.want(t, 200, "&lt;script&gt;alert(1)&lt;/script&gt;")
	if strings.Contains(shown.body, "<script") || !strings.Contains(shown.body, secretWord) || !strings.Contains(shown.body, n.Confirmation) {
		t.Errorf("the page is %s", shown.body)
	}
	checkPageHeaders(t, shown)
	undecided(t, g, page)
	g.run().want(t, 403, n.Confirmation)
	if ran := p.received(); len(ran) != 0 {
		t.Errorf("ran %q", ran)
	}
	g.do("POST "+page, "decision=give", form, onShop).want(t, 200, "Confirmed")
	g.do("POST "+page, "decision=reject", form, onShop).want(t, 404, "used up")
	g.do("GET "+page, "", onShop).want(t, 404, "used up")
	g.do(runDelete, someInput, asCustomer, asJSON, onShop).want(t, 403, "rest_confirmation_required")
	g.do(runDelete, `{"input":{"note":"another"}}`, asAdmin, asJSON, onShop).want(t, 403, "rest_confirmation_required")
	g.run().want(t, 200, `"ran":true`)
	again := g.run()
	again.want(t, 403, "rest_confirmation_required")
	if ran := p.received(); len(ran) != 1 || strings.Contains(again.body, n.Confirmation) {
		t.Errorf("ran %q, then %s", ran, again.body)
	}
	keptQuiet(t, g, page, g.pathOf(told(t, notices).Link))
}

// undecided sends the page what decides nothing.
func undecided(t *testing.T, g *gateway, page string) {
	t.Helper()
	for _, c := range []struct {
		line, body, header string
		status             int
	}{
		{"HEAD " + page, "", "", 200},
		{"GET " + page + "?decision=give", "", "", 200},
		{"POST " + page + "?decision=give", "", form, 400},
		{"POST " + page, "decision=perhaps", form, 400},
		{"POST " + page, "decision=give&decision=reject", form, 400},
		{"POST " + page, "decision=give", "Content-Type: text/plain", 400},
		{"POST " + page, "decision=give&x=" + strings.Repeat("x", maxDecision), form, 400},
		{"PUT " + page, "decision=give", form, 405},
		{"GET " + page + "x", "", "", 404},
		{"POST " + page[:len(page)-1], "decision=give", form, 404},
		{"GET " + confirmPath, "", "", 404},
	} {
		headers := []string{onShop}
		if c.header != "" {
			headers = append(headers, c.header)
		}
		got := g.do(c.line, c.body, headers...)
		if got.status != c.status {
			t.Errorf("%s %.40q: %d, want %d", c.line, c.body, got.status, c.status)
		}
		checkPageHeaders(t, got)
	}
}

// keptQuiet looks for arguments and the tokens of pages wherever the gateway tells of calls.
func keptQuiet(t *testing.T, g *gateway, pages ...string) {
	t.Helper()
	status := g.admin("GET", "sites", "", 200, "") + g.admin("GET", "sites/shop.example.com/refusals", "", 200, "rest_confirmation_required")
	metrics := g.metrics()
	eventually(t, "the decision and other calls are logged", func() bool {
		return strings.Contains(g.logged(), `"confirmation given"`) && strings.Contains(g.logged(), `/shop/delete/run"`)
	})
	for what, text := range map[string]string{"log": g.logged(), "metrics": metrics, "status": status} {
		for _, secret := range append([]string{secretWord, "h00k"}, pages...) {
			if strings.Contains(text, strings.TrimPrefix(secret, confirmPath)) {
				t.Errorf("the %s has %s", what, secret)
			}
		}
	}
	if !strings.Contains(metrics, `code="rest_confirmation_required"`) || strings.Contains(g.logged(), confirmPath) {
		t.Error("no metric of the refusals, or the page is in the access log")
	}
}

func checkPageHeaders(t *testing.T, got reply) {
	t.Helper()
	for name, want := range map[string]string{
		"Cache-Control": "no-store", "Referrer-Policy": "no-referrer", "X-Content-Type-Options": "nosniff", "X-Robots-Tag": "noindex, nofollow",
		"X-Frame-Options": "DENY", "Cross-Origin-Opener-Policy": "same-origin", "Content-Type": "text/html; charset=utf-8",
	} {
		if got.header.Get(name) != want {
			t.Errorf("%s: %q", name, got.header.Get(name))
		}
	}
	csp := got.header.Get("Content-Security-Policy")
	for _, want := range []string{"default-src 'none'", "form-action 'self'", "frame-ancestors 'none'", "base-uri 'none'"} {
		if !strings.Contains(csp, want) {
			t.Errorf("no %s in %s", want, csp)
		}
	}
	if _, style, ok := strings.Cut(got.body, "<style>"); ok {
		style, _, _ = strings.Cut(style, "</style>")
		sum := sha256.Sum256([]byte(style))
		if !strings.Contains(csp, "'sha256-"+base64.StdEncoding.EncodeToString(sum[:])+"'") {
			t.Errorf("the style is not that of %s", csp)
		}
	}
}

// metrics returns what Caddy exports.
func (g *gateway) metrics() string {
	g.t.Helper()
	req, err := client.Request(g.t.Context(), "http://"+g.file.Admin, "GET /metrics", "", client.Lines())
	if err != nil {
		g.t.Fatal(err)
	}
	got, err := client.Do(strangers, req)
	if err != nil {
		g.t.Fatal(err)
	}
	return got.Body
}

// TestConfirm_Door: on a server of tools the refusal is a message. A rejected call stays
// refused.
func TestConfirm_Door(t *testing.T) {
	g, p, notices := confirming(t, "")
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

// TestConfirm_WrongTokens: an address may try a few, and then not even the right one.
func TestConfirm_WrongTokens(t *testing.T) {
	g, _, notices := confirming(t, "")
	g.run().want(t, 403, "rest_confirmation_required")
	page := g.pathOf(told(t, notices).Link)
	for range 2 * wrongTokens.Count { // a right one costs nothing
		g.do("GET "+page, "", onShop).want(t, 200, "Reject")
	}
	for range wrongTokens.Count {
		g.do("GET "+confirmPath+strings.Repeat("A", confirm.TokenLen), "", onShop).want(t, 404, "Not found")
	}
	got := g.do("GET "+page, "", onShop)
	got.want(t, 429, "Too many requests")
	checkPageHeaders(t, got)
	if got.header.Get("Retry-After") == "" {
		t.Error("no Retry-After")
	}
}

// TestConfirm_Admin: what the admin endpoint takes.
func TestConfirm_Admin(t *testing.T) {
	g, _, notices := confirming(t, "\t\t\t\tconfirm_within 1h\n")
	g.run().want(t, 403, "within 60 minutes")
	n := told(t, notices)
	path := "confirmations/" + n.Confirmation
	for body, want := range map[string]string{
		``: "body", `{}`: "give", `{"give":1}`: "give", `{"give":null}`: "give", `{"give":true,"by":"me"}`: "by", `[true]`: "",
		`{"give":true}{}`: "", strings.Repeat(" ", maxAdminBody+1): "",
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

// TestConfirm_NotTold: a hook that fails is one line of the log, without address and link.
func TestConfirm_NotTold(t *testing.T) {
	for name, hook := range map[string]http.HandlerFunc{
		"answers 500":       func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(500) },
		"answers 302":       func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("Location", "/h00k2"); w.WriteHeader(302) },
		"cannot be reached": func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
	} {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewServer(hook)
			t.Cleanup(server.Close)
			g := startGateway(t, confirmingSite(newDeletingShop(t), "\t\t\t\tnotify "+server.URL+"/h00k\n", "shop.example.com"))
			g.run().want(t, 403, "rest_confirmation_required")
			eventually(t, "a warning", func() bool { return strings.Contains(g.logged(), name) })
			if text := g.logged(); strings.Count(text, "nobody could be told") != 1 || strings.Contains(text, "h00k") || strings.Contains(text, confirmPath) {
				t.Errorf("the log has the address or the link: %s", text)
			}
		})
	}
}

// TestConfirm_NoticesEnd: no call waits for a hook that hangs, few notices are under way, and
// none outlives its configuration.
func TestConfirm_NoticesEnd(t *testing.T) {
	stop := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-stop }))
	t.Cleanup(server.Close)
	t.Cleanup(func() { close(stop) })
	p := newDeletingShop(t)
	g := startGateway(t, confirmingSite(p, "\t\t\t\tnotify "+server.URL+"/h00k\n", "shop.example.com"))
	start := time.Now()
	for i := range maxTelling + 2 {
		user := "Authorization: " + basicFor(fmt.Sprintf("user-%d", i/9))
		g.do(runDelete, fmt.Sprintf(`{"input":{"n":%d}}`, i), user, asJSON, onShop).want(t, 403, "rest_confirmation_required")
	}
	if took := time.Since(start); took > tellTimeout {
		t.Errorf("the calls took %s", took)
	}
	if n := strings.Count(g.logged(), errTelling.Error()); n != 2 {
		t.Errorf("%d notices dropped, want 2", n)
	}
	g.load(confirmingSite(p, "", "shop.example.com"))
	eventually(t, "all notices end", func() bool {
		return strings.Count(g.logged(), "the configuration has ended meanwhile") == maxTelling && tellers() == 0
	})
}

// tellers returns how many goroutines send a notice.
func tellers() int {
	stacks := make([]byte, 4<<20)
	return strings.Count(string(stacks[:runtime.Stack(stacks, true)]), "caddymodule.post(")
}

func basicFor(user string) string {
	return "Basic " + base64.StdEncoding.EncodeToString([]byte(user+":pw"))
}

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
	list := command("list", 0, one, two, "pending", "shop/delete", "https://shop.example.com:"+g.port()+confirmPath, "  "+confirmPath)
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
	command("give "+one, 0, "shop.example.com: confirmation "+one+" given")
	command("give "+one, 2, "already decided")
	command("reject "+two, 0, "*.second.example: confirmation "+two+" rejected")
	g.run().want(t, 200, "ran")
	second().want(t, 403, "rejected")
	command("list", 0, "no call waits for a person")
}

// TestConfirm_Gateways: what is given on one gateway passes on the other, once; without Redis
// nothing passes.
func TestConfirm_Gateways(t *testing.T) {
	server := redisrun.Start(t)
	p := newDeletingShop(t)
	shared := "redis " + server.Addr + " {\n\t\t\ttimeout 2s\n\t\t}"
	pair := [2]*process{}
	for i := range pair {
		pair[i] = startProcess(t, shared, confirmingSite(p, "", "shop.example.com"))
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
			page := other[strings.Index(other, confirmPath):]
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

// FuzzDecisionBody: no body decides but an object with the one member give.
func FuzzDecisionBody(f *testing.F) {
	for _, seed := range []string{`{"give":true}`, `{"give":false}`, `{"Give":true}`, `{"give":"true"}`, `{}`, `null`, `{"give":true,"give":false}`, ` {"give" : true } `} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var b decisionBody
		if b.parse([]byte(text)) != nil {
			return
		}
		var members map[string]*bool
		if err := json.Unmarshal([]byte(text), &members); err != nil || b.Give == nil {
			t.Errorf("%q is %v, %v", text, members, err)
		}
	})
}

// FuzzConfirmPath: no path but one that begins as a link does is taken for one, and no token
// but one that was made opens anything.
func FuzzConfirmPath(f *testing.F) {
	memory, err := store.NewMemory()
	if err != nil {
		f.Fatal(err)
	}
	ledger := confirm.NewLedger(memory, "shop")
	made, _, err := ledger.Ask(f.Context(), &confirm.Call{Shop: "s", Caller: "user 7", Runs: "shop/delete"}, time.Hour)
	if err != nil {
		f.Fatal(err)
	}
	token, err := confirm.NewLinks().Token(f.Context(), ledger, made)
	if err != nil {
		f.Fatal(err)
	}
	for _, seed := range []string{token, token + "=", token[1:], "", "/", "..%2f", strings.Repeat("A", confirm.TokenLen), strings.ToLower(token), "\x00"} {
		f.Add(confirmPath + seed)
		f.Add("/blog" + confirmPath + seed)
	}
	s := &site{engine: &engine{}}
	f.Fuzz(func(t *testing.T, path string) {
		r := &http.Request{URL: &url.URL{Path: path}}
		got, ok := s.confirmToken(r)
		if ok != strings.HasPrefix(path, confirmPath) {
			t.Fatalf("%q is a link: %v", path, ok)
		}
		if c, err := ledger.ByToken(t.Context(), got); err == nil && (got != token || c.ID != made.ID) {
			t.Errorf("%q opens %+v", got, c)
		}
	})
}
