package caller

import (
	"net/http"
	"slices"
	"testing"

	"github.com/restwarden/restwarden/policies/ask"
	"github.com/restwarden/restwarden/policies/ask/asktest"
)

// TestWho_OnlyWrites: a key that may only write is one in every language of the shop, and one with a wrong secret is none.
func TestWho_OnlyWrites(t *testing.T) {
	t.Parallel()
	refused := func(message string) *ask.Answer {
		return asktest.JSON(401, `{"code":"woocommerce_rest_authentication_error","message":"`+message+`","data":{"status":401}}`)
	}
	described := func(namespace, allow string) *ask.Answer {
		return &ask.Answer{Status: 200, Header: http.Header{"Allow": {allow}}, Body: []byte(`{"namespace":"` + namespace + `"}`)}
	}
	german := refused("Der angegebene API-Schlüssel hat keine Leserechte.")
	for name, test := range map[string]struct {
		get, options *ask.Answer
		want         Kind
		asked        int
	}{
		"in English":               {refused("The API key provided does not have read permissions."), nil, KeyHolder, 1},
		"in German":                {german, described("wc/v3", "GET, POST"), KeyHolder, 2},
		"nobody may":               {german, described("wc/v3", ""), Anonymous, 2},
		"wrong in English":         {refused("Consumer secret is invalid."), nil, Anonymous, 1},
		"wrong in German":          {german, german, Anonymous, 2},
		"a server answers OPTIONS": {german, asktest.JSON(200, ``), Anonymous, 2},
		"another namespace":        {german, described("wc/v2", "GET, POST"), Anonymous, 2},
	} {
		backend := &asktest.Platform{Answer: func(q ask.Question) (*ask.Answer, error) {
			if q.Method == http.MethodOptions {
				return test.options, nil
			}
			return test.get, nil
		}}
		w := request(t, newSite(t), backend, "POST", ordersAt, `{}`, basicLine(cleanID, "cs_s3cret"), jsonType)
		who, answer, err := w.Who(t.Context())
		if err != nil || who.Kind != test.want || (answer == nil) != (test.want == KeyHolder) {
			t.Errorf("%s: %+v, %+v, %v", name, who, answer, err)
		}
		if n := len(backend.Questions()); n != test.asked || !slices.ContainsFunc(backend.Questions(), func(q ask.Question) bool { return q.Route == "/wc/v3/orders" }) {
			t.Errorf("%s: %d questions", name, n)
		}
	}
}
