package gateway

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/restwarden/restwarden/policies/access"
	"github.com/restwarden/restwarden/policies/policy"
	"github.com/restwarden/restwarden/policies/redact"
)

// TestGateway_Add: a line that is added to a directive is as if it stood last in its block.
func TestGateway_Add(t *testing.T) {
	const block = "http://a.example {\n\trestwarden wordpress {\n\t\tlogin_only\n\t\tdeny /a/v1/b as 404\n"
	for _, line := range []string{
		"allow anyone POST /c/v1/d", "alias ^api/(.+) /$1", "rate_limit 5/1m /c/v1/d", "mode observe", "recommended off",
		"allow anyone", "alias ^api", "no_store nothing", "nonsense", "recommended maybe", // refused
	} {
		text := block + "\t\t" + line + "\n\t}\n}\n"
		words := strings.Fields(line)
		g := directives(t, block+"\t}\n}\n")[0]
		err := g.Add(policy.Option{Name: words[0], Args: words[1:], Pos: "Caddyfile:5"})
		want := adaptAndProvision(t, text)
		switch {
		case err != nil && strings.HasSuffix(want, err.Error()):
		case err != nil || !strings.HasPrefix(want, "{"):
			t.Errorf("%s: got %v, want %s", line, err, want)
		case !reflect.DeepEqual(members(t, g), members(t, directives(t, text)[0])):
			t.Errorf("%s: got %v, want %s", line, members(t, g), want)
		}
	}
}

// members is the JSON of a directive, in whatever order.
func members(t *testing.T, g *Gateway) (all map[string]any) {
	t.Helper()
	text, err := json.Marshal(g)
	if err == nil {
		err = json.Unmarshal(text, &all)
	}
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// TestGateway_Policy: a policy that the directive does not name has its defaults, and one that does not
// decode is an error with its name.
func TestGateway_Policy(t *testing.T) {
	g := &Gateway{PoliciesRaw: map[string]json.RawMessage{"access": []byte(`{"at":"a:1","login_only":true}`), "call": []byte(`{"x":1}`)}}
	c, err := g.Policy(access.Entry)
	if err != nil || c.Settings.At != "a:1" || !c.Policy.(*access.Access).LoginOnly {
		t.Errorf("%+v: %v", c, err)
	}
	if c, err := g.Policy(redact.Entry); err != nil || c.Settings != (policy.Settings{}) {
		t.Errorf("%+v: %v", c, err)
	}
	if _, err := g.Policy(policy.ReadingEntry); err == nil || !strings.HasPrefix(err.Error(), "call: ") {
		t.Error(err)
	}
}
