package abilities

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/restwarden/restwarden/policies/ask"
	"github.com/restwarden/restwarden/policies/ask/asktest"
	"github.com/restwarden/restwarden/policies/confirm"
	"github.com/restwarden/restwarden/policies/policy"
	"github.com/restwarden/restwarden/policies/policytest"
	"github.com/restwarden/restwarden/policies/store"
)

// confirming is a site whose policy abilities has these lines.
func confirming(t *testing.T, lines ...policy.Option) (*policy.Site, *Abilities) {
	t.Helper()
	s := policytest.NewSite(t)
	s.Name = "shop.example.com"
	Wait(s, Waiting{Ledger: confirm.NewLedger(s.Store, "shop.example.com"), New: func(*confirm.Confirmation) {}})
	p := new(Abilities)
	policytest.Configure(t, p, policytest.Line("abilities", lines...))
	return s, policytest.Provision(t, s, p)
}

// shopAnswers are what the platform says of abilities, and who is calling.
func shopAnswers() map[string]*ask.Answer {
	one := func(name, annotations string) string {
		return `{"name":"` + name + `","input_schema":[],"meta":{"annotations":` + annotations + `}}`
	}
	abilities := map[string]string{
		"shop/query":  one("shop/query", `{"readonly":true}`),
		"shop/update": one("shop/update", `{"destructive":false}`),
		"shop/odd":    one("shop/odd", `{"destructive":null}`),
		"shop/none":   one("shop/none", `{}`),
		"shop/both":   one("shop/both", `{"readonly":true,"destructive":true}`),
		"shop/delete": one("shop/delete", `{"destructive":true,"idempotent":true}`),
		"shop/erase":  one("shop/erase", `{"destructive":true}`),
	}
	answers, list := map[string]*ask.Answer{}, []string{}
	for id, text := range abilities {
		answers["GET /wp-abilities/v1/abilities/"+id] = asktest.JSON(200, text)
		list = append(list, text)
	}
	answers["GET /wp-abilities/v1/abilities"] = asktest.JSON(200, "["+strings.Join(list, ",")+"]")
	answers["GET /wp/v2/users/me"] = asktest.JSON(200, policytest.AdminBody)
	return answers
}

// agentCall is one call of an agent.
type agentCall struct{ method, target, body string }

func restRun(method, id, input string) agentCall {
	target := "/wp-json/wp-abilities/v1/abilities/" + id + "/run"
	if method == http.MethodPost {
		return agentCall{method, target, `{"input":` + input + `}`}
	}
	return agentCall{method, target + "?" + input, ""}
}

func toolCall(method, name, arguments string) agentCall {
	return agentCall{"POST", policytest.Adapter, `{"jsonrpc":"2.0","id":1,"method":"` + method + `","params":{"name":"` + name + `","arguments":` + arguments + `}}`}
}

func executeAbility(tool, id, parameters string) agentCall {
	return toolCall("tools/call", tool, `{"ability_name":"`+id+`","parameters":`+parameters+`}`)
}

// sent judges a call.
func sent(t *testing.T, s *policy.Site, p *Abilities, c agentCall, headers ...string) policy.Decision {
	t.Helper()
	if headers == nil {
		headers = []string{policytest.BasicAuth}
	}
	if c.body != "" {
		headers = append(headers, policytest.JSONType)
	}
	r := policytest.Request(t, s, asktest.Routed(shopAnswers()), c.method, c.target, c.body, headers...)
	return policytest.Alone("abilities", p).Judge(t.Context(), r)
}

