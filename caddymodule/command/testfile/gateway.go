package testfile

import (
	"context"

	"github.com/restwarden/restwarden/caddymodule/dryrun"
)

// Gateway is a loaded configuration, as tests ask it.
type Gateway interface {
	// Run judges a request.
	Run(ctx context.Context, r dryrun.Request) (*dryrun.Result, error)
	// Spell returns the other spellings of a request, as the platform reads them that the
	// request reaches.
	Spell(ctx context.Context, r *Request) ([]Spelling, error)
	// Prove decides p for its caller number i.
	Prove(ctx context.Context, p *Proof, i int) (*Proved, error)
	// Addressed are the sites, each address once.
	Addressed(ctx context.Context) ([]dryrun.Home, error)
	// Unreached are the sites whose address nobody knows.
	Unreached(ctx context.Context) ([]dryrun.Unreached, error)
	// SiteOf returns the name of the site that a request comes to; "" for none.
	SiteOf(ctx context.Context, r dryrun.Request) (string, error)
	// Rules are the owner's rules, with their places.
	Rules() []dryrun.Rule
	// Close releases what the configuration holds.
	Close() error
}

// Spelling is another spelling of a request.
type Spelling struct {
	Name string
	Raw  []byte
	// Overrides is that of respell.Spelling.
	Overrides bool
}

// Proved is what is known of a proof for one caller.
type Proved struct {
	// Holds is true if it is certain. The counter-examples are then empty.
	Holds bool
	// Counter are requests that may break it, the plainest first. Only a run tells.
	Counter []Counterexample
	// Unproved says why it is not certain, in a sentence each.
	Unproved []string
}

// Counterexample is a request that may break a proof.
type Counterexample struct {
	Method string
	URLs   []string // ways to write the same call
}
