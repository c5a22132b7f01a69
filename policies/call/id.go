package call

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
)

const maxID = 1 << 53 // beyond, JSON readers disagree (docs/platform I.7, 6; I.12, 12)

// IDs returns the effective id of a named group: the parameter name, or else path, which
// the caller has taken from the route. Where the query names it, path may count as well, since
// servers lose queries (docs/platform I.13, B9): then it is a second id, if it is another one. An id
// consists of plain decimal digits up to 2^53, in a string or as a JSON number. The error is a
// *Refusal, for any other value too.
func (c *Call) IDs(name, path string) (ids []uint64, err error) {
	values := []any{path}
	if c.src != nil {
		switch v, from, refusal := c.src.find(name, scalar); {
		case refusal != nil:
			return nil, refusal
		case from == inQuery && v != path:
			values = []any{v, path}
		case from != nowhere:
			values[0] = v
		}
	}
	for _, v := range values {
		id, ok := ParseID(v)
		if !ok {
			return nil, errID
		}
		if !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	return ids, nil
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

func digits(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }
