package drytest

import (
	"errors"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/caddyserver/caddy/v2/caddyconfig"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	"github.com/restwarden/restwarden/caddymodule/gateway"
	"github.com/restwarden/restwarden/policies/typo"
)

// noWord is a word that no Caddyfile has.
const noWord = "xyzzy"

// leads are the first lines of blocks that need arguments.
var leads = map[string]string{"scope": "scope erp", "signature": "signature hooks", "store": "store redis 127.0.0.1:6379", "sentinel": "sentinel main"}

// tails complete a line whose first argument is none of a closed set.
var tails = []string{"", " /x", " /x y"}

// caddyfile adds the words of the directive and of the global option, as the parser itself names
// them: it is asked with a word that it does not know in the place of each.
func (n nameSet) caddyfile() {
	n.words("caddyfile restwarden", func(body string) []string {
		err := new(gateway.Gateway).UnmarshalCaddyfile(caddyfile.NewTestDispenser("restwarden wordpress {\n" + body + "\n}"))
		if unknown, is := errors.AsType[*typo.Error](err); is {
			return unknown.Words
		}
		return nil
	})
	n.words("caddyfile global restwarden", func(body string) []string {
		_, _, err := caddyconfig.GetAdapter("caddyfile").Adapt([]byte("{\nrestwarden {\n"+body+"\n}\n}"), nil)
		if err == nil {
			return nil
		}
		for _, m := range possible.FindAllStringSubmatch(err.Error(), -1) {
			return strings.Split(m[1], ", ")
		}
		return nil
	})
}

// possible are the words of a small set in an error, whose type Caddy does not keep.
var possible = regexp.MustCompile(`possible: ([\w, ]+)\)`)

// words adds the options of a block and what stands below each. ask returns the set of words that
// the block is told not to have one of, nil if it is told something else.
func (n nameSet) words(at string, ask func(body string) []string) {
	options := ask(noWord)
	for _, option := range options {
		n[at+" "+option] = true
		for _, tail := range tails {
			for _, word := range ask(option + " " + noWord + tail) {
				n[at+" "+option+" <"+word+">"] = true
			}
		}
		lead, has := leads[option]
		if !has {
			lead = option
		}
		below := func(body string) []string { return ask(lead + " {\n" + body + "\n}") }
		if inner := below(noWord); inner != nil && !slices.Equal(inner, options) {
			n.words(at+" "+option, below)
		}
	}
}

// forms adds the lines of a directive as the docs write them.
func (n nameSet) forms(t *testing.T) {
	t.Helper()
	page, err := os.ReadFile("../../docs/directive.md")
	if err != nil {
		t.Fatal(err)
	}
	_, text, _ := strings.Cut(string(page), "```text\n")
	text, _, _ = strings.Cut(text, "\n```")
	within := ""
	for line := range strings.Lines(text) {
		form := strings.TrimSpace(line)
		if form == "}" {
			within = ""
			continue
		}
		if form == "" {
			continue
		}
		for _, part := range columns.Split(form, -1) {
			n["caddyfile form "+within+part] = true
		}
		if strings.HasSuffix(form, "{") && within == "" && !strings.HasPrefix(form, "restwarden") {
			within = strings.TrimSuffix(form, "{")
		}
	}
}

// columns are between two forms in one line.
var columns = regexp.MustCompile(` {3,}`)
