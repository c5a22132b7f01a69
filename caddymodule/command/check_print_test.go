package command_test

import (
	"bytes"
	"encoding/json"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/restwarden/restwarden/caddymodule/routing"
)

// inFile writes a Caddyfile into a new directory, and makes that the working directory. Its
// directives keep bodies there, if they say so.
func inFile(t *testing.T, text string) {
	t.Helper()
	t.Chdir(t.TempDir())
	if err := os.WriteFile("Caddyfile", []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

const (
	plainFile   = "example.com {\n\trestwarden wordpress {\n\t\tspool_dir {env.PWD}\n\t\tspool_limit 1MiB\n\t}\n\treverse_proxy 127.0.0.1:8080\n}\n"
	observeFile = "example.com {\n\trestwarden wordpress {\n\t\tspool_dir {env.PWD}\n\t\tspool_limit 1MiB\n\t\tmode observe\n\t}\n\treverse_proxy 127.0.0.1:8080\n}\n"
	snippetFile = `(guarded) {
	restwarden /wp-json/* wordpress {
		spool_dir {env.PWD}
		spool_limit 1MiB
	}
	reverse_proxy 127.0.0.1:8080
}
a.example.com {
	import guarded
}
b.example.com {
	import guarded
}
`
)

// TestCheck_Text: one line for each finding, with its place and its import, and "nothing
// odd" where there is none. --strict makes findings exit with 1, and notes with 0.
func TestCheck_Text(t *testing.T) {
	const left = "the matchers around this directive leave out GET /?rest_route=/wp/v2/users, which is a REST call, and it reaches 127.0.0.1:8080: " +
		"let the directive stand without a matcher, outside of handle blocks\n"
	for name, test := range map[string]struct{ file, out, err string }{
		"snippet":   {snippetFile, "W03 Caddyfile:2 (imported by Caddyfile:9 and 1 more): " + left, "no"},
		"unguarded": {"a.example.com {\n\treverse_proxy 127.0.0.1:1\n}\n", "W02 the configuration: no route of the configuration leads to a directive restwarden, so that nothing is guarded: add the directive to each site that needs it\n", "no"},
		"nothing":   {plainFile, "nothing odd\n", ""},
		"other hosts": {
			":443 {\n\treverse_proxy 127.0.0.1:8080\n}\na.example.com {\n\trestwarden wordpress\n\treverse_proxy 127.0.0.1:8080\n}\n",
			"W03 Caddyfile:5: this directive is for a.example.com only: with another host, GET /?rest_route=/wp/v2/users, which is a REST call, " +
				"reaches 127.0.0.1:8080: put restwarden into the site for all other hosts, too\n", "no",
		},
		"a call that Caddy answers": {
			"a.example.com {\n\t@query query rest_route=*\n\trespond @query 403\n\t@get {\n\t\tmethod GET\n\t\tpath /wp-json/*\n\t}\n" +
				"\trestwarden @get wordpress\n\treverse_proxy 127.0.0.1:8080\n}\n",
			"W03 Caddyfile:8: " + strings.Replace(left, "GET /?rest_route=/wp/v2/users", "GET /wp-json", 1), "no",
		},
		"observe": {observeFile, "nothing odd\n", ""},
	} {
		t.Run(name, func(t *testing.T) {
			inFile(t, test.file)
			out, problems, err := check(t)
			got := ""
			for line := range strings.Lines(out) {
				if !strings.HasPrefix(line, "note W11 Caddyfile:") {
					got += line
				}
			}
			if err != nil || problems != "" || got != test.out {
				t.Errorf("%v, %q, got\n%s", err, problems, out)
			}
			strict, problems, err := check(t, "--strict")
			if (err == nil) != (test.err == "") || err != nil && err.Error() != test.err || problems != "" || strict != out {
				t.Errorf("--strict: %v, %q, %s", err, problems, strict)
			}
		})
	}
}

// TestCheck_Fails: what does not load exits with 2 and says why, as Caddy does, on standard
// error alone.
func TestCheck_Fails(t *testing.T) {
	for name, test := range map[string]struct {
		file, problem string
		args          []string
	}{
		"no file":         {"", "Caddyfile", nil},
		"unknown option":  {"example.com {\n\trestwarden wordpress {\n\t\tno_such_option\n\t}\n}\n", "Caddyfile:3", nil},
		"never reached":   {"example.com {\n\troute {\n\t\treverse_proxy 127.0.0.1:8080\n\t\trestwarden wordpress\n\t}\n}\n", "Caddyfile:4: no request reaches", nil},
		"no spool_dir":    {"example.com {\n\trestwarden wordpress {\n\t\tspool_dir /no/such/directory\n\t}\n\treverse_proxy 127.0.0.1:8080\n}\n", "Caddyfile:2: spool_dir", nil},
		"format":          {plainFile, "--format", []string{"--format", "xml"}},
		"flag":            {plainFile, "unknown flag", []string{"--strickt"}},
		"argument":        {plainFile, `unknown command "Caddyfile"`, []string{"Caddyfile"}},
		"unknown adapter": {plainFile, "nginx", []string{"--config", "Caddyfile", "--adapter", "nginx"}},
	} {
		t.Run(name, func(t *testing.T) {
			inFile(t, test.file)
			if test.file == "" {
				test.args = []string{"--config", "Caddyfile.none"}
			}
			out, problems, err := check(t, test.args...)
			if err == nil || err.Error() != "exiting with status 2" || out != "" || !strings.Contains(problems, test.problem) || !strings.HasPrefix(problems, "Error: ") {
				t.Errorf("%v, %q, %q", err, out, problems)
			}
		})
	}
}

// TestCheck_Harmless: the command makes no file and opens no listener, and unset variables
// have stand-ins.
func TestCheck_Harmless(t *testing.T) {
	taken, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = taken.Close() }()
	inFile(t, `{
	admin `+taken.Addr().String()+`
	storage file_system data
	log {
		output file caddy.log
	}
}
http://`+taken.Addr().String()+` {
	log {
		output file logs/access.log
	}
	tls internal
	restwarden wordpress {
		signature cookie {
			scheme timestamp
			key {env.NOT_SET_HERE}
		}
		allow signed cookie POST /cookie/v1/consent
	}
	reverse_proxy 127.0.0.1:8080
}
`)
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("XDG_CONFIG_HOME", dir)
	t.Setenv("XDG_DATA_HOME", dir)
	if _, problems, err := check(t); err != nil {
		t.Fatalf("%v: %s", err, problems)
	}
	files, err := filepath.Glob("*")
	if err != nil || len(files) != 1 {
		t.Errorf("%v, there is %q", err, files)
	}
}

// TestCheck_JSONConfig: a configuration in Caddy's own JSON has findings without a place.
func TestCheck_JSONConfig(t *testing.T) {
	inFile(t, "")
	const config = `{"apps":{"http":{"servers":{"s":{"listen":[":443"],"routes":[
		{"match":[{"path":["/wp-json/*"]}],"handle":[{"handler":"restwarden","platform":"wordpress","spool_dir":"{env.PWD}","spool_limit":1048576}]},
		{"handle":[{"handler":"reverse_proxy","upstreams":[{"dial":"127.0.0.1:8080"}]}]}]}}}}}`
	if err := os.WriteFile("caddy.json", []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	out, problems, err := check(t, "--config", "caddy.json")
	if err != nil || !strings.HasPrefix(out, "W03 the configuration: ") {
		t.Errorf("%v %s %s", err, problems, out)
	}
	log := sarif(t, "--config", "caddy.json")
	physical := log.Runs[0].Results[0].Locations[0].PhysicalLocation
	if physical.ArtifactLocation.URI != "caddy.json" || physical.Region != nil {
		t.Errorf("%+v", physical)
	}
}

// sarifLog is what code review reads of SARIF.
type sarifLog struct {
	Runs []struct {
		Tool struct {
			Driver struct {
				Rules []struct {
					ID   string
					Help struct{ Text string }
				}
			}
		}
		Results []struct {
			RuleID           string `json:"ruleId"`
			RuleIndex        int    `json:"ruleIndex"`
			Level            string
			Message          struct{ Text string }
			Locations        []sarifLocation
			RelatedLocations []sarifLocation `json:"relatedLocations"`
		}
	}
}

type sarifLocation struct {
	PhysicalLocation struct {
		ArtifactLocation struct {
			URI string `json:"uri"`
		} `json:"artifactLocation"`
		Region *struct {
			StartLine int `json:"startLine"`
		}
	} `json:"physicalLocation"`
}

// sarif runs the command, and holds its output against the schema.
func sarif(t *testing.T, args ...string) (log sarifLog) {
	t.Helper()
	out, problems, err := check(t, append(args, "--format", "sarif")...)
	if err != nil {
		t.Fatalf("%v: %s", err, problems)
	}
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(out))
	if err != nil {
		t.Fatal(err)
	}
	if err := sarifSchema(t).Validate(doc); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	if err := json.Unmarshal([]byte(out), &log); err != nil {
		t.Fatal(err)
	}
	return log
}

// schemaFile has the shape that SARIF 2.1.0 requires of what the command writes.
var schemaFile, _ = filepath.Abs("testdata/sarif.schema.json")

func sarifSchema(t *testing.T) *jsonschema.Schema {
	t.Helper()
	text, err := os.ReadFile(schemaFile)
	if err != nil {
		t.Fatal(err)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	compiler := jsonschema.NewCompiler()
	if err := compiler.AddResource("sarif.json", doc); err != nil {
		t.Fatal(err)
	}
	schema, err := compiler.Compile("sarif.json")
	if err != nil {
		t.Fatal(err)
	}
	return schema
}

// TestCheck_SARIF: code review finds each finding at its line, with the line of its import
// and the rule's help.
func TestCheck_SARIF(t *testing.T) {
	inFile(t, snippetFile)
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{"Caddyfile", filepath.Join(dir, "Caddyfile")} {
		log := sarif(t, "--config", file)
		run := log.Runs[0]
		if len(run.Results) != 1 || len(run.Tool.Driver.Rules) != len(routing.Codes) {
			t.Fatalf("%+v", run)
		}
		for i, imported := range []int{9, 12} {
			r := run.Results[0]
			rule := run.Tool.Driver.Rules[r.RuleIndex]
			at := r.Locations[0].PhysicalLocation
			if r.RuleID != "W03" || rule.ID != "W03" || rule.Help.Text == "" || r.Level != "warning" || at.ArtifactLocation.URI != "Caddyfile" || at.Region.StartLine != 2 {
				t.Errorf("%+v", r)
			}
			if len(r.RelatedLocations) != 2 || r.RelatedLocations[i].PhysicalLocation.Region.StartLine != imported {
				t.Errorf("%+v", r.RelatedLocations)
			}
		}
	}
	inFile(t, plainFile)
	if log := sarif(t); len(log.Runs[0].Results) != 0 {
		t.Errorf("%+v", log)
	}
}

// TestSARIFSchema: the schema refuses what the standard refuses.
func TestSARIFSchema(t *testing.T) {
	schema := sarifSchema(t)
	for _, text := range []string{
		`{}`, `{"version":"2.0.0","runs":[]}`, `{"version":"2.1.0","runs":[{"results":[]}]}`,
		`{"version":"2.1.0","runs":[{"tool":{"driver":{"name":"a"}},"results":[{"ruleId":"W01"}]}]}`,
		`{"version":"2.1.0","runs":[{"tool":{"driver":{"name":"a"}},"results":[{"message":{"text":"a"},"level":"odd"}]}]}`,
		`{"version":"2.1.0","runs":[{"tool":{"driver":{"name":"a"}},"results":[{"message":{"text":"a"},"locations":[{"physicalLocation":{"region":{"startLine":0}}}]}]}]}`,
	} {
		doc, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		if schema.Validate(doc) == nil {
			t.Errorf("it takes %s", text)
		}
	}
}
