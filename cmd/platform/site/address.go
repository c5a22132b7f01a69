package site

import (
	"cmp"
	"strings"
)

// Addresses are where an order is billed and delivered to, as far as the shop needs it.
type Addresses struct {
	Email, Country string // billing
	ShipTo         string // country of the delivery; empty where it is Country
}

// apply takes over what the address objects of a call say.
func (a *Addresses) apply(billing, shipping obj) {
	if email := text(billing["email"]); email != "" {
		a.Email = email
	}
	if country := text(billing["country"]); country != "" {
		a.Country = strings.ToUpper(country)
	}
	if country := text(shipping["country"]); country != "" {
		a.ShipTo = strings.ToUpper(country)
	}
}

// delivery is the country that goods go to, which decides the tax.
func (a *Addresses) delivery() string { return cmp.Or(a.ShipTo, a.Country) }

// moveTo gives r new addresses. In another country its lines have another tax.
func (r *Record) moveTo(a Addresses) {
	moved := a.delivery() != r.delivery()
	r.Addresses = a
	if !moved {
		return
	}
	for i := range r.Items {
		r.Items[i].Tax = taxOf(r.Items[i].Total, a.delivery())
	}
	r.Shipping.Tax = taxOf(r.Shipping.Total, a.delivery())
}
