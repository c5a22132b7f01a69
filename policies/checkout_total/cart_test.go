package checkouttotal

import (
	"encoding/json"
	"errors"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/restwarden/restwarden/policies/ask"
	"github.com/restwarden/restwarden/policies/ask/asktest"
	"github.com/restwarden/restwarden/policies/policytest"
)

// undecided is how a test writes a cart that decides nothing, and holdsNothing one without a total.
const (
	undecided    = "undecided"
	holdsNothing = "empty"
)

func cartText(text string) string {
	switch c, err := readCart([]byte(text)); {
	case errors.Is(err, ask.ErrUndecided):
		return undecided
	case err != nil:
		return err.Error()
	case c.empty:
		return holdsNothing
	default:
		return strconv.FormatInt(c.total, 10)
	}
}

func TestReadCart(t *testing.T) {
	for text, want := range map[string]string{
		emptyCart: holdsNothing, `{}`: holdsNothing, `{"items":null}`: holdsNothing, `{"items":[ ]}`: holdsNothing,
		`{"totals":{"total_price":"5"}}`: holdsNothing,
		cartBody:                         "2000",
		" " + cartBody + "\n":            "2000",
		`{"items":[{"id":1},{"items":[],"totals":1}],"totals":{"a":{"total_price":"1"},"total_price":"-7"}}`: "-7",
		`{"\u0069tems":[0],"totals":{"total_price":"\u0031"}}`:                                               "1",
		`{"Items":[],"items":[0],"totals":{"total_price":"1","Total_Price":"2"}}`:                            "1",

		``: undecided, `<html>`: undecided, `[]`: undecided, `null`: undecided, cartBody + "x": undecided, cartBody + cartBody: undecided, cartBody[:len(cartBody)-1]: undecided,
		`{"items":[0]}`: undecided, `{"items":[0],"totals":null}`: undecided, `{"items":[0],"totals":[]}`: undecided, `{"items":[0],"totals":{}}`: undecided,
		`{"items":[0],"totals":{"total_price":2000}}`: undecided, `{"items":[0],"totals":{"total_price":"20.00"}}`: undecided, `{"items":[0],"totals":{"total_price":""}}`: undecided,
		`{"items":{"0":1},"totals":{"total_price":"1"}}`: undecided, `{"items":"x","totals":{"total_price":"1"}}`: undecided,
		`{"items":[],"items":[0],"totals":{"total_price":"1"}}`:                            undecided,
		`{"items":[0],"totals":{"total_price":"1"},"totals":{"total_price":"1"}}`:          undecided,
		`{"items":[0],"totals":{"total_price":"1","total_price":"2"}}`:                     undecided,
		`{"items":[0],"billing_address":{},"billing_address":{},"totals":{"total_price"}}`: undecided,
		"{\"items\":[\"\xff\"],\"totals\":{\"total_price\":\"1\"}}":                        undecided,
	} {
		if got := cartText(text); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}

// TestCheckoutTotal_CartAddress: an address of the cart is read only where the checkout has one.
func TestCheckoutTotal_CartAddress(t *testing.T) {
	const with, without = `{"expected_total":2000,"billing_address":{"country":"US"}}`, `{"expected_total":2000}`
	for address, want := range map[string]bool{
		`{"country":"US"}`: true, `null`: true, `{}`: true,
		`[]`: false, `"US"`: false, `{"country":"GB","country":"US"}`: false, `{"country":"US","x":1e999}`: false,
		`{"country":"US","x":"` + strings.Repeat("x", maxCartAddress) + `"}`: false,
	} {
		backend := shopWithCart(`{"items":[{}],"totals":{"total_price":"2000"},"billing_address":` + address + `}`)
		s := policytest.NewSite(t)
		p := policytest.Provision(t, s, new(CheckoutTotal))
		for body, want := range map[string]bool{with: want, without: true} {
			_, err := p.Check(t.Context(), policytest.Request(t, s, backend, "POST", checkout, body, policytest.JSONType))
			if (err == nil) != want || err != nil && !errors.Is(err, ask.ErrUndecided) {
				t.Errorf("%.40s, a checkout of %s: %v", address, body, err)
			}
		}
	}
}

// decodedCart is what encoding/json reads of a cart, in the words of cartText. ok is false where
// readers of JSON may disagree.
// TestCartAddress_Size: an address of the cart has a bound.
func TestCartAddress_Size(t *testing.T) {
	t.Parallel()
	for more, right := range map[int]bool{0: true, 1: false} {
		text := `{"x":"` + strings.Repeat("x", maxCartAddress-8+more) + `"}`
		if fields, err := cartAddress(jsontext.Value(text)); (err == nil) != right || right && len(fields) != 1 {
			t.Errorf("%d bytes: %v", len(text), err)
		}
	}
}

func decodedCart(text []byte) (want string, ok bool) {
	if !utf8.Valid(text) || strings.Contains(strings.ToLower(string(text)), `\ud`) {
		return "", false // encoding/json replaces what is no Unicode
	}
	var members map[string]json.RawMessage
	if json.Unmarshal(text, &members) != nil || members == nil {
		return undecided, true
	}
	var items []json.RawMessage
	if json.Unmarshal(members["items"], &items) != nil && members["items"] != nil {
		return undecided, true
	}
	if len(items) == 0 {
		return holdsNothing, true
	}
	var totals map[string]json.RawMessage
	var price string
	if json.Unmarshal(members["totals"], &totals) != nil || json.Unmarshal(totals["total_price"], &price) != nil {
		return undecided, true
	}
	total, err := strconv.ParseInt(price, 10, 64)
	if err != nil {
		return undecided, true
	}
	return strconv.FormatInt(total, 10), true
}

// FuzzReadCart: a cart is read as encoding/json reads it, or decides nothing. That is so where
// encoding/json does not read it, and where a member is there twice.
func FuzzReadCart(f *testing.F) {
	for _, seed := range []string{cartBody, cartGB, emptyCart, `{"items":[[]],"totals":{"total_price":"\u0031"}}`, `{"items":[],"items":[1]}`, `[]`, ``, `{"items":[1],"totals":{"total_price":"1"}}x`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		got := cartText(string(text))
		want, ok := decodedCart(text)
		twice := false
		for _, name := range []string{"items", "totals", "billing_address", "shipping_address", "total_price"} {
			twice = twice || strings.Count(string(text), name) > 1 || strings.Contains(string(text), `\u00`)
		}
		if ok && got != want && (got != undecided || !twice) {
			t.Fatalf("%s, and encoding/json has %s", got, want)
		}
		if _, err := cartAddress(text); err == nil && len(text) > 0 && !json.Valid(text) {
			t.Fatal("an address that is no JSON")
		}
	})
}

