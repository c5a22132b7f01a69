package checkouttotal

import (
	"io"
	"net/url"
	"strings"
	"testing"

	"github.com/restwarden/restwarden/policies/call"
	"github.com/restwarden/restwarden/policies/policytest"
)

// TestCheckoutTotal_Variables: without the prefix in the address the shop takes a checkout for a page
// first, which may change the cart.
func TestCheckoutTotal_Variables(t *testing.T) {
	const (
		byQuery  = "/?rest_route=/wc/store/v1/checkout"
		byBatch  = "/?rest_route=/wc/store/v1/batch"
		byForm   = "rest_route=/wc/store/v1/checkout&expected_total=2000"
		total    = `{"expected_total":2000}`
		inBatch  = `{"requests":[{"path":"/wc/store/v1/checkout?add-to-cart=1","body":{"expected_total":2000}}]}`
		partType = "Content-Type: multipart/form-data; boundary=B"
	)
	multipart := func(name string) string {
		return "--B\r\nContent-Disposition: form-data; name=\"expected_total\"\r\n\r\n2000\r\n--B\r\nContent-Disposition: form-data; name=\"" + name + "\"\r\n\r\n1\r\n--B--\r\n"
	}
	for name, test := range map[string]struct {
		target, body, contentType string
		refused                   bool
	}{
		"pass/alone":                   {byQuery, total, policytest.JSONType, false},
		"pass/as apiFetch sends it":    {byQuery + "&_locale=user", total, policytest.JSONType, false},
		"pass/odd spelling":            {"/?rest.route=/wc/store/v1/checkout&+_locale=user", total, policytest.JSONType, false},
		"pass/nonce":                   {byQuery + "&_wpnonce=1&_method=POST&lang=de", total, policytest.JSONType, false},
		"pass/total in the query":      {byQuery + "&expected_total=2000", "", "", false},
		"pass/form":                    {byQuery, "expected_total=2000&payment_method=cod&payment_data[0][key]=a", policytest.FormType, false},
		"pass/route in the form":       {"/", byForm + "&_locale=user&customer_note=x", policytest.FormType, false},
		"pass/multipart":               {byQuery, multipart("payment_method"), partType, false},
		"pass/batch":                   {byBatch + "&_locale=user", inBatch, policytest.JSONType, false},
		"pass/pretty":                  {checkout + "?add-to-cart=10&quantity=3", total, policytest.JSONType, false},
		"pass/pretty, form":            {checkout, "expected_total=2000&add-to-cart=10", policytest.FormType, false},
		"pass/pretty, batch":           {"/wp-json/wc/store/v1/batch?add-to-cart=1", inBatch, policytest.JSONType, false},
		"pass/no total":                {byQuery + "&add-to-cart=10", `{}`, policytest.JSONType, false},
		"refuse/adds":                  {byQuery + "&add-to-cart=10", total, policytest.JSONType, true},
		"refuse/adds, before":          {"/?add-to-cart=10&rest_route=/wc/store/v1/checkout", total, policytest.JSONType, true},
		"refuse/adds, encoded":         {byQuery + "&%61dd-to-cart=10", total, policytest.JSONType, true},
		"refuse/adds, an array":        {byQuery + "&add-to-cart[]=10", total, policytest.JSONType, true},
		"refuse/coupon":                {byQuery + "&apply_coupon=1&coupon_code=x", total, policytest.JSONType, true},
		"refuse/of a plugin":           {byQuery + "&wpml_lang=de", total, policytest.JSONType, true},
		"refuse/form":                  {byQuery, "expected_total=2000&add-to-cart=10", policytest.FormType, true},
		"refuse/form beside the query": {byQuery + "&expected_total=2000", "add-to-cart=10", policytest.FormType, true},
		"refuse/route in the form":     {"/", byForm + "&add-to-cart=10", policytest.FormType, true},
		"refuse/multipart":             {byQuery, multipart("add-to-cart"), partType, true},
		"refuse/batch":                 {byBatch + "&add-to-cart=10", inBatch, policytest.JSONType, true},
		"refuse/semicolon":             {byQuery + "&lang=de;add-to-cart=10", total, policytest.JSONType, true},
		"refuse/semicolon in a form":   {byQuery, "expected_total=2000&customer_note=a;add-to-cart=10", policytest.FormType, true},
		"refuse/behind a question":     {"/?lang=?add-to-cart=10&rest_route=/wc/store/v1/checkout", total, policytest.JSONType, true},
	} {
		t.Run(name, func(t *testing.T) {
			s := policytest.NewSite(t)
			backend := shopWithCart(cartBody)
			headers := []string{test.contentType}
			if test.body == "" {
				headers = nil
			}
			r := policytest.Request(t, s, backend, "POST", test.target, test.body, headers...)
			if r.Call.Kind == call.Refused {
				t.Fatal(r.Call.Refusal)
			}
			v := policytest.Alone("checkout_total", policytest.Provision(t, s, new(CheckoutTotal))).Judge(t.Context(), r).Verdict
			if refused := v.Status == 400 && v.Rule == "checkout_variables"; refused != test.refused || v.Refused() != test.refused {
				t.Errorf("%+v", v)
			}
			if test.refused && len(backend.Questions()) > 0 {
				t.Error("the cart was asked for")
			}
		})
	}
}

// TestCheckoutTotal_OtherPrefix: the shop looks for the site's own prefix in the client's address.
// Another name of it, which a rewrite makes the call of, leaves the shop a page.
func TestCheckoutTotal_OtherPrefix(t *testing.T) {
	for address, refused := range map[string]bool{
		"/wp-json/wc/store/v1/checkout":                           false,
		"/api/wc/store/v1/checkout":                               true,
		"/api/wc/store/v1/checkout /wp-json/wc/store/v1/checkout": true,
		"/wp-json/wc/store/v1/checkout /api/wc/store/v1/checkout": true,
		"/wp-json/wc/store/v1/checkout /index.php":                false,
		"/api/wc/store/v1/checkout /index.php":                    true,
	} {
		s := policytest.NewSite(t)
		reader := call.NewReader(call.Config{Platform: s.Platform, Prefix: "wp-json", Prefixes: []string{"api"}})
		client, current, rewritten := strings.Cut(address, " ")
		if !rewritten {
			current = client
		}
		backend := shopWithCart(cartBody)
		r := policytest.Request(t, s, backend, "POST", current+"?add-to-cart=10", `{"expected_total":2000}`, policytest.JSONType)
		original, err := url.ParseRequestURI(client + "?add-to-cart=10")
		if err != nil {
			t.Fatal(err)
		}
		r.HTTP.Body = io.NopCloser(strings.NewReader(`{"expected_total":2000}`))
		c := reader.Read(r.HTTP, original)
		defer c.Close()
		if r.Call, r.Whole.Call = c, c; c.Kind == call.Refused {
			t.Fatal(address, c.Refusal)
		}
		v := policytest.Alone("checkout_total", policytest.Provision(t, s, new(CheckoutTotal))).Judge(t.Context(), r).Verdict
		if v.Refused() != refused || refused && v.Rule != "checkout_variables" {
			t.Errorf("%s: %+v", address, v)
		}
	}
}
