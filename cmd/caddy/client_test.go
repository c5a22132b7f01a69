package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/restwarden/restwarden/cmd/platform/site"
)

// branded turns the neutral words of a test into those of the world's platform.
func (w *world) branded(s string) string {
	if w.info.Platform != "wordpress" {
		return s
	}
	return strings.NewReplacer(
		"cms-json", "wp-json", "%63ms-json", "%77p-json", "cms/v2", "wp/v2", "CMS/V2", "WP/V2", "cms-abilities", "wp-abilities", "/cms-", "/wp-",
		"_cmsnonce", "_wpnonce", "X-CMS-", "X-WP-", "shop-admin", "wc-admin", "shop-analytics", "wc-analytics", "shop/mcp", "woocommerce/mcp",
		"shop_rest_", "woocommerce_rest_", "shop/store", "wc/store", "SHOP/STORE", "WC/STORE", "shop/v", "wc/v", "SHOP/V", "WC/V", "shop-orders", "woocommerce-orders",
	).Replace(s)
}

// edit changes a request before it is sent.
type edit func(*http.Request)

func header(name, value string) edit {
	return func(r *http.Request) { r.Header.Set(name, value) }
}

const (
	asForm = "application/x-www-form-urlencoded"
	asJSON = "application/json"
)

func contentType(value string) edit { return header("Content-Type", value) }

// noContentType sends none, whatever the body looks like.
func noContentType(r *http.Request) { r.Header.Del("Content-Type") }

// as logs a user in by application password.
func (w *world) as(login string) edit {
	return func(r *http.Request) { r.SetBasicAuth(login, w.info.Users[login].ApplicationPassword) }
}

// withKey logs in by a shop key "ck_…:cs_…".
func withKey(pair string) edit {
	key, secret, _ := strings.Cut(pair, ":")
	return func(r *http.Request) { r.SetBasicAuth(key, secret) }
}

// session logs a user in by cookie; the first edit adds the cookie, the second
// the nonce.
func (w *world) session(login string) (cookie, nonce edit) {
	c, n := w.site.Nonce(login)
	return func(r *http.Request) { r.AddCookie(&http.Cookie{Name: c.Name, Value: c.Value}) },
		header(w.branded("X-CMS-Nonce"), n)
}

// multipartBody returns a form of name-value pairs as multipart, and the edit
// that says so.
func multipartBody(pairs ...string) (string, edit) {
	var b bytes.Buffer
	m := multipart.NewWriter(&b)
	for i := 0; i < len(pairs); i += 2 {
		m.WriteField(pairs[i], pairs[i+1]) //nolint:errcheck // a Buffer takes everything
	}
	m.Close() //nolint:errcheck // as above
	return b.String(), contentType(m.FormDataContentType())
}

// reply is what a client got, and what the platform saw meanwhile.
type reply struct {
	w       *world
	line    string
	status  int
	header  http.Header
	body    string
	reached int // requests of clients that reached the platform
	asked   int // questions of the gateway
}

var client = &http.Client{
	Timeout:       20 * time.Second,
	Transport:     &http.Transport{DisableCompression: true, MaxIdleConnsPerHost: 64},
	CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
}

// gate sends "METHOD target" through the gateway.
func (w *world) gate(line, body string, edits ...edit) reply {
	w.t.Helper()
	forwarded, questions := w.tap.counts()
	r := w.send(w.gateway, line, body, edits...)
	r.reached, r.asked = w.tap.counts()
	r.reached -= forwarded
	r.asked -= questions
	return r
}

// bare sends "METHOD target" to the platform itself.
func (w *world) bare(line, body string, edits ...edit) reply {
	w.t.Helper()
	return w.send(w.platform, line, body, edits...)
}

