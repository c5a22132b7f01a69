// Package records reads the records of refusals, and the calls of the journal, from a log of Caddy in JSON lines. See
// docs/operations.md, "Log" and "Journal", for the fields.
package records

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/restwarden/restwarden/caddymodule/record"
	"github.com/restwarden/restwarden/policies/policy"
)

// Record is one line of the log.
type Record struct {
	Time    json.RawMessage `json:"ts,omitempty"` // in the form that the log's encoder has
	Message string          `json:"msg"`
	record.Record
}

// Call is a line of the journal.
type Call struct {
	Time    json.RawMessage `json:"ts,omitempty"` // in the form that the log's encoder has
	Message string          `json:"msg"`
	Took    json.RawMessage `json:"took"` // likewise
	record.Call
}

// Access is a line of Caddy's access log.
type Access struct {
	Time              json.RawMessage // in the form that the log's encoder has
	Method, Host, URI string
	ClientIP          string
	SaysWho           bool     // the request had a header by which somebody may log in; its value is not in the log
	Overrides         []string // header lines by which the request names another method
}

// accessLine are the fields of such a line that are read.
type accessLine struct {
	Time    json.RawMessage `json:"ts"`
	Message string          `json:"msg"`
	Request struct {
		RemoteIP string  `json:"remote_ip"`
		ClientIP string  `json:"client_ip"`
		Method   string  `json:"method"`
		Host     string  `json:"host"`
		URI      string  `json:"uri"`
		Headers  headers `json:"headers"`
	} `json:"request"`
}

type headers map[string]json.RawMessage

// overrides returns the lines that name another method.
func (h headers) overrides() (lines []string) {
	const name = "X-Http-Method-Override"
	var values []string
	if text := h[name]; text != nil && json.Unmarshal(text, &values) == nil {
		for _, v := range values {
			lines = append(lines, name+": "+v)
		}
	}
	return lines
}

// saysWho tells whether a header may log somebody in.
func (h headers) saysWho() bool {
	return h["Authorization"] != nil || h["Cookie"] != nil || h["X-Mcp-Api-Key"] != nil
}

// RuleOrigin returns where the rule of the record comes from. Logs of gateways that do not write
// it have only the text of the rule.
func (r *Record) RuleOrigin() policy.Origin {
	switch {
	case r.Origin != "" || r.Policy != "access":
		return r.Origin
	case strings.HasPrefix(r.Rule, "built-in:"):
		return policy.OriginBuiltIn
	case strings.HasPrefix(r.Rule, "plugin "), strings.HasPrefix(r.Rule, "deny plugin "):
		return policy.OriginPlugin
	case r.Rule == "login_only":
		return policy.OriginDefault
	}
	return ""
}

// Counts say what a log held.
type Counts struct {
	Lines   int // that are not blank
	NoJSON  int // lines that are no JSON object; they are skipped
	Newer   int // records and calls of a version that this package does not know; they are skipped
	TooLong int // lines that are longer than any record; they are skipped
	Records int // records of any request
	Calls   int // calls of the journal
	// Requests are lines of an access log, where these are wanted.
	Requests int
}

// Concerns tells whether a line of a site is in question: name is the site's, that of its first host, or the host of the
// request; "" for all.
func Concerns(name, site, host string) bool {
	first, _, _ := strings.Cut(site, "/")
	return name == "" || strings.EqualFold(name, site) || strings.EqualFold(name, host) || strings.EqualFold(name, first)
}

// Find returns the records of one request, in their order: a batch has one for each part
// that was refused. The error is that of the reader.
func Find(log io.Reader, requestID string) (found []Record, n Counts, err error) {
	n, err = Each(log, math.MaxInt, Visit{Record: func(rec *Record) error {
		if rec.RequestID == requestID {
			found = append(found, *rec)
		}
		return nil
	}})
	return found, n, err
}

// Plus adds the counts of another log.
func (n Counts) Plus(other Counts) Counts {
	return Counts{
		Lines: n.Lines + other.Lines, NoJSON: n.NoJSON + other.NoJSON, Newer: n.Newer + other.Newer,
		TooLong: n.TooLong + other.TooLong, Records: n.Records + other.Records,
		Calls: n.Calls + other.Calls, Requests: n.Requests + other.Requests,
	}
}

// NotFound says that a log has no record of a request, and what it has.
func (n Counts) NotFound(requestID string) error {
	text := fmt.Sprintf("no record has the request id %q; lines read: %d, of them records: %d", requestID, n.Lines, n.Records)
	if n.NoJSON > 0 {
		text += fmt.Sprintf(", no JSON (skipped): %d", n.NoJSON)
	}
	if n.Newer > 0 {
		text += fmt.Sprintf(", records of another version (skipped): %d", n.Newer)
	}
	if n.TooLong > 0 {
		text += fmt.Sprintf(", longer than any record (skipped): %d", n.TooLong)
	}
	return errors.New(text)
}
