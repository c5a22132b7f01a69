package testfile

import (
	"bytes"
	"context"
	"encoding/json"
	"encoding/xml"
	"errors"
	"strings"
	"testing"

	"github.com/restwarden/restwarden/caddymodule/command/terminal"
	"github.com/restwarden/restwarden/caddymodule/dryrun"
)

// fake is a Gateway. It answers by the path of a request.
type fake struct {
	spellings []Spelling
	spell     error
	proved    map[string]*Proved // by caller
	prove     error
}

func (f *fake) Run(_ context.Context, r dryrun.Request) (*dryrun.Result, error) {
	refused := func(code, policy, rule, at string) *dryrun.Decision {
		return &dryrun.Decision{Code: code, Policy: policy, Rule: rule, At: at, Why: "Since."}
	}
	line, _, _ := strings.Cut(string(r.Raw), "\r\n")
	_, path, _ := strings.Cut(line, " ")
	path, _, _ = strings.Cut(path, " ")
	switch path {
	case "/pass":
		return &dryrun.Result{Answer: dryrun.Pass, Decided: &dryrun.Rule{Rule: "allow anyone /pass", At: "Caddyfile:3"}}, nil
	case "/refused":
		return &dryrun.Result{Answer: dryrun.Refused, Decision: refused("no", "access", "deny /refused", "Caddyfile:4")}, nil
	case "/ambiguous":
		return &dryrun.Result{Answer: dryrun.Refused, Decision: refused("ambiguous", "call", "call", "")}, nil
	case "/signed":
		return &dryrun.Result{
			Answer: dryrun.Refused, Decision: refused("unsigned", "signature", "signature a", "Caddyfile:9"),
			Policies: []dryrun.Policy{{Name: "access", Verdict: "pass", Rules: []dryrun.Rule{
				{Rule: "deny /x", At: "Caddyfile:4"}, {Rule: "allow signed a /signed", At: "Caddyfile:5", Matched: true},
			}}},
		}, nil
	case "/observed":
		return &dryrun.Result{Answer: dryrun.WouldRefuse, Decision: refused("no", "access", "deny /refused", "Caddyfile:4")}, nil
	case "/page":
		return &dryrun.Result{Answer: dryrun.Page}, nil
	case "/unknown":
		return &dryrun.Result{Answer: dryrun.Unknown, Missing: []string{"what record 1 is (--id 1=order, subscription or none)", "the total (--live asks the site)"}}, nil
	case "/past":
		return &dryrun.Result{Answer: dryrun.NotReached, Missed: &dryrun.Missed{Answered: "respond 200", Matcher: "path /wp-json/*", At: "Caddyfile:2"}}, nil
	}
	return nil, errors.New("no request")
}

func (f *fake) Spell(context.Context, *Request) ([]Spelling, error) { return f.spellings, f.spell }

func (f *fake) Prove(_ context.Context, p *Proof, i int) (*Proved, error) {
	if f.prove != nil {
		return nil, f.prove
	}
	return f.proved[p.Callers[i]], nil
}

func (f *fake) Rules() []dryrun.Rule {
	return []dryrun.Rule{
		{Rule: "allow anyone /pass", At: "Caddyfile:3"},
		{Rule: "deny /refused", At: "Caddyfile:4"},
		{Rule: "allow signed a /signed", At: "Caddyfile:5"},
		{Rule: "allow signed a /signed", At: "Caddyfile:5"},
	}
}

func (f *fake) Addressed(context.Context) ([]dryrun.Home, error) { return nil, nil }

func (f *fake) Unreached(context.Context) ([]dryrun.Unreached, error) { return nil, nil }

func (f *fake) SiteOf(context.Context, dryrun.Request) (string, error) { return "", nil }

func (f *fake) Close() error { return nil }

// run runs the tests of a text.
func run(t *testing.T, g Gateway, text string) *Report {
	t.Helper()
	f, err := Read("a.yaml", strings.NewReader("tests:\n"+text))
	if err != nil {
		t.Fatal(err)
	}
	r := &Runner{Gateway: g}
	outcomes, err := r.Run(t.Context(), f)
	if err != nil {
		t.Fatal(err)
	}
	return NewReport(outcomes, r.Untested())
}

