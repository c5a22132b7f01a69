package site

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// cart is what a session of the checkout API holds.
type cart struct {
	Addresses
	lines []cartLine
}

type cartLine struct {
	key                    string
	productID, variationID int
	quantity               int
}

// maxCarts bounds what guests can make the site remember.
const maxCarts = 10000

// defaultCountry is a shopper's until an address says otherwise.
const defaultCountry = "US"

// isStore tells whether a route belongs to the checkout API, where a login
// cookie counts without the REST nonce (docs/platform III.9).
func (s *Site) isStore(route string) bool {
	return hasPrefixFold(route, "/"+strings.TrimSuffix(s.names.Checkout, "/v1"))
}

// takesSession tells whether a cookie counts by itself on a route, whose letters count as they are.
func (s *Site) takesSession(route string) bool {
	return strings.HasPrefix(route, "/"+strings.TrimSuffix(s.names.Checkout, "v1"))
}

func (s *Site) storeRoutes() {
	for _, ns := range []string{s.names.Checkout, strings.TrimSuffix(s.names.Checkout, "/v1")} {
		add := func(rest, methods string, a args, run func(*request, *session) (any, error)) {
			s.router.add(ns, rest, methods, endpoint{args: a, run: func(q *request) (any, error) {
				se, err := q.storeSession()
				if err != nil {
					return nil, err
				}
				return run(q, se)
			}}).allowBatch = true
		}
		address := args{"billing_address": {Type: "object"}, "shipping_address": {Type: "object"}}
		add("/cart", reading, nil, func(q *request, se *session) (any, error) { return q.site.cartJSON(se.cart), nil })
		add("/cart/add-item", creating, args{"id": {Type: "integer", Required: true}, "quantity": {Type: "integer", Default: 1, Min: 1, Max: 9999}}, addToCart)
		add("/cart/update-item", creating, args{"key": {Type: "string", Required: true}, "quantity": {Type: "integer", Required: true, Min: 0, Max: 9999}}, updateCartItem)
		add("/cart/remove-item", creating, args{"key": {Type: "string", Required: true}}, updateCartItem)
		add("/cart/update-customer", creating, address, func(q *request, se *session) (any, error) {
			se.cart.address(q)
			return q.site.cartJSON(se.cart), nil
		})
		checkout := address.with(args{"payment_method": {Type: "string"}, "customer_note": {Type: "string"}})
		if s.since("11.1") {
			checkout["expected_total"] = arg{
				Type: "integer", MayBeEmpty: true, Description: "The total that the customer saw, in minor units.",
			}
		}
		add("/checkout", reading, nil, draftCheckout)
		add("/checkout", creating, checkout, submitCheckout)
		add(pathf("/checkout/%s", "id"), creating, args{"id": {Type: "integer"}, "key": {Type: "string"}, "billing_email": {Type: "string"}}, payForOrder)
		s.router.add(ns, "/products", reading, endpoint{args: collection, run: storeProducts})
		s.router.add(ns, "/batch", creating, endpoint{args: args{"requests": {Type: "array", Required: true}}, run: storeBatch})
	}
}

// session is the shopper behind a call: a user, or a guest known by a cookie
// or a cart token.
type session struct {
	key  string
	cart *cart
}

// storeSession finds the session and checks the right to change it. A valid
// Cart-Token beats the cookie and replaces the nonce; writes and the checkout
// need one of them (docs/platform III.9).
func (q *request) storeSession() (*session, error) {
	s := q.site
	key, byToken := s.openToken(q.header.Get("Cart-Token"))
	if !byToken {
		key = q.sessionKey()
	}
	writes := q.method != http.MethodGet && q.method != http.MethodHead || strings.Contains(strings.ToLower(q.route), "/checkout")
	if writes && !byToken {
		nonce := q.header.Get("Nonce")
		if nonce == "" {
			return nil, fail(http.StatusUnauthorized, s.names.code("missing_nonce"), "Missing the Nonce header. This endpoint requires a valid nonce.")
		}
		if !equal(nonce, s.storeNonce(key)) {
			return nil, fail(http.StatusForbidden, s.names.code("invalid_nonce"), "Nonce is invalid.")
		}
	}
	c := s.carts[key]
	if c == nil {
		c = &cart{Addresses: Addresses{Country: defaultCountry}}
		if writes && len(s.carts) < maxCarts {
			s.carts[key] = c
		}
	}
	q.reply.Set("Nonce", s.storeNonce(key))
	q.reply.Set("Cart-Token", key+"."+s.stamp("cart", key))
	q.reply.Set("Cart-Hash", c.hash())
	q.reply.Set("User-ID", userID(q.user))
	q.reply.Set("Cache-Control", "no-store")
	return &session{key, c}, nil
}

