package gateway

import (
	"fmt"
	"net/http"
	"testing"
)

// TestScope: a scope binds its key on calls and pages, rules that name it admit the verified key alone, and records say
// whose it is.
func TestScope(t *testing.T) {
	g := startGateway(t, "\trestwarden cms {\nscope erp {\nkey 789abcd\nallow PUT /shop/v3/orders/*\nallow GET /shop/v3/reports\n}\nscope agent {\npassword "+adminUUID+"\nallow /shop/v3/reports /wc-api/**\n}\nallow scope erp /shop/v3/reports\n\t}\n"+newShop(t).proxied())
	g.do("PUT /cms-json/shop/v3/orders/1", `{"status":"x"}`, asKey).want(t, http.StatusOK, "")
	g.do("GET /cms-json/shop/v3/reports", "", asKey).want(t, http.StatusOK, "")
	g.do("GET /cms-json/shop/v3/reports", "", asAdmin).want(t, http.StatusForbidden, "rest_forbidden")
	g.do("GET /cms-json/shop/v3/orders/1", "", asKey).want(t, http.StatusForbidden, "rest_credential_scope")
	g.do("GET /wc-api/v3/orders", "", asKey).want(t, http.StatusForbidden, "rest_credential_scope")
	g.do("GET /cms-json/cms/v2/pages", "", asAdmin).want(t, http.StatusForbidden, "rest_credential_scope")
	g.do("GET /a/page", "", asAdmin).want(t, http.StatusOK, "")
	refused := func() (found []map[string]any) { return lines(t, g.log, `"code":"rest_credential_scope"`) }
	eventually(t, "the records", func() bool { return len(refused()) == 3 })
	want := []string{
		"scope erp map[claimed:true key:789abcd kind:key scope:erp]", "scope erp map[claimed:true key:789abcd kind:key scope:erp]",
		"scope agent map[kind:password login:admin scope:agent uuid:" + adminUUID + "]",
	}
	for i, line := range refused() {
		if got := fmt.Sprint(line["rule"], " ", line["credential"]); line["policy"] != "scope" || got != want[i] {
			t.Errorf("%s: %v", got, line)
		}
	}
}
