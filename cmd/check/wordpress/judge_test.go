//go:build wordpress

package wordpress

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/restwarden/restwarden/policies/call"
)

// judge compares what the gateway's reader said of a request with what WordPress
// ran. Where no route fits nothing ran, and another reading does no harm.
func (s *stack) judge(said *call.Call, seen *trace, a *answer) error {
	live, _, _ := strings.Cut(a.decision, " ")
	unopened := live == call.Batch.String() && said.Kind == call.Refused && a.refused() // whoever may not call it
	if live != "" && live != said.Kind.String() && !unopened {
		return fmt.Errorf("the live gateway read a %s", live)
	}
	if seen.loaded && (said.Kind == call.Refused || a.refused()) {
		return fmt.Errorf("a refused request reached WordPress")
	}
	if len(seen.dispatches) == 0 {
		return nil
	}
	first, rest := &seen.dispatches[0], seen.dispatches[1:]
	if first.Pattern == nil {
		return nil
	}
	switch said.Kind {
	case call.Single, call.Refused: // judged below
	case call.Page:
		return fmt.Errorf("a page dispatched a route")
	case call.Batch:
		if err := sameCall(said, first); err != nil {
			return err
		}
		return sameParts(said.Parts, rest, seen.items)
	}
	if err := sameCall(said, first); err != nil {
		return err
	}
	if len(seen.items) > 0 && !strings.HasSuffix(*first.Pattern, "/mcp") {
		return fmt.Errorf("a single call ran %d items of a batch", len(seen.items))
	}
	for i := range rest { // embeds
		if rest[i].Method != http.MethodGet {
			return fmt.Errorf("a single call dispatched %s %s as well", rest[i].Method, rest[i].Route)
		}
	}
	return nil
}

// sameParts compares the parts of a batch with what was dispatched or, by the
// shop's own batches, done.
func sameParts(parts []*call.Call, dispatches []dispatch, items []item) error {
	if len(dispatches) > 0 && len(dispatches) != len(parts) {
		return fmt.Errorf("%d parts dispatched, not %d", len(dispatches), len(parts))
	}
	for i := range dispatches {
		if dispatches[i].Pattern == nil {
			continue
		}
		if err := sameCall(parts[i], &dispatches[i]); err != nil {
			return fmt.Errorf("part %d: %w", i, err)
		}
	}
	if len(items) == 0 {
		return nil
	}
	parts = slices.DeleteFunc(slices.Clone(parts), deletesNothing)
	if len(items) != len(parts) {
		return fmt.Errorf("%d items done, not %d", len(items), len(parts))
	}
	for i, done := range items {
		id, named, err := parts[i].ObjectID()
		if err != nil {
			return fmt.Errorf("item %d: %w", i, err)
		}
		if !named { // a new record
			id = "0"
		}
		if parts[i].Method != done.Method || done.Method != http.MethodPost && id != strconv.FormatInt(done.ID, 10) {
			return fmt.Errorf("item %d is %s %d", i, done.Method, done.ID)
		}
	}
	return nil
}

// deletesNothing tells whether the shop leaves out a part: there is no record 0.
func deletesNothing(part *call.Call) bool {
	id, ok, err := part.ObjectID()
	return part.Method == http.MethodDelete && ok && err == nil && id == "0"
}

func sameCall(said *call.Call, ran *dispatch) error {
	if said.Route != string(ran.Route) {
		return fmt.Errorf("the route is %q", ran.Route)
	}
	if said.Method != ran.Method {
		return fmt.Errorf("the method is %q", ran.Method)
	}
	return sameObject(said, ran)
}

// objectRoutes are those whose record the gateway must know: the routes of one
// order or subscription, and what hangs below an order.
var objectRoutes = regexp.MustCompile(`^/wc(/v[123]|-analytics)/(orders|subscriptions)/\(\?P<(id|order_id)>`)

// guarded are the routes whose updates the gateway may not let pass unless it
// knows the record.
var guarded = regexp.MustCompile(`^/wc(/v[23]|-analytics)/orders/[^/]+$`)

func sameObject(said *call.Call, ran *dispatch) error {
	route := objectRoutes.FindStringSubmatch(*ran.Pattern)
	if route == nil || !ran.matched || ran.Error != "" {
		return nil
	}
	value := ran.ID
	id, ok, err := said.ObjectID()
	if route[3] == "order_id" {
		value = ran.OrderID
		var ids []uint64
		ids, err = said.IDs("order_id", segment(said.Route, 3+strings.Count(route[1], "/")))
		if id, ok = "", true; len(ids) > 0 {
			id = strconv.FormatUint(ids[0], 10)
		}
	}
	switch {
	case !ok:
		return fmt.Errorf("the record %s has no id in the reading", value)
	case err != nil && ran.ran && guarded.MatchString(said.Key) && writes(said.Method) && said.Method != http.MethodDelete:
		return fmt.Errorf("an update of record %s whose id the reading does not know: %w", value, err)
	case err == nil && id != integer(value):
		return fmt.Errorf("the record is %s, not %s", value, id)
	}
	return nil
}

// segment returns the n-th segment of a route.
func segment(route string, n int) string {
	if segments := strings.Split(route, "/"); n < len(segments) {
		return segments[n]
	}
	return ""
}

// integer is a JSON value as the platform casts it.
func integer(value json.RawMessage) string {
	text := strings.TrimSpace(strings.Trim(string(value), `"`))
	if n, err := strconv.ParseInt(text, 10, 64); err == nil || errors.Is(err, strconv.ErrRange) {
		return strconv.FormatInt(n, 10)
	}
	return text
}

// describe writes a reading as classify would.
func describe(c *call.Call) string {
	text := fmt.Sprintf("%s %s %q", c.Kind, c.Method, c.Route)
	if id, ok, err := c.ObjectID(); ok {
		text += fmt.Sprintf(" id %s %v", id, err)
	}
	if c.Refusal != nil {
		text += " because of " + c.Refusal.Reason
	}
	for _, p := range c.Parts {
		text += "\n  part " + describe(p)
	}
	return text
}

func (t *trace) describe() string {
	if !t.loaded {
		return "nothing"
	}
	type line struct {
		Route, Method string
		Pattern       *string
		ID, OrderID   json.RawMessage
		Error         string
		Ran           bool
	}
	text := fmt.Sprintf("%d dispatches, items %v", len(t.dispatches), t.items)
	for _, d := range t.dispatches {
		out, _ := json.Marshal(line{string(d.Route), d.Method, d.Pattern, d.ID, d.OrderID, d.Error, d.ran})
		text += "\n  " + string(out)
	}
	return text
}
