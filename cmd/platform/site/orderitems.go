package site

import (
	"net/http"
	"slices"
)

// applyItems adds lines, changes those that are named by id, and removes those
// whose quantity or product is set to nothing. One line that is refused leaves
// all of them as they were. What is new or changed has the tax of country.
func (o ordersAPI) applyItems(r *Record, lines []any, country string) error {
	items := slices.Clone(r.Items)
	for _, v := range lines {
		fields := object(v)
		if quantity, ok := integer(fields["quantity"]); fields["quantity"] != nil && (!ok || quantity < 0) {
			return errInvalidParam("line_items", "line_items[quantity] is not a number of pieces.")
		}
		if fields["id"] == nil {
			item, err := o.addedItem(fields, country)
			if err != nil {
				return err
			}
			items = append(items, item)
			continue
		}
		i := slices.IndexFunc(items, func(item Item) bool { return item.ID == cast(fields["id"]) })
		if i < 0 {
			return fail(http.StatusBadRequest, o.site.names.code("invalid_item_id"),
				"Order item ID provided is not associated with order.")
		}
		if product, set := fields["product_id"]; set && product == nil || fields["quantity"] != nil && cast(fields["quantity"]) == 0 {
			items = slices.Delete(items, i, i+1)
			continue
		}
		if err := o.changeItem(&items[i], fields, country); err != nil {
			return err
		}
	}
	r.Items = items
	return nil
}

// addedItem is a new line; it needs a product and at least one piece.
func (o ordersAPI) addedItem(fields obj, country string) (Item, error) {
	product, variation, quantity := cast(fields["product_id"]), cast(fields["variation_id"]), 1
	if fields["quantity"] != nil {
		quantity = cast(fields["quantity"])
	}
	switch {
	case fields["product_id"] == nil:
		return Item{}, fail(http.StatusBadRequest, o.site.names.code("required_product_reference"), "Product ID or SKU is required.")
	case quantity == 0:
		return Item{}, errInvalidParam("line_items", "line_items[quantity] of a new line is 0.")
	}
	if err := o.site.checkProduct(product, variation); err != nil {
		return Item{}, err
	}
	item := o.site.newItem(product, variation, quantity, country)
	item.setTotal(fields["total"], country)
	return item, nil
}

// changeItem changes one line. From 11.1 setting another product resets the
// variation; leaving the product as it is keeps it (docs/project/interface
// 9). What the line costs changes only with what it holds.
func (o ordersAPI) changeItem(item *Item, fields obj, country string) error {
	before := *item
	if v := fields["product_id"]; v != nil && cast(v) != item.ProductID {
		if err := o.site.checkProduct(cast(v), 0); err != nil {
			return err
		}
		o.site.setProduct(item, cast(v))
		if o.site.since("11.1") {
			item.VariationID = 0
		}
	}
	if v := fields["variation_id"]; v != nil && cast(v) != item.VariationID {
		if err := o.site.checkProduct(item.ProductID, cast(v)); err != nil {
			return err
		}
		item.VariationID = cast(v)
	}
	if v := fields["quantity"]; v != nil {
		item.Quantity = cast(v)
	}
	if *item != before {
		o.site.price(item, country)
	}
	item.setTotal(fields["total"], country)
	return nil
}

// setTotal sets what a line costs to a given amount, where one is given.
func (item *Item) setTotal(given any, country string) {
	if total, ok := amount(given); ok {
		item.Total, item.Tax = total, taxOf(total, country)
	}
}

// checkProduct refuses a product that does not exist and, other than 0, a
// variation that is not its own.
func (s *Site) checkProduct(product, variation int) error {
	p := s.products[product]
	if p == nil {
		return fail(http.StatusBadRequest, "order_item_product_invalid_product_id", "Invalid product ID")
	}
	if variation != 0 && p.variation(variation) == nil {
		return fail(http.StatusBadRequest, "order_item_product_invalid_variation_id", "Invalid variation ID")
	}
	return nil
}
