package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/restwarden/restwarden/cmd/check/testkit/caddyrun"
	"github.com/restwarden/restwarden/cmd/check/testkit/machine"
	"github.com/restwarden/restwarden/cmd/check/testkit/mailsink"
	"github.com/restwarden/restwarden/cmd/platform/site"
)

// curlLines are the expected answers of the printed lines, in order. FIRST and SECOND are
// orders, SUB and BARESUB subscriptions.
var curlLines = []struct {
	line   string // a part of it
	status int
	text   string // in the answer
	newest int    // status with release 11.1 and cookie plugin 4.4.2, if it differs
}{
	{`$BARE/cms/v2/users`, 200, `"slug":"admin"`, 0},
	{`$GATE/cms/v2/users`, 401, `rest_not_logged_in`, 0},
	{`rest.route=/cms/v2/users`, 401, `rest_not_logged_in`, 0},
	{`-d rest_route=/cms/v2/users`, 401, `rest_not_logged_in`, 0},
	{`-u "$ADMIN" $GATE/cms/v2/users`, 200, `"slug":"admin"`, 0},

	{`$BARE/cms/v2/users?rest_route=/cms/v2/posts`, 200, `Hello world`, 0},
	{`$GATE/cms/v2/users?rest_route=/cms/v2/posts`, 400, `rest_ambiguous_request`, 0},

	{`$BARE/consent/v1/consent`, 200, `"success":true`, 0},
	{`$GATE/consent/v1/consent`, 200, `"success":true`, 0},
	{`$BARE/pay/v1/notify`, 200, `"received":true`, 0},
	{`$GATE/pay/v1/notify`, 200, `"received":true`, 0},

	{`-u "admin:$PASSWORD" $BARE/cms/v2/users/me`, 200, `"slug":"admin"`, 0},
	{`-X DELETE $BARE/cms/v2/users/me/application-passwords/$UUID`, 200, `"deleted":true`, 0},
	{`-u "admin:$PASSWORD" $BARE/cms/v2/users/me`, 401, `incorrect_password`, 0},
	{`-u "admin:$PASSWORD" $GATE/cms/v2/users/me`, 200, `"slug":"admin"`, 0},
	{`-X DELETE $GATE/cms/v2/users/me/application-passwords/$UUID`, 200, `"deleted":true`, 0},
	{`-u "admin:$PASSWORD" $GATE/cms/v2/users/me`, 401, `incorrect_password`, 0},

	{`-X PUT -H "$JSON" -d '{"customer_note":"x"}' $BARE/shop/v3/orders/BARESUB`, 200, `"customer_note":"x"`, 400},
	{`-u "$ADMIN" $BARE/shop/v3/subscriptions/BARESUB`, 404, `shop_rest_shop_subscription_invalid_id`, 200},
	{`-X PUT -H "$JSON" -d '{"customer_note":"x"}' $GATE/shop/v3/orders/SUB`, 400, `shop_rest_shop_order_invalid_id`, 0},
	{`"id":SUB}' $GATE/shop/v3/orders/FIRST`, 400, `shop_rest_shop_order_invalid_id`, 0},
	{`-u "$ADMIN" $GATE/shop/v3/subscriptions/SUB`, 200, `"billing_period":"month"`, 0},
	{`-X PUT -H "$JSON" -d '{"customer_note":"x"}' $GATE/shop/v3/orders/FIRST`, 200, `"customer_note":"x"`, 0},

	{`$BARE/shop/v3/orders/SECOND/refunds`, 201, `"amount":""`, 201},
	{`$GATE/shop/v3/orders/FIRST/refunds`, 400, `shop_rest_compute_totals_unsupported`, 201},

	{`$BARE/shop/store/v1/cart/add-item`, 201, `"total_price":"1000"`, 0},
	{`"expected_total":1}' $BARE/shop/store/v1/checkout`, 200, `"order_id":`, 409},
	{`$GATE/shop/store/v1/cart/add-item`, 201, `"total_price":"1000"`, 0},
	{`"expected_total":1}' $GATE/shop/store/v1/checkout`, 409, `shop_rest_checkout_total_mismatch`, 0},
	{`"expected_total":1000}' $GATE/shop/store/v1/checkout`, 200, `"order_id":`, 0},

	{`$BARE/feed/troubleshooting`, 200, `"access_token"`, 0},
	{`$GATE/feed/troubleshooting`, 401, `rest_not_logged_in`, 0},
	{`-u "$CUSTOMER" $GATE/feed/troubleshooting`, 403, `rest_forbidden`, 0},
	{`-u "$ADMIN" $GATE/feed/troubleshooting`, 200, `"access_token":"[redacted]"`, 0},

	{`$BARE/cookie/v1/upload-logo`, 200, `"success":true`, 404},
	{`$GATE/cookie/v1/upload-logo`, 403, `rest_forbidden`, 0},
	{`-u "$ADMIN" $GATE/cookie/v1/upload-logo`, 403, `rest_forbidden`, 0},

	{`$BARE/cookie/v1/store-auth`, 200, `"success":true`, 401},
	{`$GATE/cookie/v1/store-auth`, 401, `rest_invalid_signature`, 0},
	{`"X-Signature: $SIGN" $GATE/cookie/v1/store-auth`, 200, `"success":true`, 0},

	{`-d "$QUERY" $BARE/shop-agent/v1/mcp`, 200, `"name":"Mug"`, 0},
	{`-d "$DELETE" $BARE/shop-agent/v1/mcp`, 200, `"deleted":true`, 0},
	{`-d "$QUERY" $GATE/shop-agent/v1/mcp`, 200, `"name":"Mug"`, 0},
	{`-d "$DELETE" $GATE/shop-agent/v1/mcp`, 403, `"code":-32008`, 0},
	{`-d "$EXECUTE" $GATE/mcp/mcp-adapter-default-server`, 403, `"code":-32008`, 0},
	{`-d "$READ" $GATE/shop-agent/v1/mcp`, 200, `shop://products`, 0},
	{`$GATE/shop/v3/products/`, 200, `"name":"Mug"`, 0},

	{`$GATE/shop-admin/v1/features`, 400, `rest_invalid_param`, 200},
	{`-d order_withdrawal_action=confirm`, 404, `<html`, 200},
	{`$GATE/shop-analytics/admin/notes`, 200, `[]`, 200},
}