// sessionKey is that of the user, of the session cookie, or a new one, for
// which the answer sets the cookie.
func (q *request) sessionKey() string {
	if q.user != nil {
		return "u_" + strconv.Itoa(q.user.id)
	}
	name := q.site.names.shop + "_session_" + q.site.stamp("site")[:32]
	if c, err := q.wire.Cookie(name); err == nil {
		if key, ok := q.site.openToken(c.Value); ok {
			return key
		}
	}
	key := "t_" + q.site.hexToken(15)
	cookie := http.Cookie{
		Name: name, Value: key + "." + q.site.stamp("cart", key), Path: q.site.opt.Base + "/", HttpOnly: true, SameSite: http.SameSiteLaxMode,
	}
	q.reply.Add("Set-Cookie", cookie.String())
	return key
}

// openToken returns the session key of a signed token.
func (s *Site) openToken(signed string) (key string, ok bool) {
	key, mac, found := strings.Cut(signed, ".")
	return key, found && equal(mac, s.stamp("cart", key))
}

func (s *Site) storeNonce(key string) string { return s.stamp("store", key)[:10] }

func userID(u *user) string {
	if u == nil {
		return "0"
	}
	return strconv.Itoa(u.id)
}

func (c *cart) hash() string {
	var b strings.Builder
	for _, line := range c.lines {
		b.WriteString(line.key + ":" + strconv.Itoa(line.quantity) + ";")
	}
	return sign(c.delivery(), b.String())[:32]
}

// address applies the addresses of a call.
func (c *cart) address(q *request) {
	billing, _ := q.param("billing_address")
	shipping, _ := q.param("shipping_address")
	c.apply(object(billing), object(shipping))
}

// addToCart takes a product's or a variation's id.
func addToCart(q *request, se *session) (any, error) {
	id := q.int("id")
	line := cartLine{productID: id, quantity: q.int("quantity")}
	if q.site.products[id] == nil {
		for _, p := range q.site.products {
			if p.variation(id) != nil {
				line.productID, line.variationID = p.id, id
			}
		}
	}
	if p := q.site.products[line.productID]; p == nil || p.status != "publish" {
		return nil, fail(http.StatusBadRequest, q.site.names.code("cart_invalid_product"), "This product cannot be added to the cart.")
	}
	line.key = sign("cart-item", strconv.Itoa(id))[:32]
	if i := se.cart.find(line.key); i >= 0 {
		se.cart.lines[i].quantity += line.quantity
	} else {
		se.cart.lines = append(se.cart.lines, line)
	}
	return created(q.site.cartJSON(se.cart)), nil
}

func (c *cart) find(key string) int {
	return slices.IndexFunc(c.lines, func(l cartLine) bool { return l.key == key })
}

// updateCartItem sets a line's quantity; none, as in remove-item, removes it.
func updateCartItem(q *request, se *session) (any, error) {
	i := se.cart.find(q.str("key"))
	if i < 0 {
		return nil, fail(http.StatusConflict, q.site.names.code("cart_invalid_key"), "Cart item does not exist.")
	}
	if se.cart.lines[i].quantity = q.int("quantity"); se.cart.lines[i].quantity == 0 {
		se.cart.lines = slices.Delete(se.cart.lines, i, i+1)
	}
	return q.site.cartJSON(se.cart), nil
}

// items are the cart's lines at the prices of the moment.
func (s *Site) cartItems(c *cart) []Item {
	var items []Item
	for _, line := range c.lines {
		item := Item{ProductID: line.productID, VariationID: line.variationID, Quantity: line.quantity}
		s.setProduct(&item, line.productID)
		s.price(&item, c.delivery())
		items = append(items, item)
	}
	return items
}

// cartTotal is what the checkout will charge.
func (s *Site) cartTotal(c *cart) (items, tax, total money) {
	for _, item := range s.cartItems(c) {
		items += item.Total
		tax += item.Tax
	}
	return items, tax, items + tax
}

func (s *Site) cartJSON(c *cart) obj {
	lines, pieces := []obj{}, 0
	for i, item := range s.cartItems(c) {
		lines = append(lines, obj{
			"key": c.lines[i].key, "id": item.ProductID, "variation_id": item.VariationID, "name": item.Name, "quantity": item.Quantity,
			"totals": obj{"line_subtotal": item.Total.minor(), "line_total": item.Total.minor(), "line_total_tax": item.Tax.minor()},
		})
		pieces += item.Quantity
	}
	items, tax, total := s.cartTotal(c)
	return obj{
		"items": lines, "items_count": pieces, "needs_payment": total > 0, "coupons": []any{}, "errors": []any{},
		"billing_address": obj{"country": c.Country, "email": c.Email}, "shipping_address": obj{"country": c.delivery()},
		"totals": obj{
			"total_items": items.minor(), "total_items_tax": tax.minor(), "total_tax": tax.minor(), "total_price": total.minor(),
			"currency_code": currency, "currency_minor_unit": 2, "currency_symbol": s.symbol(currency),
		},
	}
}
