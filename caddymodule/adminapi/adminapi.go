// Package adminapi declares what the gateway adds to the admin endpoint of a running Caddy, and asks
// for it. Package admin answers with these types, commands and the status page read them. See
// docs/commands/status.md, "Admin endpoint".
package adminapi

import (
	"encoding/json"
	"reflect"
	"strings"
	"time"

	"github.com/restwarden/restwarden/caddymodule/record"
	"github.com/restwarden/restwarden/policies/ask"
	"github.com/restwarden/restwarden/policies/confirm"
	"github.com/restwarden/restwarden/policies/policy"
)

const (
	// Version is the version of the answers, "v". A field may be added without a new version.
	Version = 1
	// EventLost is the name of the event [Lost].
	EventLost = "lost"
	// MaxBody bounds, in bytes, the body of a request that switches or decides.
	MaxBody = 4 << 10
	// MaxSwitched is the longest time for which a switch may be on. What should last longer
	// belongs in the configuration.
	MaxSwitched = 30 * 24 * time.Hour
	// MaxOpened is the longest time for which a line may open calls.
	MaxOpened = 7 * 24 * time.Hour
	// MaxLines bounds the lines of one site that open calls, and those that close calls.
	MaxLines = 100
)

// Sites is the answer to GET [SitesPath]: an S is a [Site] and a T a [Store]. Who hands them on reads them
// as JSON, so that members of another release are not lost.
type Sites[S, T any] struct {
	Version  int               `json:"v"`
	Sites    []S               `json:"sites"`
	Refusals []json.RawMessage `json:"refusals,omitempty"` // only in what "caddy restwarden status --site" prints
	Store    *T                `json:"store,omitempty"`
	// OperatorHeader is the header in which a proxy of the operators' own tells who they are.
	OperatorHeader string `json:"operator_header,omitempty"`
}

// Site is a site as it is now. The tag owner marks what the status page shows to the owner of a
// site, here and in the types below.
type Site struct {
	Site string `json:"site" owner:"sees"`
	// Listen is where Caddy listens; only where another directive guards the site elsewhere, or
	// in another mode.
	Listen    []string   `json:"listen,omitempty"`
	Platform  string     `json:"platform" owner:"sees"`
	Tags      []string   `json:"tags,omitempty"`                    // of all directives of the site, by which commands choose sites
	Mode      string     `json:"mode" owner:"sees"`                 // in force now
	ModeUntil *time.Time `json:"mode_until,omitempty" owner:"sees"` // if it is switched
	// Configured is the directive's mode, which counts again after ModeUntil.
	Configured    string             `json:"configured_mode" owner:"sees"`
	Lockdown      *Lockdown          `json:"lockdown" owner:"sees"` // null if there is none
	Release       string             `json:"release" owner:"sees"`  // "10.7", or "unknown"
	ReleaseSource string             `json:"release_source" owner:"sees"`
	Problems      []Problem          `json:"problems"`
	Questions     map[ask.Kind]Asked `json:"questions"`
	Spool         Spool              `json:"spool"`
	Refusals      int                `json:"refusals" owner:"sees"`         // that are kept
	Routes        *Routes            `json:"routes,omitempty" owner:"sees"` // nil until a root has listed some
	Misread       Misread            `json:"misread" owner:"sees"`
	Scopes        []Scope            `json:"scopes,omitempty" owner:"sees"`
	Opens         []Line             `json:"opens,omitempty" owner:"sees"`  // lines that open calls, the first that was set first
	Closes        []Line             `json:"closes,omitempty" owner:"sees"` // lines that close calls, likewise
}

// Line is a line that is switched on.
type Line struct {
	Line  string     `json:"line" owner:"sees"` // without its first word: "POST /acme/v1/callback", "plugin contact-form-7"
	Since time.Time  `json:"since" owner:"sees"`
	Until *time.Time `json:"until,omitempty" owner:"sees"` // nil where it does not end by itself
	By
}

