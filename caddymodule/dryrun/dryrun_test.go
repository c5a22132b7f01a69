package dryrun_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/restwarden/restwarden/caddymodule/dryrun"
)

// TestRun_Callers: each caller that can be played gets what the rules give it.
func TestRun_Callers(t *testing.T) {
	c := load(t, fmt.Sprintf(shop, ""))
	const at = "https://shop.example.com/wp-json"
	for _, test := range []struct {
		as, line string
		want     dryrun.Answer
		code     string
	}{
		{"", "GET " + at + "/wp/v2/posts", dryrun.Refused, "rest_not_logged_in"},
		{"user", "GET " + at + "/wp/v2/posts", dryrun.Pass, ""},
		{"key", "GET " + at + "/wp/v2/posts", dryrun.Refused, "incorrect_password"},                                  // a shop key is no login there
		{"key", "GET https://shop.example.com/?rest_route=/wc/v3/orders", dryrun.Unknown, "rest_policy_unavailable"}, // from 11.1 on
		{"key", "GET " + at + "/wc/v3/orders", dryrun.Pass, ""},
		{"role:editor", "GET " + at + "/wc-admin/options", dryrun.Refused, "rest_forbidden"},
		{"role:shop_manager", "GET " + at + "/wc-admin/options", dryrun.Pass, ""},
		{"cap:edit_posts", "POST " + at + "/wp/v2/media", dryrun.Pass, ""},
		{"cap:read", "POST " + at + "/wp/v2/media", dryrun.Refused, "rest_forbidden"},
		{"role:author", "POST " + at + "/wp/v2/media", dryrun.Pass, ""},
		{"role:subscriber", "POST " + at + "/wp/v2/media", dryrun.Refused, "rest_forbidden"},
		{"", "POST " + at + "/contact-form-7/v1/contact-forms/5/feedback", dryrun.Pass, ""},
		{"", "GET https://shop.example.com/?rest_route=/wp/v2/users", dryrun.Refused, "rest_not_logged_in"},
		{"", "GET https://shop.example.com/about", dryrun.Page, ""},
		{"", "GET https://shop.example.com/?rest_route=/wp/v2/posts&rest.route=/x", dryrun.Refused, "rest_ambiguous_request"},
	} {
		result := run(t, c, test.as, test.line)
		code := ""
		if result.Decision != nil {
			code = result.Decision.Code
		}
		if result.Answer != test.want || code != test.code {
			t.Errorf("%s as %s: %s %s, want %s %s\n%+v", test.line, test.as, result.Answer, code, test.want, test.code, result)
		}
	}
}

// TestRun_Records: an order update depends on the record, and is not known without it.
func TestRun_Records(t *testing.T) {
	c := load(t, fmt.Sprintf(shop, ""))
	for _, test := range []struct {
		as   string
		is   dryrun.RecordKind
		want dryrun.Answer
	}{
		{"key", "", dryrun.Unknown},
		{"key", dryrun.Order, dryrun.Pass},
		{"key", dryrun.Subscription, dryrun.Refused},
		{"key", dryrun.NoRecord, dryrun.Refused},
		{"role:shop_manager", "", dryrun.Unknown},
		{"role:shop_manager", dryrun.Order, dryrun.Pass},
		{"role:shop_manager", dryrun.Subscription, dryrun.Refused},
		{"role:subscriber", dryrun.Order, dryrun.Refused},
		{"", dryrun.Subscription, dryrun.Refused},
	} {
		records := map[uint64]dryrun.RecordKind{}
		if test.is != "" {
			records[7] = test.is
		}
		result := runWith(t, c, test.as, "PUT https://shop.example.com/wp-json/wc/v3/orders/7", []byte(`{"status":"completed"}`), records, "Content-Type: application/json")
		if result.Answer != test.want || (test.want == dryrun.Unknown) != (len(result.Missing) > 0) {
			t.Errorf("%s, %q: %s, missing %q, want %s", test.as, test.is, result.Answer, result.Missing, test.want)
		}
	}
	checkout := runWith(t, c, "", "POST https://shop.example.com/wp-json/wc/store/v1/checkout", []byte(`{"expected_total":"5"}`), nil, "Content-Type: application/json")
	if checkout.Answer != dryrun.Unknown || len(checkout.Missing) == 0 {
		t.Errorf("%+v", checkout)
	}
}

