package gateway

import (
	"net/http"
	"testing"
)

// TestForward_Placeholders: a variable that a handler behind the gateway sets is in the placeholders
// of those further behind, also where the answer may be refused. So root works within a handle.
func TestForward_Placeholders(t *testing.T) {
	for name, option := range map[string]string{"untouched": "", "redact": "redact authors", "redact a field": "redact /wp/v2/posts x", "misread refuse": "misread refuse"} {
		t.Run(name, func(t *testing.T) {
			p := newPlatform(t)
			p.answerCalls(func(w http.ResponseWriter, r *http.Request) {
				_, _ = w.Write([]byte(`["` + r.Header.Get("X-Behind") + `"]`))
			})
			g := startGateway(t, "\troute {\n\t\trestwarden wordpress {\n\t\t\t"+option+"\n\t\t}\n\t\tvars behind set\n\t\trequest_header X-Behind {vars.behind}\n\t"+p.proxied()+"\n\t}\n")
			for _, target := range []string{"/wp-json/wp/v2/posts?_embed", "/page"} {
				g.do("GET "+target, "").want(t, 200, `["set"]`)
			}
		})
	}
}
