package policy

import (
	"encoding/json"
	"testing"
	"time"
)

// TestDuration_JSON: durations are read as Caddy reads them, and written as text.
func TestDuration_JSON(t *testing.T) {
	for text, want := range map[string]time.Duration{
		`"5m"`: 5 * time.Minute, `"1d12h"`: 36 * time.Hour, `"1.5d"`: 36 * time.Hour, `"2h1d"`: 26 * time.Hour,
		`10000000000`: 10 * time.Second, `null`: time.Second,
	} {
		d := Duration(time.Second)
		if err := json.Unmarshal([]byte(text), &d); err != nil || time.Duration(d) != want {
			t.Errorf("%s: %v, %v", text, time.Duration(d), err)
		}
	}
	for _, text := range []string{`"x"`, `"70000d"`, `"d"`, `true`, `1.5`} {
		if err := json.Unmarshal([]byte(text), new(Duration)); err == nil {
			t.Errorf("%s: no error", text)
		}
	}
	if text, err := json.Marshal(Duration(90 * time.Second)); err != nil || string(text) != `"1m30s"` {
		t.Errorf("%s, %v", text, err)
	}
}