// TestRun_Missed: what answers in place of the gateway is named, and the matcher that left
// the request out.
func TestRun_Missed(t *testing.T) {
	for name, test := range map[string]struct{ caddyfile, address, answered, matcher string }{
		"below another path": {
			"shop.example.com {\n\thandle_path /blog/* {\n\t\trestwarden wordpress {\n\t\t\tbase /blog\n\t\t}\n\t\treverse_proxy 127.0.0.1:1\n\t}\n\treverse_proxy 127.0.0.1:2\n}",
			"https://shop.example.com/wp-json/wp/v2/posts", "reverse_proxy 127.0.0.1:2", "path /blog/*",
		},
		"another host": {
			"shop.example.com {\n\trestwarden wordpress\n\treverse_proxy 127.0.0.1:1\n}\nwww.example.com {\n\trespond \"hello\" 200\n}",
			"https://www.example.com/wp-json/wp/v2/posts", "respond 200", "host shop.example.com",
		},
		"a matcher": {
			"shop.example.com {\n\t@api path /wp-json/*\n\trestwarden @api wordpress\n\treverse_proxy 127.0.0.1:1\n}",
			"https://shop.example.com/?rest_route=/wp/v2/users", "reverse_proxy 127.0.0.1:1", "path /wp-json/*",
		},
		"a redirect of Caddy's": {
			"shop.example.com {\n\trestwarden wordpress\n\treverse_proxy 127.0.0.1:1\n}",
			"http://shop.example.com/wp-json/wp/v2/posts", "the redirect to https that Caddy makes by itself", "",
		},
		"a redirect": {
			"shop.example.com {\n\troute {\n\t\tredir /wp-json/* https://other.example.com{uri} 301\n\t\trestwarden wordpress\n\t\treverse_proxy 127.0.0.1:1\n\t}\n}",
			"https://shop.example.com/wp-json/wp/v2/posts", "redir https://other.example.com{http.request.uri} 301", "",
		},
		"basic_auth": {
			"shop.example.com {\n\troute {\n\t\tbasic_auth {\n\t\t\tbob $2a$14$Zkx19XLiW6VYouLHR5NmfOFU0z2GTNmpkT/5qqR7hx4IjWJPDhjvG\n\t\t}\n\t\trestwarden wordpress\n\t\treverse_proxy 127.0.0.1:1\n\t}\n}",
			"https://shop.example.com/wp-json/wp/v2/posts", "basic_auth", "",
		},
		"no directive": {
			"shop.example.com {\n\treverse_proxy 127.0.0.1:1\n}",
			"https://shop.example.com/wp-json/wp/v2/posts", "reverse_proxy 127.0.0.1:1", "",
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := load(t, test.caddyfile)
			r := run(t, c, "", "GET "+test.address)
			if r.Answer != dryrun.NotReached || r.Missed.Answered != test.answered || r.Missed.Matcher != test.matcher {
				t.Fatalf("%s %+v", r.Answer, r.Missed)
			}
			if named := strings.Contains(r.Missed.At, "Caddyfile:"); named == (name == "no directive") {
				t.Errorf("the directive's place: %q", r.Missed.At)
			}
		})
	}
}

// TestRun_Assumed: what the run takes for granted, it says.
func TestRun_Assumed(t *testing.T) {
	c := load(t, `shop.example.com {
	route {
		forward_auth 127.0.0.1:1 {
			uri /auth
		}
		restwarden wordpress {
			signature s {
				scheme request
				key {env.RESTWARDEN_TEST_UNSET}
				header signature X-Signature
				header timestamp X-Timestamp
			}
			allow signed s POST /s/v1/s
		}
		root /no/such/directory
		php_fastcgi unix//run/php.sock
	}
}`)
	r := run(t, c, "", "GET https://shop.example.com/wp-json/wp/v2/posts")
	for _, want := range []string{"reverse_proxy 127.0.0.1:1, before the gateway", "{env.RESTWARDEN_TEST_UNSET}", "/no/such/directory"} {
		if !slices.ContainsFunc(r.Assumed, func(text string) bool { return strings.Contains(text, want) }) {
			t.Errorf("%s: %q", want, r.Assumed)
		}
	}
	if r.Answer != dryrun.Pass {
		t.Errorf("%+v", r)
	}
}

// TestRun_Ports: the port chooses the server; one that no server has may be a proxy's.
func TestRun_Ports(t *testing.T) {
	c := load(t, `{
	auto_https off
}
http://shop.example.com:8080 {
	restwarden wordpress
	reverse_proxy 127.0.0.1:1
}
http://shop.example.com:8081 {
	reverse_proxy 127.0.0.1:1
}`)
	for address, want := range map[string]dryrun.Answer{
		"http://shop.example.com:8080/wp-json/wp/v2/posts": dryrun.Pass,
		"http://shop.example.com:8081/wp-json/wp/v2/posts": dryrun.NotReached,
		"https://shop.example.com/wp-json/wp/v2/posts":     dryrun.Pass,
		"https://other.example.com/wp-json/wp/v2/posts":    dryrun.NotReached,
	} {
		r := run(t, c, "", "GET "+address)
		if r.Answer != want {
			t.Errorf("%s: %+v", address, r)
		}
		if proxied := len(r.Assumed) > 0; proxied != strings.HasPrefix(address, "https://shop") {
			t.Errorf("%s: %q", address, r.Assumed)
		}
	}
}

// TestRules_Order: the rules of several servers have one order.
func TestRules_Order(t *testing.T) {
	var file strings.Builder
	for port := range 9 {
		fmt.Fprintf(&file, "http://shop.example.com:808%d {\n\trestwarden wordpress {\n\t\tallow anyone /a/v1/b\n\t\tlogin_only\n\t}\n}\n", port)
	}
	rules, err := load(t, file.String()).Rules()
	if err != nil {
		t.Fatal(err)
	}
	var places []string
	for _, r := range rules {
		_, line, _ := strings.Cut(r.At, "Caddyfile:")
		places = append(places, line)
	}
	if got, want := strings.Join(places, " "), "3 4 9 10 15 16 21 22 27 28 33 34 39 40 45 46 51 52"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
