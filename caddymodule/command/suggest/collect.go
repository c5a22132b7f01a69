// Package suggest finds out from the records of observe mode which rules would let the good
// traffic through, and says what it leaves out and why. It applies nothing. docs/commands/suggest.md has
// the rules by which it decides.
//
// Logs are read twice: first for the scanners, then for what the others call. So scanners take
// no place of others, however many they are.
//
// Memory is bounded, whatever the log holds, and the order of the records makes no difference:
// sums, sets and the smallest hashes of a set do not depend on it.
package suggest

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/restwarden/restwarden/caddymodule/command/records"
	"github.com/restwarden/restwarden/policies/call/platforms"
	"github.com/restwarden/restwarden/policies/openings"
)

// DefaultMinClients is how many clients must have called a route. A person with a telephone has
// two addresses: three are at least two persons.
const DefaultMinClients = 3

// maxRows bounds the different calls of a log. Routes are the sites' own patterns, so that a
// client cannot make any.
const maxRows = 50_000

// maxText bounds a text of a record that is kept, in bytes.
const maxText = 256

// ErrTooMany tells that a log has more different calls than can be kept.
var ErrTooMany = fmt.Errorf("the logs have more than %d different calls; name a site with --host", maxRows)

// Options say which records count.
type Options struct {
	Platform   platforms.Platform
	Host       string    // a site's name, or a host of it; "" for all
	Since      time.Time // zero for all
	MinClients int       // 0 for DefaultMinClients
}

// Collector takes records and makes a Report of them. It is for one goroutine.
type Collector struct {
	options Options
	facts   *facts
	rows    map[subject]*row
	clients clients
	learned bool
	read    Read
	others  []string // names of other sites, sorted
}

// Read counts the records.
type Read struct {
	Records  int64 `json:"records"`  // of the site and time in question
	Observed int64 `json:"observed"` // of them those of observe mode
	Refused  int64 `json:"refused"`  // and those of calls that were refused; they count for nothing
	Earlier  int64 `json:"earlier"`  // and those before Since; they count for nothing
	NoTime   int64 `json:"no_time"`  // records whose time cannot be read; with Since they count for nothing
}

// subject is what records have in common that count as one.
type subject struct {
	site, method, route string
	kind                kind
	rule                string
}

// row is what is known of calls that count as one.
type row struct {
	calls          int64
	from           From
	since, until   time.Time
	clients, pages sample // honest ones; for pages a page of the site made the call, as they say
	scanners       sample
	unsure         sample
	unnamed        bool   // some calls have no address
	users          sample // numbers of users, where they are known
	at             string // where the rule stood in the last record
	attack         bool   // whoever calls it and is no page of the site is a scanner
}

// From counts calls by the field from of their records.
type From struct {
	Page  int64 `json:"page"`
	Other int64 `json:"other"`
	None  int64 `json:"none"`
}

// New returns a Collector without records. The error says that MinClients cannot be counted.
func New(o Options) (*Collector, error) {
	if o.MinClients == 0 {
		o.MinClients = DefaultMinClients
	}
	if o.MinClients < 1 || o.MinClients > maxSample {
		return nil, fmt.Errorf("clients are counted up to %d", maxSample)
	}
	return &Collector{options: o, facts: &facts{openings.NewOpener(o.Platform)}, rows: map[subject]*row{}, clients: clients{signs: map[uint64]uint8{}, limit: maxSigns}}, nil
}

// Learn takes a record in the first reading: it tells who is a scanner. The error is ErrTooMany.
func (c *Collector) Learn(rec *records.Record) error {
	if !c.options.Concerns(rec) || !c.inTime(rec) || rec.Outcome != observed {
		return nil
	}
	key := keyOf(rec)
	r, err := c.row(key)
	if err == nil {
		c.note(rec, key.kind, r.attack)
	}
	return err
}

