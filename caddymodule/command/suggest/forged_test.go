package suggest_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/restwarden/restwarden/caddymodule/command/records"
	"github.com/restwarden/restwarden/caddymodule/command/suggest"
)

// TestForgedPage: a client who says that pages of the site call opens no route of the core, of
// the shop or of a plugin that the catalogue knows. For the most private ones there is not even
// a line in the comment.
func TestForgedPage(t *testing.T) {
	t.Parallel()
	for call, want := range map[string]struct {
		reason suggest.Reason
		named  bool
	}{
		"POST /wp/v2/users": {suggest.ReasonGuarded, false},
		"POST /wp/v2/users/:user_id/application-passwords": {suggest.ReasonCore, false},
		"GET /wp/v2/users/me":                              {suggest.ReasonRisky, false},
		"GET /wp/v2/settings":                              {suggest.ReasonCore, false},
		"POST /wp/v2/settings":                             {suggest.ReasonCore, false},
		"PUT /wp/v2/plugins/:plugin":                       {suggest.ReasonCore, false},
		"GET /wp/v2/themes":                                {suggest.ReasonCore, false},
		"DELETE /wp/v2/templates/:id":                      {suggest.ReasonCore, false},
		"POST /wp/v2/:base":                                {suggest.ReasonCore, false},
		"GET /wp-site-health/v1/tests/:test":               {suggest.ReasonCore, false},
		"POST /wp-abilities/v1/abilities/:name/run":        {suggest.ReasonCore, false},
		"GET /oembed/1.0/proxy":                            {suggest.ReasonCore, false},
		"POST /wp/v2/posts/:id":                            {suggest.ReasonCore, true},
		"POST /wp/v2/media":                                {suggest.ReasonCore, true},
		"GET /wp/v2/posts/:parent/revisions":               {suggest.ReasonCore, true},
		"GET /wp/v2/comments/:id":                          {suggest.ReasonCore, true},
		"PUT /wc-admin/v1/features":                        {suggest.ReasonShop, false},
		"GET /wc-analytics/reports/revenue/stats":          {suggest.ReasonShop, false},
		"POST /wc/private/patterns":                        {suggest.ReasonShop, false},
		"DELETE /wc/v3/customers/:id":                      {suggest.ReasonShop, false},
		"GET /complianz/v1/datarequests":                   {suggest.ReasonNotNeeded, true},
		"DELETE /jetpack/v4/connection":                    {suggest.ReasonNotNeeded, true},
		"GET /gdpr/v2/:x":                                  {suggest.ReasonNotNeeded, true},
		"POST /contact-form-7/v1/contact-forms":            {suggest.ReasonNotNeeded, true},
	} {
		report := reportOf(t, suggest.Options{}, recordsOf(seen{call, "page", 1, 9, nil}))
		left := report.Sites[0].LeftOut
		if len(report.Sites[0].Lines) > 0 || len(left) != 1 || left[0].Reason != want.reason || (left[0].Line != "") != want.named {
			t.Errorf("%s: %q, %+v", call, linesOf(report), left)
		}
	}
	text := textOf(t, reportOf(t, suggest.Options{}, recordsOf(seen{"POST /acme/v1/votes/:id", "page", 1, 9, nil}, seen{"GET /complianz/v1/datarequests", "none", 1, 9, nil})))
	for _, want := range []string{"a client can forge that: do you know this plugin?\n", "# The catalogue knows complianz-gdpr, and does not know that a visitor needs this.\n"} {
		if !strings.Contains(text, strings.Replace(want, "# The", "#   The", 1)) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
}

// TestOpened: what a line opens beside the good traffic is told, and risky routes that were
// called are closed again.
func TestOpened(t *testing.T) {
	t.Parallel()
	const good, bad = "POST /gdpr/v2/acme", "POST /gdpr/v2/get_user_dashboard_data"
	report := reportOf(t, suggest.Options{}, recordsOf(seen{good, "none", 1, 3, nil}, seen{bad, "page", 5, 9, nil}))
	if got := linesOf(report); !slices.Equal(got, []string{"allow plugin gdpr-cookie-consent", "deny plugin gdpr-cookie-consent"}) {
		t.Errorf("%q", got)
	}
	if left := report.Sites[0].LeftOut; len(left) != 1 || left[0].Opened != "" {
		t.Errorf("%+v", left)
	}
	report = reportOf(t, suggest.Options{}, recordsOf(
		seen{"POST /sure-triggers/v1/automation/triggers", "none", 1, 3, nil},
		seen{"POST /sure-triggers/v1/automation/action", "none", 5, 9, rule("plugin suretriggers", "Caddyfile:5")},
	))
	if left := report.Sites[0].LeftOut; len(left) != 1 || left[0].Reason != suggest.ReasonGuarded || left[0].Opened != "" {
		t.Errorf("%+v", left)
	}
	few := reportOf(t, suggest.Options{}, recordsOf(seen{feedback, "page", 1, 3, nil}, seen{"GET /contact-form-7/v1/contact-forms/:id/refill", "none", 8, 8, nil}))
	if left := few.Sites[0].LeftOut; len(left) != 1 || left[0].Opened != "allow plugin contact-form-7" {
		t.Errorf("%+v", left)
	}
}

// TestPluginLines: a line of a plugin opens the groups that were seen alone, closes the risky
// rows that it would open, called or not, and asks where few clients called.
func TestPluginLines(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		calls []string
		text  []string
	}{
		{
			[]string{"POST /sure-triggers/v1/automation/triggers"},
			[]string{
				"# Only 1 client made some of these calls, and anybody can make them: is this plugin in use, and its service?\n",
				"\nallow plugin suretriggers\n", "\ndeny plugin suretriggers\n", "with published holes: CVE-2025-3102 (",
			},
		},
		{[]string{"POST /litespeed/v1/notify"}, []string{"\nallow plugin litespeed-cache", "\ndeny plugin litespeed-cache\n", "CVE-2023-40000"}},
		{
			[]string{"POST /wc-stripe/v1/webhook"},
			[]string{
				"\nallow plugin woo-stripe-payment for payments\n",
				"\n#   allow plugin woo-stripe-payment for payments {\n#       key {env.WOO_STRIPE_PAYMENT_KEY}\n#   }\n",
			},
		},
		{[]string{"POST /wc/v3/paypal-webhooks"}, []string{"\nallow plugin woocommerce for payments\n"}},
		{[]string{"POST /wc/v3/paypal-webhooks", "GET /wc/store/v1/cart"}, []string{"\nallow plugin woocommerce for payments\n", "\n#   allow plugin woocommerce for visitors\n"}},
		{
			[]string{"POST /wc/v3/paypal-webhooks", "POST /wc-admin/mobile-app/qr-login-exchange"},
			[]string{"\nallow plugin woocommerce for payments\n", "\n#   allow plugin woocommerce for apps\n"},
		},
		{
			[]string{"POST /tribe/event-aggregator/v1/import/:id/state", "GET /tribe/views/v2/html"},
			[]string{"other line opens it: visitors (GET /tribe/views/v2/html), sites (GET /tribe/events/v1/**). The line \"allow plugin the-events-calendar\" opens that, too.\n"},
		},
		{[]string{"GET /pinterest/v1/oauth/callback"}, []string{"# No line is suggested.\n", "\n#   allow plugin pinterest-for-woocommerce for setup\n"}},
	} {
		var all []seen
		for _, call := range c.calls {
			all = append(all, seen{call, "none", 1, 1, nil})
		}
		text := textOf(t, reportOf(t, suggest.Options{}, recordsOf(all...)))
		for _, want := range c.text {
			if !strings.Contains(text, want) {
				t.Errorf("%s: no %q in\n%s", c.calls, want, text)
			}
		}
	}
	if whole := textOf(t, reportOf(t, suggest.Options{}, recordsOf(seen{feedback, "page", 1, 3, nil}))); strings.Contains(whole, "Not seen") {
		t.Errorf("the line opens everything:\n%s", whole)
	}
	holes := textOf(t, reportOf(t, suggest.Options{}, recordsOf(seen{"GET /wc/store/v1/cart", "page", 1, 3, nil})))
	for _, want := range []string{
		"\nallow plugin woocommerce for visitors\n", "published holes",
		"\n# Not seen, or by too few clients, and closed where no other line opens it: payments (POST /wc/v3/paypal-webhooks). The line \"allow plugin woocommerce\" opens that, too.\n",
	} {
		if !strings.Contains(holes, want) {
			t.Errorf("no %q in\n%s", want, holes)
		}
	}
}

