package record_test

import (
	"encoding/json"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/restwarden/restwarden/caddymodule/record"
	"github.com/restwarden/restwarden/cmd/check/testkit/lists"
	"github.com/restwarden/restwarden/policies/policy"
)

// full returns a record with a value in each field.
func full(t *testing.T) (r record.Record) {
	t.Helper()
	for i := range reflect.TypeFor[record.Record]().NumField() {
		switch f := reflect.ValueOf(&r).Elem().Field(i); f.Kind() {
		case reflect.String:
			f.SetString("x")
		case reflect.Int:
			f.SetInt(7)
		case reflect.Uint64:
			f.SetUint(7)
		case reflect.Slice:
			f.Set(reflect.MakeSlice(f.Type(), 1, 1))
		default:
			t.Fatal(f.Kind())
		}
	}
	return r
}

// TestRecord_Walk: the log has the fields that JSON has, of a full record, of an empty one and of one
// with empty lists.
func TestRecord_Walk(t *testing.T) {
	t.Parallel()
	for _, r := range []record.Record{full(t), {}, {Roles: []string{}, IDs: []uint64{}}} {
		text, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		var want map[string]any
		if err := json.Unmarshal(text, &want); err != nil {
			t.Fatal(err)
		}
		var walked []string
		r.Walk(func(name string, _ reflect.Value) { walked = append(walked, name) })
		for _, name := range walked {
			if _, there := want[name]; !there {
				t.Errorf("%s is none of %s", name, text)
			}
		}
		if len(walked) != len(want) {
			t.Errorf("%q of %s", walked, text)
		}
	}
}

// TestRecord_Docs: the table of the log says each field, and the sentence below it which are
// left out.
func TestRecord_Docs(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../docs/operations.md")
	if err != nil {
		t.Fatal(err)
	}
	_, page, _ := strings.Cut(string(text), "\n## Log\n")
	page, _, _ = strings.Cut(page, "\n## ")
	var rows, optional []string
	for line := range strings.Lines(page) {
		if cells := strings.Split(line, "|"); len(cells) > 2 && strings.Contains(cells[1], "`") {
			rows = append(rows, quoted.FindAllString(cells[1], -1)...)
		}
		if strings.Contains(line, "are left out where they do not apply") {
			optional = quoted.FindAllString(line, -1)
		}
	}
	for f := range reflect.TypeFor[record.Record]().Fields() {
		name, more, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "v" {
			continue
		}
		if !slices.Contains(rows, "`"+name+"`") {
			t.Errorf("docs/operations.md has no row for %s", name)
		}
		if left := slices.Contains(optional, "`"+name+"`"); left != (more == "omitempty") && name != "scheme" {
			t.Errorf("%s: left out %v, docs/operations.md says %v", name, more == "omitempty", left)
		}
	}
	for _, o := range []policy.Origin{policy.OriginOwn, policy.OriginBuiltIn, policy.OriginPlugin, policy.OriginDefault} {
		if !strings.Contains(page, "`"+string(o)+"`") {
			t.Errorf("docs/operations.md does not say the origin %s", o)
		}
	}
}

var quoted = regexp.MustCompile("`[a-z_]+`")

// TestRecord_OneHome: no other type of the program declares the fields, and nothing else than the
// fallback for old logs tells a rule's origin by its text.
func TestRecord_OneHome(t *testing.T) {
	t.Parallel()
	fields := regexp.MustCompile(`json:"(client_ip|remedy)[",]`)
	byText := regexp.MustCompile(`"(built-in:?|plugin|deny plugin|built-in: only) ?"[,)]`)
	homes := map[string]string{"fields": "record/record.go", "text": "records/records.go"}
	for file, text := range lists.Sources(t, "../..", "caddymodule", "policies", "cmd/caddy") {
		if m := fields.FindString(text); m != "" && !strings.HasSuffix(file, homes["fields"]) {
			t.Errorf("%s declares a field of the record again: %s", file, m)
		}
		for line := range strings.Lines(text) {
			if strings.Contains(line, "Prefix(") && byText.MatchString(line) && !strings.HasSuffix(file, homes["text"]) {
				t.Errorf("%s tells a rule's origin by its text: %s", file, strings.TrimSpace(line))
			}
		}
	}
}
