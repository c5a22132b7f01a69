// Package suggest finds out from the records of observe mode which rules would let the good
// traffic through, and says what it leaves out and why. It applies nothing. docs/suggest.md has
// the rules by which it decides.
//
// Memory is bounded, whatever the log holds, and the order of the records makes no difference:
// sums, sets and the smallest hashes of a set do not depend on it.
package suggest

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/restwarden/restwarden/caddymodule/command/records"
	"github.com/restwarden/restwarden/policies/call"
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
	Platform   call.Platform
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
	read    Read
}

// Read counts the records.
type Read struct {
	Records  int64 `json:"records"`  // of the site and time in question
	Observed int64 `json:"observed"` // of them those of observe mode
	Refused  int64 `json:"refused"`  // and those of calls that were refused; they count for nothing
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
	clients, pages sample // pages are the clients for which a page of the site made the call
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
	return &Collector{options: o, facts: factsOf(o.Platform), rows: map[subject]*row{}, clients: clients{signs: map[uint64]uint8{}, limit: maxSigns}}, nil
}

// Add takes a record. It keeps nothing of it but short strings. The error is ErrTooMany.
func (c *Collector) Add(rec *records.Record) error {
	if !c.concerns(rec) {
		return nil
	}
	at, known := TimeOf(rec.Time)
	if !known {
		c.read.NoTime++
	}
	if !c.options.Since.IsZero() && (!known || at.Before(c.options.Since)) {
		return nil
	}
	c.read.Records++
	if rec.Outcome != "would_refuse" {
		c.read.Refused++
		return nil
	}
	c.read.Observed++
	key := keyOf(rec)
	r := c.rows[key]
	if r == nil {
		if len(c.rows) == maxRows {
			return ErrTooMany
		}
		r = &row{attack: c.facts.attack(key.method, key.route)}
		c.rows[key] = r
	}
	r.add(rec, at, known)
	c.note(rec, key.kind, r.attack)
	return nil
}

// concerns tells whether a record is of the site in question.
func (c *Collector) concerns(rec *records.Record) bool {
	name := c.options.Host
	return name == "" || strings.EqualFold(name, rec.Site) || strings.EqualFold(name, rec.Host) ||
		strings.EqualFold(name, strings.TrimSuffix(rec.Site, rec.Base))
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
		r.users.add(rec.UserID)
	}
	client, named := clientOf(rec.ClientIP)
	if named {
		r.clients.add(client)
	}
	switch rec.From {
	case "page":
		r.from.Page++
		if named {
			r.pages.add(client)
		}
	case "other":
		r.from.Other++
	default:
		r.from.None++
	}
}

// note keeps what tells a scanner: a call that only attacks make, or one of many that go
// nowhere. A call by a page of the site tells nothing, nor does one by somebody who is logged in.
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

// Scan reads a log and takes its records. The error is that of the reader, or ErrTooMany.
func (c *Collector) Scan(log io.Reader) (records.Counts, error) {
	var full error
	n, err := records.Each(log, func(rec *records.Record) {
		if full == nil {
			full = c.Add(rec)
		}
	})
	return n, errors.Join(full, err)
}
