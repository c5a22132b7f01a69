// Package record declares the fields of a record, which says what was refused, or would have
// been, and why. The gateway writes them into the log and the admin endpoint, and commands read
// them there. See docs/operations.md, "Log".
package record

import (
	"reflect"
	"strings"

	"github.com/restwarden/restwarden/policies/policy"
)

// Version is the version of the fields, "v". A field may be added without a new version.
const Version = 1

// Record is one decision. No field holds a word of the client's but the address, the ids of a
// batch, and the host where it is one of the site's. The tag owner marks what the status page
// shows to the owner of a site.
type Record struct {
	Version   int           `json:"v" owner:"sees"`
	RequestID string        `json:"request_id" owner:"sees"` // Caddy's {http.request.uuid}
	Site      string        `json:"site" owner:"sees"`
	Host      string        `json:"host" owner:"sees"` // the request's, or "other" if it is none of the site's
	Base      string        `json:"base" owner:"sees"`
	Policy    string        `json:"policy" owner:"sees"`
	Code      string        `json:"code" owner:"sees"`
	Outcome   string        `json:"outcome" owner:"sees"`
	Rule      string        `json:"rule" owner:"sees"`
	At        string        `json:"at"`
	Origin    policy.Origin `json:"origin,omitempty"`  // of the rule
	From      string        `json:"from" owner:"sees"` // "page", "other" or "none"
	Why       string        `json:"why" owner:"sees"`  // one sentence for support staff
	Scheme    string        `json:"scheme,omitempty"`  // "https" or "http", as the connection came
	Method    string        `json:"method" owner:"sees"`
	Form      string        `json:"form" owner:"sees"` // "pretty", "query", "body" or "alias"; "" without a reading
	Route     string        `json:"route" owner:"sees"`
	ClientIP  string        `json:"client_ip" owner:"sees"`
	Caller    string        `json:"caller" owner:"sees"`
	Imported  string        `json:"imported,omitempty"`             // where the snippet with the rule was imported
	Remedy    string        `json:"remedy,omitempty" owner:"sees"`  // see openings.Remedy
	Error     string        `json:"error,omitempty"`                // why a policy could not decide
	Parts     int           `json:"parts,omitempty" owner:"sees"`   // of a batch
	UserID    uint64        `json:"user_id,omitempty" owner:"sees"` // of a user
	Roles     []string      `json:"roles,omitempty"`                // of the user, as the site has told
	IDs       []uint64      `json:"ids,omitempty"`                  // of the refused parts of a batch
}

// field is a field of a Record.
type field struct {
	name     string
	optional bool // left out where it is zero
}

// fields are those of a Record, in their order.
var fields = func() (all []field) {
	for f := range reflect.TypeFor[Record]().Fields() {
		name, more, _ := strings.Cut(f.Tag.Get("json"), ",")
		all = append(all, field{name, more == "omitempty"})
	}
	return all
}()

// Walk visits the fields that the log has, in their order.
func (r *Record) Walk(visit func(name string, value reflect.Value)) {
	v := reflect.ValueOf(r).Elem()
	for i, f := range fields {
		value := v.Field(i)
		empty := value.IsZero() || value.Kind() == reflect.Slice && value.Len() == 0 // a user may have a list of no roles
		if !f.optional || !empty {
			visit(f.name, value)
		}
	}
}