// TestRun: what each expectation takes, and what a failure says.
func TestRun(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"pass,    expect: pass":                               "",
		"page,    expect: page":                               "",
		"page,    expect: pass":                               "expected pass, got page",
		"refused, expect: refused":                            "",
		"refused, expect: {refused: no}":                      "",
		"refused, expect: {refused: no, by: access, at: 4}":   "",
		"refused, expect: {refused: no, at: \"Caddyfile:4\"}": "",
		"refused, expect: {refused: no, at: 14}":              "expected refused (no) at 14, got refused (no) by access (deny /refused at Caddyfile:4): Since.",
		"refused, expect: {refused: no, by: call}":            "expected refused (no) by call, got refused (no) by access",
		"refused, expect: {refused: yes}":                     "expected refused (yes), got refused (no) by access",
		"refused, expect: pass":                               "expected pass, got refused (no) by access (deny /refused at Caddyfile:4): Since.",
		"pass,    expect: refused":                            "expected refused, got pass (allow anyone /pass at Caddyfile:3)",
		"observed, expect: {would_refuse: no}":                "",
		"observed, expect: {refused: no}":                     "got would be refused (no) by access (deny /refused at Caddyfile:4): Since. The site only observes.",
		"observed, expect: pass":                              "expected pass, got would be refused (no)",
		"refused, expect: would_refuse":                       "expected would be refused, got refused (no)",
		"past,    expect: pass":                               "got the gateway is not on the way: answered by respond 200, left out by path /wp-json/*, past the directive at Caddyfile:2",
		"unknown, expect: pass":                               "got cannot be known: it depends on what record 1 is (ids: { 1: order }, subscription or none), and on the total",
		"nothing, expect: pass":                               "got no request: no request",
	} {
		path, rest, _ := strings.Cut(text, ",")
		o := run(t, &fake{}, "- {request: GET http://a/"+path+","+rest+"}\n").Tests[0]
		if passed := o.Status == Passed; passed != (want == "") || !passed && !strings.Contains(o.Message(), want) {
			t.Errorf("%s: %s %s", text, o.Status, o.Message())
		}
	}
}

// TestRun_Spellings: every spelling must be refused by whatever code, or must pass.
func TestRun_Spellings(t *testing.T) {
	t.Parallel()
	spelled := func(path string) []Spelling {
		return []Spelling{{Name: "folded", Raw: []byte("GET /ambiguous \r\n\r\n")}, {Name: "query", Raw: []byte("GET /" + path + " \r\n\r\n\\")}}
	}
	const refused = "- {request: GET https://a:8443/refused, spellings: all, as: user, expect: {refused: no}}\n"
	if r := run(t, &fake{spellings: spelled("ambiguous")}, refused); r.Failed != 0 || r.Tests[0].Requests != 3 {
		t.Errorf("%+v", r.Tests[0])
	}
	r := run(t, &fake{spellings: spelled("pass")}, refused)
	if o := r.Tests[0]; o.Status != Failed || !strings.Contains(o.Message(), "expected refused, got pass (allow anyone /pass at Caddyfile:3), in the spelling query") ||
		o.Explain != `printf %b 'GET /pass \0015\0012\0015\0012\\' | caddy restwarden explain --as user --raw - --port 8443` {
		t.Errorf("%s\n%s", o.Message(), o.Explain)
	}
	const pass = "- {request: GET http://a/pass, spellings: all, expect: pass}\n"
	if o := run(t, &fake{spellings: spelled("pass")}, pass).Tests[0]; o.Status != Failed || o.Spelling != "folded" {
		t.Errorf("%+v", o)
	}
	overrides := spelled("pass")
	overrides[0].Overrides = true
	if o := run(t, &fake{spellings: overrides}, pass).Tests[0]; o.Status != Passed || o.Requests != 2 {
		t.Errorf("a spelling that is two calls: %+v", o)
	}
	for _, f := range []*fake{{}, {spell: errors.New("no site")}} {
		if o := run(t, f, pass).Tests[0]; o.Status != Failed {
			t.Errorf("%+v", o)
		}
	}
}

