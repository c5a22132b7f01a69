// Package testfile reads and runs the tests of "caddy restwarden test": YAML files in
// which operators say what their own configuration has to let pass and what it has to
// refuse. docs/commands/test.md has all fields.
package testfile

import (
	"strconv"

	"github.com/restwarden/restwarden/caddymodule/command/sitename"
	"github.com/restwarden/restwarden/caddymodule/dryrun"
)

// File is a file of tests.
type File struct {
	Path string
	// Config and Index are paths of the configuration and of a saved REST root, and
	// Adapter is the config adapter; "" for none.
	Config, Adapter, Index string
	Tests                  []Test
}

// Test is one item of a file. It has either a Request with its Expect, or a Proof.
type Test struct {
	At   Position
	Name string
	*Request
	Expect Expect
	*Proof
	// Sites are the sites of the configuration at which the test runs; nil where its URL says which one.
	Sites *sitename.Choice
}

// Request is a request to be judged.
type Request struct {
	dryrun.Request
	Text    string // "GET https://shop.example.com/wp-json/"
	Method  string
	URL     string   // with Sites, what stands behind the address of each site: "/wp-json/"
	Headers []string // "Name: value"
	Body    []byte   // nil for none
	// Spellings sends the request in every spelling that the reading knows.
	Spellings bool
}

// Expect is what has to become of a request.
type Expect struct {
	Answer dryrun.Answer // Pass, Page, Refused or WouldRefuse
	Code   string        // of the refusal; "" for any
	By     string        // the policy that refuses; "" for any
	Rule   string        // where the rule stands: "12" or "Caddyfile:12"; "" for anywhere
}

// String writes e as messages do: "refused (rest_not_logged_in)".
func (e Expect) String() string {
	text := said(e.Answer, e.Code)
	if e.By != "" {
		text += " by " + e.By
	}
	if e.Rule != "" {
		text += " at " + e.Rule
	}
	return text
}

// said are the words of messages for an answer.
func said(a dryrun.Answer, code string) string {
	words := map[dryrun.Answer]string{
		dryrun.Pass: "pass", dryrun.Page: "page", dryrun.Refused: "refused", dryrun.WouldRefuse: "would be refused",
		dryrun.Unknown: "cannot be known", dryrun.NotReached: "the gateway is not on the way",
	}
	text := words[a]
	if code != "" {
		text += " (" + code + ")"
	}
	return text
}

// Proof says that calls never or always pass.
type Proof struct {
	Always  bool
	As      []dryrun.As
	Callers []string // the words for As
	Calls   []string // methods; none for all
	Routes  []string
	URL     string // of the site; "" with Sites
}

// Position is a line of a file.
type Position struct {
	File string `json:"file"`
	Line int    `json:"line"`
}

// String returns "shop.test.yaml:12".
func (p Position) String() string { return p.File + ":" + strconv.Itoa(p.Line) }

// Error is what is wrong with a file of tests.
type Error struct {
	At   Position
	Text string
}

// Error implements error.
func (e *Error) Error() string { return e.At.String() + ": " + e.Text }
