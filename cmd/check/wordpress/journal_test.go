//go:build wordpress

package wordpress

import (
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/restwarden/restwarden/cmd/check/testkit/wait"
)

// TestJournal: the journal says who changed an order and a post: the shop key by its end, and the user by the login
// name that WordPress tells of an application password.
func TestJournal(t *testing.T) {
	s := setUps(t)
	g := s.gate(fpm, modeLocked)
	order, post, admin := g.Site.Orders[0], g.Site.Post, g.Site.Accounts["administrator"]
	for _, test := range []struct {
		name, route, body string
		id                int
		headers           []string
		as                *account
		want              map[string]any
	}{
		{"a key", "/wc/v3/orders/", `{"meta_data":[]}`, order, []string{"Authorization: " + basic("ck_standin", "cs_standin")}, nil, map[string]any{"kind": "key", "key": "standin"}},
		{"a password", "/wp/v2/posts/", `{"comment_status":"open"}`, post, nil, &admin, map[string]any{"kind": "password", "login": admin.Login}},
	} {
		t.Run(test.name, func(t *testing.T) {
			a, err := fetch(t.Context(), g, request{method: http.MethodPut, path: "/wp-json" + test.route + strconv.Itoa(test.id), body: test.body, headers: test.headers, as: test.as})
			if err != nil || a.status != 200 {
				t.Fatal(a, err)
			}
			s.journaled(t, func(line *journalLine) bool {
				return maps.Equal(line.Credential, test.want) && line.Method == http.MethodPut && slices.Equal(line.IDs, []int{test.id}) && line.Status == 200
			})
		})
	}
}

// journalLine is what a test looks at.
type journalLine struct {
	Credential map[string]any
	Method     string
	Route      string
	IDs        []int
	Status     int
}

// journaled waits for a line of the journal.
func (s *stack) journaled(t *testing.T, is func(*journalLine) bool) {
	t.Helper()
	wait.For(t, 20*time.Second, "a line of the journal", func() bool {
		return slices.ContainsFunc(s.logLines(t, "http.handlers.restwarden.journal"), func(text string) bool {
			var line journalLine
			return json.Unmarshal([]byte(text), &line) == nil && is(&line)
		})
	})
}

// TestJournal_Proven: where no rule asks, the answer of WordPress verifies a password on what is for users, and no name that
// somebody gives on what is for everybody.
func TestJournal_Proven(t *testing.T) {
	s := setUps(t)
	g := s.gate(fpm, modeDefault)
	admin := g.Site.Accounts["administrator"]
	for _, test := range []struct {
		name string
		request
		status int
		want   map[string]any
	}{
		{"a password", request{method: http.MethodPost, path: "/wp-json/wp/v2/tags", body: `{"name":"Journal"}`, as: &admin}, 201, map[string]any{"kind": "password", "login": admin.Login}},
		{"a wrong password", request{method: http.MethodPost, path: "/wp-json/wp/v2/tags", body: `{"name":"Other"}`, headers: []string{"Authorization: " + basic("proven", "x")}}, 401, map[string]any{"kind": "password", "login": "proven", "claimed": true}},
		{"a key of nobody", request{method: http.MethodPost, path: "/wp-json/complianz/v1/track?consumer_key=ck_1nobody", body: `{}`}, 200, map[string]any{"kind": "key", "key": "1nobody", "claimed": true}},
	} {
		t.Run(test.name, func(t *testing.T) {
			a, err := fetch(t.Context(), g, test.request)
			if err != nil || a.status != test.status {
				t.Fatal(a, err)
			}
			s.journaled(t, func(line *journalLine) bool {
				return maps.Equal(line.Credential, test.want) && line.Status == test.status
			})
		})
	}
}
