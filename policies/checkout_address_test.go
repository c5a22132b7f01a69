package policies

import (
	"strings"
	"testing"
)

// TestCheckoutTotal_AddressAsSent: the question about an address is no larger than the address.
func TestCheckoutTotal_AddressAsSent(t *testing.T) {
	s := newSite(t)
	p := provision(t, s, new(CheckoutTotal))
	backend, city := shopWithCart(cartBody), strings.Repeat("<&>", 1000)
	r := request(t, s, backend, "POST", checkout, `{"expected_total":2400,"billing_address":{"city":"`+city+`"}}`, jsonType)
	if v, err := p.Check(t.Context(), r); err != nil || v.Refused() {
		t.Fatal(v, err)
	}
	if body := string(backend.Questions()[1].Body); !strings.Contains(body, city) {
		t.Errorf("asked with %d bytes", len(body))
	}
}