// Scope is a scope of credentials, and how it was used since the site was first configured in this process.
type Scope struct {
	Scope string `json:"scope" owner:"sees"`
	Mode  string `json:"mode" owner:"sees"` // of its own, "enforce" or "observe"
	// LastUse is the last call that has passed with a credential of the scope which the platform has verified.
	LastUse     *time.Time `json:"last_use,omitempty" owner:"sees"`
	Refusals    uint64     `json:"refusals" owner:"sees"`
	WouldRefuse uint64     `json:"would_refuse" owner:"sees"`
	Until       string     `json:"until,omitempty" owner:"sees"`     // its last day, "2027-01-31"
	DaysLeft    *int       `json:"days_left,omitempty" owner:"sees"` // 0 on its last day, and negative after it
}

// Lockdown is a lockdown in force.
type Lockdown struct {
	Until time.Time `json:"until" owner:"sees"`
	Hard  bool      `json:"hard" owner:"sees"`
	// All tells whether it is the lockdown of all sites; a site may have its own as well.
	All bool `json:"all"`
}

// Problem is a setting that is odd or does not fit the site.
type Problem struct {
	Code    string `json:"code" owner:"sees"`
	Problem string `json:"problem" owner:"sees"`
	At      string `json:"at,omitempty"` // where it stands in the configuration
}

// Asked counts the questions of one kind.
type Asked struct {
	Asked   uint64    `json:"asked" owner:"sees"`
	Known   uint64    `json:"known" owner:"sees"` // not asked, since the answer was known
	Failed  uint64    `json:"failed" owner:"sees"`
	Seconds float64   `json:"seconds" owner:"sees"` // that the platform needed for all of them
	Last    time.Time `json:"last,omitzero" owner:"sees"`
	Error   string    `json:"error,omitempty"` // why the last one had no usable answer
}

// Spool is how much of the site's request bodies is on disk, and may be.
type Spool struct {
	Bytes int64 `json:"bytes"`
	Limit int64 `json:"limit"`
}

// Routes is what the REST roots of the site list.
type Routes struct {
	Count   int        `json:"count"`                // in the root that was read last
	Changed *time.Time `json:"changed_at,omitempty"` // the last change
	Added   int        `json:"added"`                // by the last change
	Removed int        `json:"removed"`              // likewise
}

// Misread is what is known of pages that the REST interface has answered.
type Misread struct {
	Action string     `json:"action"` // of the option misread
	Count  uint64     `json:"count"`
	Last   *time.Time `json:"last,omitempty"`
	// Unguarded are headers that pages of the site have as well, so that they tell nothing.
	Unguarded []string `json:"unguarded,omitempty"`
}

// Store is the Redis of the gateways.
type Store struct {
	Reachable bool       `json:"reachable"` // when it was last used
	Since     *time.Time `json:"since,omitempty"`
	Error     string     `json:"error,omitempty"`
}

// Refusals is the answer to GET [RefusalsPath]: an R is a [Refusal].
type Refusals[R any] struct {
	Version  int    `json:"v"`
	Site     string `json:"site"`
	Refusals []R    `json:"refusals"` // the newest first
}

// Refusal is a record, here and as an event of GET [EventsPath].
type Refusal struct {
	// Time is when the decision was recorded. A line of the log has a time of its own.
	Time time.Time `json:"time,omitzero" owner:"sees"`
	record.Record
}

// Lost is the event that tells a slow follower how many records it has lost.
type Lost struct {
	Lost uint64 `json:"lost"`
}

// ModeSwitch is the body of POST [ModePath]. A D is how long, [MaxSwitched] at most, as text: "2h", "1d12h".
type ModeSwitch[D any] struct {
	Mode policy.Mode `json:"mode"`
	For  D           `json:"for"`
}

// LockdownSwitch is the body of POST [LockdownPath]. A D is as in [ModeSwitch].
type LockdownSwitch[D any] struct {
	For  D       `json:"for"`
	Site *string `json:"site,omitempty"` // nil for all sites
	Hard bool    `json:"hard"`
}

