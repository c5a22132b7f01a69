package switches

import (
	"encoding/json"
	"reflect"
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
	line := setting{Kind: KindOpen, Site: "a", Line: "POST /a/b", Calls: []Calls{{Methods: []string{"POST"}, Routes: []string{"/a/b"}}}, By: "x", Until: now.Add(time.Hour).UnixMilli(), Set: now.UnixNano()}
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
		if left := s.until().Sub(now); left <= 0 || left > most+time.Hour {
			t.Errorf("lasts %s", left)
		}
		again, _ := json.Marshal(s)
		if same, err := parseSetting(string(again), now); err != nil || !reflect.DeepEqual(same, s) {
			t.Errorf("%+v, %v, want %+v", same, err, s)
		}
	})
}
