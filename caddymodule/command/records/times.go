package records

import (
	"encoding/json"
	"math"
	"strconv"
	"time"
)

// layouts are those that the encoder of Caddy's log writes, and what people write.
var layouts = []string{
	time.RFC3339Nano, "2006-01-02T15:04:05.000Z0700", "2006-01-02T15:04:05Z0700", "2006/01/02 15:04:05.000000000", "2006/01/02 15:04:05.000",
	"2006/01/02 15:04:05", "02/Jan/2006:15:04:05 -0700", "2006-01-02 15:04:05", "2006-01-02 15:04", "2006-01-02T15:04", "2006-01-02",
}

// ParseTime reads a time as people and logs write it, in UTC where nothing else is said.
func ParseTime(text string) (at time.Time, ok bool) {
	for _, layout := range layouts {
		if at, err := time.Parse(layout, text); err == nil {
			return at.UTC(), true
		}
	}
	return time.Time{}, false
}

// TimeOf returns the time of a line of the log: seconds, milliseconds or nanoseconds since 1970,
// or a text.
func TimeOf(ts json.RawMessage) (at time.Time, ok bool) {
	if len(ts) == 0 {
		return at, false
	}
	if ts[0] == '"' {
		var text string
		if json.Unmarshal(ts, &text) != nil {
			return at, false
		}
		return ParseTime(text)
	}
	n, err := strconv.ParseFloat(string(ts), 64)
	switch {
	case err != nil || n <= 0 || math.IsNaN(n) || n > math.MaxInt64/2:
		return at, false
	case n > 1e17:
		n /= 1e9
	case n > 1e11:
		n /= 1e3
	}
	return time.UnixMilli(int64(n * 1e3)).UTC(), true
}
