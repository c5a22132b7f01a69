package gateway

import (
	"encoding/base64"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/restwarden/restwarden/cmd/check/testkit/caddyrun"
)

// asKey is a shop key, whose end the journal shows.
var asKey = "Authorization: Basic " + base64.StdEncoding.EncodeToString([]byte("ck_0123456789abcd:cs_s3cret"))

// adminUUID is that of the password of asAdmin.
const adminUUID = "0c8f5b1e-7d1c-4a4e-9a57-2f6f0c1f9a11"

// newShop is a platform with a shop whose records are all orders. It accepts any key, and tells the login of a
// user.
func newShop(t *testing.T) *platform {
	t.Helper()
	p := newPlatform(t)
	p.setAnswer(func(w http.ResponseWriter, r *http.Request) bool {
		orders, isOrders := strings.CutPrefix(r.URL.Path, "/cms-json/shop/v3/orders")
		w.Header().Set("Content-Type", "application/json")
		user, password, _ := r.BasicAuth()
		switch {
		case !isQuestion(r) && strings.Contains(r.URL.Path, "missing"):
			w.WriteHeader(http.StatusNotFound)
			_, _ = io.WriteString(w, `{"code":"rest_no_route"}`)
		case !isQuestion(r):
			return false
		case r.URL.Path == "/cms-json/cms/v2/users/me" && user == "admin" && password == "pw":
			_, _ = io.WriteString(w, `{"id":1,"username":"admin","roles":["administrator"],"capabilities":{"read":true}}`)
		case r.URL.Path == "/cms-json/cms/v2/users/me/application-passwords/introspect" && user == "admin" && password == "pw":
			_, _ = io.WriteString(w, `{"uuid":"`+adminUUID+`"}`)
		case r.URL.Path == "/cms-json/":
			_, _ = io.WriteString(w, `{"namespaces":["cms/v2","shop/v3","probe/v1"],"routes":{"/probe/v1/x":{},"/cms/v2/posts":{},"/cms/v2/posts/(?P<id>[\\d]+)":{},"/batch/v1":{},"/shop/v3/orders/(?P<id>[\\d]+)":{},"/shop/v3/orders/(?P<order_id>[\\d]+)/refunds/(?P<id>[\\d]+)":{}}}`)
		case !isOrders:
			return false
		case orders == "":
			_, _ = io.WriteString(w, `[]`)
		case strings.HasSuffix(orders, "/notes/0"):
			w.WriteHeader(http.StatusNotFound)
			_, _ = io.WriteString(w, `{"code":"shop_rest_invalid_id"}`)
		default:
			_, _ = io.WriteString(w, `{"id":1}`)
		}
		return true
	})
	return p
}

// startJournal runs a gateway in front of p, and returns the lines of its journal.
func startJournal(t *testing.T, p *platform, options string) (g *gateway, journal func() []map[string]any) {
	t.Helper()
	g = startGateway(t, "\trestwarden cms {\ndeny /probe/**\n"+options+"\n\t}\n"+p.proxied())
	return g, func() []map[string]any { return lines(t, g.log, `"logger":"http.handlers.restwarden.journal"`) }
}