// TestDemo_Lines: every printed line works as it stands.
func TestDemo_Lines(t *testing.T) {
	for name, flags := range map[string][]string{
		"default":    nil,
		"sub-folder": {"--base", "/blog"},
		"cms":        {"--platform", "cms"},
		"newest":     {"--release", "11.1", "--cookie-plugin", "4.4.2"},
	} {
		t.Run(name, func(t *testing.T) {
			w, lines := printedLines(t, flags)
			curls, answers := runLines(t, lines)
			if len(curls) != len(curlLines) {
				t.Fatalf("%d lines, want %d:\n%s", len(curls), len(curlLines), strings.Join(curls, "\n"))
			}
			ids := strings.NewReplacer("BARESUB", fmt.Sprint(w.info.Subscriptions[1]), "SUB", fmt.Sprint(w.info.Subscriptions[0]),
				"FIRST", fmt.Sprint(w.info.Orders[0]), "SECOND", fmt.Sprint(w.info.Orders[1]))
			for i, want := range curlLines {
				if part := w.branded(ids.Replace(want.line)); !strings.Contains(curls[i], part) {
					t.Errorf("line %d is %s, want %s", i, curls[i], part)
				}
				status, text := want.status, w.branded(want.text)
				if name == "newest" && want.newest != 0 {
					status, text = want.newest, ""
				}
				if a := answers[i]; !strings.HasSuffix(a, fmt.Sprintf("\n%d", status)) || !strings.Contains(a, text) {
					t.Errorf("%s\nanswered %.300s\nwant %d %s", curls[i], a, status, text)
				}
			}
		})
	}
}

