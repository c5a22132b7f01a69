package call

import (
	"net/http"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/restwarden/restwarden/policies/call/between"
)

// flattenItems reads a batch of a shop collection. The items have no route of their own.
// The platform runs create as POST on the collection, and update as PUT and delete as
// DELETE on collection and id. Each of the three lists comes from JSON, form or query,
// independently of the others (docs/platform III.5).
func (rd *Reader) flattenItems(c *Call, collection string) *Refusal {
	c.Kind = Batch
	left := rd.batchLimit(DefaultShopBatchLimit)
	for _, action := range [...]string{"create", "update", "delete"} {
		items, refusal := c.src.list(action, left)
		if refusal != nil {
			return refusal
		}
		left -= len(items)
		for _, item := range items {
			p, refusal := rd.itemPart(c, collection, action, item)
			if refusal != nil {
				return refusal
			}
			c.Parts = append(c.Parts, p)
		}
	}
	return nil
}

func (rd *Reader) itemPart(c *Call, collection, action string, item any) (*Call, *Refusal) {
	if action == "delete" {
		if raw, ok := item.(jsontext.Value); ok {
			var refusal *Refusal
			if item, refusal = decodeLevels(raw, scalar); refusal != nil {
				return nil, refusal
			}
		}
		id, ok := itemID(collection, item)
		if !ok {
			return nil, errBatch
		}
		return rd.newPart(c, collection+"/"+id, http.MethodDelete, "", new(part)), nil
	}
	own, refusal := partOf(item)
	if refusal != nil {
		return nil, refusal
	}
	if action == "create" {
		return rd.newPart(c, collection, http.MethodPost, c.src.query, own), nil
	}
	ids := []string{collection}
	own.ids = idNames(collection)
	for _, name := range own.ids {
		v, _, refusal := own.get(name, scalar)
		if refusal != nil {
			return nil, refusal
		}
		id, ok := itemID(collection, v)
		if !ok {
			return nil, errBatch
		}
		ids = append(ids, id)
	}
	return rd.newPart(c, strings.Join(ids, "/"), http.MethodPut, c.src.query, own), nil
}

// idNames are the fields that name an item. There are two where one batch holds settings
// of several groups.
func idNames(collection string) []string {
	if strings.HasSuffix(lower(collection), "/settings") {
		return []string{"group_id", "id"}
	}
	return []string{"id"}
}

// itemID returns the id of an item as a route holds it. The platform casts ids without
// validating them ("13abc" is 13), so only plain ids are read. Settings alone have names
// for ids.
func itemID(collection string, v any) (string, bool) {
	if n, ok := ParseID(v); ok {
		return strconv.FormatUint(n, 10), true
	}
	name, _ := v.(string)
	if name == "" || !strings.Contains(lower(collection)+"/", "/settings/") || !nameBytes.Holds(name) {
		return "", false
	}
	return name, true
}

var nameBytes = between.AlnumAnd("_-")
