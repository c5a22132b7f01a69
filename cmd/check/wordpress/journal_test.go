//go:build wordpress

package wordpress

import (
	"encoding/json"
	"fmt"
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
			wait.For(t, 20*time.Second, fmt.Sprint("a line with ", test.want), func() bool {
				return slices.ContainsFunc(s.logLines(t, "http.handlers.restwarden.journal"), func(text string) bool {
					var line struct {
						Credential map[string]any
						Method     string
						IDs        []int
						Status     int
					}
					return json.Unmarshal([]byte(text), &line) == nil && maps.Equal(line.Credential, test.want) &&
						line.Method == http.MethodPut && slices.Equal(line.IDs, []int{test.id}) && line.Status == 200
				})
			})
		})
	}
}
