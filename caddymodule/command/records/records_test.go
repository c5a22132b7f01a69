package records_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/restwarden/restwarden/caddymodule/command/records"
	"github.com/restwarden/restwarden/caddymodule/record"
	"github.com/restwarden/restwarden/policies/policy"
)

const (
	refused = `{"level":"info","ts":1767225600.5,"logger":"http.handlers.restwarden","msg":"request refused","v":1,"request_id":"a","site":"shop.example.com","host":"shop.example.com","base":"","policy":"access","code":"rest_not_logged_in","outcome":"refused","rule":"login_only","at":"Caddyfile:3","from":"page","why":"w","method":"POST","form":"pretty","route":"/x/v1/y","client_ip":"203.0.113.7","caller":"anonymous"}`
	access  = `{"level":"info","msg":"handled request","request_id":"a","v":"text","uuid":"a"}`
	newer   = `{"v":2,"request_id":"a","policy":"access"}`
)

func TestFind(t *testing.T) {
	t.Parallel()
	other := strings.Replace(refused, `"request_id":"a"`, `"request_id":"b"`, 1)
	for name, c := range map[string]struct {
		log    string
		found  int
		counts records.Counts
	}{
		"nothing":       {"", 0, records.Counts{}},
		"one":           {refused, 1, records.Counts{Lines: 1, Records: 1}},
		"two parts":     {refused + "\n" + other + "\r\n" + refused + "\n", 2, records.Counts{Lines: 3, Records: 3}},
		"other lines":   {access + "\n\n \n" + refused, 1, records.Counts{Lines: 2, Records: 1}},
		"no JSON":       {"2026/01/01 INFO x {\"v\": 1}\n" + refused + "\n[]\n\"x\"\n{", 1, records.Counts{Lines: 5, NoJSON: 4, Records: 1}},
		"newer":         {newer + "\n" + refused, 1, records.Counts{Lines: 2, Newer: 1, Records: 1}},
		"no policy":     {strings.Replace(refused, `"policy":"access"`, `"policy":""`, 1), 1, records.Counts{Lines: 1, Records: 1}}, // the gateway itself could not hold an answer
		"another id":    {other, 0, records.Counts{Lines: 1, Records: 1}},
		"broken fields": {`{"v":1,"request_id":"a","policy":"access","parts":"x"}`, 0, records.Counts{Lines: 1}},
	} {
		found, counts, err := records.Find(strings.NewReader(c.log), "a")
		if len(found) != c.found || counts != c.counts || err != nil {
			t.Errorf("%s: %d found, %+v, %v; want %d, %+v", name, len(found), counts, err, c.found, c.counts)
		}
	}
	found, _, _ := records.Find(strings.NewReader(refused), "a")
	if r := found[0]; r.Site != "shop.example.com" || r.Rule != "login_only" || r.At != "Caddyfile:3" || string(r.Time) != "1767225600.5" {
		t.Errorf("%+v", r)
	}
}

func TestNotFound(t *testing.T) {
	t.Parallel()
	const want = `no record has the request id "c"; lines read: 9, of them records: 3, no JSON (skipped): 2, records of another version (skipped): 1`
	if got := (records.Counts{Lines: 9, Records: 3, NoJSON: 2, Newer: 1}).NotFound("c").Error(); got != want {
		t.Error(got)
	}
}

// FuzzFind: every line that is not blank is counted once, whatever stands in it.
func FuzzFind(f *testing.F) {
	for _, seed := range []string{refused, access, newer, "x\n" + refused, "{}\n[]\nnull\n1", `{"v":1,"request_id":"a","policy":null}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, log []byte) {
		found, n, err := records.Find(bytes.NewReader(log), "a")
		if err != nil {
			t.Fatal(err)
		}
		lines := 0
		for line := range bytes.Lines(log) {
			if len(bytes.TrimSpace(line)) > 0 {
				lines++
			}
		}
		if n.Lines != lines || len(found) > n.Records || n.Records+n.NoJSON+n.Newer > n.Lines {
			t.Errorf("%d lines, %+v, %d found", lines, n, len(found))
		}
		for _, r := range found {
			if r.RequestID != "a" || r.Version != record.Version {
				t.Errorf("%+v", r)
			}
		}
	})
}

// TestRecord_RuleOrigin: the record's own word counts. Without it the text of the rule does.
func TestRecord_RuleOrigin(t *testing.T) {
	t.Parallel()
	old := func(rule string) string {
		return strings.Replace(refused, `"rule":"login_only"`, `"rule":"`+rule+`"`, 1)
	}
	for line, want := range map[string]policy.Origin{
		refused:                               policy.OriginDefault,
		old("built-in: only users /batch/v1"): policy.OriginBuiltIn,
		old("plugin woocommerce"):             policy.OriginPlugin,
		old("deny plugin woocommerce"):        policy.OriginPlugin,
		old("allow users /x/v1/y"):            "",
		strings.Replace(old("anything"), `"at":`, `"origin":"built-in","at":`, 1):         policy.OriginBuiltIn,
		strings.Replace(old("plugin woocommerce"), `"at":`, `"origin":"own","at":`, 1):    policy.OriginOwn,
		strings.Replace(refused, `"policy":"access"`, `"policy":"rate_limit"`, 1):         "",
		strings.Replace(old("deny plugin x"), `"policy":"access"`, `"policy":"other"`, 1): "",
	} {
		found, _, err := records.Find(strings.NewReader(line), "a")
		if err != nil || len(found) != 1 || found[0].RuleOrigin() != want {
			t.Errorf("%s: %+v, %v; want %q", line, found, err, want)
		}
	}
}

func TestTimeOf(t *testing.T) {
	t.Parallel()
	for _, ts := range []string{
		`1767225600`, `1767225600.0`, `1767225600000`, `1767225600000000000`, `"2026-01-01T00:00:00Z"`, `"2026-01-01T00:00:00.000Z"`, `"2026-01-01T01:00:00.000+0100"`,
		`"2026/01/01 00:00:00"`, `"2026/01/01 00:00:00.000"`, `"01/Jan/2026:00:00:00 +0000"`,
	} {
		if at, ok := records.TimeOf(json.RawMessage(ts)); !ok || at.Unix() != 1767225600 {
			t.Errorf("%s: %v %v", ts, at, ok)
		}
	}
	for _, ts := range []string{``, `0`, `-1`, `1e300`, `"yesterday"`, `{}`, `null`} {
		if at, ok := records.TimeOf(json.RawMessage(ts)); ok {
			t.Errorf("%s: %v", ts, at)
		}
	}
}
