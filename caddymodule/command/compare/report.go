// Package compare says what a change of a configuration does to the calls of its sites: which calls open and close, and what
// else changes that judges them.
package compare

import (
	"slices"
	"strings"
	"time"

	"github.com/restwarden/restwarden/caddymodule/dryrun"
	"github.com/restwarden/restwarden/caddymodule/switches"
	"github.com/restwarden/restwarden/policies/diff"
	"github.com/restwarden/restwarden/policies/policy"
)

// Report is what changes from one configuration to another. It is the JSON of "diff".
type Report struct {
	Version int    `json:"v"` // 1
	Old     string `json:"old"`
	New     string `json:"new"`

	// Changes are the calls that are decided otherwise: what opens first, and the most dangerous first.
	Changes []Change `json:"changes"`
	// Beside is what else changes that judges calls or answers.
	Beside []Beside `json:"beside"`
	Sites  Sites    `json:"sites"`
	// Switches are in force at sites of the old configuration, which runs.
	Switches []Switch `json:"switches,omitempty"`
	// Log is how many calls of logs would be decided otherwise; nil without one.
	Log *Traffic `json:"log,omitempty"`
	// Failed are the words of --fail-on that the report has.
	Failed []string `json:"failed,omitempty"`
}

// Change is a set of calls that are decided otherwise. Equal changes of several sites are one.
type Change struct {
	Effect diff.Effect `json:"effect"` // "opened", "closed", "may_open", "may_close"
	// Methods are none for all of them. "other" stands for every method that no line names.
	Methods []string `json:"methods"`
	// Sets are the routes, and what of them is not meant.
	Sets []Set `json:"sets"`
	// Routes are those of the site's REST root that have such calls; only where the root is known.
	Routes []string `json:"routes,omitempty"`
	Who    []string `json:"who"`
	// Old and New are the lines that decide. Of two, one that both sides have is left out.
	Old     Line     `json:"old"`
	New     Line     `json:"new"`
	Why     string   `json:"why,omitempty"`
	Example *Example `json:"example,omitempty"`
	Sites   []string `json:"sites"`

	danger int
	byMode bool // access observes on one side alone, and so all that it refuses on the other one changes
}

// Set is the routes that a pattern matches, but for those that one of others does.
type Set struct {
	Route  string   `json:"route"`
	Except []string `json:"except,omitempty"`
}

// Line is a line of a configuration, with its place.
type Line struct {
	Line string `json:"line,omitempty"`
	At   string `json:"at,omitempty"`
	// Stays tells that both configurations have the line: another one comes before it, or none does any more.
	Stays bool `json:"stays,omitempty"`
}

// Example is a request that shows a change. Both sides have been asked about it by a dry run.
type Example struct {
	Request string `json:"request"` // "POST https://shop.example.com/wp-json/acme/v1/callback"
	As      string `json:"as"`
	Old     string `json:"old"` // "refused: 401 rest_not_logged_in"
	New     string `json:"new"` // "passes"
}

// Beside is a change of what judges calls, or of their answers, that no set of calls says.
type Beside struct {
	// What is changed: "policy", "mode", "scope", "setting", "layout", "application".
	What string `json:"what"`
	Text string `json:"text"`
	// Effects are what it may do to calls; none for what changes answers alone.
	Effects []diff.Effect `json:"effects,omitempty"`
	Sites   []string      `json:"sites,omitempty"` // none for the whole configuration
}

// Sites counts the sites.
type Sites struct {
	Unchanged   int           `json:"unchanged"`
	Changed     []string      `json:"changed"`
	Added       []Added       `json:"added"`
	Removed     []Removed     `json:"removed"`
	Unguarded   []Removed     `json:"unguarded"` // hosts that are new, and that neither configuration guards
	Renamed     []Renamed     `json:"renamed"`
	NotCompared []NotCompared `json:"not_compared"`
}

// Switch is a switch in force.
type Switch struct {
	Site   string    `json:"site"`           // "" for all sites
	Switch string    `json:"switch"`         // "observe", "enforce", "lockdown", "open", "close"
	Line   string    `json:"line,omitempty"` // of "open" and "close": "POST /acme/v1/callback"
	Until  time.Time `json:"until,omitzero"` // zero where it does not end by itself
	// Stays tells whether the new configuration has a site of this name. Else the switch ends with the change.
	Stays bool `json:"stays"`
}

// effects is what the end of a switch may do.
func (s *Switch) effects() []diff.Effect {
	switch {
	case s.Stays:
		return nil
	case s.Switch == string(policy.Observe), s.Switch == switches.KindOpen:
		return []diff.Effect{diff.MayClose}
	}
	return []diff.Effect{diff.MayOpen}
}

// Added is a site that the old configuration did not guard.
type Added struct {
	Site string `json:"site"`
	// Answered is what answered its calls; "" where nothing did.
	Answered string `json:"answered,omitempty"`
}

