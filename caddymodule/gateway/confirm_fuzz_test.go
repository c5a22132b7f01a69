package gateway

import (
	"encoding/json"
	"testing"
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
