//go:build wordpress

package wordpress

import (
	"bytes"
	"encoding/json"
	"image/jpeg"
	"os"
	"path/filepath"
	"testing"
)

func TestSamplePath(t *testing.T) {
	for pattern, want := range map[string]string{
		"/":                          "/",
		"/wp/v2/posts":               "/wp/v2/posts",
		`/wp/v2/posts/(?P<id>[\d]+)`: "/wp/v2/posts/101",
		`/wc/v3/orders/(?P<order_id>[\d]+)/notes/(?P<id>[\d]+)`:                 "/wc/v3/orders/101/notes/101",
		`/wp/v2/users/(?P<user_id>(?:[\d]+|me))/application-passwords`:          "/wp/v2/users/101/application-passwords",
		`/wp/v2/block-renderer/(?P<name>[a-z0-9-]+/[a-z0-9-]+)`:                 "/wp/v2/block-renderer/core/paragraph",
		`/wp/v2/themes/(?P<stylesheet>[^\/:<>\*\?"\|]+(?:\/[^\/:<>\*\?"\|]+)?)`: "/wp/v2/themes/101",
	} {
		got, err := samplePath(pattern)
		if err != nil || got != want {
			t.Errorf("%s: got %q, %v, want %q", pattern, got, err, want)
		}
	}
}

func TestInteger(t *testing.T) {
	for value, want := range map[string]string{
		`7`: "7", `"7"`: "7", `" 7"`: "7", `9007199254740993`: "9007199254740993",
		`"99999999999999999999"`: "9223372036854775807", `null`: "null", `[7]`: "[7]",
	} {
		if got := integer(json.RawMessage(value)); got != want {
			t.Errorf("%s: got %s, want %s", value, got, want)
		}
	}
}

func TestLargeImage(t *testing.T) {
	path := filepath.Join(t.TempDir(), "large.jpg")
	if err := writeLargeImage(path); err != nil {
		t.Fatal(err)
	}
	file, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if len(file) < imageSize || len(file) > imageSize+1<<20 {
		t.Errorf("%d bytes", len(file))
	}
	picture, err := jpeg.Decode(bytes.NewReader(file))
	if err != nil || picture.Bounds().Dx() != 800 {
		t.Errorf("no picture of 800 pixels: %v", err)
	}
}

func TestTrace(t *testing.T) {
	s := &stack{reports: t.TempDir()}
	lines := `{"at":"loaded"}
{"at":"dispatch","route":"L2E=","method":"PUT","pattern":"\/a","user":1}
{"at":"match","id":9007199254740993,"order_id":null,"error":""}
{"at":"run","pattern":"\/a"}
{"at":"item","method":"DELETE","id":7}
`
	if err := os.WriteFile(filepath.Join(s.reports, "t"), []byte(lines), 0o600); err != nil {
		t.Fatal(err)
	}
	got, err := s.readTrace("t")
	if err != nil {
		t.Fatal(err)
	}
	if !got.loaded || len(got.dispatches) != 1 || len(got.items) != 1 || got.items[0].ID != 7 {
		t.Fatalf("got %s", got.describe())
	}
	if d := got.dispatches[0]; string(d.Route) != "/a" || !d.ran || !d.matched || string(d.ID) != "9007199254740993" {
		t.Errorf("got %s", got.describe())
	}
	if again, err := s.readTrace("t"); err != nil || again.loaded {
		t.Errorf("a report is read twice: %v", err)
	}
}