// TestConfirm_Needs: which calls wait for a person, by every way to an ability.
func TestConfirm_Needs(t *testing.T) {
	allow := policytest.Line("allow shop/*")
	tools := policytest.Line("allow tool *")
	const waits = policy.CodeConfirm
	for name, test := range map[string]struct {
		lines []policy.Option
		call  agentCall
		want  policy.Code // "" passes
	}{
		"exact/rest":              {[]policy.Option{allow, policytest.Line("confirm shop/delete")}, restRun("DELETE", "shop/delete", "input[id]=1"), waits},
		"exact/harmless":          {[]policy.Option{allow, policytest.Line("confirm shop/query")}, restRun("GET", "shop/query", "input[id]=1"), waits},
		"exact/execute":           {[]policy.Option{allow, policytest.Line("confirm shop/delete")}, executeAbility("mcp-adapter-execute-ability", "shop/delete", `{}`), waits},
		"exact/tool":              {[]policy.Option{allow, policytest.Line("confirm shop/delete")}, toolCall("tools/call", "shop-delete", `{}`), waits},
		"exact/prompt":            {[]policy.Option{allow, policytest.Line("confirm shop/delete")}, toolCall("prompts/get", "shop-delete", `{}`), waits},
		"exact/alone":             {[]policy.Option{policytest.Line("confirm shop/delete")}, restRun("DELETE", "shop/delete", ""), waits},
		"exact/denied":            {[]policy.Option{policytest.Line("deny shop/delete"), policytest.Line("confirm shop/delete")}, restRun("DELETE", "shop/delete", ""), policy.CodeForbidden},
		"exact/not allowed":       {[]policy.Option{policytest.Line("allow core/*"), policytest.Line("confirm shop/delete")}, restRun("DELETE", "shop/delete", ""), policy.CodeForbidden},
		"exact/other method":      {[]policy.Option{allow, policytest.Line("confirm shop/delete")}, restRun("POST", "shop/delete", "{}"), policy.CodeInvalidParam},
		"exact/described":         {[]policy.Option{allow, policytest.Line("confirm shop/delete")}, executeAbility("mcp-adapter-get-ability-info", "shop/delete", `{}`), ""},
		"exact/listed":            {[]policy.Option{allow, policytest.Line("confirm shop/delete")}, agentCall{"GET", "/wp-json/wp-abilities/v1/abilities", ""}, ""},
		"exact/another":           {[]policy.Option{allow, policytest.Line("confirm shop/delete")}, restRun("POST", "shop/odd", "{}"), ""},
		"unlisted/dashed":         {[]policy.Option{tools, policytest.Line("confirm shop/gone")}, toolCall("tools/call", "shop-gone", `{}`), waits},
		"unlisted/by name":        {[]policy.Option{tools, policytest.Line("confirm plain_tool")}, toolCall("tools/call", "plain_tool", `{}`), waits},
		"unlisted/wildcard":       {[]policy.Option{tools, policytest.Line("confirm plain*")}, toolCall("tools/call", "plain_tool", `{}`), waits},
		"unlisted/executed":       {[]policy.Option{policytest.Line("allow shop/gone"), policytest.Line("confirm shop/*")}, executeAbility("mcp-adapter-execute-ability", "shop/gone", `{}`), waits},
		"unlisted/rest":           {[]policy.Option{allow, policytest.Line("confirm shop/*")}, restRun("POST", "shop/gone", "{}"), waits},
		"wildcard/readonly":       {[]policy.Option{allow, policytest.Line("confirm shop/*")}, restRun("GET", "shop/query", ""), ""},
		"wildcard/not destroying": {[]policy.Option{allow, policytest.Line("confirm shop/*")}, restRun("POST", "shop/update", "{}"), ""},
		"wildcard/null":           {[]policy.Option{allow, policytest.Line("confirm shop/*")}, restRun("POST", "shop/odd", "{}"), waits},
		"wildcard/unsaid":         {[]policy.Option{allow, policytest.Line("confirm shop/*")}, restRun("POST", "shop/none", "{}"), waits},
		"wildcard/says both":      {[]policy.Option{policytest.Line("allow shop/both"), policytest.Line("confirm shop/*")}, restRun("GET", "shop/both", ""), waits},
		"wildcard/names nothing":  {[]policy.Option{allow, policytest.Line("confirm shop/*")}, restRun("DELETE", "shop/delete", ""), policy.CodeForbidden},
		"wildcard/named by allow": {[]policy.Option{policytest.Line("allow shop/delete"), policytest.Line("confirm shop/*")}, restRun("DELETE", "shop/delete", ""), waits},
		"wildcard/tool":           {[]policy.Option{policytest.Line("allow shop/delete"), policytest.Line("confirm shop/*")}, toolCall("tools/call", "shop-delete", `{}`), waits},
		"place/body of DELETE":    {[]policy.Option{policytest.Line("confirm shop/delete")}, agentCall{"DELETE", "/wp-json/wp-abilities/v1/abilities/shop/delete/run", `{"input":{"id":1}}`}, policy.CodeAmbiguous},
		"place/query of POST":     {[]policy.Option{policytest.Line("confirm shop/erase")}, agentCall{"POST", "/wp-json/wp-abilities/v1/abilities/shop/erase/run?input[id]=1", `{}`}, policy.CodeAmbiguous},
		"too long":                {[]policy.Option{policytest.Line("confirm shop/erase")}, restRun("POST", "shop/erase", `"`+strings.Repeat("x", confirm.MaxArguments)+`"`), waits},
	} {
		t.Run(name, func(t *testing.T) {
			s, p := confirming(t, test.lines...)
			d := sent(t, s, p, test.call)
			if d.Verdict.Code != test.want {
				t.Fatalf("got %+v, %v, want %q", d.Verdict, d.Err, test.want)
			}
			list, err := waiting.Of(s).Ledger.List(t.Context())
			if kept := test.want == waits && name != "too long"; err != nil || (len(list) == 1) != kept {
				t.Errorf("%d calls wait, %v", len(list), err)
			}
			if again := sent(t, s, p, test.call); again.Verdict.Message != d.Verdict.Message {
				t.Errorf("again: %s, not %s", again.Verdict.Message, d.Verdict.Message)
			}
		})
	}
}

