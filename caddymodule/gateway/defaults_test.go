package gateway

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/restwarden/restwarden/cmd/check/testkit/lists"
	"github.com/restwarden/restwarden/policies/call"
	"github.com/restwarden/restwarden/policies/call/budget"
	"github.com/restwarden/restwarden/policies/policy"
)

// statesDefault finds what a comment says of a value that a configuration leaves out. Redis has a user
// of that name.
var statesDefault = regexp.MustCompile(`\bdefault\b(?: user)?`)

// commentsWithDefaults returns the comments of the JSON fields of the directive and the store that state a default, in
// one line, by type and field.
func commentsWithDefaults(t *testing.T) map[string]string {
	t.Helper()
	found := map[string]string{}
	for file, text := range lists.Sources(t, "../..", "caddymodule/gateway", "caddymodule/redisstore") {
		parsed, err := parser.ParseFile(token.NewFileSet(), file, text, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(parsed, func(n ast.Node) bool {
			spec, ok := n.(*ast.TypeSpec)
			if !ok {
				return true
			}
			if s, ok := spec.Type.(*ast.StructType); ok {
				for _, f := range s.Fields.List {
					comment := strings.Join(strings.Fields(f.Doc.Text()), " ")
					states := slices.Contains(statesDefault.FindAllString(comment, -1), "default")
					if f.Tag != nil && strings.Contains(f.Tag.Value, "json:") && states {
						found[spec.Name.Name+"."+f.Names[0].Name] = comment
					}
				}
			}
			return true
		})
	}
	return found
}

// TestDefaults: what the comment of a JSON field states as its default is what a configuration
// without the field does.
func TestDefaults(t *testing.T) {
	t.Parallel()
	quoted := func(s string) string { return fmt.Sprintf("%q", s) }
	identity := func(field string) string { return `"identity":{"` + field + `":%s}` }
	comments := commentsWithDefaults(t)
	// A row has the words of the comment, what they mean as a value of the field, and another value.
	rows := map[string]struct{ words, field, value, other string }{
		"Gateway.Release":      {`"auto" (the default)`, `"release":%s`, `"auto"`, `"11.1"`},
		"Gateway.Mode":         {`"enforce" (the default)`, `"mode":%s`, `"enforce"`, `"observe"`},
		"Gateway.Misread":      {`"count" (the default)`, `"misread":%s`, `"count"`, `"refuse"`},
		"Gateway.Journal":      {`"off" (the default)`, `"journal":%s`, `"off"`, `"writes"`},
		"Gateway.BodyLimit":    {"default 8 MiB", `"body_limit":%s`, fmt.Sprint(8 << 20), fmt.Sprint(64 << 20)},
		"Gateway.UploadLimit":  {"default 512 MiB", `"upload_limit":%s`, fmt.Sprint(512 << 20), fmt.Sprint(511 << 20)},
		"Gateway.SpoolLimit":   {"default 8 times UploadLimit", `"spool_limit":%s`, fmt.Sprint(8 * 512 << 20), fmt.Sprint(512 << 20)},
		"Gateway.SpoolDir":     {"default the system's for temporary files", `"spool_dir":%s`, quoted(os.TempDir()), quoted(t.TempDir())},
		"Identity.TTL":         {"default 10s", identity("ttl"), `"10s"`, `"11s"`},
		"Identity.Timeout":     {"default 30s", identity("timeout"), `"30s"`, `"5s"`},
		"Identity.MaxInFlight": {"default 128", identity("max_in_flight"), "128", "64"},
		"Identity.Rate":        {`"120/1m", the default`, identity("rate"), `"120/1m"`, `"60/1m"`},
	}
	none := compiledOf(t, "")
	for name, row := range rows {
		if got := compiledOf(t, fmt.Sprintf(row.field, row.value)); got != none {
			t.Errorf("%s: with %s: %+v, without: %+v", name, row.value, got, none)
		}
		if compiledOf(t, fmt.Sprintf(row.field, row.other)) == none {
			t.Errorf("%s: %s makes no difference", name, row.other)
		}
	}
	words := map[string]string{
		"Gateway.BatchLimit": fmt.Sprintf("default the platform's %d and %d", call.DefaultBatchLimit, call.DefaultShopBatchLimit),
		"Options.Prefix":     `default "restwarden"`,
		"Options.Timeout":    "default 100ms",
	}
	for name, row := range rows {
		words[name] = row.words
	}
	for name, said := range words {
		if !strings.Contains(comments[name], said) {
			t.Errorf("%s: the comment %q does not say %q", name, comments[name], said)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(comments)) {
		if words[name] == "" {
			t.Errorf("%s has no row: %s", name, comments[name])
		}
	}
}

// TestDefaults_Pages: the tables of options say the same defaults as the comments, which TestDefaults
// holds.
func TestDefaults_Pages(t *testing.T) {
	t.Parallel()
	comments := commentsWithDefaults(t)
	row := regexp.MustCompile("(?m)^\\| `(\\w+)[^`]*` \\| `?([^`|]*?)`?(?: \\||, )")
	for page, fields := range map[string]map[string]string{
		"directive.md": {
			"release": "Gateway.Release", "mode": "Gateway.Mode", "misread": "Gateway.Misread", "journal": "Gateway.Journal", "spool_dir": "Gateway.SpoolDir",
			"ttl": "Identity.TTL", "timeout": "Identity.Timeout", "max_in_flight": "Identity.MaxInFlight", "rate": "Identity.Rate",
		},
		"policies/call.md": {"body_limit": "Gateway.BodyLimit", "upload_limit": "Gateway.UploadLimit"},
		"guides/redis.md":  {"timeout": "Options.Timeout", "prefix": "Options.Prefix"},
	} {
		text, err := os.ReadFile("../../docs/" + page)
		if err != nil {
			t.Fatal(err)
		}
		said := map[string]string{}
		for _, m := range row.FindAllStringSubmatch(string(text), -1) {
			if said[m[1]] == "" { // a table below has the options of all policies
				said[m[1]] = m[2]
			}
		}
		for option, field := range fields {
			value := strings.TrimSuffix(said[option], " directory for temporary files")
			if value == "" || !strings.Contains(comments[field], value) {
				t.Errorf("docs/%s: the default of %s is %q, the comment of %s: %s", page, option, said[option], field, comments[field])
			}
		}
	}
}

// compiled is what a gateway does by its configuration, as far as fields with defaults tell.
type compiled struct {
	memory       *budget.Memory // equal limits share one
	spool        *budget.Spool
	release      string
	observes     bool
	misread      string
	journal      string
	ttl, timeout time.Duration
	inFlight     int
	rate         int
	per          time.Duration
}

func compiledOf(t *testing.T, field string) compiled {
	t.Helper()
	if field != "" {
		field = "," + field
	}
	g := provisioned(t, `{"platform":"cms"`+field+`}`)
	q := g.engine.questions
	return compiled{
		g.engine.memory, g.engine.spool, fmt.Sprintf("%+v", g.engine.every.Release), g.sites[0].observes(policy.InForce{}), g.sites[0].misreadStatus().Action,
		g.journal(), q.TTL, q.Timeout, q.MaxInFlight, q.Rate, q.Per,
	}
}