// LineSwitch is the body of POST [OpenPath] and POST [ClosePath].
type LineSwitch struct {
	// For is how long, [MaxOpened] at most for a line that opens calls; "0s" takes the line back. A line that closes calls lasts until
	// then where it is nil.
	For     *string  `json:"for,omitempty"`
	Methods []string `json:"methods,omitempty"` // none for all
	Route   string   `json:"route,omitempty"`
	Plugin  string   `json:"plugin,omitempty"` // in place of a route: what visitors need of a plugin of the catalogue
}

// Text is what the line says, as in [Line].
func (b *LineSwitch) Text() string {
	if b.Plugin != "" {
		return pluginWord + b.Plugin
	}
	return strings.TrimSpace(strings.Join(b.Methods, ",") + " " + b.Route)
}

const pluginWord = "plugin "

// Switch returns what switches the line on.
func (l *Line) Switch() *LineSwitch {
	if name, ok := strings.CutPrefix(l.Line, pluginWord); ok {
		return &LineSwitch{Plugin: name}
	}
	methods, route, ok := strings.Cut(l.Line, " ")
	if !ok {
		return &LineSwitch{Route: l.Line}
	}
	return &LineSwitch{Methods: strings.Split(methods, ","), Route: route}
}

// LineSwitched says what counts after a line was switched.
type LineSwitched struct {
	Site string `json:"site"`
	Line string `json:"line"` // as in [Line]
	On   bool   `json:"on"`
	// Until is when it ends; nil where it is off, or does not end by itself.
	Until *time.Time `json:"until,omitempty"`
	// Stops are lines that refuse some of the calls which the line opens.
	Stops []Stop `json:"stops,omitempty"`
	// Note says what is odd about the line: the route may be misspelt.
	Note     string `json:"note,omitempty"`
	Gateways string `json:"gateways"`        // as in [Switched]
	Error    string `json:"error,omitempty"` // likewise
}

// Stop is a line that some calls cannot pass.
type Stop struct {
	Line string `json:"line"`
	At   string `json:"at,omitempty"`
	Call string `json:"call,omitempty"` // one of them, "POST /acme/v1/callback"
}

// Switched says what counts after a switch.
type Switched struct {
	Site     string     `json:"site,omitempty"`
	Mode     string     `json:"mode,omitempty"`
	Until    *time.Time `json:"mode_until,omitempty"`
	Lockdown *Lockdown  `json:"lockdown"`
	Sites    int        `json:"sites"` // that are locked on this gateway
	// Gateways is [AllGateways], or [ThisGateway] if no other gateway was told.
	Gateways string `json:"gateways"`
	Error    string `json:"error,omitempty"` // why other gateways could not be told
}

// The values of Switched.Gateways.
const (
	AllGateways = "all"
	ThisGateway = "this one"
)

// Confirmations is the answer to GET [ConfirmationsPath].
type Confirmations struct {
	Version       int            `json:"v"`
	Confirmations []Confirmation `json:"confirmations"`
}

// Confirmation is a call that waits for a person, or did.
type Confirmation struct {
	Site      string          `json:"site"`
	ID        string          `json:"id"`
	State     confirm.State   `json:"state"`
	Caller    string          `json:"caller"`
	Ability   string          `json:"ability"`
	Door      string          `json:"door"`
	Arguments json.RawMessage `json:"arguments,omitempty"`
	Beside    json.RawMessage `json:"beside,omitempty"` // what the call carries beside its arguments
	Expires   time.Time       `json:"expires"`
	Link      string          `json:"link,omitempty"` // while it is pending
}

// Decision is the body of POST [ConfirmationPath]. The answer is the [Confirmation].
type Decision struct {
	Give *bool `json:"give"` // false rejects
}

// OwnerSees are the names of the members of a T that the owner of a site may see.
func OwnerSees[T any]() (names []string) {
	for _, f := range reflect.VisibleFields(reflect.TypeFor[T]()) {
		if f.Tag.Get("owner") == "sees" {
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			names = append(names, name)
		}
	}
	return names
}
