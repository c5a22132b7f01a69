package ask_test

import (
	"errors"
	"testing"
	"time"

	"github.com/restwarden/restwarden/policies/ask"
	"github.com/restwarden/restwarden/policies/ask/asktest"
)

// TestSend_Else: the other question is sent only if the shop refuses the signature of the
// first, and the answer of the first stands if it refuses both.
func TestSend_Else(t *testing.T) {
	refused := asktest.JSON(401, `{"code":"woocommerce_rest_authentication_error","message":"Invalid signature - provided signature does not match."}`)
	writes := asktest.JSON(401, `{"code":"woocommerce_rest_authentication_error","message":"The API key provided does not have read permissions."}`)
	anonymous := asktest.JSON(401, `{"code":"woocommerce_rest_cannot_view"}`)
	fine := asktest.JSON(200, `[]`)
	failed := errors.New("no answer")
	for name, test := range map[string]struct {
		first, second *ask.Answer
		want          *ask.Answer
		asked         int
	}{
		"accepted":             {fine, nil, fine, 1},
		"anonymous":            {anonymous, fine, anonymous, 1},
		"may not read":         {writes, fine, writes, 1},
		"refused":              {refused, fine, fine, 2},
		"refused, anonymous":   {refused, anonymous, anonymous, 2},
		"refused, may write":   {refused, writes, writes, 2},
		"refused twice":        {refused, asktest.JSON(401, string(refused.Body)), refused, 2},
		"refused, no answer":   {refused, nil, nil, 2},
		"no answer, not asked": {nil, fine, nil, 1},
	} {
		t.Run(name, func(t *testing.T) {
			b := &asktest.Platform{Answer: func(q ask.Question) (*ask.Answer, error) {
				a := map[string]*ask.Answer{"/1": test.first, "/2": test.second}[q.Route]
				if a == nil {
					return nil, failed
				}
				return a, nil
			}}
			reported := 0
			trace := &ask.Trace{Asked: func(ask.Question, *ask.Answer, error, time.Duration) { reported++ }}
			a, err := ask.Send(t.Context(), b, trace, ask.Question{Route: "/1", Else: &ask.Question{Route: "/2"}})
			if a != test.want || (a == nil) != errors.Is(err, failed) || len(b.Questions()) != test.asked || reported != test.asked {
				t.Errorf("got %+v, %v, asked %d, reported %d", a, err, len(b.Questions()), reported)
			}
		})
	}
}
