package php

import (
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// corpus are inputs that were read differently once, or nearly. What a run finds is
// kept in the directory for temporary files, in the same form.
//
//go:embed corpus
var corpus embed.FS

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

var errNoCorpus = errors.New("the corpus is empty")

// readCorpus returns the kept inputs.
func readCorpus() (list []*input, err error) {
	err = fs.WalkDir(corpus, "corpus", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := corpus.ReadFile(path)
		if err != nil {
			return err
		}
		var k kept
		if err := json.Unmarshal(text, &k); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		list = append(list, &input{
			kind: k.Kind, method: k.Method, query: string(k.Query), contentType: string(k.ContentType), body: string(k.Body), record: k.Record,
		})
		return nil
	})
	if err == nil && len(list) == 0 {
		err = errNoCorpus
	}
	return list, err
}

// keep writes an input to a file of its own and returns where, or why not.
func keep(in *input) string {
	text, err := json.MarshalIndent(kept{
		Kind: in.kind, Method: in.method, Query: []byte(in.query), ContentType: []byte(in.contentType), Body: []byte(in.body), Record: in.record,
	}, "", "\t")
	if err != nil {
		return err.Error()
	}
	dir := filepath.Join(os.TempDir(), "restwarden-finds")
	if err := os.MkdirAll(dir, 0o755); err != nil { //nolint:gosec // for whoever looks into it
		return err.Error()
	}
	f, err := os.CreateTemp(dir, "php-*.json")
	if err != nil {
		return err.Error()
	}
	_, err = f.Write(append(text, '\n'))
	if err := errors.Join(err, f.Close()); err != nil {
		return err.Error()
	}
	return f.Name()
}
