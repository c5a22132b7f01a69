package switches

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"time"

	"go.uber.org/zap"

	"github.com/restwarden/restwarden/caddymodule/adminapi"
	"github.com/restwarden/restwarden/policies/policy"
)

// The kinds of switches.
const (
	kindMode     = "mode"
	kindLockdown = "lockdown"
)

// id identifies a switch: its kind, and the site or "" for all sites.
type id struct{ kind, site string }

// setting is the state of a switch, as gateways tell it to each other. Of two settings of
// one switch the later counts.
type setting struct {
	Kind string      `json:"kind"`
	Site string      `json:"site,omitempty"`
	Mode policy.Mode `json:"mode,omitempty"`
	Hard bool        `json:"hard,omitempty"`
	// Off ends what was switched on before. It is kept until that would have ended.
	Off   bool  `json:"off,omitempty"`
	Until int64 `json:"until"` // UNIX milliseconds
	Set   int64 `json:"set"`   // UNIX nanoseconds, when it was set
}

func (s *setting) id() id           { return id{s.Kind, s.Site} }
func (s *setting) until() time.Time { return time.UnixMilli(s.Until) }
func (s *setting) switched() policy.Switched {
	return policy.Switched{Mode: s.Mode, Hard: s.Hard, Until: s.until()}
}

// fields are those of a line of the log.
func (s *setting) fields(more ...zap.Field) []zap.Field {
	site := cmp.Or(s.Site, "all") // a lockdown of all sites
	return append([]zap.Field{zap.String("switch", s.Kind), zap.String("site", site)}, more...)
}

// key is the key of the setting in a store.
func (s *setting) key() string { return "switch:" + s.Kind + ":" + s.Site }

var errSetting = errors.New("not a setting of a switch")

// parseSetting reads a setting of another gateway. It accepts only what set can make.
func parseSetting(text string, now time.Time) (s setting, err error) {
	d := json.NewDecoder(bytes.NewReader([]byte(text)))
	d.DisallowUnknownFields()
	if err := d.Decode(&s); err != nil || d.More() {
		return s, errors.Join(errSetting, err)
	}
	left := s.until().Sub(now)
	switch {
	case left <= 0, left > adminapi.MaxSwitched+time.Hour, s.Set <= 0, time.Unix(0, s.Set).Sub(now) > time.Hour:
		return s, errSetting
	case s.Kind == kindLockdown && s.Mode == "":
		return s, nil
	case s.Kind == kindMode && s.Site != "" && !s.Hard && (s.Mode == policy.Observe || s.Mode == policy.Enforce || s.Off && s.Mode == ""):
		return s, nil
	}
	return s, errSetting
}