// Removed is a site that the new configuration does not guard.
type Removed struct {
	Site string `json:"site"`
	// Answers is what answers its calls now; "" where nothing does.
	Answers string `json:"answers,omitempty"`
}

// effect is what becomes of the calls that were refused, or passed.
func (s *Removed) effect() diff.Effect {
	if dryrun.Leads(s.Answers) {
		return diff.Opened
	}
	return diff.Closed
}

// Renamed is a site that has another name. What was counted, limited and kept for it begins anew.
type Renamed struct {
	Old string `json:"old"`
	New string `json:"new"`
}

// NotCompared is a site on which nothing is known.
type NotCompared struct {
	Site string `json:"site"`
	Why  string `json:"why"`
}

// Traffic is how many calls of logs would be decided otherwise.
type Traffic struct {
	// Calls are those in question: of sites that both sides have.
	Calls int `json:"calls"`
	// Others are calls of other sites, and Unread those whose route or caller the log does not tell.
	Others int `json:"others,omitempty"`
	Unread int `json:"unread,omitempty"`
	// Opened and so on are how many calls fare otherwise.
	Opened   int `json:"opened"`
	Closed   int `json:"closed"`
	MayOpen  int `json:"may_open"`
	MayClose int `json:"may_close"`
	// Clients and Credentials are how many made these calls. More tells that there are more of them.
	Clients     int  `json:"clients"`
	Credentials int  `json:"credentials"`
	More        bool `json:"more,omitempty"`
	// Twice tells that an access log was read beside records or a journal, which tell of the same calls.
	Twice bool `json:"twice,omitempty"`
	// Groups are the largest groups of these calls, the largest first.
	Groups []Group `json:"groups"`

	requests, records bool // of access logs; of records and journals
}

// Group are calls of one kind.
type Group struct {
	Effect  diff.Effect `json:"effect"`
	Site    string      `json:"site"`
	Method  string      `json:"method"`
	Route   string      `json:"route"` // as the log has it
	Who     string      `json:"who"`
	Calls   int         `json:"calls"`
	Clients int         `json:"clients"`
}

// Opens tells whether any call is opened, or may be.
func (r *Report) Opens() bool { return r.has(diff.Opened, diff.MayOpen) }

// Closes tells whether any call is closed, or may be.
func (r *Report) Closes() bool { return r.has(diff.Closed, diff.MayClose) }

// Any tells whether anything has changed.
func (r *Report) Any() bool {
	ends := func(s Switch) bool { return !s.Stays }
	return slices.ContainsFunc(r.Switches, ends) || len(r.Changes)+len(r.Beside)+len(r.Sites.Added)+len(r.Sites.Removed)+len(r.Sites.Unguarded)+len(r.Sites.Renamed) > 0
}

func (r *Report) has(effects ...diff.Effect) bool {
	is := func(e diff.Effect) bool { return slices.Contains(effects, e) }
	return slices.ContainsFunc(r.Changes, func(c Change) bool { return is(c.Effect) }) ||
		slices.ContainsFunc(r.Beside, func(b Beside) bool { return slices.ContainsFunc(b.Effects, is) }) ||
		slices.ContainsFunc(r.Switches, func(s Switch) bool { return slices.ContainsFunc(s.effects(), is) }) ||
		is(diff.Opened) && len(r.Sites.Unguarded) > 0 ||
		slices.ContainsFunc(r.Sites.Removed, func(s Removed) bool { return is(s.effect()) }) ||
		is(diff.Closed) && slices.ContainsFunc(r.Sites.Added, func(s Added) bool { return dryrun.Leads(s.Answered) })
}

// add adds a change of a site, or the site to an equal one.
func (r *Report) add(c Change, site string) {
	id := c.id()
	if i := slices.IndexFunc(r.Changes, func(known Change) bool { return known.id() == id }); i >= 0 {
		r.Changes[i].Sites = append(r.Changes[i].Sites, site)
		return
	}
	c.Sites = []string{site}
	r.Changes = append(r.Changes, c)
}

// id is what equal changes of two sites have in common.
func (c *Change) id() string {
	parts := []string{string(c.Effect), strings.Join(c.Methods, ","), strings.Join(c.Routes, ","), strings.Join(c.Who, ","), c.Old.Line, c.New.Line, c.Why}
	for _, s := range c.Sets {
		parts = append(parts, s.Route, strings.Join(s.Except, ","))
	}
	return strings.Join(parts, "\x00")
}

// beside adds what else changes at a site, "" for the whole configuration.
func (r *Report) beside(b Beside, site string) {
	i := slices.IndexFunc(r.Beside, func(known Beside) bool {
		return known.What == b.What && known.Text == b.Text && (len(known.Sites) > 0) == (site != "")
	})
	if i < 0 {
		r.Beside = append(r.Beside, b)
		i = len(r.Beside) - 1
	}
	if site != "" {
		r.Beside[i].Sites = append(r.Beside[i].Sites, site)
	}
}
