// Package credentials finds out from the journal and the records of a log which credentials the platform has accepted, and what
// they were used for. docs/commands/credentials.md has the rules by which it decides.
//
// Logs are read twice: first for the credentials that the platform has accepted, and their addresses, then for what was done
// with them. So names that strangers send take no place, however many they are.
//
// Memory is bounded, whatever the log holds, and the order of the lines makes no difference.
package credentials

import (
	"fmt"
	"strings"
	"time"

	"github.com/restwarden/restwarden/caddymodule/command/records"
	"github.com/restwarden/restwarden/caddymodule/record"
)

// Bounds of what is kept.
const (
	maxCredentials = 5_000 // of all sites
	maxRows        = 100_000
	maxAddresses   = 100 // of one credential
	maxClaimed     = 1000
	maxDays        = 4000
	maxText        = 256 // bytes of a text of a line
)

// ErrTooMany tells that a log has more different calls than can be kept.
var ErrTooMany = fmt.Errorf("the logs have more than %d different calls; name a site with --site", maxRows)

// Options say which lines count.
type Options struct {
	Site  string    // a site's name, or a host of it; "" for all
	Since time.Time // zero for all
}

// Collector takes lines and makes a Report of them. It is for one goroutine.
type Collector struct {
	options  Options
	accepted *few[name, credential]
	claimed  *few[name, struct{}] // of those that are only claimed
	rows     map[subject]*row
	refusals map[refusal]int64
	sites    map[string]*siteCalls
	learned  bool
	read     Read
}

// Read counts the lines.
type Read struct {
	Calls   int64 `json:"calls"`             // of the journal, of the site and time in question
	Refused int64 `json:"refused"`           // records of refusals, likewise
	Earlier int64 `json:"earlier,omitempty"` // lines before Since; they count for nothing
	NoTime  int64 `json:"no_time,omitempty"` // lines whose time cannot be read; with Since they count for nothing
	Unnamed int64 `json:"unnamed,omitempty"` // calls whose credential has no name in the log
	Beyond  int64 `json:"beyond,omitempty"`  // calls of credentials beyond the most that are listed
}

// New returns a Collector without lines.
func New(o Options) *Collector {
	return &Collector{
		options: o, accepted: newFew[name, credential](maxCredentials), claimed: newFew[name, struct{}](maxClaimed),
		rows: map[subject]*row{}, refusals: map[refusal]int64{}, sites: map[string]*siteCalls{},
	}
}

// LastOf returns the time of a call that is in question, but for Since.
func (o *Options) LastOf(c *records.Call) (at time.Time, ok bool) {
	if !records.Concerns(o.Site, c.Site, c.Host) {
		return at, false
	}
	return records.TimeOf(c.Time)
}

// Learn takes a call in the first reading: it tells which credentials the platform has accepted.
func (c *Collector) Learn(of *records.Call) {
	at, known := records.TimeOf(of.Time)
	if of.Credential.Claimed || !records.Concerns(c.options.Site, of.Site, of.Host) || !c.inTime(at, known) {
		return
	}
	n, named := nameOf(of.Site, &of.Credential)
	if !named {
		return
	}
	accepted := c.accepted.add(n, n.number())
	if accepted == nil || of.ClientIP == "" {
		return
	}
	if accepted.addresses == nil {
		accepted.addresses = newFew[string, int64](maxAddresses)
	}
	address := cut(of.ClientIP)
	accepted.addresses.add(address, numberOf(address))
}

func (c *Collector) inTime(at time.Time, known bool) bool {
	return c.options.Since.IsZero() || known && !at.Before(c.options.Since)
}

// question tells whether a line is in question, and counts it if it is not.
func (c *Collector) question(site, host string, at time.Time, known bool) bool {
	if !c.learned {
		c.accepted.drop()
		for _, of := range c.accepted.of {
			if of.about.addresses != nil {
				of.about.addresses.drop()
			}
		}
		c.learned = true
	}
	if !records.Concerns(c.options.Site, site, host) {
		return false
	}
	if !known {
		c.read.NoTime++
	}
	if !c.inTime(at, known) {
		if known {
			c.read.Earlier++
		}
		return false
	}
	return true
}

// counts returns what is known of a credential where a line counts for it: the platform has accepted it, and where the line
// only claims it, it comes from an address at which that has happened. Else anybody may have sent the name.
func (c *Collector) counts(n name, of *record.Credential, address string) (known *credential, strange bool) {
	known = c.accepted.get(n)
	if known == nil || !of.Claimed {
		return known, false
	}
	return known, address == "" || known.addresses == nil || known.addresses.get(cut(address)) == nil
}

// Add takes a call in the second reading, when all have been learned. The error is ErrTooMany.
func (c *Collector) Add(of *records.Call) error {
	at, timed := records.TimeOf(of.Time)
	if !c.question(of.Site, of.Host, at, timed) {
		return nil
	}
	c.read.Calls++
	n, named := nameOf(of.Site, &of.Credential)
	known, strange := c.counts(n, &of.Credential, of.ClientIP)
	switch {
	case !named:
		c.read.Unnamed++
		return nil
	case known == nil && of.Credential.Claimed:
		return c.claim(n)
	case known == nil:
		c.read.Beyond++
		return nil
	case strange:
		known.strange++
		return nil
	}
	known.see(of, at, timed)
	if err := c.count(subject{n, cut(of.Method), cut(of.Route), false}, of.Status, at); err != nil || of.Batch == "" {
		return err
	}
	method, route, _ := strings.Cut(of.Batch, " ")
	return c.count(subject{n, cut(method), cut(route), true}, of.Status, at)
}

// claim counts a call whose credential the platform has nowhere accepted.
func (c *Collector) claim(n name) error {
	site := c.sites[n.site]
	if site == nil {
		if len(c.sites) == maxRows {
			return ErrTooMany
		}
		site = new(siteCalls)
		c.sites[n.site] = site
	}
	site.claimed++
	c.claimed.add(n, n.number())
	return nil
}

func (c *Collector) count(s subject, status int, at time.Time) error {
	r := c.rows[s]
	if r == nil {
		if len(c.rows) == maxRows {
			return ErrTooMany
		}
		r = new(row)
		c.rows[s] = r
	}
	r.calls++
	if status == 401 || status == 403 {
		r.denied++
	}
	if at.After(r.last) {
		r.last = at
	}
	return nil
}

// AddRecord takes the record of a refusal in the second reading. The error is ErrTooMany.
func (c *Collector) AddRecord(rec *records.Record) error {
	at, timed := records.TimeOf(rec.Time)
	if !c.question(rec.Site, rec.Host, at, timed) {
		return nil
	}
	c.read.Refused++
	n, _ := nameOf(rec.Site, &rec.Credential)
	known, strange := c.counts(n, &rec.Credential, rec.ClientIP)
	if known == nil || strange {
		return nil
	}
	known.scope.see(rec.Credential.Scope, at)
	r := refusal{n, cut(rec.Code), cut(rec.Outcome)}
	if _, there := c.refusals[r]; !there && len(c.refusals) == maxRows {
		return ErrTooMany
	}
	c.refusals[r]++
	return nil
}
