package dryrun_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/restwarden/restwarden/caddymodule/dryrun"
)

// TestRun_Fresh: no run uses up a limit or a signature of the next, and no caller is
// remembered for the next.
func TestRun_Fresh(t *testing.T) {
	c := load(t, fmt.Sprintf(shop, "rate_limit 2/1m POST /contact-form-7/**"))
	for range 5 {
		if r := run(t, c, "", "POST https://shop.example.com/wp-json/contact-form-7/v1/contact-forms/5/feedback"); r.Answer != dryrun.Pass {
			t.Fatalf("%+v", r)
		}
	}
	const same = "Authorization: Basic YTpi"
	for range 3 {
		for as, want := range map[string]dryrun.Answer{"user": dryrun.Pass, "anonymous": dryrun.Refused, "role:editor": dryrun.Pass, "": dryrun.Unknown} {
			if r := run(t, c, as, "GET https://shop.example.com/wp-json/wp/v2/posts", same); r.Answer != want {
				t.Errorf("%s: %s", as, r.Answer)
			}
		}
	}
}

// TestRun_SecondDirective: the questions of the first gateway pass the second one, and are no
// part of the run.
func TestRun_SecondDirective(t *testing.T) {
	c := load(t, `shop.example.com {
	route {
		restwarden wordpress {
			login_only
		}
		restwarden wordpress {
			deny /wp/v2/media
		}
		reverse_proxy 127.0.0.1:1
	}
}`)
	for range 2 {
		for line, want := range map[string]dryrun.Answer{"GET https://shop.example.com/gone": dryrun.Page, "GET https://shop.example.com/wp-json/wp/v2/media": dryrun.Refused} {
			if r := run(t, c, "user", line); r.Answer != want {
				t.Errorf("%s: %+v", line, r)
			}
		}
	}
}

// TestRun_Changed: handlers behind the gateway change its questions, too.
func TestRun_Changed(t *testing.T) {
	for header, want := range map[string]dryrun.Answer{
		"-Cookie": dryrun.Refused, "X-HTTP-Method-Override DELETE": dryrun.Unknown, "X-WP-Nonce other": dryrun.Unknown, "X-Other x": dryrun.Pass,
	} {
		c := load(t, strings.Replace(fmt.Sprintf(shop, ""), "\treverse_proxy", "\trequest_header "+header+"\n\treverse_proxy", 1))
		if r := run(t, c, "user", "GET https://shop.example.com/wp-json/wp/v2/posts"); r.Answer != want {
			t.Errorf("%s: %s, want %s: %+v", header, r.Answer, want, r.Questions)
		}
	}
	c := load(t, fmt.Sprintf(shop, ""))
	r := run(t, c, "user", "GET https://shop.example.com/wp-json/wp/v2/posts?_wpnonce=x", "Cookie: wordpress_logged_in_1=a", "X-WP-Nonce: good")
	if r.Answer != dryrun.Refused || r.Decision.Code != "rest_cookie_invalid_nonce" {
		t.Errorf("%+v", r)
	}
}

// TestRun_Nonce: a nonce without a login is the caller's, and its login is added.
func TestRun_Nonce(t *testing.T) {
	c := load(t, fmt.Sprintf(shop, ""))
	const posts = "GET https://shop.example.com/wp-json/wp/v2/posts"
	for as, want := range map[string]dryrun.Answer{"user": dryrun.Pass, "anonymous": dryrun.Refused} {
		if r := run(t, c, as, posts+"?_wpnonce=x"); r.Answer != want {
			t.Errorf("%s, query: %+v", as, r)
		}
		if r := run(t, c, as, posts, "X-WP-Nonce: x"); r.Answer != want {
			t.Errorf("%s, header: %+v", as, r)
		}
	}
}
