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

// fill gives each field of a struct a value.
func fill(t *testing.T, v reflect.Value) {
	t.Helper()
	for _, f := range v.Fields() {
		switch f.Kind() {
		case reflect.String:
			f.SetString("x")
		case reflect.Int, reflect.Int64:
			f.SetInt(7)
		case reflect.Uint64:
			f.SetUint(7)
		case reflect.Bool:
			f.SetBool(true)
		case reflect.Slice:
			f.Set(reflect.MakeSlice(f.Type(), 1, 1))
		case reflect.Struct:
			fill(t, f)
		default:
			t.Fatal(f.Kind())
		}
	}
}

// TestWalk: the log has the fields that JSON has, of full structs, of empty ones, of one with empty lists and of one
// with half an object.
func TestWalk(t *testing.T) {
	t.Parallel()
	full, call := record.Record{}, record.Call{}
	fill(t, reflect.ValueOf(&full).Elem())
	fill(t, reflect.ValueOf(&call).Elem())
	for _, v := range []any{
		full, call, record.Record{}, record.Call{}, record.Record{Roles: []string{}, IDs: []uint64{}}, record.Record{Credential: record.Credential{Kind: "key"}},
	} {
		text, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		var want map[string]any
		if err := json.Unmarshal(text, &want); err != nil {
			t.Fatal(err)
		}
		compare(t, reflect.ValueOf(v), want)
	}
}

// compare holds what is walked of v against the same in JSON.
func compare(t *testing.T, v reflect.Value, want map[string]any) {
	t.Helper()
	walked := 0
	record.Walk(v, func(name string, value reflect.Value) {
		walked++
		in, there := want[name]
		if !there {
			t.Errorf("%s is none of %v", name, want)
		}
		if object, is := in.(map[string]any); is != (value.Kind() == reflect.Struct) {
			t.Errorf("%s is no object in one of both", name)
		} else if is {
			compare(t, value, object)
		}
	})
	if walked != len(want) {
		t.Errorf("%d fields of %v", walked, want)
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
		if left := slices.Contains(optional, "`"+name+"`"); left != (more == "omitempty" || more == "omitzero") && name != "scheme" {
			t.Errorf("%s: left out: %s, docs/operations.md says %v", name, more, left)
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
		if strings.HasSuffix(file, homes["text"]) { // it reads Caddy's access log as well, which has the name
			text = strings.Replace(text, `json:"client_ip"`, "", 1)
		}
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

func TestCredential_String(t *testing.T) {
	t.Parallel()
	for want, c := range map[string]record.Credential{
		"":                                {},
		"key a1b2c3d, scope erp":          {Kind: "key", Key: "a1b2c3d", Scope: "erp"},
		"password a-b maria":              {Kind: "password", UUID: "a-b", Login: "maria"},
		"user, which nobody has verified": {Kind: "user", Claimed: true},
	} {
		if got := c.String(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