// TestRun_Proofs: only a run confirms a counter-example, and only certainty proves.
func TestRun_Proofs(t *testing.T) {
	t.Parallel()
	counter := func(paths ...string) (all []Counterexample) {
		for _, path := range paths {
			all = append(all, Counterexample{Method: "POST", URLs: []string{"http://a/page", "http://a/" + path}})
		}
		return all
	}
	for name, test := range map[string]struct {
		proved  *Proved
		prove   error
		word    string
		status  Status
		message string
		also    string
	}{
		"proved":            {proved: &Proved{Holds: true}, word: "never", status: Passed},
		"broken":            {proved: &Proved{Counter: counter("refused", "pass")}, word: "never", status: Failed, message: "got pass as user: POST http://a/pass (allow anyone /pass at Caddyfile:3)"},
		"broken twice":      {proved: &Proved{Counter: counter("pass", "observed")}, word: "never", status: Failed, message: "got pass as user", also: "POST http://a/observed (deny /refused at Caddyfile:4)"},
		"observed":          {proved: &Proved{Counter: counter("observed")}, word: "never", status: Failed, message: "got would be refused"},
		"not confirmed":     {proved: &Proved{Counter: counter("refused", "unknown", "nothing", "past")}, word: "never", status: Unknown, message: "got cannot be proved for user: Some call may break it, but no request that was tried does, so that nobody knows: a test with the request itself says more."},
		"unproved":          {proved: &Proved{Unproved: []string{"Bodies count."}}, word: "never", status: Unknown, message: "Bodies count."},
		"holds, and yet":    {proved: &Proved{Holds: true, Unproved: []string{"Bodies count."}}, word: "never", status: Unknown, message: "Bodies count."},
		"holds and counter": {proved: &Proved{Holds: true, Counter: counter("pass")}, word: "never", status: Failed, message: "got pass"},
		"no proof":          {prove: errors.New("too many cases"), word: "never", status: Unknown, message: "too many cases"},
		"hole":              {prove: &hole{"W03 at Caddyfile:2: odd"}, word: "never", status: Failed, message: "calls reach the site past the rules: W03 at Caddyfile:2: odd"},
		"always proved":     {proved: &Proved{Holds: true}, word: "always", status: Passed},
		"always broken":     {proved: &Proved{Counter: counter("pass", "refused")}, word: "always", status: Failed, message: "expected every call passes, got refused (no) by access as user: POST http://a/refused"},
		"always observed":   {proved: &Proved{Counter: counter("observed")}, word: "always", status: Unknown},
	} {
		f := &fake{proved: map[string]*Proved{"anonymous": {Holds: true}, "user": test.proved}, prove: test.prove}
		r := run(t, f, "- "+test.word+": {as: [anonymous, user], routes: /**, at: http://a}\n")
		if o := r.Tests[0]; o.Status != test.status || !strings.Contains(o.Message(), test.message) {
			t.Errorf("%s: %s %s", name, o.Status, o.Message())
		} else if also := strings.Join(o.Also, ";"); also != test.also {
			t.Errorf("%s: also %s", name, also)
		}
		if want := map[Status]int{Passed: 0, Failed: 1, Unknown: 3}[test.status]; r.Status() != want {
			t.Errorf("%s: exit status %d", name, r.Status())
		}
		if len(r.Untested) != 3 {
			t.Errorf("%s: a proof decides by no rule: %v", name, r.Untested)
		}
	}
}

// TestRun_ProofOfSeveral: what is certain of one caller hides nothing of another.
func TestRun_ProofOfSeveral(t *testing.T) {
	t.Parallel()
	f := &fake{proved: map[string]*Proved{
		"anonymous": {Unproved: []string{"Why."}}, "user": {Holds: true}, "key": {Counter: []Counterexample{{"GET", []string{"http://a/pass"}}}},
	}}
	if o := run(t, f, "- never: {as: [anonymous, user], routes: /**, at: http://a}\n").Tests[0]; o.Status != Unknown {
		t.Errorf("%+v", o)
	}
	if o := run(t, f, "- never: {as: [anonymous, user, key], routes: /**, at: http://a}\n").Tests[0]; o.Status != Failed ||
		o.Curl != "curl -i -u 'ck_…:cs_…' -X GET http://a/pass" || o.Explain != "caddy restwarden explain --as key -X GET http://a/pass" {
		t.Errorf("%+v", o)
	}
}

