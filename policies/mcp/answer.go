package mcp

import (
	json "github.com/go-json-experiment/json"
)

// IsError tells whether a server's answer to a call says that it failed in the tool. known is
// false for a body that is not one whole answer with a result.
func IsError(body []byte) (failed, known bool) {
	var answer struct {
		Result *struct {
			IsError bool `json:"isError"`
		} `json:"result"`
	}
	if json.Unmarshal(body, &answer) != nil || answer.Result == nil {
		return false, false
	}
	return answer.Result.IsError, true
}
