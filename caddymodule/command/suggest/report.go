package suggest

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"
)

// Report is what a log tells.
type Report struct {
	Version    int          `json:"v"` // 1
	Read       Read         `json:"read"`
	MinClients int          `json:"min_clients"`
	Sites      []SiteReport `json:"sites"` // by name
	// OtherSites are sites of the logs that are not in question, up to 1000.
	OtherSites []string `json:"other_sites,omitempty"`
}

// SiteReport is one site of the log.
type SiteReport struct {
	Name    string `json:"site"`
	Seen    Seen   `json:"seen"`
	Lines   []Line `json:"lines"`    // that let the good traffic through
	LeftOut []Left `json:"left_out"` // calls for which no line is suggested
}

// Line is a line for the directive.
type Line struct {
	Line   string `json:"line"`
	Plugin string `json:"plugin,omitempty"` // the slug, if the line names one
	// About says in sentences what the line does.
	About []string `json:"about,omitempty"`
	Calls []Calls  `json:"calls"` // that speak for the line
}

// Calls are calls of one route.
type Calls struct {
	Method string `json:"method"`
	Route  string `json:"route"`
	Seen   Seen   `json:"seen"`
	Why    string `json:"why,omitempty"` // what they are for
}

// Left are calls for which no line is suggested.
type Left struct {
	Calls

	Reason Reason `json:"reason"`
	Rule   string `json:"rule,omitempty"` // that refuses the calls
	At     string `json:"at,omitempty"`
	// Users is how many users called, where a rule refuses users. There may be more whose number
	// is not known.
	Users     int  `json:"users,omitempty"`
	MoreUsers bool `json:"more_users,omitempty"` // there are more than Users
	// Line opens the calls. It is for people who know what they are for.
	Line string `json:"line,omitempty"`
	// Opened is a line of the report that opens the calls all the same.
	Opened string `json:"opened,omitempty"`
}

// Seen says how often, by how many and when.
type Seen struct {
	Calls int64 `json:"calls"`
	// Clients is the number of clients that are certainly no scanners.
	Clients      int  `json:"clients"`
	MoreClients  bool `json:"more_clients,omitempty"` // there are more than Clients
	Scanners     int  `json:"scanners,omitempty"`
	MoreScanners bool `json:"more_scanners,omitempty"`
	// Unsure is the number of other clients: the logs have too many that look like scanners.
	Unsure     int    `json:"unsure,omitempty"`
	MoreUnsure bool   `json:"more_unsure,omitempty"`
	From       From   `json:"from"`
	Since      string `json:"since,omitempty"` // as RFC 3339 has it
	Until      string `json:"until,omitempty"`
}

func seen(r *row) Seen {
	return Seen{
		Calls: r.calls, Clients: len(r.clients.clients), MoreClients: r.clients.more, From: r.from,
		Scanners: min(len(r.scanners.clients), maxOthers), MoreScanners: len(r.scanners.clients) > maxOthers, Unsure: len(r.unsure.clients), MoreUnsure: r.unsure.more,
		Since: timeText(r.since), Until: timeText(r.until),
	}
}

func timeText(at time.Time) string {
	if at.IsZero() {
		return ""
	}
	return at.Format(time.RFC3339)
}

// Report returns what the records tell. The Collector takes no records afterwards.
func (c *Collector) Report() *Report {
	report := &Report{Version: 1, Read: c.read, MinClients: c.options.MinClients, OtherSites: c.others, Sites: []SiteReport{}}
	sites := map[string][]subject{}
	for key, r := range c.rows {
		if r.calls == 0 { // it could not be read again
			continue
		}
		sites[key.site] = append(sites[key.site], key)
	}
	for _, name := range slices.Sorted(maps.Keys(sites)) {
		keys := sites[name]
		slices.SortFunc(keys, compareSubjects)
		report.Sites = append(report.Sites, c.site(name, keys))
	}
	return report
}

func compareSubjects(a, b subject) int {
	return cmp.Or(
		strings.Compare(a.route, b.route), strings.Compare(a.method, b.method), cmp.Compare(a.kind, b.kind),
		strings.Compare(a.rule, b.rule),
	)
}

func (c *Collector) site(name string, keys []subject) SiteReport {
	all, j := new(row), &judge{Collector: c}
	for _, key := range keys {
		r := c.rows[key]
		all.join(r)
		j.judge(key, r)
	}
	s := SiteReport{Name: name, Seen: seen(all), Lines: j.lines(), LeftOut: j.left}
	for i := range s.LeftOut {
		if s.LeftOut[i].Reason != ReasonGuarded { // what guards it stays in force
			s.LeftOut[i].Opened = j.opens(s.Lines, &s.LeftOut[i].Calls)
		}
	}
	slices.SortStableFunc(s.LeftOut, func(a, b Left) int { return cmp.Compare(order(a.Reason), order(b.Reason)) })
	return s
}

// join adds up rows.
func (r *row) join(other *row) {
	r.calls += other.calls
	r.from = From{r.from.Page + other.from.Page, r.from.Other + other.from.Other, r.from.None + other.from.None}
	if r.since.IsZero() || !other.since.IsZero() && other.since.Before(r.since) {
		r.since = other.since
	}
	if other.until.After(r.until) {
		r.until = other.until
	}
	r.clients.join(&other.clients, maxSample)
	r.scanners.join(&other.scanners, maxOthers)
	r.unsure.join(&other.unsure, maxOthers)
}

func (s *sample) join(other *sample, limit int) {
	for _, client := range other.clients {
		s.add(client, limit)
	}
	s.more = s.more || other.more
}
