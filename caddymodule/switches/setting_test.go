package switches

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/restwarden/restwarden/caddymodule/adminapi"
)

// FuzzSetting: whatever another gateway sends, a setting is in the bounds of what set
// makes, and is written as it is read.
func FuzzSetting(f *testing.F) {
	now := time.UnixMilli(1_800_000_000_000)
	good := setting{Kind: kindLockdown, Until: now.Add(time.Hour).UnixMilli(), Set: now.UnixNano()}
	text, _ := json.Marshal(good)
	f.Add(string(text))
	f.Add(strings.Replace(string(text), "lockdown", "mode", 1))
	f.Add(`{"kind":"mode","site":"a","mode":"observe","until":1800000001000,"set":1}`)
	f.Add("7f all")
	f.Add(`{"kind":"lockdown","by":"x, claimed operator \"a\u001bb\"","until":1800000001000,"set":1}`)
	line := setting{Kind: KindOpen, Site: "a", Line: "POST /a/b", Calls: []Calls{{Methods: []string{"POST"}, Routes: []string{"/a/b"}}}, By: adminapi.By{Address: "x", Operator: "anna", Claimed: true}.Text(), Until: now.Add(time.Hour).UnixMilli(), Set: now.UnixNano()}
	text, _ = json.Marshal(line)
	f.Add(string(text))
	line.Kind, line.Until = KindClose, 0
	text, _ = json.Marshal(line)
	f.Add(string(text))
	f.Fuzz(func(t *testing.T, text string) {
		s, err := parseSetting(text, now)
		if err != nil {
			return
		}
		most := adminapi.MaxSwitched
		if s.Kind == KindClose {
			most = forever
		}
		if by := adminapi.ParseBy(s.By); by.Operator != "" && adminapi.CheckOperator(by.Operator) != nil || by.Text() != s.By {
			t.Errorf("set by %q", s.By)
		}
		if left := s.left(now); left <= 0 || left > most+time.Hour {
			t.Errorf("lasts %s", left)
		}
		again, _ := json.Marshal(s)
		if same, err := parseSetting(string(again), now); err != nil || !reflect.DeepEqual(same, s) {
			t.Errorf("%+v, %v, want %+v", same, err, s)
		}
	})
}

// TestSetting_Says: a line of another gateway switches what it says, and no more than a line of this one may.
func TestSetting_Says(t *testing.T) {
	now := time.UnixMilli(1_800_000_000_000)
	for line, want := range map[string]bool{
		`"kind":"open","line":"POST /x","calls":[{"methods":["POST"],"routes":["/x"]}]`:                                true,
		`"kind":"open","line":"POST /x","calls":[{"routes":["/x"]}]`:                                                   false,
		`"kind":"open","line":"/x","calls":[{"routes":["/x","/**"]}]`:                                                  false,
		`"kind":"open","line":"/x","calls":[{"routes":["/x"]},{"routes":["/y"]}]`:                                      false,
		`"kind":"open","line":"/**","calls":[{"routes":["/**"]}]`:                                                      false,
		`"kind":"close","line":"/**","calls":[{"routes":["/**"]}]`:                                                     true,
		`"kind":"open","line":"/x\u001b","calls":[{"routes":["/x\u001b"]}]`:                                            false,
		`"kind":"open","line":"plugin a-b","calls":[{"methods":["POST"],"routes":["/a/**"]},{"routes":["/b/v1/:id"]}]`: true,
		`"kind":"open","line":"plugin a-b","calls":[{"routes":["/*/**"]}]`:                                             false,
		`"kind":"open","line":"plugin a\nb","calls":[{"routes":["/a/**"]}]`:                                            false,
		`"kind":"close","line":"plugin a","calls":[{"routes":["/a/**"]}]`:                                              false,
	} {
		_, err := parseSetting(`{`+line+`,"site":"a","until":1800000001000,"set":1}`, now)
		if (err == nil) != want {
			t.Errorf("%s: %v", line, err)
		}
	}
}

// TestReadSettings_Garbage: what is none is told in one short line, however much there is, and what is longer than any value is not read.
func TestReadSettings_Garbage(t *testing.T) {
	now := func(*setting) time.Time { return time.UnixMilli(1_800_000_000_000) }
	good := `{"kind":"close","site":"a","line":"/a/b","calls":[{"routes":["/a/b"]}],"set":1799999999000000000}`
	text := `[` + strings.Repeat(`"\n\u001b",`, 1000) + good + `]`
	all, err := readSettings(text, now)
	if len(all) != 1 || err == nil || len(err.Error()) > 300 || !strings.Contains(err.Error(), "and 999 more") || strings.ContainsAny(err.Error(), "\n\x1b") {
		t.Errorf("%v, %v", all, err)
	}
	long := `[` + strings.Repeat(" ", maxStored) + `]`
	if all := settingsIn(long, kindLines); all != nil {
		t.Errorf("%v", all)
	}
}

// TestSetting_Members: gateways of other releases refuse a setting with a member that they do not know, so that there is no new one.
func TestSetting_Members(t *testing.T) {
	want := []string{"by", "calls", "hard", "kind", "line", "mode", "off", "set", "site", "until"}
	var got []string
	for _, f := range reflect.VisibleFields(reflect.TypeFor[setting]()) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		got = append(got, name)
	}
	if slices.Sort(got); !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	longest := adminapi.By{Address: "admin, " + strings.Repeat("f", 39), Operator: strings.Repeat("a", adminapi.MaxOperator), Claimed: true}
	if n := len(longest.Text()); n > maxBy {
		t.Errorf("%d bytes", n)
	}
}