// TestCrowd: a crowd of scanners that touches every route pushes no honest client out, neither
// of a plugin's line nor of a provider's, and nobody is called a scanner who is none.
func TestCrowd(t *testing.T) {
	t.Parallel()
	const webhook = "POST /wc-stripe/v1/webhook"
	crowd := func(r *records.Record) {
		r.ClientIP = strings.Replace(r.ClientIP, "203.0.113.", "2001:db8:", 1) + "::1"
	}
	list := recordsOf(
		seen{feedback, "page", 1, 3, nil}, seen{webhook, "none", 4, 4, nil},
		seen{"GET /wp/v2/users", "none", 1000, 5000, crowd}, seen{feedback, "none", 1000, 5000, crowd}, seen{webhook, "none", 1000, 5000, crowd},
	)
	report := reportOf(t, suggest.Options{}, list)
	if got := linesOf(report); !slices.Contains(got, "allow plugin contact-form-7") || !slices.Contains(got, "allow plugin woo-stripe-payment for payments") {
		t.Errorf("%q", got)
	}
	if text := textOf(t, report); !strings.Contains(text, "feedback, 8008 calls by 3 clients and more than 20 scanners, from") || strings.Contains(text, "only scanners called") {
		t.Error(text)
	}
}

// TestMoreScanners: a line that no entry of the catalogue speaks for is no active line where more
// scanners than others called.
func TestMoreScanners(t *testing.T) {
	t.Parallel()
	const vote = "POST /acme/v1/votes"
	for scanners, active := range map[int]bool{3: true, 5: true, 6: false, 30: false, 500: false} {
		list := recordsOf(
			seen{vote, "page", 1, 5, nil},
			seen{"GET /wp/v2/users", "none", 100, 99 + scanners, nil}, seen{vote, "page", 100, 99 + scanners, nil},
		)
		report := reportOf(t, suggest.Options{}, list)
		if got := slices.Contains(linesOf(report), "allow anyone "+vote); got != active {
			t.Errorf("%d scanners and 5 others: active is %v", scanners, got)
		}
		if text := textOf(t, report); !active && !strings.Contains(text, "\n#   allow anyone "+vote+"\n") {
			t.Errorf("%d scanners: no comment with the line:\n%s", scanners, text)
		}
	}
}

