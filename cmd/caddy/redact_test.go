package main

import (
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/restwarden/restwarden/cmd/platform/site"
)

// secretIn is the stored secret of E13, as the bare platform returns it.
func (w *world) secretIn() string {
	w.t.Helper()
	secret, _ := w.bare("GET /cms-json"+w.info.Routes.Troubleshooting, "", w.as("admin")).want(200).at("access_token").(string)
	if secret == "" {
		w.t.Fatal("the bare platform gives no secret away")
	}
	return secret
}

// TestRedact_Wrappings: the stored secrets of E13 are redacted in every form of the
// answer.
func TestRedact_Wrappings(t *testing.T) {
	w := newWorld(t, site.Options{Release: "10.7"}, "", behind)
	secret := w.secretIn()
	route := w.info.Routes.Troubleshooting
	for _, c := range []struct {
		line  string
		edits []edit
		path  []string // of the envelope
	}{
		{line: "GET /cms-json" + route},
		{line: "GET /?rest_route=" + route},
		{line: "GET /cms-json/FEED/Troubleshooting"},
		{line: "GET /cms-json" + route + "?_envelope", path: []string{"body"}},
		{line: "GET /cms-json" + route + "?_fields=access_token,source"},
		{line: "GET /cms-json" + route + "?_embed"},
		{line: "GET /cms-json" + route + "?_jsonp=callback"},
		{line: "GET /cms-json" + route + "?_jsonp=callback&_envelope=1"},
		{line: "GET /cms-json" + route, edits: []edit{header("Range", "bytes=0-400"), header("If-None-Match", `"x"`)}},
		{line: "GET /cms-json" + route, edits: []edit{header("Accept-Encoding", "gzip")}},
		{line: "POST /cms-json" + route + "?_method=GET"},
		{line: "HEAD /cms-json" + route},
	} {
		r := w.gate(c.line, "", append(c.edits, w.as("admin"))...).want(200).passed()
		body := r.body
		if r.header.Get("Content-Encoding") == "gzip" {
			z, err := gzip.NewReader(strings.NewReader(body))
			if err != nil {
				t.Fatal(err)
			}
			plain, _ := io.ReadAll(z)
			body = string(plain)
		}
		isHead := strings.HasPrefix(c.line, "HEAD")
		if strings.Contains(body, secret) || strings.Contains(body, "[redacted]") == isHead {
			t.Errorf("%s: %s", c.line, body)
		}
		if n := r.header.Get("Content-Length"); n != strconv.Itoa(len(r.body)) && n != "" && !isHead {
			t.Errorf("%s: length %s of %d bytes", c.line, n, len(r.body))
		}
		if r.header.Get("Etag") != "" || r.header.Get("Accept-Ranges") != "" {
			t.Errorf("%s: %v", c.line, r.header)
		}
		if strings.Contains(c.line, "_jsonp") {
			if !strings.HasPrefix(body, "/**/callback({") || !strings.HasSuffix(body, "})") {
				t.Errorf("%s: %s", c.line, body)
			}
			continue
		}
		if r.body = body; !isHead && (r.at(append(c.path, "access_token")...) != "[redacted]" || r.at(append(c.path, "source", "access_token")...) != "[redacted]" ||
			r.at(append(c.path, "source", "url")...) == "[redacted]") {
			t.Errorf("%s: %s", c.line, body)
		}
	}
	batch := w.gate("POST /cms-json/batch/v1", `{"requests":[{"method":"GET","path":"`+route+`"}]}`, w.as("admin"))
	if strings.Contains(batch.body, secret) {
		t.Errorf("in a batch: %s", batch.body)
	}
}