// TestConfirm_Flow: what the agent is told, and what passes.
func TestConfirm_Flow(t *testing.T) {
	s, p := confirming(t, policytest.Line("confirm shop/erase"), policytest.Line("confirm_within 20m"))
	erase := restRun("POST", "shop/erase", `{"b":1,"a":"x"}`)
	d := sent(t, s, p, erase)
	list, err := waiting.Of(s).Ledger.List(t.Context())
	if err != nil || len(list) != 1 {
		t.Fatal(list, err)
	}
	c := list[0]
	want := "A person must confirm this call of shop/erase: confirmation " + c.ID + ". Repeat exactly the same call once it has been given, within 20 minutes."
	if d.Verdict.Status != 403 || d.Verdict.Message != want || d.Verdict.Data["confirmation"] != c.ID || d.Verdict.Data["expires"] != c.Expires.Format(time.RFC3339) {
		t.Errorf("told %+v", d.Verdict)
	}
	if c.Caller != "user 1" || c.Ability != "shop/erase" || c.Arguments != `{"a":"x","b":1}` {
		t.Errorf("kept %+v", c)
	}
	if _, err := waiting.Of(s).Ledger.Decide(t.Context(), c.ID, true); err != nil {
		t.Fatal(err)
	}
	for name, other := range map[string]agentCall{
		"arguments": restRun("POST", "shop/erase", `{"b":2,"a":"x"}`),
		"type":      restRun("POST", "shop/erase", `{"b":"1","a":"x"}`),
		"query":     {erase.method, erase.target + "?_fields=id", erase.body},
		"member":    {erase.method, erase.target, `{"input":{"b":1,"a":"x"},"more":1}`},
		"door":      executeAbility("mcp-adapter-execute-ability", "shop/erase", `{"b":1,"a":"x"}`),
	} {
		if d := sent(t, s, p, other); d.Verdict.Code != policy.CodeConfirm {
			t.Errorf("given for another call, other %s: %+v", name, d.Verdict)
		}
	}
	reordered := restRun("POST", "shop/erase", `{"a":"x", "b":1}`)
	if d := sent(t, s, p, reordered); d.Outcome != policy.Pass {
		t.Errorf("given, and refused: %+v, %v", d.Verdict, d.Err)
	}
	d = sent(t, s, p, erase)
	if d.Verdict.Code != policy.CodeConfirm || d.Verdict.Data["confirmation"] == c.ID {
		t.Errorf("given once, and used again: %+v", d.Verdict)
	}
	if _, err := waiting.Of(s).Ledger.Decide(t.Context(), d.Verdict.Data["confirmation"].(string), false); err != nil {
		t.Fatal(err)
	}
	if d := sent(t, s, p, erase); d.Verdict.Code != policy.CodeConfirm || !strings.Contains(d.Verdict.Message, "rejected") {
		t.Errorf("rejected: %+v", d.Verdict)
	}
}

