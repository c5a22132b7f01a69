package call

import (
	"encoding/json"
	"strconv"
)

const maxID = 1 << 53 // beyond, JSON readers disagree (docs/platform I.7, 6; I.12, 12)

// ID returns the effective id of a named group: the parameter name, or else path, which
// the caller has taken from the route. The id consists of plain decimal digits up to 2^53,
// in a string or as a JSON number. The error is a *Refusal, for any other value too.
func (c *Call) ID(name, path string) (id uint64, err error) {
	v, set, err := c.Scalar(name)
	if err != nil {
		return 0, err
	}
	if !set {
		v = path
	}
	id, ok := ParseID(v)
	if !ok {
		return 0, errID
	}
	return id, nil
}

// ParseID reads an id out of a decoded value: plain decimal digits up to 2^53, in a string
// or as a JSON number. ok is false for any other value.
func ParseID(v any) (id uint64, ok bool) {
	var text string
	switch v := v.(type) {
	case string:
		text = v
	case json.Number:
		text = string(v)
	}
	if !digits(text) {
		return 0, false
	}
	id, err := strconv.ParseUint(text, 10, 64)
	return id, err == nil && id <= maxID
}

func digits(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return s != ""
}
