package call

import (
	"strconv"
	"strings"

	"github.com/restwarden/restwarden/policies/call/platforms"
)

// ObjectID returns the effective id on the routes of one order or subscription, in plain
// decimal (docs/platform I.3, III.4). A number beyond the largest integer becomes that
// integer, as in the platform's cast. ok is false on any other route. The error is a
// *Refusal.
func (c *Call) ObjectID() (id string, ok bool, err error) {
	path, ok := c.objectPath()
	if !ok {
		return "", false, nil
	}
	v, set, err := c.Scalar("id")
	if err != nil {
		return "", true, err
	}
	if !set {
		v = path
	}
	if id, ok = objectID(v); !ok {
		return "", true, errID
	}
	return id, true, nil
}

// objectID returns the id that a parameter names, in plain decimal.
func objectID(v any) (id string, ok bool) {
	if s, isString := v.(string); isString && digits(s) {
		n, _ := strconv.ParseInt(s, 10, 64) // the platform's cast saturates, too
		return strconv.FormatInt(n, 10), true
	}
	n, ok := ParseID(v)
	return strconv.FormatUint(n, 10), ok
}

// ItemID returns the id of a part of a batch: its parameter id, or else the end of its
// route. ok is false where that is not a plain number.
func (c *Call) ItemID() (id uint64, ok bool) {
	v, set, err := c.Scalar("id")
	if !set {
		v = c.Key[strings.LastIndexByte(c.Key, '/')+1:]
	}
	id, ok = ParseID(v)
	return id, ok && err == nil
}

// objectPath returns the id in the path of an order or subscription.
func (c *Call) objectPath() (id string, ok bool) {
	if c.Kind != Single || c.src == nil {
		return "", false
	}
	p := &c.src.rd.site.Platform
	key := strings.TrimPrefix(c.Key, "/")
	if rest, found := platforms.CutNamespace(key, p.Checkout); found {
		collection, id, _ := strings.Cut(rest, "/")
		return id, (collection == "order" || collection == "checkout") && digits(id)
	}
	for _, ns := range append([]string{p.Analytics}, p.Shop...) {
		if rest, found := platforms.CutNamespace(key, ns); found {
			collection, id, _ := strings.Cut(rest, "/")
			return id, (collection == "orders" || collection == "subscriptions") && digits(id)
		}
	}
	return "", false
}
