package gateway

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/restwarden/restwarden/caddymodule/adminapi"
	"github.com/restwarden/restwarden/cmd/check/testkit/caddyrun"
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

// TestScope_Status: the status tells of each scope when a verified credential has used it, and what it has refused.
func TestScope_Status(t *testing.T) {
	last := time.Now().AddDate(0, 0, 3).Format(time.DateOnly)
	g := administered(t, "", caddyrun.Site{Body: "\trestwarden cms {\nscope erp {\nkey 789abcd\nallow GET /shop/v3/orders /shop/v3/reports\nuntil " + last +
		"\n}\nscope others {\nkey *\nmode observe\n}\nscope agent {\npassword " + adminUUID + "\nallow /shop/v3/reports\n}\n\t}\n" + newShop(t).proxied()})
	scopes := func() map[string]adminapi.Scope {
		all := map[string]adminapi.Scope{}
		for _, s := range g.statuses()[g.site()].Scopes {
			all[s.Scope] = s
		}
		return all
	}
	before := scopes()
	if s := before["erp"]; len(before) != 3 || s.LastUse != nil || s.Until != last || s.DaysLeft == nil || *s.DaysLeft != 3 || s.Mode != "enforce" {
		t.Errorf("%+v", before)
	}
	g.do("GET /cms-json/shop/v3/reports", "", asKey).want(t, http.StatusOK, "")              // whoever asks gets it, as far as the gateway knows
	g.do("GET /cms-json/shop/v3/orders/1", "", asKey).want(t, http.StatusForbidden, "scope") // twice
	g.do("GET /cms-json/shop/v3/orders/1", "", asKey).want(t, http.StatusForbidden, "scope")
	g.do("GET /cms-json/shop/v3/reports", "", "Authorization: Basic "+base64.StdEncoding.EncodeToString([]byte("ck_strange:cs_x"))).want(t, http.StatusOK, "")
	if all := scopes(); all["erp"].LastUse != nil || all["erp"].Refusals != 2 || all["others"].WouldRefuse != 1 || all["others"].Refusals != 0 || all["others"].LastUse != nil {
		t.Errorf("%+v", all)
	}
	g.do("GET /cms-json/shop/v3/orders", "", asKey).want(t, http.StatusOK, "")
	g.do("GET /cms-json/shop/v3/reports", "", asAdmin).want(t, http.StatusOK, "")
	eventually(t, "both uses", func() bool { all := scopes(); return all["erp"].LastUse != nil && all["agent"].LastUse != nil })
}
