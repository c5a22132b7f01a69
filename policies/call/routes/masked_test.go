package routes_test

import (
	"testing"

	"github.com/restwarden/restwarden/policies/call/routes"
)

func TestMasked(t *testing.T) {
	for text, want := range map[string]string{
		"":                                  "",
		"/mcp/v1":                           "/mcp/v1",
		"/mcp/v1/":                          "/mcp/v1/",
		"/mcp/v1/S3cret":                    "/mcp/v1/:token",
		"/MCP/V1/S3cret":                    "/MCP/V1/:token",
		"//mcp//v1//S3cret/":                "//mcp//v1//:token/",
		"/mcp/v1/S3cret/sse":                "/mcp/v1/:token/sse",
		"/mcp/v1/S3cret/messages":           "/mcp/v1/:token/messages",
		"/mcp/v1/upload/S3cret":             "/mcp/v1/upload/:token",
		"/mcp/v1/http":                      "/mcp/v1/http",
		"/mcp/v1/HTTP":                      "/mcp/v1/HTTP",
		"/mcp/v1/https":                     "/mcp/v1/:token",
		"/mcp/v1/oauth/authorize":           "/mcp/v1/oauth/authorize",
		"/mcp/v1/S3cret/oauth":              "/mcp/v1/:token/:token",
		"/mcp/v1/*":                         "/mcp/v1/*",
		"/mcp/v1/:token":                    "/mcp/v1/:token",
		"/mcp/v1/:S3cret":                   "/mcp/v1/:token",
		"/mcp/v1/S3.cret~":                  "/mcp/v1/:token",
		"deny GET,POST /mcp/v1/** /x":       "deny GET,POST /mcp/v1/** /x",
		"deny /mcp/v1/S3cret /mcp/v1/S4":    "deny /mcp/v1/:token /mcp/v1/:token",
		"POST /mcp/v1/S3cret, at x:1":       "POST /mcp/v1/:token, at x:1",
		`{"route":"\/mcp\/v1\/S3cret"}`:     `{"route":"\/mcp\/v1\/:token"}`,
		"/?rest_route=%2Fmcp%2fv1%2FS3&a=b": "/?rest_route=%2Fmcp%2fv1%2F:token&a=b",
		"http://x/wp-json/mcp/v1/S3?a#b":    "http://x/wp-json/mcp/v1/:token?a#b",
		"mcp/v1/S3cret":                     "mcp/v1/:token",
		"/royal-mcp/v1/messages/x":          "/royal-mcp/v1/messages/x",
		"/mcp/v10/x":                        "/mcp/v10/x",
		"/wp/v2/posts":                      "/wp/v2/posts",
	} {
		if got := routes.Masked(text); got != want {
			t.Errorf("%s: got %s, want %s", text, got, want)
		}
		if got := routes.Masked(routes.Masked(text)); got != want {
			t.Errorf("%s, twice: got %s", text, got)
		}
	}
}

// TestMasked_NoAllocation: nearly all texts stay as they are.
func TestMasked_NoAllocation(t *testing.T) {
	if n := testing.AllocsPerRun(100, func() { routes.Masked("/wp/v2/some/mcp/media/:id") }); n > 0 {
		t.Errorf("%v allocations", n)
	}
}
