package main

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/restwarden/restwarden/cmd/platform/site"
)

// door is one way to update a record through an order route (docs/platform
// III.1, III.4, III.5, III.7). <sub> and <order> stand for ids.
type door struct {
	line, body string
	edits      []edit
	// odd doors are such as no honest client uses: they may also be refused as
	// ambiguous.
	odd bool
	// closed doors convert nothing on the reference platform either.
	closed bool
}

const (
	ambiguous = "rest_ambiguous_request"
	invalidID = "shop_rest_shop_order_invalid_id"
)

func doors() []door {
	const sub, order = " /cms-json/shop/v3/orders/<sub>", " /cms-json/shop/v3/orders/<order>"
	note := `{"customer_note":"x"}`
	multipartID, ofID := multipartBody("id", "<sub>", "customer_note", "x")
	multipartRoute, ofRoute := multipartBody("rest_route", "/shop/v3/orders/<sub>", "customer_note", "x")
	multipartBatch, ofBatch := multipartBody("update[0][id]", "<sub>", "update[0][customer_note]", "x")
	put := header("X-HTTP-Method-Override", "PUT")
	var all []door
	add := func(d ...door) { all = append(all, d...) }

	for _, method := range []string{"PUT", "PATCH", "POST"} { // III.1
		add(door{line: method + sub, body: note}, door{line: method + " /cms-json/shop/v2/orders/<sub>", body: note},
			door{line: method + sub, body: `{}`}, door{line: method + sub},
			door{line: method + sub, body: `{"status":"processing"}`},
			door{line: method + sub, body: `{"meta_data":[{"key":"a","value":"b"}]}`},
			door{line: method + " /cms-json/shop-analytics/orders/<sub>", body: note}, // III.7
			door{line: method + order, body: `{"id":<sub>}`},                          // III.4
			door{line: method + order, body: "id=<sub>"},
			door{line: method + order, body: "id=<sub>", edits: []edit{noContentType}, odd: true, closed: method == "POST"},
			door{line: method + order + "?id=<sub>", body: note},
			door{line: method + " /cms-json/shop/v3/orders/batch", body: `{"update":[{"id":<sub>,"customer_note":"x"}]}`}, // III.5
			door{line: method + " /cms-json/shop/v2/orders/batch", body: `{"update":[{"id":<sub>}]}`},
			door{line: method + " /cms-json/shop-analytics/orders/batch", body: `{"update":[{"id":<sub>}]}`},
		)
	}
	for _, id := range []string{`"<sub>"`} {
		add(door{line: "PUT" + order, body: `{"id":` + id + `}`})
	}
	for _, id := range []string{`<sub>.0`, `<sub>e0`, `" <sub>"`, `"<sub> "`, `"+<sub>"`, `"<sub>.0"`, `"0<sub>"`, `"<sub>e0"`} {
		add(door{line: "PUT" + order, body: `{"id":` + id + `}`, odd: true})
	}
	for _, id := range []string{`"<sub>abc"`, `<sub>.7`, `[<sub>]`, `true`, `"0x1f"`, `""`, `0`, `-<sub>`} {
		add(door{line: "PUT" + order, body: `{"id":` + id + `}`, odd: true, closed: true})
	}
	for _, name := range []string{"%69d", "+id", "%20id", "id%00"} {
		add(door{line: "PUT" + order + "?" + name + "=<sub>", body: note})
	}
	add(
		door{line: "PUT" + order, body: `{"\u0069d":<sub>}`},
		door{line: "PUT" + order, body: `{"id":<order>,"id":<sub>}`, odd: true},
		door{line: "PUT" + order, body: `{"id":null}`, closed: true, odd: true},
		door{line: "PUT" + sub, body: `{"id":null}`, odd: true, closed: true},
		door{line: "PUT" + order + "?id=<order>&id=<sub>", body: note},
		door{line: "POST" + order, body: multipartID, edits: []edit{ofID}},
	)
	for _, kind := range []string{
		"application/vnd.api+json", "application/x.y+json", "Application/JSON; charset=utf-8", "application/json;", "application/json, text/plain",
	} {
		add(door{line: "PUT" + order, body: `{"id":<sub>}`, edits: []edit{contentType(kind)}})
	}
	for _, query := range []string{"_method=PUT", "_method=put", "%5Fmethod=PATCH", ".method=POST", "_method=DELETE&_method=PUT"} { // III.4, method
		add(door{line: "GET" + sub + "?" + query, odd: strings.Contains(query, "&")})
	}
	add(
		door{line: "GET" + sub, edits: []edit{put}}, door{line: "HEAD" + sub, edits: []edit{put}},
		door{line: "OPTIONS" + sub, edits: []edit{put}}, door{line: "POST" + sub, body: note, edits: []edit{put}},
		door{line: "DELETE" + sub, edits: []edit{put}}, door{line: "put" + sub, body: note, odd: true},
		door{line: "GET" + order + "?_method=PUT&id=<sub>"},
		door{line: "GET" + order, body: `{"id":<sub>}`, edits: []edit{put}, odd: true},
	)
	for _, path := range []string{ // III.4, path
		"/cms-json/SHOP/V3/ORDERS/<sub>", "/cms-json/shop/v3/orders/000<sub>", "/cms-json/shop/v3/orders/<sub>/", "/cms-json/shop/v3/orders/<sub>//",
		"/index.php/cms-json/shop/v3/orders/<sub>", "//cms-json/shop/v3/orders/<sub>", "/%63ms-json/shop/v3/orders/<sub>",
		"/cms-json%2Fshop%2Fv3%2Forders%2F<sub>", "/%63ms-json/shop%2Fv3%2Forders%2F<sub>", "/%63ms-json/shop/v3/orders/<sub>%0A",
		"/?rest_route=/shop/v3/orders/<sub>", "/index.php?rest_route=/shop/v3/orders/<sub>", "/shop/?rest_route=/shop/v3/orders/<sub>",
		"/?rest%5Froute=/shop/v3/orders/<sub>", "/?rest.route=/shop/v3/orders/<sub>", "/?rest+route=/shop/v3/orders/<sub>",
		"/?rest%20route=/shop/v3/orders/<sub>", "/?rest[route=/shop/v3/orders/<sub>", "/?rest_route=/cms/v2/posts&rest_route=/shop/v3/orders/<sub>",
		"/?rest_route=/shop/v3/orders/<sub>/", "/?rest_route=/shop/v3/orders/<sub>%0A", "/?rest_route=/shop/v3/orders/<sub>%5C",
		"/cms-json/cms/v2/types?rest_route=/shop/v3/orders/<sub>", "/robots.txt?rest_route=/shop/v3/orders/<sub>",
	} {
		plain := !strings.ContainsAny(path, "%[+&") && !strings.Contains(path, "//") && !strings.Contains(path, "index.php/") &&
			strings.Count(path, "?")+strings.Count(path, "cms-json") == 1
		add(door{line: "PUT " + path, body: note, odd: !plain})
	}
	add(
		door{line: "POST /", body: "rest_route=/shop/v3/orders/<sub>&customer_note=x"},
		door{line: "POST /shop/", body: "rest.route=/shop/v3/orders/<sub>"},
		door{line: "POST /cms-json/cms/v2/posts", body: "rest_route=/shop/v3/orders/<sub>", odd: true},
		door{line: "POST /", body: multipartRoute, edits: []edit{ofRoute}},
		door{line: "POST /", body: "rest_route=/shop/v3/orders/<order>&id=<sub>"},
	)
	batch := " /cms-json/shop/v3/orders/batch" // III.5
	for _, id := range []string{`"<sub>"`, `"<sub>abc"`, `<sub>.9`} {
		add(door{line: "POST" + batch, body: `{"update":[{"id":` + id + `}]}`, odd: true})
	}
	add(
		door{line: "GET" + batch + "?_method=POST&update[0][id]=<sub>"},
		door{line: "POST" + batch, body: "update[0][id]=<sub>"},
		door{line: "POST" + batch, body: multipartBatch, edits: []edit{ofBatch}},
		door{line: "POST" + batch + "?update[0][id]=<sub>"},
		door{line: "POST" + batch + "?update[0][id]=<sub>", body: `{"create":[]}`},
		door{line: "POST" + batch + "?%20update[0][id]=<sub>", body: `{"create":[]}`},
		door{line: "POST" + batch, body: `{"update":{"a":{"id":<sub>}}}`, odd: true},
		door{line: "POST" + batch, body: `{"update":[{"id":<order>},{"id":<sub>}]}`},
		door{line: "POST" + batch, body: `{"update":[{"id":[<sub>]}]}`, closed: true},
		door{line: "POST /cms-json/batch/v1", body: `{"requests":[{"method":"PUT","path":"/shop/v3/orders/<sub>"}]}`, closed: true}, // III.7
		door{line: "POST /cms-json/shop/store/v1/batch", body: `{"requests":[{"method":"PUT","path":"/shop/v3/orders/<sub>"}]}`, closed: true},
		door{line: "POST /cms-json/shop/v1/orders/<sub>", body: note, closed: true},
		door{line: "POST /cms-json/shop/v1/orders/batch", body: `{"update":[{"id":<sub>}]}`, closed: true},
	)
	return all
}

