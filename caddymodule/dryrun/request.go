package dryrun

import (
	"net/netip"

	"github.com/restwarden/restwarden/policies/caller"
)

// Request is one request to be judged.
type Request struct {
	// Raw are the exact bytes of an HTTP/1.1 request, see Build.
	Raw []byte
	// Secure tells that the client comes by https.
	Secure bool
	// Port is the port that the client connects to; 0 means that of the scheme, or any
	// that leads to the host.
	Port int
	// Client is the client's address; the zero Addr means one of the Internet.
	Client netip.Addr
	// As is the caller that the site knows the request's credentials as. Run adds
	// credentials of that caller if the request has none. With the zero As the request is
	// anonymous, and whose its own credentials are is not known.
	As As
	// Credential is the credential that As has; the zero Credential stands for that of its scope, or any.
	Credential caller.Credential
	// Records are the ids that are known.
	Records map[uint64]RecordKind
	// Abilities are what the site says of abilities, by id. Where there is any, the site lists
	// these and no others.
	Abilities map[string]Ability
}

// RecordKind is what a record is.
type RecordKind string

// The records that the stub can play.
const (
	Order        RecordKind = "order"
	Subscription RecordKind = "subscription"
	NoRecord     RecordKind = "none"
)

// Ability is what the site says of an ability.
type Ability string

// The abilities that the stub can play.
const (
	Readonly    Ability = "readonly"
	Writes      Ability = "write"
	Destructive Ability = "destructive" // and idempotent, so that REST runs it with DELETE
)

// Abilities are the words for an Ability.
func Abilities() []string {
	return []string{string(Readonly), string(Writes), string(Destructive)}
}

// As is who is calling.
type As struct {
	Kind AsKind
	Name string // of the role, or of several with commas between them, or of the capability
	// Scope is the scope of which the caller has a credential, "" for one that no scope names. The site knows which kind
	// of credential that is, see policy.Scopes.Holder.
	Scope string
}

// AsKind is the kind of a caller.
type AsKind string

// The callers that the stub can play.
const (
	Anonymous  AsKind = "anonymous"
	User       AsKind = "user"       // somebody who is logged in, a subscriber
	Role       AsKind = "role"       // with the capabilities that the core and the shop give to the role
	Capability AsKind = "capability" // with this one capability alone
	Key        AsKind = "key"        // a shop key that may read and write, of a shop manager
	OfScope    AsKind = "scope"      // the holder of a credential of a scope; of a user nobody has said a role
)