func (w *world) send(to, line, body string, edits ...edit) reply {
	w.t.Helper()
	req := w.request(to, line, body, edits...)
	res, err := client.Do(req)
	if err != nil {
		w.t.Fatalf("%s: %v", line, err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		w.t.Fatalf("%s: %v", line, err)
	}
	return reply{w: w, line: line, status: res.StatusCode, header: res.Header, body: string(b)}
}

func (w *world) request(to, line, body string, edits ...edit) *http.Request {
	w.t.Helper()
	line, body = w.branded(line), w.branded(body)
	method, target, _ := strings.Cut(line, " ")
	var r io.Reader
	if body != "" {
		r = strings.NewReader(body)
	}
	req, err := http.NewRequestWithContext(w.t.Context(), method, to+w.base+target, r)
	if err != nil {
		w.t.Fatal(err)
	}
	req.Header.Set(mark, "1")
	switch {
	case strings.HasPrefix(body, "{"), strings.HasPrefix(body, "["):
		req.Header.Set("Content-Type", asJSON)
	case body != "":
		req.Header.Set("Content-Type", asForm)
	}
	for _, e := range edits {
		e(req)
	}
	return req
}

// want checks status and, where text is given, that the body contains it.
func (r reply) want(status int, text ...string) reply {
	r.w.t.Helper()
	if r.status != status {
		r.w.t.Errorf("%s: %d %.300s; want %d", r.line, r.status, r.body, status)
	}
	for _, s := range text {
		if !strings.Contains(r.body, r.w.branded(s)) {
			r.w.t.Errorf("%s: %d %.300s; want %q", r.line, r.status, r.body, s)
		}
	}
	return r
}

// stopped checks that the request did not reach the platform.
func (r reply) stopped() reply {
	r.w.t.Helper()
	if r.reached != 0 {
		r.w.t.Errorf("%s: reached the platform (%d %.200s)", r.line, r.status, r.body)
	}
	return r
}

// passed checks that the request reached the platform.
func (r reply) passed() reply {
	r.w.t.Helper()
	if r.reached != 1 {
		r.w.t.Errorf("%s: did not reach the platform (%d %.200s)", r.line, r.status, r.body)
	}
	return r
}

// unasked checks that the gateway asked no question.
func (r reply) unasked() reply {
	r.w.t.Helper()
	if r.asked != 0 {
		r.w.t.Errorf("%s: the gateway asked %d questions", r.line, r.asked)
	}
	return r
}

// refusedWith checks a refusal of the gateway: status, code, the shape of the
// error object, and that nothing reached the platform.
func (r reply) refusedWith(status int, code string) reply {
	r.w.t.Helper()
	r.stopped()
	if r.status != status || r.code() != r.w.branded(code) {
		r.w.t.Errorf("%s: %d %.300s; want %d %s", r.line, r.status, r.body, status, code)
		return r
	}
	if got, ok := r.at("data", "status").(float64); !ok || int(got) != status || r.at("message") == "" {
		r.w.t.Errorf("%s: not the error object: %s", r.line, r.body)
	}
	if r.header.Get("Cache-Control") != "no-store" || r.header.Get("Content-Type") != "application/json; charset=UTF-8" {
		r.w.t.Errorf("%s: header of the refusal: %v", r.line, r.header)
	}
	return r
}

// at returns the value at a path of names and indices of the JSON body.
func (r reply) at(path ...string) any {
	var v any
	if json.Unmarshal([]byte(r.body), &v) != nil {
		return nil
	}
	for _, name := range path {
		switch x := v.(type) {
		case map[string]any:
			v = x[name]
		case []any:
			i, err := strconv.Atoi(name)
			if err != nil || i >= len(x) {
				return nil
			}
			v = x[i]
		default:
			return nil
		}
	}
	return v
}

func (r reply) code() string {
	code, _ := r.at("code").(string)
	return code
}

// id is the "id" of the body.
func (r reply) id() int {
	id, _ := r.at("id").(float64)
	return int(id)
}

func (w *world) record(id int) site.Record {
	w.t.Helper()
	r, ok := w.site.Record(id)
	if !ok {
		w.t.Fatalf("no record %d", id)
	}
	return r
}

// logged returns the log so far.
func (w *world) logged() string {
	b, err := os.ReadFile(w.log)
	if err != nil && !os.IsNotExist(err) {
		w.t.Fatal(err)
	}
	return string(b)
}

// counter returns the value of a series of the gateway's metrics, written as
// name{label="value",…} in the order of Prometheus; -1 where it is not there.
func (w *world) counter(series string) float64 {
	w.t.Helper()
	req, err := http.NewRequestWithContext(w.t.Context(), http.MethodGet, w.metrics, nil)
	if err != nil {
		w.t.Fatal(err)
	}
	res, err := client.Do(req)
	if err != nil {
		w.t.Fatal(err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		w.t.Fatal(err)
	}
	for line := range strings.Lines(string(b)) {
		if value, ok := strings.CutPrefix(line, "caddy_restwarden_"+series+" "); ok {
			v, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
			if err != nil {
				w.t.Fatal(err)
			}
			return v
		}
	}
	return -1
}

// decisions is the counter of one kind of decision.
func (w *world) decisions(policy, code, outcome string) float64 {
	w.t.Helper()
	return max(0, w.counter(fmt.Sprintf(`decisions_total{code=%q,outcome=%q,policy=%q}`, w.branded(code), outcome, policy)))
}