// TestConfirm_Whole: a person is shown all of a call but credentials, and confirms no other one.
func TestConfirm_Whole(t *testing.T) {
	message := executeAbility("mcp-adapter-execute-ability", "shop/erase", `{}`)
	more := agentCall{"POST", policytest.Adapter + "?x=1", strings.Replace(message.body, `"parameters":{}`, `"parameters":{},"dry":false`, 1)}
	again := agentCall{"POST", more.target, strings.Replace(strings.Replace(more.body, `"id":1`, `"id":"2"`, 1), `"params":{`, `"params":{"_meta":{"progressToken":9},`, 1)}
	run := agentCall{"DELETE", "/?rest_route=/wp-abilities/v1/abilities/shop/delete/run&input[id]=1&_locale=user&_wpnonce=1", ""}
	for name, test := range map[string]struct {
		call, same agentCall
		beside     string
		others     []agentCall
	}{
		"message": {more, again, `{"body":{"arguments":{"dry":false}},"query":"x=1"}`, []agentCall{message, {more.method, policytest.Adapter, more.body}}},
		"run": {run, agentCall{run.method, strings.Replace(run.target, "_wpnonce=1", "_wpnonce=2", 1), ""}, `{"query":"_locale=user"}`, []agentCall{
			{run.method, run.target + "&_envelope", ""}, {run.method, strings.Replace(run.target, "=user", "=site", 1), ""},
		}},
	} {
		s, p := confirming(t, policytest.Line("confirm shop/erase shop/delete"))
		d := sent(t, s, p, test.call)
		list, err := waiting.Of(s).Ledger.List(t.Context())
		if err != nil || len(list) != 1 || list[0].Beside != test.beside {
			t.Fatalf("%s: %+v, %v, %v", name, list, d, err)
		}
		if _, err := waiting.Of(s).Ledger.Decide(t.Context(), list[0].ID, true); err != nil {
			t.Fatal(err)
		}
		for _, other := range test.others {
			if d := sent(t, s, p, other); d.Verdict.Code != policy.CodeConfirm {
				t.Errorf("%s: given for %+v: %+v", name, other, d.Verdict)
			}
		}
		s.Server = "10.0.0.2:443" // the gateway that listens there
		if d := sent(t, s, p, test.same); d.Outcome != policy.Pass {
			t.Errorf("%s: %+v, %v", name, d.Verdict, d.Err)
		}
	}
}

// TestConfirm_TimeLeft: each answer says how long the confirmation still lasts.
func TestConfirm_TimeLeft(t *testing.T) {
	for left, want := range map[time.Duration]string{
		20*time.Minute - time.Second: "20 minutes", 19 * time.Minute: "19 minutes", 19*time.Minute - 3*time.Second: "18 minutes",
		2 * time.Minute: "2 minutes", 90 * time.Second: "90 seconds", 1500 * time.Millisecond: "1 second", -time.Second: "0 seconds",
	} {
		if got := inWords(left); got != want {
			t.Errorf("%s is %q, want %q", left, got, want)
		}
	}
	synctest.Test(t, func(t *testing.T) {
		s, p := confirming(t, policytest.Line("confirm shop/erase"), policytest.Line("confirm_within 2m5s"))
		for _, want := range []string{"2 minutes", "85 seconds", "45 seconds"} {
			if d := sent(t, s, p, restRun("POST", "shop/erase", `{}`)); !strings.Contains(d.Verdict.Message, "within "+want) {
				t.Errorf("%s, want %s", d.Verdict.Message, want)
			}
			time.Sleep(40 * time.Second)
		}
	})
}

// TestConfirm_KeepsNothing: for whom and when no confirmation is made.
func TestConfirm_KeepsNothing(t *testing.T) {
	erase := restRun("POST", "shop/erase", `{"secret":1}`)
	for name, test := range map[string]struct {
		call    agentCall
		prepare func(*policy.Site, *Abilities, *policy.Request)
		headers []string
		want    int
	}{
		"anonymous, by REST":   {erase, nil, []string{}, 403},
		"anonymous, by a tool": {toolCall("tools/call", "plain", "{}"), nil, []string{}, 403},
		"observed":             {erase, func(_ *policy.Site, _ *Abilities, r *policy.Request) { r.InForce.Mode = policy.Observe }, nil, 403},
		"none are kept":        {erase, func(s *policy.Site, _ *Abilities, _ *policy.Request) { waiting.Keep(s, nil) }, nil, 403},
		"the store fails": {erase, func(s *policy.Site, _ *Abilities, _ *policy.Request) {
			waiting.Of(s).Ledger = confirm.NewLedger(deadStore{s.Store}, s.Name)
		}, nil, 503},
	} {
		t.Run(name, func(t *testing.T) {
			s, p := confirming(t, policytest.Line("allow tool plain"), policytest.Line("allow shop/erase"), policytest.Line("confirm shop/erase plain"))
			ledger := waiting.Of(s).Ledger
			headers := test.headers
			if headers == nil {
				headers = []string{policytest.BasicAuth}
			}
			r := policytest.Request(t, s, asktest.Routed(shopAnswers()), test.call.method, test.call.target, test.call.body, append(headers, policytest.JSONType)...)
			waiting.Of(s).New = func(*confirm.Confirmation) { t.Error("a person is told") }
			if test.prepare != nil {
				test.prepare(s, p, r)
			}
			if d := policytest.Alone("abilities", p).Judge(t.Context(), r); d.Verdict.Status != test.want {
				t.Errorf("got %+v, %v", d.Verdict, d.Err)
			}
			if list, err := ledger.List(t.Context()); err != nil || len(list) > 0 {
				t.Errorf("%d calls wait, %v", len(list), err)
			}
		})
	}
}

