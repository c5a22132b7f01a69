package policies

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"
)

// Duration is a time.Duration that JSON writes as "5m", or as nanoseconds.
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
	parsed, err := time.ParseDuration(text)
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
	parsed, err := time.ParseDuration(text)
	if err != nil || parsed <= 0 {
		return o.Errorf("%s: %q is not a positive duration such as 5m", o.Name, text)
	}
	*d = Duration(parsed)
	return nil
}

// RateOption reads "10/1m".
func parseRate(text string) (Rate, error) {
	n, per, ok := strings.Cut(text, "/")
	var r Rate
	_, err := fmt.Sscanf(n, "%d", &r.Count)
	if ok && err == nil {
		r.Per, err = time.ParseDuration(per)
	}
	if !ok || err != nil || r.Count < 1 || r.Per <= 0 || fmt.Sprint(r.Count) != n {
		return r, fmt.Errorf("%q is not a rate such as 10/1m", text)
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
