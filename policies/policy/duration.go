package policy

import (
	"encoding/json"
	"fmt"
	"regexp"
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
	if string(b) == "null" {
		return nil
	}
	if json.Unmarshal(b, &text) != nil {
		var n int64
		if err := json.Unmarshal(b, &n); err != nil {
			return fmt.Errorf("%s is not a duration", b)
		}
		*d = Duration(n)
		return nil
	}
	parsed, err := ParseDuration(text)
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
	parsed, err := ParseDuration(text)
	if err != nil || parsed <= 0 {
		return o.Errorf("%s: %q is not a positive duration such as 5m", o.Name, text)
	}
	*d = Duration(parsed)
	return nil
}

// ParseDuration is time.ParseDuration with days, as Caddy has them: "1d12h", "1.5d".
func ParseDuration(text string) (time.Duration, error) {
	inHours := days.ReplaceAllStringFunc(text, func(n string) string {
		count, _ := strconv.ParseFloat(strings.TrimSuffix(n, "d"), 64) // the pattern is a number
		return strconv.FormatFloat(24*count, 'f', -1, 64) + "h"
	})
	d, err := time.ParseDuration(inHours)
	if err != nil || inHours != text && d > maxDays {
		return 0, fmt.Errorf("%q is not a duration such as 1d12h", text)
	}
	return d, nil
}

// maxDays bounds what is written in days: more is a mistake.
const maxDays = 65_535 * 24 * time.Hour

var days = regexp.MustCompile(`[0-9]+(\.[0-9]+)?d`)

// ParseRate reads "10/1m": a count of at least 1 and a positive duration.
func ParseRate(text string) (r store.Rate, err error) {
	count, per, _ := strings.Cut(text, "/")
	if r.Count, err = strconv.Atoi(count); err == nil {
		r.Per, err = ParseDuration(per)
	}
	if err != nil || r.Count < 1 || r.Per <= 0 || strconv.Itoa(r.Count) != count {
		return store.Rate{}, fmt.Errorf("%q is not a rate such as 10/1m", text)
	}
	return r, nil
}

// Blank tells whether s says nothing.
func Blank(s string) bool { return strings.TrimSpace(s) == "" }