// Add takes a record in the second reading, when all have been learned. It keeps nothing of it
// but short strings. The error is ErrTooMany.
func (c *Collector) Add(rec *records.Record) error {
	if !c.learned {
		c.clients.forget()
		c.learned = true
	}
	if !c.options.Concerns(rec) {
		c.other(rec.Site)
		return nil
	}
	at, known := records.TimeOf(rec.Time)
	if !known {
		c.read.NoTime++
	}
	if !c.inTime(rec) {
		if known {
			c.read.Earlier++
		}
		return nil
	}
	c.read.Records++
	if rec.Outcome != observed {
		c.read.Refused++
		return nil
	}
	c.read.Observed++
	r, err := c.row(keyOf(rec))
	if err == nil {
		r.add(rec, at, known)
		c.count(r, rec)
	}
	return err
}

// observed is the outcome of what observe mode would have refused.
const observed = "would_refuse"

// row returns what is known of the calls of a key.
func (c *Collector) row(key subject) (*row, error) {
	r := c.rows[key]
	if r == nil {
		if len(c.rows) == maxRows {
			return nil, ErrTooMany
		}
		r = &row{attack: c.facts.attack(key.method, key.route)}
		c.rows[key] = r
	}
	return r, nil
}

// Concerns tells whether a record is of the site in question.
func (o *Options) Concerns(rec *records.Record) bool {
	return records.Concerns(o.Host, rec.Site, rec.Host)
}

// LastOf is records.TimeOf of a record of observe mode that the options concern.
func (o *Options) LastOf(rec *records.Record) (at time.Time, ok bool) {
	if rec.Outcome != observed || !o.Concerns(rec) {
		return at, false
	}
	return records.TimeOf(rec.Time)
}

func (c *Collector) inTime(rec *records.Record) bool {
	if c.options.Since.IsZero() {
		return true
	}
	at, known := records.TimeOf(rec.Time)
	return known && !at.Before(c.options.Since)
}

// maxNames bounds the names of other sites that are kept.
const maxNames = 1000

// other keeps the name of a site that is not in question.
func (c *Collector) other(site string) {
	i, there := slices.BinarySearch(c.others, cut(site))
	if there || i == maxNames {
		return
	}
	c.others = slices.Insert(c.others, i, cut(site))
	c.others = c.others[:min(len(c.others), maxNames)]
}

func (r *row) add(rec *records.Record, at time.Time, known bool) {
	r.calls++
	if known && (r.since.IsZero() || at.Before(r.since)) {
		r.since = at
	}
	switch place := cut(rec.At); {
	case r.calls == 1, at.After(r.until):
		r.at = place
	case at.Equal(r.until):
		r.at = max(r.at, place)
	}
	if known && at.After(r.until) {
		r.until = at
	}
	if rec.UserID > 0 {
		r.users.add(rec.UserID, maxOthers)
	}
	switch rec.From {
	case "page":
		r.from.Page++
	case "other":
		r.from.Other++
	default:
		r.from.None++
	}
}

// count counts the client of a record.
func (c *Collector) count(r *row, rec *records.Record) {
	client, named := clientOf(rec.ClientIP)
	if !named {
		r.unnamed = true
		return
	}
	switch c.clients.standing(client) {
	case scanner:
		r.scanners.add(client, maxSample)
	case unsure:
		r.unsure.add(client, maxOthers)
	default:
		r.clients.add(client, maxSample)
		if rec.From == "page" {
			r.pages.add(client, maxSample)
		}
	}
}

// note keeps what tells a scanner: a call that only attacks make, or one of many that go
// nowhere. A call by a page of the site tells nothing, nor does one by somebody who is logged in.
// A line "deny plugin" of the owner's tells nothing either: services and apps of the plugin make
// some of the calls that it closes.
func (c *Collector) note(rec *records.Record, k kind, attack bool) {
	client, named := clientOf(rec.ClientIP)
	if !named || rec.From == "page" || rec.Caller == "user" || rec.Caller == "key" {
		return
	}
	switch {
	case attack, k == guarded:
		c.clients.sign(client, enough)
	case k == unknown, k == unread:
		c.clients.sign(client, 1)
	}
}

// cut bounds a text of a record.
func cut(text string) string {
	if len(text) > maxText {
		return strings.ToValidUTF8(text[:maxText], "") + "…"
	}
	return text
}
