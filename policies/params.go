package policies

import (
	"encoding/json"
	"net/http"
	"strconv"

	"github.com/restwarden/restwarden/policies/call"
)

// maxID is the largest id that every reader of JSON takes for the same number.
const maxID = 1 << 53

// plainID reads an id out of a decoded value: plain digits, or an integral
// number; anything else has no certain reading.
func plainID(v any) (uint64, error) {
	var text string
	switch v := v.(type) {
	case string:
		text = v
	case json.Number:
		text = v.String()
	}
	id, err := strconv.ParseUint(text, 10, 64)
	if err != nil || id > maxID || strconv.FormatUint(id, 10) != text {
		return 0, ambiguous("id")
	}
	return id, nil
}

// integer reads an integral JSON number or digits in a string; ok is false for
// anything else.
func integer(v any) (n int64, ok bool) {
	var text string
	switch v := v.(type) {
	case string:
		text = v
	case json.Number:
		text = v.String()
	}
	n, err := strconv.ParseInt(text, 10, 64)
	return n, err == nil && strconv.FormatInt(n, 10) == text
}

func ambiguous(reason string) error {
	return &call.Refusal{Status: http.StatusBadRequest, Code: string(CodeAmbiguous), Reason: reason}
}