// fill writes the ids of a world into a text.
func fill(s string, sub, order int) string {
	return strings.NewReplacer("<sub>", strconv.Itoa(sub), "<order>", strconv.Itoa(order)).Replace(s)
}

// TestConversions_Bare: on the bare platform each door does convert, so that
// the tests below refuse what is worth refusing.
func TestConversions_Bare(t *testing.T) {
	w := newPlatform(t, site.Options{Release: "10.7", Platform: "cms"})
	for _, d := range doors() {
		sub := w.newSubscription()
		line := fill(d.line, sub, w.info.Orders[0])
		r := w.bare(line, fill(d.body, sub, w.info.Orders[0]), append(slices.Clone(d.edits), w.as("admin"))...)
		if converted := w.record(sub).Type == "shop_order"; converted == d.closed {
			t.Errorf("%s %s: converted %t (%d %.200s)", d.line, d.body, converted, r.status, r.body)
		}
	}
}

// conversions runs a test on a platform that converts, without and with a key
// of the gateway's own.
func conversions(t *testing.T, options string, test func(t *testing.T, w *world, credential bool)) {
	for _, own := range []bool{false, true} {
		t.Run(map[bool]string{false: "callers' credentials", true: "own credential"}[own], func(t *testing.T) {
			p := newPlatform(t, site.Options{Release: "10.7", Platform: "cms"})
			block := "order_type {\n" + options + "\n}"
			if own {
				block = "order_type {\n" + options + "\ncredential " + p.info.Keys.ReadKey + "\n}"
			}
			p.start(block)
			p.bare("POST /cms-json/shop-admin/v1/features/mcp_integration", `{"enabled":true}`, p.as("admin")).want(200)
			test(t, p, own)
		})
	}
}

