package php

import (
	"strings"

	"github.com/restwarden/restwarden/cmd/check/grammar"
)

// input is what PHP is asked about.
type input struct {
	kind, method, query, contentType, body string
	record                                 int // bytes of the body in one FastCGI record
}

// The kinds of inputs.
const (
	kindQuery     = "queries"
	kindForm      = "forms"
	kindMultipart = "multipart bodies"
	kindRaw       = "bodies of PUT"
)

var kinds = []string{kindQuery, kindForm, kindMultipart, kindRaw}

const (
	formType = "application/x-www-form-urlencoded"
	maxQuery = 60_000 // php-fpm takes no variable over 64 KiB
)

// formTypes are what PHP compares, and what it may be taken for.
var formTypes = []string{
	"; charset=utf-8", ";", " ", ",x", "x", "\t", ", multipart/form-data; boundary=B", " ;boundary=B",
}

// next returns the next input.
func next(g *grammar.Generator) *input {
	records := []int{maxRecord, maxRecord, 1 + g.IntN(40), 1024, 5120, 8192, 16384, 32768}
	in := &input{method: "POST", record: records[g.IntN(len(records))]}
	switch g.IntN(5) {
	case 0:
		query := strings.ReplaceAll(g.Pairs(), "\x00", "%00") // CGI cannot carry a NUL
		in.kind, in.method, in.query = kindQuery, "GET", query[:min(len(query), maxQuery)]
	case 1:
		in.kind, in.contentType, in.body = kindForm, formType, g.Pairs()
		if g.IntN(12) == 0 {
			in.contentType += formTypes[g.IntN(len(formTypes))]
		}
	case 2:
		in.kind, in.method, in.contentType, in.body = kindRaw, "PUT", formType, g.Pairs()
	default:
		in.kind = kindMultipart
		in.contentType, in.body = g.Multipart()
	}
	if in.record < 64 && len(in.body) > 4096 {
		in.record = 4096 // thousands of records would take seconds
	}
	return in
}

// split returns the input as it reads where ";" separates as "&" does.
func (in *input) split() *input {
	read := *in
	read.query = strings.ReplaceAll(in.query, ";", "&")
	if in.kind == kindRaw {
		read.body = strings.ReplaceAll(in.body, ";", "&")
	}
	return &read
}
