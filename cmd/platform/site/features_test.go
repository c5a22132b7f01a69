package site_test

import (
	"slices"
	"strings"
	"testing"
)

const features = "/shop-admin/v1/features"

// enabled are the flags of a list answer that are on; known are all of them.
func (a *answer) enabled() (on, known []string) {
	for i := range a.json.([]any) {
		flag := a.get(id(i), "id").(string)
		known = append(known, flag)
		if a.get(id(i), "enabled") == true {
			on = append(on, flag)
		}
	}
	return on, known
}

func TestFeatures(t *testing.T) {
	releases(t, func(t *testing.T, c *client, release string) {
		admin := c.as("admin")
		c.rest("GET", features, "").want(403, "rest_forbidden")
		c.rest("PUT", features, `{"product_gallery_video":true}`).want(403, "rest_forbidden")
		c.rest("GET", features+"/product_gallery_video", "").want(403, "rest_forbidden")
		c.rest("POST", features, `{"product_gallery_video":true}`, c.as("manager")).want(403, "rest_forbidden")

		want := []string{"unified_editor_assets", "product_gallery_video"}
		if release == "11.1" {
			want = append(want, "order_withdrawal")
		}
		on, known := c.rest("GET", features, "", admin).want(200).enabled()
		if len(on) != 0 || !slices.Equal(known, want) {
			t.Fatalf("on %v of %v, want none of %v", on, known, want)
		}
		for _, flag := range want {
			one := features + "/" + flag
			if a := c.rest("GET", one, "", admin).want(200); a.get("id") != flag || a.get("enabled") != false {
				t.Fatalf("%s: %s", flag, a.body)
			}
			c.rest("PUT", one, `{"enabled":true}`, admin).want(200)
			if on, _ := c.rest("GET", features, "", admin).enabled(); !slices.Equal(on, []string{flag}) {
				t.Fatalf("%s: on are %v", flag, on)
			}
			c.rest("PUT", one, `{}`, admin).want(400, "rest_missing_callback_param")
			c.rest("PUT", one, `{"enabled":"maybe"}`, admin).want(400, "rest_invalid_param")
			c.rest("PUT", one, `{"enabled":false}`, admin).want(200)
		}
		if release != "11.1" {
			c.rest("PUT", features+"/order_withdrawal", `{"enabled":true}`, admin).want(400, "rest_invalid_param")
		}
	})
}

// TestFeatures_Body: the forms of the list's body; what is not understood
// changes nothing.
func TestFeatures_Body(t *testing.T) {
	releases(t, func(t *testing.T, c *client, _ string) {
		admin := c.as("admin")
		for _, body := range []string{
			`{"product_gallery_video":true}`, `{"id":"product_gallery_video","enabled":true}`, `{"feature":"product_gallery_video","enabled":"1"}`,
			`{"features":{"product_gallery_video":true}}`, "product_gallery_video=true",
		} {
			if on, _ := c.rest("PUT", features, body, admin).want(200).enabled(); !slices.Equal(on, []string{"product_gallery_video"}) {
				t.Fatalf("%s: on are %v", body, on)
			}
			c.rest("PUT", features, strings.NewReplacer("true", "false", `"1"`, `"0"`).Replace(body), admin).want(200)
			if on, _ := c.rest("GET", features, "", admin).enabled(); len(on) != 0 {
				t.Fatalf("%s turned round: on are %v", body, on)
			}
		}
		for _, body := range []string{
			`{"nosuch":true}`, `{"product_gallery_video":true,"nosuch":true}`, `{"features":{"nosuch":true}}`, `{"features":["product_gallery_video"]}`,
			`{"id":"nosuch","enabled":true}`, `{"id":"product_gallery_video"}`, `{"enabled":true}`, `{"product_gallery_video":"maybe"}`,
			`{"features":{"product_gallery_video":[]}}`,
		} {
			c.rest("PUT", features, body, admin).want(400, "rest_invalid_param")
		}
		c.rest("PUT", features, `{}`, admin).want(400, "rest_missing_callback_param")
		if on, _ := c.rest("GET", features, "", admin).enabled(); len(on) != 0 {
			t.Fatalf("on are %v", on)
		}
	})
}
