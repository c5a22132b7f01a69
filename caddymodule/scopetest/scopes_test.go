//go:build !race

package scopetest

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	_ "github.com/restwarden/restwarden/caddymodule"
	"github.com/restwarden/restwarden/cmd/check/scopes"
	"github.com/restwarden/restwarden/cmd/check/testkit/caddyrun"
	"github.com/restwarden/restwarden/cmd/check/testkit/client"
	"github.com/restwarden/restwarden/cmd/check/testkit/environment"
	"github.com/restwarden/restwarden/cmd/check/testkit/machine"
	"github.com/restwarden/restwarden/cmd/check/testkit/rawhttp"
)

// setup is a site with the directive.
type setup struct {
	name   string
	base   string // of the addresses that clients write
	home   string // base of the platform
	before string // directives before the gateway
	option string // of the directive
	change func(all []*scopes.Scope) []*scopes.Scope
	locked bool // by a lockdown
}

// setups are the sites that every run tries.
var setups = []setup{
	{name: "plain"},
	{name: "everybody", change: everybody},
	{name: "sub-folder", base: "/blog", home: "/blog", option: "\t\tbase /blog\n"},
	{name: "sub-folder, stripped", base: "/blog", option: "\t\tbase /blog\n", before: "\turi strip_prefix /blog\n"},
	{name: "languages", base: "/de", before: "\turi path_regexp ^/(de|fr)/ /\n"},
	{name: "observed", change: each(func(s *scopes.Scope) { s.Observe = true })},
	{name: "other doors open", change: each(func(s *scopes.Scope) { s.Open = len(s.Users)+len(s.Passwords) > 0 })},
	{name: "lockdown", locked: true},
	{name: "lockdown, observed", locked: true, change: each(func(s *scopes.Scope) { s.Observe = true })},
}

// everybody adds a scope for all that no other one names.
func everybody(all []*scopes.Scope) []*scopes.Scope {
	any := []string{scopes.Any}
	return append(all, &scopes.Scope{Name: "others", Keys: any, Passwords: any, Users: any, Allow: []scopes.Line{
		{Methods: []string{"GET"}, Routes: []string{"/wc/v3/orders/**", "/wp/v2/posts/**", "/wp/v2/users/*"}}, {Routes: []string{"/acme/**", "/wc/store/v1/**"}},
	}})
}

func each(change func(*scopes.Scope)) func([]*scopes.Scope) []*scopes.Scope {
	return func(all []*scopes.Scope) []*scopes.Scope {
		for _, s := range all {
			change(s)
		}
		return all
	}
}

// clients are addresses, in and out of the networks of scopes.
var clients = []string{"203.0.113.7", "203.0.113.207", "198.51.100.7", "2001:db8:1::7", "2001:db8:2::7", "2001:db9::7"}

// usualSeed chooses the requests of every day.
const usualSeed = 1795385575687319281

// usualRequests is how many requests a set-up gets in a usual run.
const usualRequests = 700

func TestScopes(t *testing.T) {
	seed, err := environment.Seed(usualSeed)
	if err != nil {
		t.Fatal(err)
	}
	requests, err := environment.Number("RESTWARDEN_REQUESTS", usualRequests)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("RESTWARDEN_SEED=%d repeats this run", seed)
	for i, s := range setups {
		t.Run(s.name, func(t *testing.T) { s.run(t, seed+uint64(i), int(requests)) })
	}
}

// run starts a site and holds requests against the model.
func (s *setup) run(t *testing.T, seed uint64, requests int) {
	p := newPlatform(t, s.home)
	server := httptest.NewServer(p)
	t.Cleanup(server.Close)
	table := scopes.NewTable(p)
	table.LogIn(p)
	if s.change != nil {
		table.Scopes = s.change(table.Scopes)
	}
	var block strings.Builder
	for _, scope := range table.Scopes {
		block.WriteString(scope.Caddyfile())
	}
	body := fmt.Sprintf("%s\trestwarden wordpress {\n\t\trelease 11.1\n\t\trecommended off\n\t\tcredentials header %s\n%s%s"+
		"\t\tidentity {\n\t\t\trate 1000000/1m\n\t\t}\n\t}\n\treverse_proxy %s\n", s.before, scopes.TokenHeader, s.option, block.String(), server.Listener.Addr())
	f := &caddyrun.File{Admin: machine.FreeAddress(t), Global: caddyrun.TrustLoopback, Sites: []caddyrun.Site{{Body: body}, {Secure: true, Body: "\ttls internal\n" + body}}}
	caddyrun.Start(t, f)
	if s.locked {
		lock(t, f.Admin)
	}
	j := &judge{t: t, setup: s, platform: p, table: table, seed: seed, counts: map[string]int{}}
	j.all(f.Addresses(), requests)
	j.report(requests)
}

// lock closes all sites of the Caddy with an admin endpoint.
func lock(t *testing.T, admin string) {
	t.Helper()
	req, err := client.Request(t.Context(), "http://"+admin, "POST /restwarden/lockdown", `{"for":"1h"}`, client.Header("Content-Type", client.JSON))
	if err != nil {
		t.Fatal(err)
	}
	got, err := client.Do(client.New(), req)
	if err != nil || got.Status != http.StatusOK {
		t.Fatal(got, err)
	}
}

