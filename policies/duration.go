package policies

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/restwarden/restwarden/policies/store"
)

// Duration is a time.Duration with a JSON form: it writes "5m" and reads "5m" or a number
// of nanoseconds.
type Duration time.Duration

// UnmarshalJSON reads "5m" or a number of nanoseconds.
func (d *Duration) UnmarshalJSON(b []byte) error {
	var text string
	if json.Unmarshal(b, &text) != nil {
		var n int64
		if err := json.Unmarshal(b, &n); err != nil {
			return fmt.Errorf("%s is not a duration", b)
		}
		*d = Duration(n)
		return nil
	}
	parsed, err := parseDuration(text)
	*d = Duration(parsed)
	return err
}

// MarshalJSON writes the duration as text.
func (d Duration) MarshalJSON() ([]byte, error) { return json.Marshal(time.Duration(d).String()) }

// Duration reads the option's single argument, a positive duration such as 5m,
// into d.
func (o Option) Duration(d *Duration) error {
	text, err := o.One()
	if err != nil {
		return err
	}
	parsed, err := parseDuration(text)
	if err != nil || parsed <= 0 {
		return o.Errorf("%s: %q is not a positive duration such as 5m", o.Name, text)
	}
	*d = Duration(parsed)
	return nil
}

// parseDuration is time.ParseDuration with days, as in Caddy: "1d12h".
func parseDuration(text string) (time.Duration, error) {
	days, rest, found := strings.Cut(text, "d")
	if !found {
		return time.ParseDuration(text)
	}
	n, err := strconv.ParseUint(days, 10, 16)
	if err != nil {
		return 0, fmt.Errorf("%q is not a duration such as 1d12h", text)
	}
	whole := time.Duration(n) * 24 * time.Hour
	if rest == "" {
		return whole, nil
	}
	d, err := time.ParseDuration(rest)
	return whole + d, err
}

// ParseRate reads "10/1m": a count of at least 1 and a positive duration.
func ParseRate(text string) (r store.Rate, err error) {
	count, per, _ := strings.Cut(text, "/")
	if r.Count, err = strconv.Atoi(count); err == nil {
		r.Per, err = parseDuration(per)
	}
	if err != nil || r.Count < 1 || r.Per <= 0 || strconv.Itoa(r.Count) != count {
		return store.Rate{}, fmt.Errorf("%q is not a rate such as 10/1m", text)
	}
	return r, nil
}

func blank(s string) bool { return strings.TrimSpace(s) == "" }

func orDefault(s, otherwise string) string {
	if s == "" {
		return otherwise
	}
	return s
}