func TestJournal(t *testing.T) {
	const cookie = "Cookie: cms_logged_in_ab=ann%7C1%7Cs3cret%7Cm"
	admin := map[string]any{"kind": "password", "login": "admin"}
	key, claimedKey := map[string]any{"kind": "key", "key": "789abcd"}, map[string]any{"kind": "key", "key": "789abcd", "claimed": true}
	for name, test := range map[string]struct {
		options, line, body string
		headers             []string
		want                []map[string]any // of each line; "" for an absent field
	}{
		"a key's order": {"journal writes\nlogin_only", "PUT /cms-json/shop/v3/orders/7", `{"status":"completed","meta_data":[{"key":"s3cret"}],"a word":1,"` + strings.Repeat("x", 99) + `":1}`, []string{asKey, asJSON}, []map[string]any{{
			"credential": map[string]any{"kind": "key", "key": "789abcd"}, "caller": "key", "user_id": "", "method": "PUT", "route": "/shop/v3/orders/:id",
			"ids": []any{7.0}, "members": []any{"meta_data", "status"}, "status": 200.0, "level": "info", "msg": "call passed", "v": 1.0, "host": "other", "claimed": "",
		}}},
		"another id in its body":       {"journal writes", "PUT /cms-json/cms/v2/posts/7?id=9", "", []string{asAdmin}, []map[string]any{{"ids": []any{7.0, 9.0}}}},
		"an id in a body that is read": {"mode observe\njournal writes", "PUT /cms-json/shop/v3/orders/7", `{"id":9}`, []string{asKey, asJSON}, []map[string]any{{"ids": []any{7.0, 9.0}, "members": []any{"id"}}}},
		"a refund":                     {"journal writes", "DELETE /cms-json/shop/v3/orders/7/refunds/8", "", []string{asKey}, []map[string]any{{"ids": []any{7.0, 8.0}, "route": "/shop/v3/orders/:order_id/refunds/:id", "method": "DELETE", "members": ""}}},
		"a password, nobody asks":      {"journal writes", "POST /cms-json/cms/v2/posts", `{"title":"x"}`, []string{asAdmin, asJSON}, []map[string]any{{"credential": admin, "caller": "", "members": "", "ids": "", "route": "/cms/v2/posts", "client_ip": "127.0.0.1", "batch": ""}}},
		"a password that is asked of":  {"journal writes\nlogin_only", "POST /cms-json/cms/v2/posts", `{"title":"x"}`, []string{asAdmin, asJSON}, []map[string]any{{"credential": admin, "caller": "user", "user_id": 1.0}}},
		"a login":                      {"journal writes", "POST /cms-json/cms/v2/posts", "a=b", []string{cookie, form}, []map[string]any{{"credential": map[string]any{"kind": "user", "login": "ann"}, "caller": ""}}},
		"a login that is no word":      {"journal writes", "POST /cms-json/cms/v2/posts", "a=b", []string{"Cookie: cms_logged_in_ab=%3Cb%3E%0Aann%7C1", form}, []map[string]any{{"credential": map[string]any{"kind": "user", "claimed": true}}}},
		"a login that is long":         {"journal writes", "POST /cms-json/cms/v2/posts", "a=b", []string{"Cookie: cms_logged_in_ab=" + strings.Repeat("a", 4<<10) + "%7C1", form}, []map[string]any{{"credential": map[string]any{"kind": "user", "claimed": true}}}},
		"a key that is to be cleaned":  {"journal writes", "POST /cms-json/cms/v2/posts?consumer_key=%3Cb%3Eck_1", "", nil, []map[string]any{{"credential": map[string]any{"kind": "key", "claimed": true}}}},
		"an override":                  {"journal writes", "POST /cms-json/cms/v2/posts/7?_method=DELETE", "", []string{asAdmin}, []map[string]any{{"method": "DELETE"}}},
		"the platform refuses":         {"journal writes", "POST /cms-json/cms/v2/missing", "", []string{asAdmin}, []map[string]any{{"status": 404.0, "route": "unknown"}}},
		"observed":                     {"mode observe\njournal writes\ndeny /cms/v2/posts", "POST /cms-json/cms/v2/posts", "", []string{asKey}, []map[string]any{{"credential": key, "route": "/cms/v2/posts"}}},
		"nobody vouches for it":        {"journal writes", "POST /cms-json/other/v1/x", "", []string{asKey}, []map[string]any{{"credential": claimedKey, "route": "unknown", "status": 200.0}}},
		"a batch": {"journal writes", "POST /cms-json/batch/v1", `{"requests":[{"method":"PUT","path":"/cms/v2/posts/1","body":{"title":"s3cret","content":"y"}},{"method":"DELETE","path":"/cms/v2/posts/2"}]}`, []string{asAdmin, asJSON}, []map[string]any{
			{"method": "PUT", "ids": []any{1.0}, "members": []any{"content", "title"}, "route": "/cms/v2/posts/:id", "status": 200.0, "batch": "POST /batch/v1", "credential": admin}, {"method": "DELETE", "ids": []any{2.0}, "members": ""},
		}},
		"all":                      {"journal all", "GET /cms-json/cms/v2/posts/7", "", []string{asAdmin}, []map[string]any{{"method": "GET", "ids": []any{7.0}}}},
		"none/a read":              {"journal writes", "GET /cms-json/cms/v2/posts/7", "", []string{asAdmin}, nil},
		"none/nobody":              {"journal all", "POST /cms-json/cms/v2/posts", "", nil, nil},
		"none/refused":             {"journal all\ndeny /cms/v2/posts", "POST /cms-json/cms/v2/posts", "", []string{asAdmin}, nil},
		"none/a page":              {"journal all", "POST /shop/", "a=b", []string{asAdmin, form}, nil},
		"none/off":                 {"journal off", "POST /cms-json/cms/v2/posts", "", []string{asAdmin}, nil},
		"none/not said":            {"", "POST /cms-json/cms/v2/posts", "", []string{asAdmin}, nil},
		"none/a preflight":         {"journal all", "OPTIONS /cms-json/cms/v2/posts", "", []string{"Origin: http://a.example", "Access-Control-Request-Method: POST"}, nil},
		"a body that breaks rules": {"journal writes\nmode observe", "PUT /cms-json/shop/v3/orders/7", `{"status":`, []string{asKey, asJSON}, []map[string]any{{"method": "PUT", "members": "", "credential": key}}},
	} {
		t.Run(name, func(t *testing.T) {
			g, journal := startJournal(t, newShop(t), test.options)
			eventually(t, "the index", func() bool {
				g.do("GET /cms-json/probe/v1/x", "")
				return strings.Contains(g.logged(), `"route":"/probe/v1/x"`)
			})
			got := g.do(test.line, test.body, test.headers...)
			if len(test.want) > 0 {
				eventually(t, "the lines", func() bool { return len(journal()) >= len(test.want) })
			}
			caddyrun.Stop(t)
			all := journal()
			if len(all) != len(test.want) {
				t.Fatalf("got %d lines for %+v: %v", len(all), got, all)
			}
			for i, want := range test.want {
				holds(t, all[i], want)
				if took, _ := all[i]["took"].(float64); took <= 0 || all[i]["request_id"] == "" || all[i]["site"] == "" {
					t.Errorf("got %v", all[i])
				}
			}
			for _, line := range all {
				if strings.Contains(fmt.Sprint(line), "s3cret") {
					t.Errorf("a secret shows: %v", line)
				}
			}
		})
	}
}

