// Package doors is one list of the ways to update a record through an order route of the
// platform, which turns a subscription into an order (docs/platform III). Every test of a
// guard of subscriptions tries all of them.
package doors

import (
	"slices"
	"strconv"
	"strings"

	"github.com/restwarden/restwarden/cmd/check/testkit/client"
	"github.com/restwarden/restwarden/cmd/check/testkit/names"
)

// Door is a request that updates the record <sub>. Some name an order, <order>, as
// well. At writes the ids, In the names of a platform.
type Door struct {
	Of      string // the section of docs/platform that says so
	Method  string
	Target  string // below the base of the site
	Body    string
	Headers []string // "Name: value", with the type of the body
	// Odd marks a door that no honest client uses: it may also be refused as ambiguous.
	Odd bool
	// Kept marks a door that looks like the others but converts nothing even on the bare
	// platform.
	Kept bool
	// ByFastCGI is of Kept doors that do convert where Caddy's php_fastcgi stands in
	// front of PHP: it calls a body without a type a form (docs/platform I.6).
	ByFastCGI bool
}

// All returns every door, for the record <sub> and with neutral names.
func All() []Door {
	return slices.Concat(updates(), ids(), spelledIDs(), methods(), paths(), forms(), batches(), partsOfBatches(), others())
}

// At returns d with ids in place of <order> and <sub>.
func (d Door) At(order, sub int) Door {
	return d.replaced(strings.NewReplacer("<order>", strconv.Itoa(order), "<sub>", strconv.Itoa(sub)).Replace)
}

// In returns d in the names of a platform.
func (d Door) In(platform string) Door {
	return d.replaced(func(s string) string { return names.In(platform, s) })
}

func (d Door) replaced(replace func(string) string) Door {
	d.Target, d.Body, d.Headers = replace(d.Target), replace(d.Body), slices.Clone(d.Headers)
	for i, h := range d.Headers {
		d.Headers[i] = replace(h)
	}
	return d
}

// Line is "METHOD target".
func (d Door) Line() string { return d.Method + " " + d.Target }

// String names the door; no two have the same name.
func (d Door) String() string {
	return strings.Join(append([]string{d.Line(), d.Body}, d.Headers...), " ")
}

// ByQuery tells whether the route stands in a variable, not in the path.
func (d Door) ByQuery() bool {
	return strings.Contains(d.Target+d.Body, "route=") || strings.Contains(d.Body, `"rest_route"`)
}

// The parts of the doors.
const (
	toSub   = " /cms-json/shop/v3/orders/<sub>"
	toOrder = " /cms-json/shop/v3/orders/<order>"
	note    = `{"customer_note":"x"}`
	typed   = "Content-Type: "
	put     = "X-HTTP-Method-Override: PUT"
)

// door makes a door of "METHOD target". The type of a body is the one that it looks like,
// unless a header names another.
func door(of, line, body string, headers ...string) Door {
	d := untyped(of, line, body, headers...)
	hasType := slices.ContainsFunc(headers, func(h string) bool { return strings.HasPrefix(h, typed) })
	switch {
	case body == "" || hasType:
	case body[0] == '{':
		d.Headers = append(d.Headers, typed+client.JSON)
	default:
		d.Headers = append(d.Headers, typed+client.Form)
	}
	return d
}

// untyped is door for a body whose type no header names.
func untyped(of, line, body string, headers ...string) Door {
	method, target, _ := strings.Cut(line, " ")
	return Door{Of: of, Method: method, Target: target, Body: body, Headers: headers}
}

// inParts is door for a form in multipart.
func inParts(of, line string, pairs ...string) Door {
	body, kind := client.Multipart(pairs...)
	return door(of, line, body, typed+kind)
}

func (d Door) odd() Door {
	d.Odd = true
	return d
}

func (d Door) kept() Door {
	d.Kept = true
	return d
}
