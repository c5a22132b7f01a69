package main

import (
	"fmt"
	"net/http"
	"net/http/fcgi"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/restwarden/restwarden/cmd/check/testkit/doors"
	"github.com/restwarden/restwarden/cmd/check/testkit/machine"
	"github.com/restwarden/restwarden/cmd/platform/site"
)

// behindFastCGI starts a gateway whose site block ends in php_fastcgi, as on most sites
// of the platform. The process behind it is the reference platform.
func behindFastCGI(t *testing.T, protocol string, options site.Options, directive string) *world {
	t.Helper()
	w := newPlatform(t, options)
	w.protocol = protocol
	l := machine.Listener(t)
	go fcgi.Serve(l, w.tap) //nolint:errcheck // ends with the listener
	root := t.TempDir()
	if err := os.WriteFile(filepath.Join(root, "index.php"), []byte("<?php"), 0o600); err != nil {
		t.Fatal(err)
	}
	w.start(directive, fmt.Sprintf("root %s\nencode gzip\nphp_fastcgi %s\nfile_server\n# PROXY", root, l.Addr()))
	return w
}

// TestFastCGI_Conversions: the doors of docs/platform III, where paths are
// rewritten to the front controller before the platform sees them.
func TestFastCGI_Conversions(t *testing.T) {
	for _, protocol := range protocols {
		t.Run(protocol, func(t *testing.T) {
			w := behindFastCGI(t, protocol, site.Options{Release: "10.7"}, "")
			sub, order := w.info.Subscriptions[0], w.info.Orders[0]
			before := w.record(sub)
			w.gate(fmt.Sprintf("PUT /cms-json/shop/v3/orders/%d", order), `{"customer_note":"x"}`, w.as("admin")).want(200, `"customer_note":"x"`).passed()
			for _, d := range doors.All() {
				d = d.At(order, sub)
				r := w.gate(d.Line(), d.Body, asDoor(d), w.as("admin"))
				if !reflect.DeepEqual(before, w.record(sub)) {
					t.Fatalf("%s: the subscription changed (%d %.200s)", d, r.status, r.body)
				}
			}
			w.gate(fmt.Sprintf("PUT /cms-json/shop/v3/orders/%d", sub), "{}", w.as("admin")).refusedWith(400, invalidID)
			w.gate("PUT /?rest_route=/shop/v3/orders/"+fmt.Sprint(sub), "{}", w.as("admin")).refusedWith(400, invalidID)
		})
	}
}

// TestFastCGI_Identity: the question goes through php_fastcgi, and the platform's answer
// counts.
func TestFastCGI_Identity(t *testing.T) {
	p := behindFastCGI(t, http1, site.Options{Release: "10.7"}, "login_only\nallow role administrator /consent/v1/log")
	cookie, nonce := p.session("admin")
	posts(p).refusedWith(401, "rest_not_logged_in").unasked()
	posts(p, p.as("customer")).want(200).passed()
	posts(p, cookie, nonce).want(200).passed()
	posts(p, cookie).refusedWith(401, "rest_not_logged_in")
	posts(p, func(r *http.Request) { r.SetBasicAuth("admin", "no") }).want(401, "incorrect_password").stopped()
	p.gate("GET /?rest_route=/consent/v1/log", "", p.as("admin")).want(200).passed()
	p.gate("GET /cms-json/consent/v1/log", "", p.as("customer")).refusedWith(403, "rest_forbidden")
	p.gate("POST /cms-json/cms/v2/posts", `{"title":"a title"}`, p.as("editor")).want(201, "a title").passed()
	session := p.shopper("customer")
	p.gate(checkout, `{"expected_total":1}`, session...).refusedWith(409, mismatch)

	for name, answer := range map[string]func(http.ResponseWriter, *http.Request){
		"fault": says(500, "{}"), "not JSON": says(200, "<html>"), "redirect": says(302, ""), "nothing": says(200, ""),
		"oversized": says(200, `{"id":1,"x":"`+strings.Repeat("x", 2<<20)+`"}`), "firewall": says(403, "no"),
	} {
		p.whoAnswers(answer)
		want := unavailable
		if name == "firewall" { // the call itself would get that page
			want = "403 "
		}
		r := posts(p, p.as("author"))
		if outcome(r) != want || r.header.Get("Set-Cookie") != "" {
			t.Errorf("%s: %s %.200s %v", name, outcome(r), r.body, r.header)
		}
	}
	p.tap.answerWith(nil)
	posts(p, p.as("author")).want(200).passed()
}
