package mcp

import (
	"bytes"
	"errors"
	"strings"

	json "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Answer is what a server says to a call: a result or an error.
type Answer struct {
	Result *Result   `json:"result"`
	Error  *RPCError `json:"error"`
}

// Result is what the gateway reads of a result: whether the tool says that it failed.
type Result struct {
	IsError bool `json:"isError"`
}

// RPCError is an error of the protocol.
type RPCError struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}

var errNoAnswer = errors.New("not one whole answer of a server of tools")

// ReadAnswer reads a body of JSON. The error says that it is not one whole answer with either
// a result or an error.
func ReadAnswer(body []byte) (Answer, error) {
	var a Answer
	if json.Unmarshal(body, &a) != nil || (a.Result == nil) == (a.Error == nil) {
		return Answer{}, errNoAnswer
	}
	return a, nil
}

// ReadEvents reads the beginning of a stream of events (text/event-stream), and returns the
// answer in it to the message with that id, as written. Requests and notices of the server, of
// which there may be any number, are no answer.
func ReadEvents(begin []byte, id string) (Answer, error) {
	text := strings.ReplaceAll(strings.ReplaceAll(string(begin), "\r\n", "\n"), "\r", "\n")
	for event := range strings.SplitSeq(text, "\n\n") {
		var data []byte
		for line := range strings.SplitSeq(event, "\n") {
			if value, ok := strings.CutPrefix(line, "data:"); ok {
				data = append(append(data, strings.TrimPrefix(value, " ")...), '\n')
			}
		}
		var of struct {
			ID jsontext.Value `json:"id"`
		}
		if json.Unmarshal(data, &of) != nil || !bytes.Equal(of.ID, []byte(id)) {
			continue
		}
		if a, err := ReadAnswer(data); err == nil {
			return a, nil
		}
	}
	return Answer{}, errNoAnswer
}
