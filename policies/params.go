package policies

import (
	"encoding/json"
	"math"
	"net/http"
	"strconv"

	"github.com/restwarden/restwarden/policies/call"
)

// integer reads an integral JSON number or digits in a string; ok is false for
// anything else.
func integer(v any) (n int64, ok bool) {
	var text string
	switch v := v.(type) {
	case string:
		text = v
	case json.Number:
		text = v.String()
		if f, err := v.Float64(); err == nil && f == math.Trunc(f) && math.Abs(f) <= 1<<53 {
			return int64(f), true
		}
	}
	n, err := strconv.ParseInt(text, 10, 64)
	return n, err == nil && strconv.FormatInt(n, 10) == text
}

func ambiguous(reason string) error {
	return &call.Refusal{Status: http.StatusBadRequest, Code: CodeAmbiguous, Reason: reason}
}
