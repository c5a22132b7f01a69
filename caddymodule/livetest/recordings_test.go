package livetest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/restwarden/restwarden/cmd/check/testkit/recordings"
	"github.com/restwarden/restwarden/policies/call"
	"github.com/restwarden/restwarden/policies/call/routes"
)

// agrees tells how what was judged, and let pass, differs from what the
// platform ran; "" where it does not.
func (j *judged) agrees(o *recordings.Outcome) string {
	switch {
	case o.Route == nil, o.Match == "": // nothing ran, or no route exists
		return ""
	case j.kind == "page":
		return "taken for a page, ran " + o.Method + " " + *o.Route
	case !sameRoute(j.call.Route, *o.Route) || j.call.Method != o.Method:
		return fmt.Sprintf("judged %s %s, ran %s %s", j.call.Method, j.call.Route, o.Method, *o.Route)
	case o.Object != nil && !j.objects[0].is(o.Object):
		return fmt.Sprintf("judged object %v, ran %s", j.objects[0], o.Object)
	case o.Match != "/batch/v1" || o.Method != http.MethodPost || len(o.Parts) == 0:
		return ""
	case len(j.call.Parts) != len(o.Parts):
		return fmt.Sprintf("judged %d parts, ran %d", len(j.call.Parts), len(o.Parts))
	}
	for i, p := range j.call.Parts {
		ran := o.Parts[i]
		if !sameRoute(p.Route, ran.Route) || p.Method != ran.Method || ran.Object != nil && !j.objects[i].is(ran.Object) {
			return fmt.Sprintf("judged part %s %s, ran %s %s", p.Method, p.Route, ran.Method, ran.Route)
		}
	}
	return ""
}

func sameRoute(a, b string) bool {
	fold := func(s string) string { return strings.ToLower(strings.TrimRight(s, "/")) }
	return fold(a) == fold(b)
}

// object is the effective id of an order or subscription; err where the gateway
// can only refuse when it needs to know.
type object struct {
	id  string
	err error
}

func (o object) is(recorded json.RawMessage) bool {
	return o.err != nil || o.id == strings.Trim(string(recorded), `"`)
}

var orderParts = []routes.Pattern{
	routes.MustPattern("/wc/v1/orders/:order_id/**"), routes.MustPattern("/wc/v2/orders/:order_id/**"), routes.MustPattern("/wc/v3/orders/:order_id/**"),
}

// orderOf returns the order or subscription that a call is about.
func orderOf(c *call.Call) object {
	if id, ok, err := c.ObjectID(); ok || err != nil {
		return object{id, err}
	}
	for _, p := range orderParts {
		group := ""
		if p.Match(c.Key) {
			group = p.Group(c.Key, "order_id")
		}
		if _, err := strconv.ParseUint(group, 10, 64); err == nil {
			ids, err := c.IDs("order_id", group)
			if err != nil {
				return object{"", err}
			}
			return object{strconv.FormatUint(ids[0], 10), nil}
		}
	}
	return object{}
}
