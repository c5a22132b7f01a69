// Package replay runs the request of a record again. A record does not say everything: whatever it leaves open is run in every way,
// and all of them have to have one answer.
package replay

import (
	"context"
	"errors"
	"slices"

	"github.com/restwarden/restwarden/caddymodule/command/records"
	"github.com/restwarden/restwarden/caddymodule/dryrun"
	"github.com/restwarden/restwarden/caddymodule/gateway"
	"github.com/restwarden/restwarden/policies/policy"
)

// Logged is what --log says of a request: its records, and what becomes of the request
// under the configuration as it is, so far as the records determine that.
type Logged struct {
	Version int              `json:"v"`
	Records []records.Record `json:"records"`
	Answer  dryrun.Answer    `json:"answer"`
	// Same tells that the same rule refuses the request with the same code.
	Same bool `json:"same"`
	// Taken says what was taken from the record, and Missing why that is not enough.
	Taken   []string       `json:"taken,omitempty"`
	Missing string         `json:"missing,omitempty"`
	Result  *dryrun.Result `json:"result,omitempty"` // nil if nothing could be run
}

// Record runs the request of a record again if the record determines what decides.
func Record(ctx context.Context, o dryrun.Options, found []records.Record) (l *Logged, err error) {
	l = &Logged{Version: 1, Records: found, Answer: dryrun.Unknown}
	var directives []*gateway.Gateway
	o.Edit = func(g *gateway.Gateway) error {
		directives = append(directives, g)
		return nil
	}
	config, err := dryrun.Load(o)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, config.Close()) }()
	if settled(&found[0]) && judgesStill(&found[0], directives) && guards(ctx, config, found[0].Site) {
		l.Answer, l.Same = dryrun.Answer(found[0].Outcome), true
		l.Taken = []string{"the word " + found[0].Rule + ": the request itself is why, and no rule changes that"}
		return l, nil
	}
	if l.Missing = undetermined(&found[0]); l.Missing != "" {
		return l, nil
	}
	r := &replay{record: &found[0], config: config, directives: directives}
	return l, r.run(ctx, l)
}

// judgesStill tells whether a directive with the base of the record judges requests without a
// certain reading, in the mode of the record.
func judgesStill(rec *records.Record, directives []*gateway.Gateway) bool {
	return slices.ContainsFunc(directives, func(g *gateway.Gateway) bool {
		reading, err := g.Policy(policy.ReadingEntry)
		same := (g.Mode == policy.Observe) == (rec.Outcome == string(dryrun.WouldRefuse))
		return err == nil && g.Base == rec.Base && !reading.Settings.Off && reading.Settings.Mode == "" && same
	})
}

// guards tells whether the configuration guards a site of that name.
func guards(ctx context.Context, config *dryrun.Config, name string) bool {
	sites, err := config.Sites(ctx)
	return err == nil && slices.ContainsFunc(sites, func(s *gateway.ServedSite) bool { return s.Name == name })
}
