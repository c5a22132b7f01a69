package switches

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"go.uber.org/zap"

	"github.com/restwarden/restwarden/caddymodule/adminapi"
	"github.com/restwarden/restwarden/policies/call/routes"
	"github.com/restwarden/restwarden/policies/policy"
)

// The kinds of switches. Those of lines are the first word of each line.
const (
	kindMode     = "mode"
	kindLockdown = "lockdown"
	KindOpen     = "open"
	KindClose    = "close"
)

// kindLines stands for all lines of a site, which are one value of a store.
const kindLines = "lines"

// id identifies a switch: its kind, the site or "" for all sites, and what a line says.
type id struct{ kind, site, line string }

// Calls are calls that a line names, as a rule does.
type Calls struct {
	Methods []string `json:"methods,omitempty"`
	Routes  []string `json:"routes"`
}

// setting is the state of a switch, as gateways tell it to each other. Of two settings of
// one switch the later counts.
type setting struct {
	Kind string      `json:"kind"`
	Site string      `json:"site,omitempty"`
	Mode policy.Mode `json:"mode,omitempty"`
	Hard bool        `json:"hard,omitempty"`
	// Line is what a line says, "POST /acme/v1/callback" or "plugin contact-form-7", and Calls what it stands for.
	Line  string  `json:"line,omitempty"`
	Calls []Calls `json:"calls,omitempty"`
	// By says who set it, as [adminapi.By.Text].
	By string `json:"by,omitempty"`
	// Off ends what was switched on before. It is kept until that would have ended.
	Off   bool  `json:"off,omitempty"`
	Until int64 `json:"until,omitempty"` // UNIX milliseconds; 0 for a line that does not end by itself
	Set   int64 `json:"set"`             // UNIX nanoseconds, when it was set
}

func (s *setting) id() id       { return id{s.Kind, s.Site, s.Line} }
func (s *setting) isLine() bool { return s.Kind == KindOpen || s.Kind == KindClose }

// until returns when the setting ends, far in the future where it does not.
func (s *setting) until() time.Time {
	if s.Until == 0 {
		return time.Unix(0, s.Set).Add(forever)
	}
	return time.UnixMilli(s.Until)
}

// left is how long the setting lasts yet, and no longer than when it was set, also where the clock was set back since.
func (s *setting) left(now time.Time) time.Duration {
	if s.Until == 0 {
		return forever
	}
	if set := time.Unix(0, s.Set); set.After(now) {
		now = set
	}
	return time.UnixMilli(s.Until).Sub(now.Round(0))
}

func (s *setting) switched() policy.Switched {
	return policy.Switched{Mode: s.Mode, Hard: s.Hard, Until: s.until()}
}

// line returns the line that the setting switches on, if it ends by itself until a time.
func (s *setting) line(until time.Time) (*policy.SwitchedLine, error) {
	var rules []policy.Rule
	for _, c := range s.Calls {
		r := policy.Rule{Allow: "anyone", Methods: c.Methods, Routes: c.Routes}
		if err := r.Compile(); err != nil {
			return nil, err
		}
		rules = append(rules, r)
	}
	if s.Until == 0 {
		until = time.Time{}
	}
	return policy.NewSwitchedLine(s.Kind+" "+s.Line, rules, until), nil
}

// how are the fields of the log that say what is switched on, and until when.
func (s *setting) how() []zap.Field {
	var fields []zap.Field
	switch s.Kind {
	case kindMode:
		fields = append(fields, zap.String("mode", string(s.Mode)))
	case kindLockdown:
		fields = append(fields, zap.Bool("hard", s.Hard))
	}
	if s.Until != 0 {
		fields = append(fields, zap.Time("until", s.until()))
	}
	return fields
}

// fields are those of a line of the log.
func (s *setting) fields(more ...zap.Field) []zap.Field {
	site := cmp.Or(s.Site, "all") // a lockdown of all sites
	fields := []zap.Field{zap.String("switch", s.Kind), zap.String("site", site)}
	if s.Line != "" {
		fields = append(fields, zap.String("line", s.Line))
	}
	return append(fields, more...)
}