// deadStore reads nothing.
type deadStore struct{ store.Store }

func (deadStore) GetAll(context.Context, ...string) (map[string]string, error) {
	return nil, store.ErrFull
}

func TestConfirm_ListsWhatItNames(t *testing.T) {
	s, p := confirming(t, policytest.Line("allow shop/*"), policytest.Line("confirm shop/erase"))
	r := policytest.Request(t, s, nil, "GET", "/wp-json/wp-abilities/v1/abilities", "", policytest.BasicAuth)
	a := shopAnswers()["GET /wp-abilities/v1/abilities"]
	if err := p.Rewrite(r, a); err != nil {
		t.Fatal(err)
	}
	var list []struct{ Name string }
	if err := json.Unmarshal(a.Body, &list); err != nil {
		t.Fatal(err)
	}
	shown := map[string]bool{}
	for _, one := range list {
		shown[one.Name] = true
	}
	if !shown["shop/erase"] || shown["shop/delete"] {
		t.Errorf("shown: %v", shown)
	}
}

// TestConfirm_BadConfiguration: errors name the option, and never the address of notify.
func TestConfirm_BadConfiguration(t *testing.T) {
	for name, test := range map[string]struct {
		p    Abilities
		want string
	}{
		"too short":         {Abilities{Confirm: []ConfirmRule{{Pattern: "a"}}, ConfirmWithin: policy.Duration(time.Second)}, "confirm_within"},
		"too long":          {Abilities{Confirm: []ConfirmRule{{Pattern: "a"}}, ConfirmWithin: policy.Duration(25 * time.Hour)}, "confirm_within"},
		"no confirm":        {Abilities{ConfirmWithin: policy.Duration(time.Hour)}, "add confirm"},
		"notify alone":      {Abilities{Notify: "https://h0st.example/s3cret"}, "add confirm"},
		"no address":        {Abilities{Confirm: []ConfirmRule{{Pattern: "a"}}, Notify: "h0st.example/s3cret"}, "notify"},
		"another scheme":    {Abilities{Confirm: []ConfirmRule{{Pattern: "a"}}, Notify: "file://h0st.example/s3cret"}, "notify"},
		"pattern with ?":    {Abilities{Confirm: []ConfirmRule{{Pattern: "a?"}}}, "cannot be"},
		"pattern of nobody": {Abilities{Confirm: []ConfirmRule{{}}}, "cannot be"},
	} {
		err := policytest.ProvisionError(policytest.NewSite(t), &test.p)
		if err == nil || !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), "s3cret") || strings.Contains(err.Error(), "h0st") {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, o := range []policy.Option{policytest.Line("abilities", policytest.Line("confirm")), policytest.Line("abilities", policytest.Line("confirm a%b")), policytest.Line("abilities", policytest.Line("confirm_within soon")), policytest.Line("abilities", policytest.Line("notify"))} {
		if err := new(Abilities).Configure(o); err == nil || !strings.Contains(err.Error(), "Caddyfile:7") {
			t.Errorf("%+v: %v", o, err)
		}
	}
}

// TestConfirm_TooMany: 429 once the caller has too many calls that wait, until the first of them
// ends. A rejected one keeps its place.
func TestConfirm_TooMany(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, p := confirming(t, policytest.Line("confirm shop/erase"), policytest.Line("confirm_within 10m"))
		for i := range confirm.PerCaller {
			if d := sent(t, s, p, restRun("POST", "shop/erase", strings.Repeat("1", i+1))); d.Verdict.Code != policy.CodeConfirm {
				t.Fatalf("%+v, %v", d.Verdict, d.Err)
			}
			time.Sleep(10 * time.Second)
		}
		list, err := waiting.Of(s).Ledger.List(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := waiting.Of(s).Ledger.Decide(t.Context(), list[0].ID, false); err != nil {
			t.Fatal(err)
		}
		one := restRun("POST", "shop/erase", "0")
		for _, want := range []string{"400", "100"} {
			if d := sent(t, s, p, one); d.Verdict.Status != 429 || d.Verdict.Code != policy.CodeTooMany || d.Verdict.Header.Get("Retry-After") != want {
				t.Errorf("%+v, %v, want %s", d.Verdict, d.Err, want)
			}
			time.Sleep(300 * time.Second)
		}
		if d := sent(t, s, p, one); d.Verdict.Code != policy.CodeConfirm {
			t.Errorf("when the first has ended: %+v, %v", d.Verdict, d.Err)
		}
	})
}
