//go:build wordpress

package wordpress

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"image/jpeg"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/restwarden/restwarden/cmd/check/grammar"
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

// TestDispatchLog sorts dispatches by request. A number that is no shot's is a stray.
func TestDispatchLog(t *testing.T) {
	l := dispatchLog{path: filepath.Join(t.TempDir(), "early")}
	var text strings.Builder
	for _, route := range []string{"/canary/v1/t100007", "/canary/v1/open/t100007", "/canary/v1/open/t0", "/canary/v1/t1002\xc027", "/wp/v2/posts"} {
		fmt.Fprintf(&text, "{\"route\":%q,\"method\":\"GET\"}\n", base64.StdEncoding.EncodeToString([]byte(route)))
	}
	if err := os.WriteFile(l.path, []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	seen, err := l.take(100_007)
	s := &shot{number: 100_007, request: &grammar.Request{}}
	if err != nil || len(seen) != 2 || s.closed(seen) != `GET "/canary/v1/t100007" ran` || s.closed(seen[1:]) != "" {
		t.Errorf("took %v, %v: %s", seen, err, s.closed(seen))
	}
	if again, err := l.take(100_007); err != nil || len(again) != 0 || l.strays() != 1 {
		t.Errorf("took %v once more, %v; %d strays", again, err, l.strays())
	}
	if err := l.stray(); err == nil || !strings.Contains(err.Error(), "request 1002,") {
		t.Errorf("the stray is not reported: %v", err)
	}
	if err := l.stray(); err != nil {
		t.Errorf("it is reported twice: %v", err)
	}
}
