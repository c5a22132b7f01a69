package caller

import (
	"encoding/base64"
	"net/http"
	"strings"
	"testing"
)

// decoded is what PHP 8.2 decodes from these texts after Basic.
var decoded = map[string]string{
	"Y2tfYTpjcw==": "ck_a:cs", "Y2tfYTpjcw": "ck_a:cs", "  Y2tfYTpjcw== ": "ck_a:cs", "Y2t.fYTp\u00a0jcw==": "ck_a:cs",
	"Y2tf=YTpjcw==": "ck_a:cs", "=Y2tfYTpjcw": "ck_a:cs", "Y2tfYTpjcw=x": "ck_a:cs\f", "Y2tfYTpjc": "ck_a:c", "Y-_2tf": "ck_",
	"Y": "", "YQ": "a", "YQ=": "a", "YQ=Q": "a\x04", "": "",
}

func TestDecodeBase64(t *testing.T) {
	for encoded, want := range decoded {
		if got := string(appendBase64(nil, encoded)); got != want {
			t.Errorf("%q: %q, want %q", encoded, got, want)
		}
	}
}

// FuzzBasicName: a name is found with any padding of its encoding and any foreign
// characters in it.
func FuzzBasicName(f *testing.F) {
	for encoded, text := range decoded {
		f.Add(encoded, text)
	}
	f.Fuzz(func(t *testing.T, encoded, text string) {
		basicName(http.Header{"Authorization": {encoded}})
		basicName(http.Header{"Authorization": {"Basic " + encoded}})
		want, _, ok := strings.Cut(text, ":")
		if !ok {
			want = ""
		}
		spelled := base64.StdEncoding.EncodeToString([]byte(text))
		for _, s := range []string{spelled, strings.TrimRight(spelled, "="), "  " + spelled, spelled + "\u00a0", strings.Join(strings.Split(spelled, ""), ".")} {
			name, found := basicName(http.Header{"Authorization": {"bASIC " + s}})
			if found != ok || found && name != want {
				t.Errorf("%q as %q: %q, %v", text, s, name, found)
			}
		}
	})
}
