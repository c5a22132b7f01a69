package checkouttotal

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/restwarden/restwarden/policies/ask"
	"github.com/restwarden/restwarden/policies/call/jsonscan"
	"github.com/restwarden/restwarden/policies/policy"
)

// cart is what is needed of the checkout API's cart.
type cart struct {
	total             int64 // in minor units
	empty             bool  // it holds nothing, and has no total; the platform itself refuses such a checkout
	billing, shipping jsontext.Value
}

// askCart asks for a cart, and calls f with it before its text is gone. The cart that it returns has
// no addresses, since these are slices of the text, and is the zero cart where the status is not 200.
func askCart(ctx context.Context, r *policy.Request, q ask.Question, f func(cart) error) (a *ask.Answer, now cart, err error) {
	q.Kind = ask.KindCart
	q.Read = func(text []byte) error {
		c, err := readCart(text)
		if err != nil {
			return err
		}
		now = cart{total: c.total, empty: c.empty}
		return f(c)
	}
	if a, err = r.Ask(ctx, q); err != nil {
		return nil, cart{}, fmt.Errorf("what is in the cart: %w", err)
	}
	return a, now, nil
}

// readCart reads a cart without decoding its items. The addresses are slices of text. The error
// wraps ask.ErrUndecided.
func readCart(text []byte) (c cart, err error) {
	members, ok := namedMembers(text, "items", "totals", "billing_address", "shipping_address")
	if !ok || !jsontext.Value(text).IsValid(jsontext.AllowDuplicateNames(true)) {
		return cart{}, fmt.Errorf("%w: the cart does not parse", ask.ErrUndecided)
	}
	c.billing, c.shipping = members[2], members[3]
	switch items := members[0]; {
	case items == nil, items.Kind() == 'n', jsonscan.EmptyList(items):
		c.empty = true
		return c, nil
	case items.Kind() != '[':
		return cart{}, fmt.Errorf("%w: the cart's items are no list", ask.ErrUndecided)
	}
	totals, ok := namedMembers(members[1], "total_price")
	if ok {
		price, _ := jsonscan.Plain(totals[0]).(string)
		c.total, err = strconv.ParseInt(price, 10, 64)
	}
	if !ok || err != nil {
		return cart{}, fmt.Errorf("%w: the cart's total_price is not an integer", ask.ErrUndecided)
	}
	return c, nil
}

// namedMembers returns the values of the members of a JSON object with these names, nil where there
// is none. They are slices of object. ok is false for what is no object, and for an object with
// two members of such a name: readers of JSON disagree on which counts.
func namedMembers(object []byte, names ...string) (values []jsontext.Value, ok bool) {
	values = make([]jsontext.Value, len(names))
	once := true
	ok = jsonscan.Each(object, func(name []byte, value jsontext.Value) {
		if i := slices.IndexFunc(names, func(wanted string) bool { return wanted == string(name) }); i >= 0 {
			once = once && values[i] == nil
			values[i] = value
		}
	})
	return values, ok && once
}
