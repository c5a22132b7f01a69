package plugins_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/restwarden/restwarden/policies/plugins"
)

// TestLines: each plugin has the lines that do something for it, and no other.
func TestLines(t *testing.T) {
	for slug, want := range map[string][]string{
		"contact-form-7":                     {"allow plugin contact-form-7", "deny plugin contact-form-7"},
		"woo-stripe-payment":                 {"allow plugin woo-stripe-payment", "allow plugin woo-stripe-payment {\n\tkey {env.WOO_STRIPE_PAYMENT_KEY}\n}"},
		"jwt-authentication-for-wp-rest-api": {"allow plugin jwt-authentication-for-wp-rest-api for apps"},
		"bbpress":                            nil,
	} {
		p, err := plugins.ByName(slug)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, l := range p.Lines() {
			got = append(got, l.Text)
			if l.Does == "" || strings.HasSuffix(l.Does, ".") {
				t.Errorf("%s: %q", l.Text, l.Does)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %q", slug, got)
		}
	}
}
