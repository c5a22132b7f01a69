package site_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/restwarden/restwarden/cmd/platform/site"
)

func mac(key, message string) string {
	h := hmac.New(sha256.New, []byte(key))
	h.Write([]byte(message))
	return hex.EncodeToString(h.Sum(nil))
}

func stamp(at time.Time) string { return strconv.FormatInt(at.Unix(), 10) }

// signed sets the two headers of a request signature.
func signed(signature, timestamp string) edit {
	return func(r *http.Request) {
		r.Header.Set("X-Signature", signature)
		r.Header.Set("X-Timestamp", timestamp)
	}
}

func TestConsentAndNotify(t *testing.T) {
	both(t, site.Options{}, func(t *testing.T, c *client) {
		for _, empty := range []string{"/consent/v1/log", "/shop-analytics/admin/notes", "/cms/v2/posts?page=9"} {
			if got := string(c.rest("GET", empty, "", c.as("admin")).want(200).body); got != "[]" {
				t.Fatalf("%s is %s", empty, got)
			}
		}
		c.rest("POST", c.info.Routes.Consent, `{"consent":"all"}`).want(200)
		c.rest("POST", c.info.Routes.Consent, "consent=none").want(200)
		c.rest("GET", c.info.Routes.Consent, "").want(404, "rest_no_route")
		c.rest("GET", "/consent/v1/log", "").want(403, "rest_forbidden")
		c.rest("GET", "/consent/v1/log", "", c.as("customer")).want(403, "rest_forbidden")
		a := c.rest("GET", "/consent/v1/log", "", c.as("admin")).want(200)
		if a.get("0", "choice", "consent") != "all" || a.get("1", "choice", "consent") != "none" {
			t.Fatalf("log %s", a.body)
		}
		c.rest("POST", c.info.Routes.Notify, `{"event":"paid"}`).want(200)
		c.rest("GET", c.info.Routes.Notify, "").want(404, "rest_no_route")
	})
}

func TestTroubleshooting(t *testing.T) {
	both(t, site.Options{}, func(t *testing.T, c *client) {
		route, key := c.info.Routes.Troubleshooting, c.info.Keys.FeedPublicID
		now := stamp(time.Now())
		a := c.rest("GET", route, "", signed(mac(key, now), now)).want(200)
		token, _ := a.get("access_token").(string)
		if token == "" || a.get("source", "access_token") != token {
			t.Fatalf("options %s", a.body)
		}
		old := stamp(time.Now().Add(-time.Hour))
		c.rest("GET", route, "").want(403, "rest_forbidden")
		c.rest("GET", route, "", signed(mac(key, old), old)).want(403, "rest_forbidden")
		c.rest("GET", route, "", signed(mac("x", now), now)).want(403, "rest_forbidden")
		c.rest("GET", route, "", c.as("customer")).want(403, "rest_forbidden")
		c.rest("GET", route, "", c.as("admin")).want(200)
		if page := c.send("GET", "/", ""); !strings.Contains(string(page.body), key) {
			t.Fatal("the feed identifier is not public")
		}
	})
}

func TestCookiePlugin(t *testing.T) {
	t.Run("4.4.1", func(t *testing.T) {
		c := newClient(t, site.Options{CookiePlugin: "4.4.1"})
		c.rest("POST", c.info.Routes.StoreAuth, `{"token":"x"}`).want(200)
		c.rest("POST", c.info.Routes.UploadLogo, "PNG").want(200)
	})
	t.Run("4.4.2", func(t *testing.T) {
		c := newClient(t, site.Options{CookiePlugin: "4.4.2"})
		c.rest("POST", c.info.Routes.UploadLogo, "PNG").want(404, "rest_no_route")
		route, body := c.info.Routes.StoreAuth, `{"token":"x"}`
		sign := func(body string, at time.Time) edit {
			sum := sha256.Sum256([]byte(body))
			message := strings.Join([]string{stamp(at), "POST", route, hex.EncodeToString(sum[:])}, "\n")
			return signed(mac(c.info.Keys.CookiePlugin, message), stamp(at))
		}
		c.rest("POST", route, body, sign(body, time.Now())).want(200)
		now := stamp(time.Now())
		c.rest("POST", route, body, signed(mac(c.info.Keys.CookiePlugin, now), now)).want(200)
		c.rest("POST", route, body, signed(mac("x", now), now)).want(401, "rest_invalid_signature")
		c.rest("POST", route, body).want(401, "rest_invalid_signature")
		c.rest("POST", route, body, sign("{}", time.Now())).want(401, "rest_invalid_signature")
		c.rest("POST", route, body, sign(body, time.Now().Add(-6*time.Minute))).want(401, "rest_invalid_signature")
	})
}