// printedLines starts the demo as the command line would, and returns the lines
// to try, which are those of the text.
func printedLines(t *testing.T, flags []string) (*world, []string) {
	t.Helper()
	d := demo{dir: demoDir(t)}
	if err := d.command().ParseFlags(append([]string{"--curl"}, flags...)); err != nil {
		t.Fatal(err)
	}
	if _, err := d.walk(t.Context()); err != nil { // the lines must work after it
		t.Fatal(err)
	}
	w := newPlatform(t, d.options)
	running, err := d.startGateway(t.Context(), w.startTap(), w.info)
	if err != nil {
		t.Fatal(err)
	}
	caddyrun.StopAfter(t)
	var text strings.Builder
	if err := running.print(&text, false); err != nil {
		t.Fatal(err)
	}
	rest := text.String()
	for _, line := range running.Try {
		var found bool
		if _, rest, found = strings.Cut(rest, line+"\n"); !found {
			t.Errorf("the text does not have, in its order, %s", line)
		}
	}
	return w, running.Try
}

// runLines runs lines in one shell, and returns those that begin with curl with
// their answers, each with its status as last line.
func runLines(t *testing.T, lines []string) (curls, answers []string) {
	t.Helper()
	const separator = "\x1e"
	// The last -w counts. What a variable catches has the status too, which
	// no line looks at.
	script := `curl() { command curl "$@" -w '\n%{http_code}` + separator + "'; }\n" + strings.Join(lines, "\n")
	for _, line := range lines {
		if !strings.HasPrefix(line, "curl ") {
			continue
		}
		if curls = append(curls, line); !strings.HasPrefix(line, `curl -s -w '\n' `) {
			t.Errorf("its answer does not end the line: %s", line)
		}
	}
	out, err := machine.Run(t.Context(), "", nil, "bash", "-c", script)
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	answers = strings.Split(strings.TrimSuffix(out, separator), separator)
	if len(answers) != len(curls) {
		t.Fatalf("%d answers to %d lines:\n%s", len(answers), len(curls), out)
	}
	return curls, answers
}

// TestDemo_Withdrawal: the last lines send a withdrawal; the operator gets a mail and a note
// in the inbox (docs/project/interface 6).
func TestDemo_Withdrawal(t *testing.T) {
	address, mails := mailsink.Start(t)
	for _, platform := range []string{"cms", "wordpress"} {
		w, lines := printedLines(t, []string{"--release", "11.1", "--smtp", address, "--platform", platform})
		curls, answers := runLines(t, lines)
		last := len(curls) - 3
		for i, want := range []string{`"enabled":true`, "We received your withdrawal request", fmt.Sprintf("order-withdrawal-requested-order-%d", w.info.Orders[0])} {
			if a := answers[last+i]; !strings.Contains(a, want) || !strings.HasSuffix(a, "\n200") {
				t.Errorf("%s\nanswered %.500s\nwant %s", curls[last+i], a, want)
			}
		}
		operatorsMail(t, mails)
	}
}

// TestDemo_Text: with --users the text has all credentials that --json has, and without it
// none.
func TestDemo_Text(t *testing.T) {
	t.Parallel()
	s, err := site.New(site.Options{})
	if err != nil {
		t.Fatal(err)
	}
	running := &runningDemo{Info: s.Info()}
	bare, err := running.text()
	if err != nil {
		t.Fatal(err)
	}
	running.show.Users = true
	text, err := running.text()
	if err != nil {
		t.Fatal(err)
	}
	keys := running.Keys
	secrets := []string{keys.CookiePlugin, keys.FeedPublicID, keys.ReadKey, keys.WriteKey, keys.ReadWriteKey}
	for _, u := range running.Users {
		secrets = append(secrets, u.Password, u.ApplicationPassword, u.BearerToken)
	}
	for _, secret := range secrets {
		if secret == "" || !strings.Contains(text, secret) {
			t.Errorf("%q is not in the text:\n%.2000s", secret, text)
		}
		if strings.Contains(bare, secret) {
			t.Errorf("%q is in the text without --users:\n%s", secret, bare)
		}
	}
}
