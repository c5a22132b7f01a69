package gateway

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
)

// BenchmarkAgents_Refused measures what the audit log adds to a refused call of a tool.
func BenchmarkAgents_Refused(b *testing.B) {
	body := executed("shop/erase", `{"text":"`+strings.Repeat("x", 1<<10)+`","id":7}`)
	for _, audit := range []string{"off", "hashes", "arguments"} {
		b.Run(audit, func(b *testing.B) {
			g := provisioned(b, `{"platform":"wordpress","policies":{"abilities":{"audit":"`+audit+`","rules":[{"pattern":"shop/erase","deny":true}]}}}`)
			b.ReportAllocs()
			for b.Loop() {
				w := httptest.NewRecorder()
				r := httptest.NewRequest(http.MethodPost, agentsDoor, strings.NewReader(body))
				r.Header.Set("Content-Type", "application/json")
				r = caddyhttp.PrepareRequest(r, caddy.NewReplacer(), w, new(caddyhttp.Server))
				if err := g.ServeHTTP(w, r, behind); err != nil || w.Code != http.StatusForbidden {
					b.Fatalf("got %d, %v", w.Code, err)
				}
			}
		})
	}
}
