package php

import (
	"embed"

	"github.com/restwarden/restwarden/cmd/check/corpus"
)

// known are inputs that were read differently once, or nearly.
//
//go:embed corpus
var known embed.FS

// kept is an input in a file. Bytes are in base64, as they need not be text.
type kept struct {
	Why         string `json:"why,omitempty"`
	Kind        string `json:"kind"`
	Method      string `json:"method"`
	Query       []byte `json:"query,omitempty"`
	ContentType []byte `json:"content_type,omitempty"`
	Body        []byte `json:"body,omitempty"`
	Record      int    `json:"record"`
}

// readCorpus returns the kept inputs.
func readCorpus() (list []*input, err error) {
	files, err := corpus.Read[kept](known)
	for _, k := range files {
		list = append(list, &input{
			kind: k.Kind, method: k.Method, query: string(k.Query), contentType: string(k.ContentType), body: string(k.Body), record: k.Record,
		})
	}
	return list, err
}

// keep writes an input to a file and returns where, or why not.
func (in *input) keep() string {
	return corpus.Keep("php-*.json", kept{
		Kind: in.kind, Method: in.method, Query: []byte(in.query), ContentType: []byte(in.contentType), Body: []byte(in.body), Record: in.record,
	})
}
