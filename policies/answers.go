package policies

import (
	"encoding/json"
	"net/http"
	"strings"

	"github.com/restwarden/restwarden/policies/call"
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

// refusedWrite turns "may not view", the answer to a question, into what the
// platform says to the call c itself, so that it is the same whatever the record
// is (docs/platform III.8).
func (s *Site) refusedWrite(c *call.Call, refusal *Answer) *Answer {
	prefix := s.Platform.ErrorPrefix
	if errorCode(refusal) != prefix+"cannot_view" {
		return refusal
	}
	code, message := "cannot_edit", "Sorry, you are not allowed to edit this resource."
	switch {
	case strings.HasSuffix(c.Key, "/batch"):
		code, message = "cannot_batch", "Sorry, you are not allowed to batch manipulate this resource."
	case strings.HasSuffix(c.Key, "/refunds"):
		code, message = "cannot_create", "Sorry, you are not allowed to create resources."
	case c.Method == http.MethodDelete:
		code, message = "cannot_delete", "Sorry, you are not allowed to delete this resource."
	}
	var object struct { // in the platform's own order
		Code    string `json:"code"`
		Message string `json:"message"`
		Data    struct {
			Status int `json:"status"`
		} `json:"data"`
	}
	object.Code, object.Message, object.Data.Status = prefix+code, message, refusal.Status
	body, _ := json.Marshal(object) // of strings and a number: it cannot fail
	return &Answer{Status: refusal.Status, Header: http.Header{"Content-Type": {"application/json; charset=UTF-8"}}, Body: body}
}