// holds compares some fields of a line.
func holds(t *testing.T, line, want map[string]any) {
	t.Helper()
	for field, value := range want {
		got, set := line[field]
		switch value := value.(type) {
		case map[string]any:
			if object, _ := got.(map[string]any); !maps.Equal(object, value) {
				t.Errorf("%s is %v, want %v", field, got, value)
			}
		case []any:
			if list, _ := got.([]any); !slices.Equal(list, value) {
				t.Errorf("%s is %v, want %v", field, got, value)
			}
		default:
			if value == "" && set && got != "" || value != "" && got != value {
				t.Errorf("%s is %v, want %v", field, got, value)
			}
		}
	}
}

// TestRecord_Credential: a record says whose credential the refused call carries.
func TestRecord_Credential(t *testing.T) {
	g := startGateway(t, "\trestwarden cms {\n\tdeny /cms/v2/posts\n\tallow role editor /cms/v2/pages\n\tallow users /shop/v3/**\n\tlogin_only\n\t}\n"+newShop(t).proxied())
	for name, test := range map[string]struct {
		line    string
		headers []string
		want    map[string]any // nil for none
	}{
		"claimed":         {"GET /cms-json/cms/v2/posts", []string{asAdmin}, map[string]any{"kind": "password", "login": "admin", "claimed": true}},
		"verified":        {"GET /cms-json/cms/v2/pages", []string{asAdmin}, map[string]any{"kind": "password", "login": "admin"}},
		"a key":           {"GET /cms-json/cms/v2/posts", []string{asKey}, map[string]any{"kind": "key", "key": "789abcd", "claimed": true}},
		"a word":          {"GET /cms-json/cms/v2/posts", []string{"Cookie: cms_logged_in_ab=%3Cscript%3E%7C1"}, map[string]any{"kind": "user", "claimed": true}},
		"nobody":          {"GET /cms-json/cms/v2/posts", nil, nil},
		"no reading":      {"GET /cms-json/cms/v2/posts?rest_route=/a", []string{asAdmin}, map[string]any{"kind": "password", "login": "admin", "claimed": true}},
		"a form, refused": {"POST /cms-json/cms/v2/posts", []string{form}, map[string]any{"kind": "key", "key": "ck_9", "claimed": true}},
	} {
		t.Run(name, func(t *testing.T) {
			body := ""
			if strings.HasPrefix(test.line, "POST") {
				body = "consumer_key=ck_9&consumer_secret=cs_s3cret"
			}
			r := g.do(test.line, body, test.headers...)
			found := lines(t, g.log, r.header.Get("X-Request-Id"))
			if len(found) != 1 {
				t.Fatalf("%d lines for %+v", len(found), r)
			}
			got, set := found[0]["credential"].(map[string]any)
			if set != (test.want != nil) || !maps.Equal(got, test.want) {
				t.Errorf("got %v, want %v", found[0]["credential"], test.want)
			}
			if strings.Contains(g.logged(), "s3cret") {
				t.Error("a secret shows")
			}
		})
	}
}