// largeCart is a cart of some size whose items have long descriptions, as PHP writes it.
func largeCart(size int) string {
	item := `{"key":"k","id":1,"quantity":1,"name":"Product","short_description":"` + strings.Repeat(`<p>A fine product.<\/p>\n`, 20) + `","description":"` +
		strings.Repeat(`<p>A fine product with a long description, as shops have them.<\/p>\n`, 35) +
		`","images":[{"id":1,"src":"http:\/\/shop.test\/i\/1.jpg","alt":""}],"variation":[],"prices":{"price":"1000","currency_minor_unit":2},"totals":{"line_total":"1000"}}`
	return `{"items":[` + item + strings.Repeat(","+item, size/len(item)-1) + `],` + strings.TrimPrefix(cartBody, `{"items":[{"id":1}],`)
}

// TestReadCart_Allocations: of a cart, nothing is copied for each of its items. The runtime's
// own few allocations count as well.
func TestReadCart_Allocations(t *testing.T) {
	for _, size := range []int{1 << 16, 1 << 21} { // some 20 items, and 700
		text := []byte(largeCart(size))
		n := testing.AllocsPerRun(5, func() {
			if c, err := readCart(text); err != nil || c.total != 2000 {
				t.Fatal(c, err)
			}
		})
		if n > 15 {
			t.Errorf("%v allocations for %d bytes", n, size)
		}
	}
}

// BenchmarkCheckoutTotal_Large is a checkout with a cart of 8 MiB.
func BenchmarkCheckoutTotal_Large(b *testing.B) {
	s := policytest.NewSite(b)
	p := policytest.Provision(b, s, new(CheckoutTotal))
	text := largeCart(8 << 20)
	answer := asktest.JSON(200, text)
	backend := &asktest.Platform{Answer: func(ask.Question) (*ask.Answer, error) { return answer, nil }}
	r := policytest.Request(b, s, backend, "POST", checkout, `{"expected_total":1999}`, policytest.JSONType)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		if v, err := p.Check(b.Context(), r); err != nil || v.Status != 409 {
			b.Fatal(v, err)
		}
	}
}
