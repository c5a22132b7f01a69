package site_test

import (
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/restwarden/restwarden/cmd/check/testkit/mailsink"
	"github.com/restwarden/restwarden/cmd/platform/site"
)

var formNonce = regexp.MustCompile(`name="([a-z]+-order-withdrawal-nonce)" value="([0-9a-f]+)"`)

func TestWithdrawal(t *testing.T) {
	address, mails := mailsink.Start(t)
	now := time.Now()
	options := site.Options{SMTP: address, Now: func() time.Time { return now }}
	both(t, options, func(t *testing.T, c *client) {
		t.Helper()
		const page = "/my-account/withdraw-order/"
		c.send("GET", page, "").want(404)
		c.rest("POST", "/shop-admin/v1/features", `{"order_withdrawal":true}`, c.as("admin")).want(200)
		nonce := formNonce.FindSubmatch(c.send("GET", page, "").want(200).body)
		if nonce == nil {
			t.Fatal("no form")
		}
		submit := func(action, order, email string, change ...string) string {
			form := url.Values{
				string(nonce[1]): {string(nonce[2])}, "order_withdrawal_action": {action},
				"order_withdrawal_first_name": {"A"}, "order_withdrawal_last_name": {"B"},
				"order_withdrawal_email": {email}, "order_withdrawal_email_confirmation": {email},
				"order_withdrawal_order_number": {order}, "order_withdrawal_withdrawal_type": {"full_order"},
			}
			for i := 0; i < len(change); i += 2 {
				form.Set(change[i], change[i+1])
			}
			return string(c.send("POST", page, form.Encode()).want(200).body)
		}
		order, email := id(c.info.Orders[0]), "customer@example.test"
		expect := func(got, want string) {
			t.Helper()
			if !strings.Contains(got, want) {
				t.Fatalf("page lacks %q: %s", want, got)
			}
		}
		expect(submit("review", order, email), "Confirm withdrawal")
		expect(submit("edit", order, email), "Continue")
		expect(submit("confirm", order, email, string(nonce[1]), "x"), "session has expired")
		expect(submit("confirm", order, email, "order_withdrawal_email_confirmation", "x@example.test"), "do not match")
		expect(submit("confirm", order, "a@example.test\r\nBcc: b@example.test"), "valid e-mail")
		if len(mails) > 0 {
			t.Fatal("a mail without a confirmation")
		}
		expect(submit("confirm", order, email), "We received your withdrawal request")
		expect((<-mails).Text, "To: admin@example.test")
		if len(mails) > 0 {
			t.Fatalf("a mail to %v", (<-mails).To)
		}
		if r := c.record(c.info.Orders[0]); r.Meta["_order_withdrawal_requested"] != "yes" || len(r.Notes) == 0 {
			t.Fatalf("order %+v", r)
		}
		a := c.rest("GET", "/shop-analytics/admin/notes", "", c.as("admin")).want(200)
		if name, _ := a.get("0", "name").(string); !strings.HasSuffix(name, "-order-withdrawal-requested-order-"+order) {
			t.Fatalf("inbox %s", a.body)
		}
		c.rest("GET", "/shop-analytics/admin/notes", "").want(401)
		expect(submit("confirm", order, email), "Please wait")
		now = now.Add(time.Minute)
		expect(submit("confirm", order, email), "already requested")
		expect(submit("confirm", "99999", email), "We received")
		<-mails
		now = now.Add(time.Minute)
	})
}

func TestWithdrawalIsNewIn11_1(t *testing.T) {
	c := newClient(t, site.Options{Release: "10.8"})
	c.rest("POST", "/shop-admin/v1/features", `{"order_withdrawal":true}`, c.as("admin")).want(400, "rest_invalid_param")
	c.send("GET", "/my-account/withdraw-order/", "").want(404)
}
