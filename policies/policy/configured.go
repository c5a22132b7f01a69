package policy

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
)

// Configured is a policy with its settings, as one configuration sets it.
type Configured struct {
	Entry    Entry
	Settings Settings
	Policy   Policy

	leads bool // Settings.At is a line of Entry.Words[0]
	lines bool // a line has configured the policy
	bare  bool // the bare name, or "off", was given
}

// NewConfigured returns the policy of an entry, with nothing configured.
func NewConfigured(e Entry) *Configured {
	return &Configured{Entry: e, Policy: e.New()}
}

// Configure takes one line of the directive. `<policy> off` switches a policy off and
// contradicts any other line of that policy. The bare name, alone or with a block, may be
// given once. Errors name file and line.
func (c *Configured) Configure(o Option) error {
	bare := o.Name == c.Entry.Name && len(o.Args) == 0
	off := o.Name == c.Entry.Name && len(o.Args) == 1 && o.Args[0] == "off" && len(o.Block) == 0
	if err := o.Once((bare || off) && c.bare); err != nil {
		return err
	}
	if off && c.lines || c.Settings.Off {
		return o.Errorf("%s: the policy %s is off, and configured as well", o.Name, c.Entry.Name)
	}
	c.bare = c.bare || bare || off
	if off {
		c.Settings.Off = true
		return nil
	}
	c.lines = true
	c.note(o)
	return c.configure(o, bare)
}

// note keeps where the policy stands; see Entry.Words.
func (c *Configured) note(o Option) {
	if leads := o.Name == c.Entry.Words[0]; c.Settings.At == "" || leads && !c.leads {
		c.Settings.At, c.leads = o.Pos, leads
	}
}

// configure takes the options of all policies out of a policy's own block and passes the
// rest to the policy.
func (c *Configured) configure(o Option, bare bool) error {
	configurer, configurable := c.Policy.(Configurer)
	if !bare && !configurable {
		return o.Bare()
	}
	if !bare {
		return configurer.Configure(o)
	}
	rest := o
	rest.Block = nil
	seen := map[string]bool{}
	for _, inner := range o.Block {
		known, err := c.Settings.configure(inner)
		if known && err == nil {
			err = inner.Once(seen[inner.Name])
			seen[inner.Name] = true
		}
		if err != nil {
			return err
		}
		if !known {
			rest.Block = append(rest.Block, inner)
		}
	}
	switch {
	case len(rest.Block) == 0:
		return nil
	case !configurable:
		return rest.Block[0].UnknownIn()
	}
	return configurer.Configure(rest)
}

// MarshalJSON writes the settings and the policy's own fields as one object.
func (c *Configured) MarshalJSON() ([]byte, error) {
	settings, err := json.Marshal(c.Settings)
	if err != nil {
		return nil, err
	}
	own, err := json.Marshal(c.Policy)
	if err != nil {
		return nil, err
	}
	switch {
	case string(own) == "{}":
		return settings, nil
	case string(settings) == "{}":
		return own, nil
	}
	return append(append(settings[:len(settings)-1], ','), own[1:]...), nil
}

// UnmarshalJSON reads the object that MarshalJSON writes. A field that neither the
// settings nor the policy has is an error.
func (c *Configured) UnmarshalJSON(b []byte) error {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(b, &fields); err != nil {
		return fmt.Errorf("the configuration is not an object: %w", err)
	}
	settings := map[string]json.RawMessage{}
	for name, value := range fields {
		switch strings.ToLower(name) { // as encoding/json compares names
		case "off", "mode", "on_error", "at":
			settings[name] = value
			delete(fields, name)
		}
	}
	if err := strictly(settings, &c.Settings); err != nil {
		return err
	}
	return strictly(fields, c.Policy)
}

func strictly(fields map[string]json.RawMessage, into any) error {
	text, err := json.Marshal(fields)
	if err != nil {
		return err
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	return d.Decode(into)
}
