package policies

import (
	"encoding/json"
	"strconv"
)

// errorMessage reads the platform's error object; both are "" for anything else.
func errorMessage(a *Answer) (code, message string) {
	var body struct {
		Code    string `json:"code"`
		Message string `json:"message"`
	}
	if a.Status < 400 || json.Unmarshal(a.Body, &body) != nil {
		return "", ""
	}
	return body.Code, body.Message
}

func errorCode(a *Answer) string {
	code, _ := errorMessage(a)
	return code
}

func itoa(n int) string { return strconv.Itoa(n) }
