package gateway

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/restwarden/restwarden/policies/confirm"
	"github.com/restwarden/restwarden/policies/store"
)

// FuzzDecisionBody: no body decides but an object with the one member give.
func FuzzDecisionBody(f *testing.F) {
	for _, seed := range []string{`{"give":true}`, `{"give":false}`, `{"Give":true}`, `{"give":"true"}`, `{}`, `null`, `{"give":true,"give":false}`, ` {"give" : true } `} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var b decisionBody
		if b.parse([]byte(text)) != nil {
			return
		}
		var members map[string]*bool
		if err := json.Unmarshal([]byte(text), &members); err != nil || b.Give == nil {
			t.Errorf("%q is %v, %v", text, members, err)
		}
	})
}

// FuzzConfirmPath: no path but one that begins as a link does is taken for one, and no token
// but one that was made opens anything.
func FuzzConfirmPath(f *testing.F) {
	memory, err := store.NewMemory()
	if err != nil {
		f.Fatal(err)
	}
	ledger := confirm.NewLedger(memory, "shop")
	made, _, err := ledger.Ask(f.Context(), &confirm.Call{Shop: "s", Caller: "user 7", Runs: "shop/delete"}, time.Hour)
	if err != nil {
		f.Fatal(err)
	}
	token, err := confirm.NewLinks().Token(f.Context(), ledger, made)
	if err != nil {
		f.Fatal(err)
	}
	for _, seed := range []string{token, token + "=", token[1:], "", "/", "..%2f", strings.Repeat("A", confirm.TokenLen), strings.ToLower(token), "\x00"} {
		f.Add(confirmPath + seed)
		f.Add("/blog" + confirmPath + seed)
	}
	s := &site{engine: &engine{}}
	f.Fuzz(func(t *testing.T, path string) {
		r := &http.Request{URL: &url.URL{Path: path}}
		got, ok := s.confirmToken(r)
		if ok != strings.HasPrefix(path, confirmPath) {
			t.Fatalf("%q is a link: %v", path, ok)
		}
		if c, err := ledger.ByToken(t.Context(), got); err == nil && (got != token || c.ID != made.ID) {
			t.Errorf("%q opens %+v", got, c)
		}
	})
}
