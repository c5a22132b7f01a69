package site

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"time"
)

// The record types (docs/project/interface 2). Products share their ids.
const (
	typeOrder        = "shop_order"
	typeSubscription = "shop_subscription"
	typeRefund       = "shop_order_refund"
	typeProduct      = "product"
)

// Record is an order, a subscription or a refund as it is stored.
type Record struct {
	Addresses
	ID, ParentID, CustomerID int
	Type, Status             string
	Key                      string // lets a guest pay for the order
	Currency                 string // where it is not the shop's
	CustomerNote             string
	Items                    []Item
	Shipping                 Item
	Notes                    []Note
	Meta                     map[string]any
	Created                  time.Time

	// Of a subscription; gone once it is converted (docs/project/interface 3).
	BillingPeriod   string
	BillingInterval int
	Schedule        map[string]string // start, next_payment, end

	// Of a refund: the amount as text, empty where a release booked none.
	Amount, Reason string
}

// Item is a line of an order. Amounts are in minor units, without tax.
type Item struct {
	ID, ProductID, VariationID, Quantity int
	Name                                 string
	Total, Tax                           money
}

// Note is a note of an order.
type Note struct {
	ID           int
	Author, Text string
	ForCustomer  bool
	Created      time.Time
}

// Record returns a copy of the record with this id. Of a product only type,
// status and name (in Items) are there.
func (s *Site) Record(id int) (Record, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if p := s.products[id]; p != nil {
		return Record{ID: id, Type: typeProduct, Status: p.status, Items: []Item{{ProductID: id, Name: p.name, Total: p.price}}}, true
	}
	r := s.records[id]
	if r == nil {
		return Record{}, false
	}
	c := *r
	c.Items, c.Notes = slices.Clone(r.Items), slices.Clone(r.Notes)
	c.Meta, c.Schedule = maps.Clone(r.Meta), maps.Clone(r.Schedule)
	return c, true
}

// total is what the customer pays: lines, shipping and tax.
func (r *Record) total() money {
	sum := r.tax() + r.Shipping.Total
	for _, item := range r.Items {
		sum += item.Total
	}
	return sum
}

func (r *Record) tax() money {
	sum := r.Shipping.Tax
	for _, item := range r.Items {
		sum += item.Tax
	}
	return sum
}

// idsOf lists the ids of one type, in order.
func (s *Site) idsOf(kind string) []int {
	ids := []int{}
	for _, r := range s.sorted() {
		if r.Type == kind {
			ids = append(ids, r.ID)
		}
	}
	return ids
}

// sorted returns all records by id.
func (s *Site) sorted() []*Record {
	out := make([]*Record, 0, len(s.records))
	for _, id := range slices.Sorted(maps.Keys(s.records)) {
		out = append(out, s.records[id])
	}
	return out
}

// children are the records of one type below a parent.
func (s *Site) children(parent int, kind string) []*Record {
	return slices.DeleteFunc(s.sorted(), func(r *Record) bool { return r.ParentID != parent || r.Type != kind })
}

// addRecord stores a new record and gives it an id.
func (s *Site) addRecord(r *Record) *Record {
	r.ID, r.Created = s.id(), s.opt.Now()
	if r.Meta == nil {
		r.Meta = map[string]any{}
	}
	if r.Key == "" {
		r.Key = s.names.shop + "_order_" + s.token(13)
	}
	s.records[r.ID] = r
	return r
}

// addNote writes a note on an order.
func (s *Site) addNote(r *Record, author, text string, forCustomer bool) Note {
	n := Note{ID: s.id(), Author: author, Text: text, ForCustomer: forCustomer, Created: s.opt.Now()}
	r.Notes = append(r.Notes, n)
	return n
}

// newItem makes a line out of a product or one of its variations.
func (s *Site) newItem(productID, variationID, quantity int, country string) Item {
	item := Item{ID: s.id(), Quantity: quantity}
	s.setProduct(&item, productID)
	item.VariationID = variationID
	s.price(&item, country)
	return item
}

func (s *Site) setProduct(item *Item, productID int) {
	item.ProductID = productID
	if p := s.products[productID]; p != nil {
		item.Name = p.name
	}
}

// price computes a line's amounts from the product's price of the moment.
func (s *Site) price(item *Item, country string) {
	p := s.products[item.ProductID]
	if p == nil {
		return
	}
	unit := p.price
	if v := p.variation(item.VariationID); v != nil {
		unit = v.price
	}
	item.Total = unit * money(item.Quantity)
	item.Tax = taxOf(item.Total, country)
}

// taxRates are the shop's, in percent by country.
var taxRates = map[string]money{"GB": 20, "DE": 19, "FR": 20}

func taxOf(net money, country string) money { return (net*taxRates[country] + 50) / 100 }

const date = "2006-01-02T15:04:05"

// orderJSON is r as the order routes show it.
func (s *Site) orderJSON(r *Record) obj {
	items := []obj{}
	for _, item := range r.Items {
		items = append(items, itemJSON(item))
	}
	refunds := []obj{}
	for _, refund := range s.children(r.ID, typeRefund) {
		refunds = append(refunds, obj{"id": refund.ID, "reason": refund.Reason, "total": "-" + refund.Amount})
	}
	meta := []obj{}
	for i, key := range slices.Sorted(maps.Keys(r.Meta)) {
		meta = append(meta, obj{"id": i + 1, "key": key, "value": r.Meta[key]})
	}
	code := cmp.Or(r.Currency, currency)
	return obj{
		"id": r.ID, "parent_id": r.ParentID, "number": strconv.Itoa(r.ID), "order_key": r.Key, "status": r.Status,
		"currency": code, "currency_symbol": s.symbol(code), "version": s.opt.Release + ".0",
		"date_created": r.Created.UTC().Format(date), "customer_id": r.CustomerID, "customer_note": r.CustomerNote,
		"billing": obj{"email": r.Email, "country": r.Country}, "shipping": obj{"country": r.delivery()},
		"discount_total": "0.00", "shipping_total": r.Shipping.Total.String(), "total_tax": r.tax().String(),
		"total": r.total().String(), "prices_include_tax": false, "payment_method": "bacs",
		"line_items": items, "shipping_lines": shippingJSON(r.Shipping), "fee_lines": []any{}, "tax_lines": []any{},
		"refunds": refunds, "meta_data": meta,
	}
}

// shippingJSON is the list of shipping lines, with one or none.
func shippingJSON(line Item) []obj {
	if line.ID == 0 {
		return []obj{}
	}
	return []obj{{
		"id": line.ID, "method_title": line.Name, "method_id": "flat_rate",
		"total": line.Total.String(), "total_tax": line.Tax.String(),
	}}
}

func itemJSON(item Item) obj {
	return obj{
		"id": item.ID, "name": item.Name, "product_id": item.ProductID, "variation_id": item.VariationID,
		"quantity": item.Quantity, "subtotal": item.Total.String(), "total": item.Total.String(), "total_tax": item.Tax.String(),
	}
}
