package call

import (
	"encoding/json"
	"math"
	"strconv"
)

const maxID = 1 << 53 // beyond, JSON readers disagree (platform-facts I.3.1)

// ID returns the effective id of a named group: the parameter name, else path,
// what stands in the route. Only plain decimal digits and integral JSON numbers
// up to 2^53 are read; anything else is a *Refusal.
func (c *Call) ID(name, path string) (id uint64, err error) {
	v, set, err := c.Param(name)
	if err != nil {
		return 0, err
	}
	if !set {
		v = path
	}
	id, ok := parseID(v)
	if !ok {
		return 0, badID
	}
	return id, nil
}

func parseID(v any) (uint64, bool) {
	switch v := v.(type) {
	case string:
		if !digits(v) {
			return 0, false
		}
		id, err := strconv.ParseUint(v, 10, 64)
		return id, err == nil && id <= maxID
	case json.Number:
		if digits(string(v)) {
			return parseID(string(v))
		}
		f, err := v.Float64()
		if err != nil || f != math.Trunc(f) || math.Signbit(f) || f > maxID {
			return 0, false
		}
		return uint64(f), true
	}
	return 0, false
}

func digits(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return s != ""
}
