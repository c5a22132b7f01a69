// Package record declares the fields of a record, which says what was refused, or would have
// been, and why. The gateway writes them into the log and the admin endpoint, and commands read
// them there. See docs/operations.md, "Log".
package record

import (
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/restwarden/restwarden/policies/policy"
)

// Version is the version of the fields, "v". A field may be added without a new version.
const Version = 1

// Record is one decision. No field holds a word of the client's but the address, the ids of a
// batch, the host where it is one of the site's, and what a credential is called. The tag owner
// marks what the status page shows to the owner of a site.
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

	Credential Credential `json:"credential,omitzero" owner:"sees"` // the verified one, else the first that is claimed
}

// Credential says which credential a call carries. It holds nothing of a secret.
type Credential struct {
	Kind    string `json:"kind"`            // see caller.CredentialKind
	Key     string `json:"key,omitempty"`   // the end of a shop key, as the shop shows it
	UUID    string `json:"uuid,omitempty"`  // of an application password, where a scope has asked for it
	Login   string `json:"login,omitempty"` // of a claimed one only where it is plain, see caller.PlainLogin
	Scope   string `json:"scope,omitempty"` // the scopes of the credential, with commas
	Claimed bool   `json:"claimed,omitempty"`
}

// String returns how people call the credential, "key a1b2c3d, scope erp"; "" for none.
func (c Credential) String() string {
	if c.Kind == "" {
		return ""
	}
	text := strings.Join(slices.DeleteFunc([]string{c.Kind, c.Key, c.UUID, c.Login}, func(s string) bool { return s == "" }), " ")
	if c.Scope != "" {
		text += ", scope " + c.Scope
	}
	if c.Claimed {
		text += ", which nobody has verified"
	}
	return text
}

// Call is a line of the journal: one call that has passed. Its fields are called as those of a Record, and
// hold as little that the client has written.
type Call struct {
	Version    int           `json:"v"`
	RequestID  string        `json:"request_id"`
	Site       string        `json:"site"`
	Host       string        `json:"host"`
	ClientIP   string        `json:"client_ip"`
	Credential Credential    `json:"credential,omitzero"`
	Caller     string        `json:"caller"`
	UserID     uint64        `json:"user_id,omitempty"`
	Method     string        `json:"method"`
	Route      string        `json:"route"`
	Rule       string        `json:"rule,omitempty"`    // the line that was switched on and opens the call
	Batch      string        `json:"batch,omitempty"`   // of a part: method and route of the batch
	IDs        []uint64      `json:"ids,omitempty"`     // that the route and its parameter id name
	Members    []string      `json:"members,omitempty"` // plain names of the parameters in the body
	Status     int           `json:"status,omitempty"`  // of the platform's answer to the request
	Took       time.Duration `json:"took"`
}

// field is a field of a struct of this package.
type field struct {
	name     string
	optional bool // left out where it is zero
}

// fields are those of the structs of this package, in their order.
var fields = func() map[reflect.Type][]field {
	all := map[reflect.Type][]field{}
	collect(all, reflect.TypeFor[Record]())
	collect(all, reflect.TypeFor[Call]())
	return all
}()

// collect adds the fields of a struct to all, and those of the structs in it.
func collect(all map[reflect.Type][]field, of reflect.Type) {
	for f := range of.Fields() {
		name, more, _ := strings.Cut(f.Tag.Get("json"), ",")
		all[of] = append(all[of], field{name, more == "omitempty" || more == "omitzero"})
		if f.Type.Kind() == reflect.Struct && all[f.Type] == nil {
			collect(all, f.Type)
		}
	}
}

// Walk visits the fields of a struct of this package that the log has, in their order. A field that is a
// struct is an object, to be walked in its turn.
func Walk(v reflect.Value, visit func(name string, value reflect.Value)) {
	for i, f := range fields[v.Type()] {
		value := v.Field(i)
		empty := value.IsZero() || value.Kind() == reflect.Slice && value.Len() == 0 // a user may have a list of no roles
		if !f.optional || !empty {
			visit(f.name, value)
		}
	}
}