// TestRedact_Fields: configured fields are redacted, in lists and objects.
func TestRedact_Fields(t *testing.T) {
	w := newWorld(t, site.Options{Release: "10.7"}, "redact /shop/v3/orders billing.email line_items.name meta_data.value\nredact /shop/v3/orders/* billing.email")
	list := w.gate("GET /cms-json/shop/v3/orders", "", w.as("admin")).want(200)
	orders, _ := list.at().([]any)
	if len(orders) < 3 || strings.Contains(list.body, "@example.test") || strings.Contains(list.body, "Mug") {
		t.Errorf("%.500s", list.body)
	}
	for i := range orders {
		n := strconv.Itoa(i)
		if list.at(n, "billing", "email") != "[redacted]" || list.at(n, "billing", "country") != "US" || list.at(n, "line_items", "0", "name") != "[redacted]" {
			t.Errorf("%v", orders[i])
		}
	}
	one := w.gate(fmt.Sprintf("GET /cms-json/shop/v3/orders/%d", w.info.Orders[0]), "", w.as("admin")).want(200, `"email":"[redacted]"`, `"name":"Mug"`)
	var bare, through map[string]any
	if err := json.Unmarshal([]byte(w.bare(one.line, "", w.as("admin")).body), &bare); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal([]byte(one.body), &through); err != nil {
		t.Fatal(err)
	}
	if bare["billing"].(map[string]any)["email"] = "[redacted]"; fmt.Sprint(bare) != fmt.Sprint(through) {
		t.Errorf("more than the field changed: %v\n%v", bare, through)
	}
}

// TestRedact_Authors: user names in embedded authors, for anonymous callers.
func TestRedact_Authors(t *testing.T) {
	w := newWorld(t, site.Options{Release: "10.7"}, "redact authors")
	const posts = "GET /cms-json/cms/v2/posts?_embed"
	w.bare(posts, "").want(200, `"slug":"admin"`, "/author/admin/")
	for _, line := range []string{
		posts, "GET /?rest_route=/cms/v2/posts&_embed=1", posts + "&_envelope", posts + "=author&_jsonp=f", "GET /cms-json/cms/v2/posts?%20_embed",
	} {
		r := w.gate(line, "").want(200, "[redacted]", "Opening hours").passed()
		if strings.Contains(r.body, `"slug":"admin"`) || strings.Contains(r.body, "/author/") {
			t.Errorf("%s: %s", line, r.body)
		}
	}
	w.gate(posts, "", func(r *http.Request) { r.SetBasicAuth("admin", "wrong") }).want(401)
	w.gate(posts, "", w.as("customer")).want(200, `"slug":"admin"`)
	w.gate("GET /cms-json/cms/v2/posts", "").want(200, "Opening hours").unasked()
}

// TestRedact_Backend: answers of a platform that compresses without being asked, that are
// too large, or that are not JSON.
func TestRedact_Backend(t *testing.T) {
	w := newWorld(t, site.Options{Release: "10.7"}, "", behind)
	secret := `{"access_token":"hush","x":1}`
	for name, c := range map[string]struct {
		answer func(http.ResponseWriter, *http.Request)
		want   string
	}{
		"gzip": {func(rw http.ResponseWriter, _ *http.Request) {
			rw.Header().Set("Content-Encoding", "gzip")
			z := gzip.NewWriter(rw)
			_, _ = io.WriteString(z, secret)
			_ = z.Close()
		}, "passed 200"},
		"other encoding": {func(rw http.ResponseWriter, _ *http.Request) {
			rw.Header().Set("Content-Encoding", "br")
			io.WriteString(rw, secret)
		}, "passed 503"},
		"not JSON":  {says(200, secret+"}"), "passed 503"},
		"large":     {says(200, `{"access_token":"hush","x":"`+strings.Repeat("x", 9<<20)+`"}`), "passed 503"},
		"truncated": {raw("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 99\r\n\r\n" + secret), "passed 503"},
		"unchanged": {says(304, ""), "passed 304"},
		"an error":  {says(404, "<html>"), "passed 404"},
	} {
		t.Run(name, func(t *testing.T) {
			w.t = t
			w.tap.answerWith(func(rw http.ResponseWriter, r *http.Request) bool {
				if r.Header.Get(mark) != "" {
					rw.Header().Set("ETag", `"x"`)
					c.answer(rw, r)
				}
				return r.Header.Get(mark) != ""
			})
			r := w.gate("GET /cms-json/feed/troubleshooting", "", w.as("admin"))
			if outcome(r) != c.want || strings.Contains(r.body, "hush") {
				t.Errorf("%s %.200s, want %s", outcome(r), r.body, c.want)
			}
			if r.status == 200 && (r.at("access_token") != "[redacted]" || r.header.Get("Etag") != "") {
				t.Errorf("%s %v", r.body, r.header)
			}
		})
	}
}
