package call

import (
	"strconv"
	"strings"
)

// ObjectID returns the effective id of the order or subscription that a call is
// about, in plain decimal: on their routes the id, on their sub-routes that of
// the order (platform-facts I.3, III.4). Digits beyond an integer are the largest
// one, as the platform casts them. ok is false on any other route; the error is
// a *Refusal.
func (c *Call) ObjectID() (id string, ok bool, err error) {
	name, path, ok := c.objectParam()
	if !ok {
		return "", false, nil
	}
	v, set, err := c.Param(name)
	if err != nil {
		return "", true, err
	}
	if !set {
		v = path
	}
	if s, isString := v.(string); isString && digits(s) {
		n, _ := strconv.ParseInt(s, 10, 64) // the platform's cast saturates, too
		return strconv.FormatInt(n, 10), true, nil
	}
	n, ok := parseID(v)
	if !ok {
		return "", true, badID
	}
	return strconv.FormatUint(n, 10), true, nil
}

// objectParam returns the named group that holds the id, and what the path says.
func (c *Call) objectParam() (name, path string, ok bool) {
	if c.Kind != Single || c.src == nil {
		return "", "", false
	}
	p := &c.src.rd.site.Platform
	key := strings.TrimPrefix(c.Key, "/")
	for _, ns := range p.Checkout {
		if rest, found := cutRoute(key, ns); found {
			collection, id, _ := strings.Cut(rest, "/")
			return "id", id, (collection == "order" || collection == "checkout") && digits(id)
		}
	}
	rest, found := cutRoute(key, p.Analytics)
	for _, ns := range p.Shop {
		if !found {
			rest, found = cutRoute(key, ns)
		}
	}
	collection, rest, _ := strings.Cut(rest, "/")
	if !found || collection != "orders" && collection != "subscriptions" {
		return "", "", false
	}
	path, sub, _ := strings.Cut(rest, "/")
	sub, _, _ = strings.Cut(sub, "/")
	if sub == "refunds" || sub == "notes" {
		return "order_id", path, digits(path)
	}
	return "id", path, digits(path)
}

// cutRoute returns what follows a namespace in a key without leading slash.
func cutRoute(key, ns string) (rest string, ok bool) {
	rest, ok = strings.CutPrefix(key, ns)
	if !ok || !strings.HasPrefix(rest, "/") {
		return "", false
	}
	return rest[1:], true
}