// TestUntested: a signed rule decides on calls that the policy signature refuses.
func TestUntested(t *testing.T) {
	t.Parallel()
	r := run(t, &fake{}, "- {request: GET http://a/signed, expect: {refused: unsigned}}\n- {request: GET http://a/pass, expect: pass}\n")
	if len(r.Untested) != 1 || r.Untested[0].Rule != "deny /refused" {
		t.Errorf("%+v", r.Untested)
	}
}

// TestFormats: each format tells of the failure, where it stands, and what was not tested.
func TestFormats(t *testing.T) {
	t.Parallel()
	r := run(t, &fake{}, `- {name: "fine", request: GET http://a/pass, expect: pass}
- {name: "a, b: <c>\n::error::\u001b[31m", request: POST http://a/refused, json: {a: "it's"}, ids: {7: order}, from: 203.0.113.7, expect: pass}
`)
	write := func(f func(*bytes.Buffer) error) string {
		var b bytes.Buffer
		if err := f(&b); err != nil {
			t.Error(err)
		}
		return b.String()
	}
	text := write(func(b *bytes.Buffer) error { return r.Text(b, terminal.Palette{}, false) })
	if want := `a.yaml:3: a, b: <c> ::error:: [31m: expected pass, got refused (no) by access (deny /refused at Caddyfile:4): Since.
    curl -i -X POST -H 'Content-Type: application/json' --data-raw '{"a":"it'\''s"}' http://a/refused
    caddy restwarden explain --as anonymous --id 7=order --from 203.0.113.7 -X POST -H 'Content-Type: application/json' --data-raw '{"a":"it'\''s"}' http://a/refused
No test was decided by:
  allow signed a /signed at Caddyfile:5
1 passed, 1 failed
`; text != want {
		t.Error(text)
	}
	verbose := write(func(b *bytes.Buffer) error { return r.Text(b, terminal.Palette{}, true) })
	if want := "a.yaml:2: fine: pass (allow anyone /pass at Caddyfile:3)\n" + text; verbose != want {
		t.Error(verbose)
	}
	github := write(func(b *bytes.Buffer) error { return r.GitHub(b) })
	if lines := strings.Split(github, "\n"); len(lines) != 4 ||
		!strings.HasPrefix(lines[0], "::error file=a.yaml,line=3,title=a%2C b%3A <c>%0A%3A%3Aerror%3A%3A") ||
		!strings.Contains(lines[0], "::expected pass, got refused") || lines[1] != "::notice file=Caddyfile,line=5::No test was decided by: allow signed a /signed" || lines[2] != "1 passed, 1 failed" {
		t.Error(github)
	}
	junit := write(func(b *bytes.Buffer) error { return r.JUnit(b) })
	var read suites
	if err := xml.Unmarshal([]byte(junit), &read); err != nil || read.Tests != 2 || read.Failures != 1 || len(read.Suites) != 1 ||
		read.Suites[0].Cases[0].Failure != nil || read.Suites[0].Cases[1].Line != 3 || !strings.Contains(read.Suites[0].Cases[1].Failure.Message, "Caddyfile:4") {
		t.Errorf("%v\n%s", err, junit)
	}
	var said struct {
		V, Passed, Failed int
		Tests             []Outcome
		Untested          []struct{ Rule, At string }
	}
	text = write(func(b *bytes.Buffer) error { return r.JSON(b) })
	if err := json.Unmarshal([]byte(text), &said); err != nil || said.V != 1 || said.Passed != 1 || said.Failed != 1 || len(said.Tests) != 2 ||
		said.Tests[1].Line != 3 || len(said.Untested) != 1 || said.Untested[0].At != "Caddyfile:5" {
		t.Errorf("%v\n%s", err, text)
	}
}
