package site_test

import (
	"fmt"
	"net/http"
	"net/mail"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/restwarden/restwarden/cmd/check/testkit/machine"
	"github.com/restwarden/restwarden/cmd/check/testkit/mailsink"
	"github.com/restwarden/restwarden/cmd/platform/site"
)

// withdraw confirms the withdrawal form and returns the page.
func (c *client) withdraw(order int, email string, edits ...edit) string {
	c.t.Helper()
	const page = "/my-account/withdraw-order/"
	nonce := formNonce.FindSubmatch(c.send("GET", page, "").want(200).body)
	form := url.Values{
		string(nonce[1]): {string(nonce[2])}, "order_withdrawal_action": {"confirm"},
		"order_withdrawal_first_name": {"A"}, "order_withdrawal_last_name": {"B"},
		"order_withdrawal_email": {email}, "order_withdrawal_email_confirmation": {email},
		"order_withdrawal_order_number": {id(order)}, "order_withdrawal_withdrawal_type": {"full_order"},
	}
	return string(c.send("POST", page, form.Encode(), edits...).want(200).body)
}

// TestWithdrawal_Mail: the operator gets a mail, and nobody else does (docs/project/interface 6). It
// is what a mail server takes (RFC 5322).
func TestWithdrawal_Mail(t *testing.T) {
	address, mails := mailsink.Start(t)
	c := newClient(t, site.Options{SMTP: address})
	c.rest("PUT", features, `{"order_withdrawal":true}`, c.as("admin")).want(200)
	c.withdraw(c.info.Orders[0], "customer@example.test")
	c.withdraw(99999, "guest@example.test", from("127.0.0.1:1000", "203.0.113.1"))
	ids := map[string]bool{}
	for range 2 {
		sent := <-mails
		m, err := mail.ReadMessage(strings.NewReader(sent.Text))
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(sent.To, []string{"admin@example.test"}) || m.Header.Get("To") != "admin@example.test" {
			t.Errorf("to %q, header %q", sent.To, m.Header.Get("To"))
		}
		if _, err := m.Header.Date(); err != nil {
			t.Errorf("Date %q: %v", m.Header.Get("Date"), err)
		}
		if _, err := m.Header.AddressList("From"); err != nil {
			t.Errorf("From %q: %v", m.Header.Get("From"), err)
		}
		if got := m.Header.Get("MIME-Version"); got != "1.0" {
			t.Errorf("MIME-Version %q", got)
		}
		if got := m.Header.Get("Content-Type"); got != "text/plain; charset=utf-8" {
			t.Errorf("Content-Type %q", got)
		}
		messageID := m.Header.Get("Message-ID")
		if !strings.HasPrefix(messageID, "<") || !strings.Contains(messageID, "@") || ids[messageID] {
			t.Errorf("Message-ID %q", messageID)
		}
		ids[messageID] = true
	}
	if len(mails) > 0 { // a page answers after its mail
		t.Errorf("one mail more: %+v", <-mails)
	}
}

// TestWithdrawal_MailFails: the customer gets an answer, the operator a log line.
func TestWithdrawal_MailFails(t *testing.T) {
	var logged []string
	c := newClient(t, site.Options{SMTP: machine.FreeAddress(t), Logf: func(format string, args ...any) {
		logged = append(logged, fmt.Sprintf(format, args...))
	}})
	c.rest("PUT", features, `{"order_withdrawal":true}`, c.as("admin")).want(200)
	page := c.withdraw(c.info.Orders[0], "customer@example.test")
	if !strings.Contains(page, "We received your withdrawal request") || !strings.Contains(page, "could not send the shop an e-mail") {
		t.Errorf("page %s", page)
	}
	if len(logged) != 1 || !strings.Contains(logged[0], "Order withdrawal requested") || !strings.Contains(logged[0], "admin@example.test") {
		t.Errorf("logged %q", logged)
	}
	if a := c.rest("GET", "/shop-analytics/admin/notes", "", c.as("admin")).want(200); a.get("0", "name") == nil {
		t.Errorf("inbox %s", a.body)
	}
}

// from is a peer, and the client that it names.
func from(peer, client string) edit {
	return func(r *http.Request) {
		r.RemoteAddr = peer
		if client != "" {
			r.Header.Set("X-Forwarded-For", client)
		}
	}
}

// TestClientAddress: clients behind a proxy on the same machine do not share
// its address; from elsewhere nobody is believed.
func TestClientAddress(t *testing.T) {
	now := time.Now()
	c := newClient(t, site.Options{Now: func() time.Time { return now }})
	c.rest("PUT", features, `{"order_withdrawal":true}`, c.as("admin")).want(200)
	rows := []struct {
		from edit
		want string
	}{
		{from("127.0.0.1:1000", "203.0.113.1"), "We received"},
		{from("127.0.0.1:1001", "203.0.113.2, 127.0.0.1"), "We received"},
		{from("[::1]:1000", "2001:db8::1"), "We received"},
		{from("127.0.0.1:1002", "203.0.113.1"), "Please wait"},
		{from("203.0.113.1:1000", ""), "Please wait"},
		{from("198.51.100.1:1000", "203.0.113.9"), "We received"},
		{from("198.51.100.1:1000", "203.0.113.10"), "Please wait"},
		{from("127.0.0.1:1000", "nonsense"), "We received"},
		{from("127.0.0.1:1000", ""), "Please wait"},
	}
	for i, row := range rows {
		if page := c.withdraw(99999, fmt.Sprintf("guest%d@example.test", i), row.from); !strings.Contains(page, row.want) {
			t.Fatalf("row %d lacks %q: %s", i, row.want, page)
		}
	}
	c.rest("GET", "/cms/v2/users/me", "", c.as("customer"), from("127.0.0.1:1000", "203.0.113.7")).want(200)
	a := c.rest("GET", "/cms/v2/users/3/application-passwords", "", c.as("admin")).want(200)
	if got := a.get("0", "last_ip"); got != "203.0.113.7" {
		t.Errorf("last_ip %v", got)
	}
}
