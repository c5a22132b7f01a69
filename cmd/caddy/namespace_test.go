package main

import (
	"net/http"
	"testing"

	"github.com/restwarden/restwarden/cmd/platform/site"
)

// TestNamespace: the core's script wp-api reads the index of a namespace with the login
// cookie and no nonce. Who is logged in gets it on a site for users only, and nobody else.
func TestNamespace(t *testing.T) {
	for name, options := range map[string]site.Options{
		"pretty": {Release: "10.7"}, "plain": {Release: "10.7", Permalinks: "plain"}, "sub-folder": {Release: "10.7", Base: "/blog"},
		"wordpress": {Release: "10.7", Platform: "wordpress"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, options, "login_only")
			w.learned()
			at := "/cms-json"
			if options.Permalinks == "plain" {
				at = "/?rest_route="
			}
			cookie, nonce := w.session("author")
			forged := header("Cookie", w.branded("cms_logged_in_x=author%7C1%7Cx%7Cy"))
			index := "GET " + at + "/cms/v2/"
			w.gate(index, "").refusedWith(http.StatusUnauthorized, "rest_not_logged_in").unasked()
			w.gate(index, "", forged).refusedWith(http.StatusUnauthorized, "rest_not_logged_in")
			if r := w.gate(index, "", cookie).want(http.StatusOK, "/cms/v2/posts").passed(); r.asked != 2 {
				t.Errorf("%d questions", r.asked)
			}
			w.gate("HEAD "+at+"/cms/v2", "", cookie).want(http.StatusOK).passed().unasked()
			w.gate("GET "+at+"/shop/v3/", "", cookie).want(http.StatusOK, "/shop/v3/orders").passed()
			w.gate("GET "+at+"/shop/v9/", "", cookie).refusedWith(http.StatusUnauthorized, "rest_not_logged_in").unasked()
			w.gate("GET "+at+"/", "", cookie).refusedWith(http.StatusUnauthorized, "rest_not_logged_in").unasked()
			w.gate("GET "+at+"/cms/v2/posts", "", cookie).refusedWith(http.StatusUnauthorized, "rest_not_logged_in").unasked()
			w.gate(index, "", cookie, header("Origin", "https://evil.example")).refusedWith(http.StatusUnauthorized, "rest_not_logged_in").unasked()
			w.gate("GET "+at+"/cms/v2/posts", "", cookie, nonce).want(http.StatusOK).passed()
		})
	}
}
