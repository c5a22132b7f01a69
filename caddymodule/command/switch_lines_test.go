package command_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/restwarden/restwarden/caddymodule/command"
)

// TestClose_ListsNoSite: a site that is misspelled is not shown as one where nothing is closed.
func TestClose_ListsNoSite(t *testing.T) {
	t.Parallel()
	admin := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, `{"v":1,"sites":[{"site":"a.example","closes":[{"line":"/x"}]},{"site":"b.example"}]}`)
	}))
	t.Cleanup(admin.Close)
	for site, want := range map[string]int{"a.example": 0, "b.*": 0, "a.exmaple": 2} {
		out, _, status := command.Run(nil, "close", "--list", "--address", strings.TrimPrefix(admin.URL, "http://"), "--site", site)
		if status != want || strings.Contains(out, "close /x") != (site == "a.example") {
			t.Errorf("%s: %d\n%s", site, status, out)
		}
	}
}
