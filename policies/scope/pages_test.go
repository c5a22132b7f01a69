package scope_test

import (
	"testing"
)

// TestScope_KeysOnTheWay: a key of a scope is found on a page also where something on the way makes it what the platform reads.
func TestScope_KeysOnTheWay(t *testing.T) {
	t.Parallel()
	erp := line("scope erp", "key a1b2c3d", "allow GET /wc/v3/orders")
	const older = "wc-api-version=3&wc-api-route=/orders"
	for name, tt := range map[string]struct {
		target, header string
		status         int
	}{
		"behind a blank, as HTTP/2 keeps it":     {"/wc-api/v3/orders", "Authorization:  " + basic(key)[len("Authorization: "):], 403},
		"behind a tab":                           {"/wc-api/v3/orders", "Authorization: \t" + basic(key)[len("Authorization: "):], 403},
		"in the path, which becomes a query":     {"/x%26consumer_key=" + key + "%26consumer_secret=x%26z=?" + older, "X-A: b", 403},
		"in the path as it is":                   {"/x&consumer_key=" + key + "&consumer_secret=x?" + older, "X-A: b", 403},
		"in the path, encoded twice":             {"/x%2526consumer.key=" + key + "?" + older, "X-A: b", 403},
		"a signature in the path":                {"/wc-api/v3/orders%3Foauth_consumer_key=" + key, "X-A: b", 403},
		"put together by a cut":                  {"/?" + older + "&consumer_gclid=x&key=" + key + "&consumer_secret=x", "X-A: b", 403},
		"in the path, put together by a cut":     {"/x&consumer_gclid=x&key=" + key + "?" + older, "X-A: b", 403},
		"a name that only looks like it":         {"/x%26consumer=" + key + "%26z=?" + older + "&key=" + key, "X-A: b", 0},
		"a text in the path":                     {"/consumer_key=" + key + "?" + older, "X-A: b", 0},
		"what advertising adds to an address":    {"/shop?gclid=x&utm_source=y", "X-A: b", 0},
		"another key behind a blank":             {"/wc-api/v3/orders", "Authorization:  " + basic(other)[len("Authorization: "):], 0},
		"a password of somebody, behind a blank": {"/", "Authorization:  " + basic("maria")[len("Authorization: "):], 0},
	} {
		if d := judge(t, judged{"GET", tt.target, "", []string{tt.header}}, nil, erp); status(d) != tt.status {
			t.Errorf("%s: %d, want %d: %+v", name, status(d), tt.status, d.Verdict)
		}
	}
}
