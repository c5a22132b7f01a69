package main

import (
	"fmt"
	"net/http"
	"os"
	"strconv"
	"strings"

	"github.com/restwarden/restwarden/cmd/check/testkit/client"
	"github.com/restwarden/restwarden/cmd/check/testkit/names"
	"github.com/restwarden/restwarden/cmd/platform/site"
)

// branded turns the neutral words of a test into those of the world's platform.
func (w *world) branded(s string) string { return names.In(w.info.Platform, s) }

// edit changes a request before it is sent; withKey logs in by a shop key "ck_…:cs_…".
type edit = client.Edit

var header, withKey = client.Header, client.Login

const (
	asForm = client.Form
	asJSON = client.JSON
)

func contentType(value string) edit { return header("Content-Type", value) }

// as logs a user in by application password.
func (w *world) as(login string) edit {
	return func(r *http.Request) { r.SetBasicAuth(login, w.info.Users[login].ApplicationPassword) }
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
	body, kind := client.Multipart(pairs...)
	return body, contentType(kind)
}

// reply is the answer that a client got, and what the platform received meanwhile.
type reply struct {
	w       *world
	line    string
	status  int
	header  http.Header
	body    string
	reached int // requests of clients that reached the platform
	asked   int // questions of the gateway
}

var httpClient = client.New()

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
	if w.secure() {
		edits = append([]edit{header("X-Forwarded-Proto", "https")}, edits...) // as the gateway says
	}
	return w.send(w.platform, line, body, edits...)
}

func (w *world) send(to, line, body string, edits ...edit) reply {
	w.t.Helper()
	req := w.request(to, line, body, edits...)
	by := httpClient
	if to == w.gateway {
		by = w.client
	}
	got, err := client.Do(by, req)
	if err != nil {
		w.t.Fatalf("%s: %v", line, err)
	}
	return reply{w: w, line: line, status: got.Status, header: got.Header, body: got.Body}
}

func (w *world) request(to, line, body string, edits ...edit) *http.Request {
	w.t.Helper()
	line, body = w.branded(line), w.branded(body)
	method, target, _ := strings.Cut(line, " ")
	edits = append([]edit{header(mark, "1"), client.Typed(body)}, edits...)
	req, err := client.Request(w.t.Context(), to, method+" "+w.base+target, body, edits...)
	if err != nil {
		w.t.Fatal(err)
	}
	return req
}

// want checks the status and, if text is given, that the body contains it.
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
func (r reply) at(path ...string) any { return client.At(r.body, path...) }

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
// name{label="value",…} in the order of Prometheus; -1 if there is none.
func (w *world) counter(series string) float64 {
	w.t.Helper()
	for line := range strings.Lines(w.scraped()) {
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

// scraped returns the metrics.
func (w *world) scraped() string {
	w.t.Helper()
	req, err := client.Request(w.t.Context(), w.metrics, "GET ", "")
	if err != nil {
		w.t.Fatal(err)
	}
	got, err := client.Do(httpClient, req)
	if err != nil {
		w.t.Fatal(err)
	}
	return got.Body
}

// decisions is the counter of one kind of decision.
func (w *world) decisions(policy, code, outcome string) float64 {
	w.t.Helper()
	return max(0, w.counter(fmt.Sprintf(`decisions_total{code=%q,outcome=%q,policy=%q}`, w.branded(code), outcome, policy)))
}