// TestOwnRules: a rule of the owner's that refuses users is an answer. One customer with many
// addresses is one user, also where the rule has moved, and what is private has no line.
func TestOwnRules(t *testing.T) {
	t.Parallel()
	customer := func(rule, at string) func(*records.Record) {
		return func(r *records.Record) {
			user(rule)(r)
			r.UserID, r.At = 7, at
		}
	}
	for call, named := range map[string]bool{
		"GET /acme/v1/x": true, "POST /acme/v1/x": true, "GET /wp/v2/posts/:id/revisions": true, "POST /wp/v2/posts": false, "GET /wp/v2/users/me": false,
		"POST /wp/v2/settings": false, "GET /wc/v3/orders": false, "GET /wp/v2/users": false, "POST /wplp-react-gdpr/v1/import-settings": false,
	} {
		const rule = "allow role administrator /**"
		report := reportOf(t, suggest.Options{}, recordsOf(seen{call, "page", 1, 9, customer(rule, "Caddyfile:8")}, seen{call, "none", 1, 9, customer(rule, "Caddyfile:9")}))
		left := report.Sites[0].LeftOut
		if len(report.Sites[0].Lines) > 0 || len(left) != 1 || left[0].Reason != suggest.ReasonOwn || left[0].Users != 1 || left[0].At != "Caddyfile:9" {
			t.Errorf("%s: %q, %+v", call, linesOf(report), left)
		} else if (left[0].Line != "") != named {
			t.Errorf("%s: %q", call, left[0].Line)
		}
	}
}
