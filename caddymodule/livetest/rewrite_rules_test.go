package livetest

import "testing"

// TestAliases: a path that a rewrite rule of the site makes a call of is judged as that call, and
// goes on as it came.
func TestAliases(t *testing.T) {
	b := newBackend(t)
	address := run(t, "", block{Body: `	restwarden wordpress {
		login_only
		prefix rest api
		alias ^app/(.+) /$1
		allow anyone GET /wp/v2/posts
		allow plugin activitypub
	}
	witness
` + b.proxied()})[0]
	for target, status := range map[string]int{
		"GET /app/wp/v2/users": 401, "GET /api/wp/v2/users": 401, "GET /rest/wp/v2/users": 401, "GET /wp-json/wp/v2/users": 401,
		"GET /%61pp/wp/v2/users": 401, "GET //app/wp/v2/users/": 401, "GET /app/wp/v2/posts?_method=DELETE": 401,
		"POST /app/wp/v2/posts": 401, "POST /@anna": 401, "GET /index.php/app/wp/v2/users": 400, "GET /APP/wp/v2/users": 400, "GET /app/wp/v2/posts?rest_route=/wp/v2/users": 400,
	} {
		try(t, address, b, request(target, "")).refused(t, status)
	}
	for target, call := range map[string]string{
		"GET /app/wp/v2/posts": "GET /wp/v2/posts", "GET /api/wp/v2/posts": "GET /wp/v2/posts",
		"GET /.well-known/webfinger?resource=acct:a@example.com": "GET /activitypub/1.0/webfinger", "GET /@anna": "GET /activitypub/1.0/actors/anna",
	} {
		arrived := try(t, address, b, request(target, "")).passed(t, aCall, call)
		if "GET "+arrived.target != target {
			t.Errorf("%s arrived as %s", target, arrived.target)
		}
	}
	for _, target := range []string{"GET /apps/", "GET /docs/app/users", "GET /.well-known/security.txt"} {
		try(t, address, b, request(target, "")).passed(t, aPage, "")
	}
}