// senders is how many requests are under way at once.
const senders = 4

// judge holds the requests of a set-up against the model.
type judge struct {
	t        *testing.T
	setup    *setup
	platform *platform
	table    *scopes.Table
	seed     uint64

	faults atomic.Int64
	mu     sync.Mutex
	counts map[string]int
}

func (j *judge) all(addresses []string, requests int) {
	var group sync.WaitGroup
	for first := range senders {
		to := newSender(j.t, addresses[0], addresses[1])
		from := &scopes.Generator{Base: j.setup.base, Credentials: j.table.Credentials, Clients: clients, Scopes: j.table.Scopes}
		group.Go(func() {
			for n := first; n < requests && j.faults.Load() < 20; n += senders {
				r := from.Next(rand.New(rand.NewPCG(j.seed, uint64(n))))
				j.one(to, n, r)
			}
		})
	}
	group.Wait()
}

// one sends a request and judges what comes of it.
func (j *judge) one(to *sender, n int, r *scopes.Request) {
	verdict := scopes.Judge(j.table.Scopes, &r.Meaning)
	if j.setup.locked {
		verdict = scopes.Locked(verdict, &r.Meaning)
	}
	answer, protocol, err := to.send(n, &r.Wire)
	arrived := j.platform.take(strconv.Itoa(n))
	if err != nil {
		j.fault(n, r, &verdict, protocol, err.Error())
		return
	}
	if why := j.judged(r, &verdict, &answer, arrived); why != "" {
		j.fault(n, r, &verdict, protocol, why)
	}
	j.count(&verdict, arrived != nil)
	if arrived != nil && hides(r, &verdict) && arrived.answer != string(answer.Body) {
		j.add("answers that a scope changes")
	}
}

func (j *judge) judged(r *scopes.Request, v *scopes.Verdict, answer *rawhttp.Answer, arrived *arrival) string {
	if arrived == nil {
		code := codeOf(answer)
		if r.Method == http.MethodHead && slices.ContainsFunc(v.Codes, func(code string) bool { return statusOf[code] == answer.Status }) {
			return "" // its answer has no body
		}
		own := (answer.Status == http.StatusUnauthorized || answer.Status == http.StatusForbidden) && slices.Contains(v.Codes, scopes.Platform401)
		if !slices.Contains(v.Codes, code) && !own {
			return fmt.Sprintf("refused with %d %s: %.200s", answer.Status, code, answer.Body)
		}
		return ""
	}
	switch {
	case !v.Passes:
		return fmt.Sprintf("reached the platform: %s %s", arrived.method, arrived.target)
	case arrived.times != 1 || arrived.method != r.Method || arrived.body != r.Body:
		return fmt.Sprintf("arrived %d times, as %s %s %q", arrived.times, arrived.method, arrived.target, arrived.body)
	case arrived.status != answer.Status || arrived.kind != "" && arrived.kind != answer.Header.Get("Content-Type"):
		return fmt.Sprintf("answered %d %s, not %d %s", answer.Status, answer.Header.Get("Content-Type"), arrived.status, arrived.kind)
	case r.Method == http.MethodHead:
		return ""
	case r.Door != scopes.REST:
		if arrived.answer != string(answer.Body) {
			return "another page"
		}
		return ""
	}
	return differs(r, v, arrived.answer, string(answer.Body))
}

// statusOf are the statuses of refusals.
var statusOf = map[string]int{
	"rest_credential_scope": http.StatusForbidden, "rest_ambiguous_request": http.StatusBadRequest,
	"rest_policy_unavailable": http.StatusServiceUnavailable, "rest_not_logged_in": http.StatusUnauthorized,
}

// codeOf returns the code of a refusal, at the doors of agents, too.
func codeOf(a *rawhttp.Answer) string {
	code, ok := client.At(string(a.Body), "code").(string)
	if !ok {
		code, _ = client.At(string(a.Body), "error", "data", "code").(string)
	}
	return code
}

func (j *judge) fault(n int, r *scopes.Request, v *scopes.Verdict, protocol, why string) {
	j.faults.Add(1)
	j.t.Errorf("request %d over %s: %s\nthe model: %s, passes %t, %q\ncarries%s\n%s", n, protocol, why, v.Why, v.Passes, v.Codes, r.Note, r.String())
}

func (j *judge) count(v *scopes.Verdict, passed bool) {
	if passed {
		j.add(v.Why + ", passed")
	} else {
		j.add(v.Why + ", refused")
	}
	if v.Either() {
		j.add("either")
	}
}

func (j *judge) add(what string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.counts[what]++
}

// report tells how many requests there were of each kind.
func (j *judge) report(requests int) {
	j.t.Helper()
	var words []string
	for what, n := range j.counts {
		words = append(words, fmt.Sprintf("%6d %s", n, what))
	}
	slices.Sort(words)
	j.t.Logf("of %d requests\n%s", requests, strings.Join(words, "\n"))
	most := requests / 100
	if j.setup.locked { // the platform has to say which credentials count
		most = requests / 4
	}
	if j.counts["inside, passed"] == 0 {
		j.t.Error("nothing was inside of its scope")
	}
	if either := j.counts["either"]; either > most {
		j.t.Errorf("the model leaves two outcomes for %d", either)
	}
	j.t.Attr("checks", strconv.Itoa(requests))
}