// TestJournal_NoAnswer: a call whose platform does not answer is in the journal, without a status.
func TestJournal_NoAnswer(t *testing.T) {
	p := newShop(t)
	g, journal := startJournal(t, p, "journal writes")
	p.Close()
	g.do("POST /cms-json/cms/v2/posts", "", asAdmin).want(t, http.StatusBadGateway, "")
	eventually(t, "the line", func() bool { return len(journal()) == 1 })
	holds(t, journal()[0], map[string]any{"status": "", "method": "POST"})
}

// TestJournal_Rewritten: the status is the platform's, also where the gateway cannot hand the answer on.
func TestJournal_Rewritten(t *testing.T) {
	p := newPlatform(t)
	p.answerCalls(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusCreated)
		_, _ = io.WriteString(w, `{"broken":`)
	})
	g, journal := startJournal(t, p, "journal writes\nredact /cms/v2/posts access_token")
	g.do("POST /cms-json/cms/v2/posts", "", asAdmin).want(t, http.StatusServiceUnavailable, "rest_policy_unavailable")
	eventually(t, "the line", func() bool { return len(journal()) == 1 })
	holds(t, journal()[0], map[string]any{"status": 201.0})
}

// FuzzJournal: names in the journal are plain, sorted, short and few, whatever names a body has.
func FuzzJournal(f *testing.F) {
	for _, seed := range []string{"", "status,meta_data", "a b,c", "id\n", "\xff", strings.Repeat("a,", 99), strings.Repeat("x", 41)} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		names := strings.Split(text, ",")
		told := membersOf(names, maxMembers)
		if len(told) > maxMembers || !slices.IsSorted(told) {
			t.Errorf("%q", told)
		}
		for _, name := range told {
			if name == "" || len(name) > maxMember || strings.Trim(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-") != "" || !slices.Contains(names, name) {
				t.Errorf("%q", name)
			}
		}
	})
}