// key is the key of a switch in a store. The lines of a site have one.
func (name id) key() string { return "switch:" + name.kind + ":" + name.site }

// stored names the value of a store that the setting is in.
func (s *setting) stored() id {
	if s.isLine() {
		return id{kind: kindLines, site: s.Site}
	}
	return s.id()
}

var errSetting = errors.New("not a setting of a switch")

// parseSetting reads a setting of another gateway. It accepts only what set can make.
func parseSetting(text string, now time.Time) (s setting, err error) {
	d := json.NewDecoder(bytes.NewReader([]byte(text)))
	d.DisallowUnknownFields()
	if err := d.Decode(&s); err != nil {
		return s, fmt.Errorf("%w: %w", errSetting, err)
	}
	if d.More() {
		return s, errSetting
	}
	if len(s.By) > maxBy {
		return s, errSetting
	}
	left, most := s.left(now), adminapi.MaxSwitched
	switch s.Kind {
	case KindOpen:
		most = adminapi.MaxOpened
	case KindClose:
		most = forever
	}
	if s.Off {
		most = max(most, adminapi.MaxSwitched)
	}
	switch {
	case left <= 0, left > most+time.Hour, s.Set <= 0, time.Unix(0, s.Set).Sub(now) > time.Hour:
		return s, errSetting
	case s.Kind == KindOpen && s.Until == 0:
		return s, errSetting
	case s.isLine():
		return s, s.checkLine()
	case s.Line != "" || s.Calls != nil || s.Until == 0:
		return s, errSetting
	case s.Kind == kindLockdown && s.Mode == "":
		return s, nil
	case s.Kind == kindMode && s.Site != "" && !s.Hard && (s.Mode == policy.Observe || s.Mode == policy.Enforce || s.Off && s.Mode == ""):
		return s, nil
	}
	return s, errSetting
}

// forever is how long a line lasts that does not end by itself.
const forever = 10 * MaxClosed

// MaxClosed is the longest time for which a line closes calls that ends by itself.
const MaxClosed = 365 * 24 * time.Hour

// The bounds of a line.
const (
	maxLine  = 500 // bytes
	maxCalls = 100
	maxBy    = 200 // bytes
)

// ErrLong says that a line is longer than gateways tell each other.
var ErrLong = fmt.Errorf("a line has %d bytes and %d calls at most", maxLine, maxCalls)

// checkLine checks a line, here and as it comes from another gateway or a file.
func (s *setting) checkLine() error {
	switch {
	case s.Site == "", s.Line == "", len(s.Calls) == 0 && !s.Off, s.Mode != "", s.Hard:
		return errSetting
	case len(s.Line) > maxLine, len(s.Calls) > maxCalls:
		return ErrLong
	case s.Off:
		return nil
	}
	line, err := s.line(time.Time{})
	if err == nil && !s.says(line) {
		err = errSetting
	}
	return err
}

// says tells whether the calls of a line are those which it names. Of those of a plugin nobody knows, but that they are not all.
func (s *setting) says(line *policy.SwitchedLine) bool {
	said := adminapi.Line{Line: s.Line}
	if slug := said.Switch().Plugin; slug != "" {
		all := func(r policy.Rule) bool { return slices.ContainsFunc(r.Target().Routes(), routes.Pattern.OfAll) }
		return s.Kind == KindOpen && slugs.MatchString(slug) && !slices.ContainsFunc(line.Rules(), all)
	}
	return len(s.Calls) == 1 && len(s.Calls[0].Routes) == 1 && s.Line == LineOf(s.Calls[0].Methods, s.Calls[0].Routes[0]).Line &&
		(s.Kind == KindClose || !strings.Contains(s.Line, "**"))
}

var slugs = regexp.MustCompile(`^[\w.-]+$`)
