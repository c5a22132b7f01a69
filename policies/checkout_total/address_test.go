package checkouttotal

import (
	"errors"
	"runtime"
	"strings"
	"testing"

	"github.com/restwarden/restwarden/policies/call"
	"github.com/restwarden/restwarden/policies/policytest"
)

// TestCheckoutTotal_AddressAsSent: the question about an address is no larger than the address.
func TestCheckoutTotal_AddressAsSent(t *testing.T) {
	s := policytest.NewSite(t)
	p := policytest.Provision(t, s, new(CheckoutTotal))
	backend, city := shopWithCart(cartBody), strings.Repeat("<&>", 1000)
	r := policytest.Request(t, s, backend, "POST", checkout, `{"expected_total":2400,"billing_address":{"city":"`+city+`"}}`, policytest.JSONType)
	if v, err := p.Check(t.Context(), r); err != nil || v.Refused() {
		t.Fatal(v, err)
	}
	if body := string(backend.Questions()[1].Body); !strings.Contains(body, city) {
		t.Errorf("asked with %d bytes", len(body))
	}
}

// TestCheckoutTotal_AddressForms: an address is an object of plain fields. Anything else is refused
// before a question.
func TestCheckoutTotal_AddressForms(t *testing.T) {
	const refused = -1
	inPart := func(address string) string {
		return `{"requests":[{"path":"/wc/store/v1/checkout","body":{"expected_total":2000,"billing_address":` + address + `}}]}`
	}
	for address, asked := range map[string]int{
		`null`: 1, `{}`: 1, "{ \n}": 1, `{"country":"US"}`: 1, `{"countr\u0079":"\u0055S"}`: 1, `{"x":null}`: 1,
		`{"country":"GB"}`: 2, `{"country":"US","acme/gift":true}`: 2, `{"x":false}`: 2, `{"x":1.50}`: 2, `{"x":""}`: 2, `{"country":"GB","country":"US"}`: 2,
		`[]`: refused, `[{"country":"US"}]`: refused, `"US"`: refused, `""`: refused, `1`: refused, `true`: refused,
		`{"x":[]}`: refused, `{"x":{}}`: refused, `{"country":"US","x":[1]}`: refused, `{"x":{"y":1},"country":"US"}`: refused,
		`{"x":"` + strings.Repeat("x", maxSentAddress-8) + `"}`: 2, `{"x":"` + strings.Repeat("x", maxSentAddress-7) + `"}`: refused,
	} {
		for target, body := range map[string]string{
			checkout: `{"expected_total":2000,"billing_address":` + address + `}`, checkout + "?": `{"expected_total":2000,"shipping_address":` + address + `}`,
			"/wp-json/wc/store/v1/batch": inPart(address),
		} {
			s := policytest.NewSite(t)
			backend := shopWithCart(cartBody)
			d := policytest.Alone("checkout_total", policytest.Provision(t, s, new(CheckoutTotal))).Judge(t.Context(), policytest.Request(t, s, backend, "POST", target, body, policytest.JSONType))
			if isRefused := d.Verdict.Rule == "address" && d.Verdict.Status == 400; isRefused != (asked == refused) || len(backend.Questions()) != max(asked, 0) {
				t.Errorf("%.60s at %s: %+v after %d questions, %v", address, target, d.Verdict, len(backend.Questions()), d.Err)
			}
		}
	}
	for _, form := range []string{"billing_address=", "billing_address=x", "billing_address[country]=US", "shipping_address[country][]=US"} {
		for target, body := range map[string]string{checkout: "expected_total=2000&" + form, checkout + "?" + form: "expected_total=2000"} {
			s := policytest.NewSite(t)
			_, err := policytest.Provision(t, s, new(CheckoutTotal)).Check(t.Context(), policytest.Request(t, s, shopWithCart(cartBody), "POST", target, body, policytest.FormType))
			if refusal, ok := errors.AsType[*call.Refusal](err); !ok || refusal.Reason != "address" {
				t.Errorf("%s to %s: %v", body, target, err)
			}
		}
	}
}

// TestCheckoutTotal_AddressMemory: an address that nests takes no multiple of its size.
func TestCheckoutTotal_AddressMemory(t *testing.T) {
	const size = 1<<20 - 100
	fill := func(unit string) string { return strings.TrimSuffix(strings.Repeat(unit, size/len(unit)), ",") }
	for name, address := range map[string]string{
		"a list": `[` + fill(`{"":0},`) + `]`, "a field": `{"a":[` + fill(`{"":0},`) + `]}`, "fields": `{` + fill(`"":0,`) + `}`, "lists": `{"a":[` + fill(`[],`) + `]}`, "a text": `{"a":"` + fill(`\u0041`) + `"}`,
	} {
		s := policytest.NewSite(t)
		p := policytest.Provision(t, s, new(CheckoutTotal))
		r := policytest.Request(t, s, shopWithCart(cartBody), "POST", checkout, `{"expected_total":2000,"billing_address":`+address+`}`, policytest.JSONType)
		if _, _, err := r.Call.Scalar("expected_total"); err != nil { // the body is read
			t.Fatal(name, err)
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := p.Check(t.Context(), r)
		runtime.ReadMemStats(&after)
		if refusal, ok := errors.AsType[*call.Refusal](err); !ok || refusal.Reason != "address" {
			t.Errorf("%s: %v", name, err)
		}
		if n := after.TotalAlloc - before.TotalAlloc; n > 2*size {
			t.Errorf("%s: %d bytes for %d", name, n, len(address))
		}
	}
}
