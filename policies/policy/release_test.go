package policy

import (
	"strings"
	"testing"
)

// TestParseRelease: a patch counts as its release; nothing but digits is a release.
func TestParseRelease(t *testing.T) {
	for text, older := range map[string]bool{"10.7": true, "10.7.9": true, "10.8": false, "10.8.0": false, "10.8.1": false, "11.0": false} {
		release, err := ParseRelease(text)
		if err != nil || release.Configured(10, 8) == older {
			t.Errorf("%s: %v, error %v", text, release, err)
		}
	}
	for _, text := range []string{"", "auto"} {
		if release, err := ParseRelease(text); err != nil || release.fixed != 0 {
			t.Errorf("%q: %v, error %v", text, release, err)
		}
	}
	for _, text := range []string{
		"10", "10.", ".8", "0.8", "10.100", "10.8.", "10.8.1.2", "10.8.x", "10.8-1", "10.8.1-rc.2", "10.8.1-rc2", "v10.8", "10.8.-1", "10.8.+1", " 10.8", "10.8.99999",
	} {
		if _, err := ParseRelease(text); err == nil || !strings.Contains(err.Error(), "neither auto nor of the form 10.7") {
			t.Errorf("%q: %v", text, err)
		}
	}
}