// answers are what a caller may get at a door in the pretty form, without and
// with a key of the gateway's own. The platform's words go to who may not read.
var answers = map[string][2]string{
	"administrator":  {"400 " + invalidID, "400 " + invalidID},
	"manager":        {"400 " + invalidID, "400 " + invalidID},
	"cookie":         {"400 " + invalidID, "400 " + invalidID},
	"read-write key": {"400 " + invalidID, "400 " + invalidID},
	"read key":       {"401 shop_rest_authentication_error", "401 shop_rest_authentication_error"},
	"write key":      {"401 shop_rest_authentication_error", "400 " + invalidID},
	"editor":         {"403 shop_rest_cannot_", "400 " + invalidID},
	"customer":       {"403 shop_rest_cannot_", "403 shop_rest_cannot_"},
	"OAuth 1":        {"503 rest_policy_unavailable", "403 rest_forbidden"},
	"anonymous":      {"passed 401", "passed 401"},
}

// allows tells whether what a caller got at d is as it must be.
func (d door) allows(r reply, caller string, own bool) bool {
	want := answers[caller][0]
	if own {
		want = answers[caller][1]
	}
	got := outcome(r)
	switch {
	case d.closed, got == want, d.odd && got == "400 "+ambiguous, strings.HasSuffix(want, "cannot_") && strings.HasPrefix(got, want):
		return true
	case strings.HasPrefix(d.line, "HEAD"):
		return strings.HasPrefix(want, strings.TrimSpace(got))
	case !strings.Contains(d.line+d.body, "route=") && !strings.Contains(d.body, `"rest_route"`):
		return false
	case strings.HasSuffix(caller, "key"): // keys count in the pretty form only
		return got == "401 invalid_username" || d.below() && got == unavailable
	case caller == "OAuth 1":
		return strings.HasPrefix(got, "401 shop_rest_cannot_") || d.below() && got == unavailable
	}
	return own && d.below() && got == unavailable
}

const unavailable = "503 rest_policy_unavailable"

// below tells whether the query form stands on another path than the root: that
// may be a site of a network, where the gateway's own key may find nothing.
func (d door) below() bool { return strings.Contains(d.line, " /shop/") }

// outcome says in short what became of a request.
func outcome(r reply) string {
	if r.reached > 0 {
		return fmt.Sprintf("passed %d", r.status)
	}
	return fmt.Sprintf("%d %s", r.status, r.code())
}

// TestConversions: through the gateway no door changes a record that is not an
// order, whoever knocks; who has all rights is told that the id is invalid.
func TestConversions(t *testing.T) {
	conversions(t, "", func(t *testing.T, w *world, own bool) {
		callers := w.callers()
		for _, name := range slices.Sorted(maps.Keys(callers)) {
			sub := w.newSubscription()
			before := w.record(sub)
			for _, d := range doors() {
				line, body := fill(d.line, sub, w.info.Orders[0]), fill(d.body, sub, w.info.Orders[0])
				r := w.gate(line, body, append(slices.Clone(d.edits), callers[name])...)
				if !reflect.DeepEqual(before, w.record(sub)) {
					t.Errorf("%s: %s %s: the subscription changed (%d %.200s)", name, d.line, d.body, r.status, r.body)
					sub = w.newSubscription()
					before = w.record(sub)
				}
				if !d.allows(r, name, own) {
					t.Errorf("%s: %s %s: %s (%.150s)", name, d.line, d.body, outcome(r), r.body)
				}
			}
		}
	})
}

// newSubscription makes a subscription on the platform itself.
func (w *world) newSubscription() int {
	w.t.Helper()
	return w.bare("POST /cms-json/shop/v3/subscriptions", `{"billing_period":"month","next_payment_date":"2027-01-01"}`, w.as("admin")).want(201).id()
}
