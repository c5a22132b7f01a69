package gateway

import (
	"io"
	"net/http"
	"strings"
	"testing"
)

// TestGateway_ScriptsByAddress: a server may run the scripts of the admin screens for the office's
// addresses, and show everybody else the front controller in their place, which reads the form. So
// what the gateway sees of the scripts for one client says nothing about the next.
func TestGateway_ScriptsByAddress(t *testing.T) {
	p := newPlatform(t)
	p.setAnswer(func(w http.ResponseWriter, r *http.Request) bool {
		script, office := strings.HasPrefix(r.URL.Path, "/cms-admin/"), r.Header.Get("X-From") != "elsewhere"
		switch {
		case !script:
			return false
		case !office:
			_, _ = io.WriteString(w, "all users")
		case strings.HasSuffix(r.URL.Path, "/async-upload.php"):
			http.Redirect(w, r, "/cms-login.php", http.StatusFound)
		default:
			w.WriteHeader(http.StatusBadRequest)
			_, _ = io.WriteString(w, "0")
		}
		return true
	})
	g := startGateway(t, loginOnly+p.proxied())
	for range 20 {
		g.do("POST /cms-admin/admin-ajax.php", "action=heartbeat", form).want(t, 400, "")
	}
	for _, script := range []string{"/cms-admin/admin-ajax.php", "/cms-admin/async-upload.php"} {
		g.do("POST "+script, "rest_route=/cms/v2/users", form, "X-From: elsewhere", "X-HTTP-Method-Override: GET").want(t, 401, "rest_not_logged_in")
		padded := "x=" + strings.Repeat("x", 1<<20) + "&rest_route=/cms/v2/users"
		g.do("POST "+script, padded, form, "X-From: elsewhere", "Cookie: cms_logged_in_abc=forged").want(t, 401, "")
	}
}
