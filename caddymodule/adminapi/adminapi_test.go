package adminapi_test

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/restwarden/restwarden/caddymodule/adminapi"
	"github.com/restwarden/restwarden/cmd/check/testkit/lists"
)

type (
	sites    = adminapi.Sites[adminapi.Site, adminapi.Store]
	refusals = adminapi.Refusals[adminapi.Refusal]
	mode     = adminapi.ModeSwitch[string]
	lockdown = adminapi.LockdownSwitch[string]
)

// types are what the admin endpoint answers and takes, and what is in it, but for the fields of a
// record.
func types(of ...reflect.Type) (all []reflect.Type) {
	for _, of := range of {
		switch of.Kind() {
		case reflect.Pointer, reflect.Slice, reflect.Map:
			all = append(all, types(of.Elem())...)
		case reflect.Struct:
			if !strings.HasSuffix(of.PkgPath(), "/adminapi") {
				continue
			}
			all = append(all, of)
			for f := range of.Fields() {
				all = append(all, types(f.Type)...)
			}
		default:
		}
	}
	return all
}

// members are the names of the members of a type.
func members(of reflect.Type) (names []string) {
	for f := range of.Fields() {
		if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); name != "" {
			names = append(names, name)
		}
	}
	return names
}

var all = types(reflect.TypeFor[sites](), reflect.TypeFor[refusals](), reflect.TypeFor[adminapi.Lost](), reflect.TypeFor[mode](),
	reflect.TypeFor[lockdown](), reflect.TypeFor[adminapi.Switched](), reflect.TypeFor[adminapi.LineSwitch](), reflect.TypeFor[adminapi.LineSwitched](), reflect.TypeFor[adminapi.Line](), reflect.TypeFor[adminapi.Stop](), reflect.TypeFor[adminapi.Confirmations](), reflect.TypeFor[adminapi.Decision]())

// alike are files with objects of their own that tell of the same things.
var alike = []string{
	"policies/confirm/ledger.go",                // a confirmation as it is kept
	"caddymodule/confirming/notice.go",          // what is sent to notify
	"caddymodule/command/credentials/report.go", // what logs tell of sites
	"caddymodule/switches/setting.go",           // a switch as it is kept
	"caddymodule/command/compare/report.go",     // what a diff says of lines and switches
	"caddymodule/command/audit/report.go",       // what a site lists
}

// TestAdminAPI_OneHome: no other type of the program declares what the endpoint answers and takes.
func TestAdminAPI_OneHome(t *testing.T) {
	t.Parallel()
	for file, text := range lists.Sources(t, "../..", "caddymodule", "policies", "cmd/caddy") {
		if strings.HasPrefix(file, "caddymodule/adminapi/") || slices.Contains(alike, file) {
			continue
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, text, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(parsed, func(n ast.Node) bool {
			s, ok := n.(*ast.StructType)
			if !ok {
				return true
			}
			names := tagged(s)
			for _, of := range all {
				same := slices.DeleteFunc(slices.Clone(names), func(name string) bool { return !slices.Contains(members(of), name) })
				if len(same) >= min(2, of.NumField()) && 2*len(same) > len(names) {
					t.Errorf("%s declares %s again: %q of %q", file, of, same, names)
				}
			}
			return true
		})
	}
}

// tagged are the names that a struct has in JSON.
func tagged(s *ast.StructType) (names []string) {
	for _, f := range s.Fields.List {
		if f.Tag == nil {
			continue
		}
		text, _ := strconv.Unquote(f.Tag.Value) // it was parsed
		if name, _, _ := strings.Cut(reflect.StructTag(text).Get("json"), ","); name != "" && name != "-" {
			names = append(names, name)
		}
	}
	return names
}

var (
	example  = regexp.MustCompile("(?ms)^```json\n(.*?)^```")
	fieldRow = regexp.MustCompile("(?m)^\\| ((?:`[a-z_]+`(?:, )?)+) \\|")
	quoted   = regexp.MustCompile("`([a-z_]+)`")
)

// TestAdminAPI_Docs: docs/commands/status.md names each member of the answer to GET sites, and no other.
func TestAdminAPI_Docs(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../docs/commands/status.md")
	if err != nil {
		t.Fatal(err)
	}
	_, page, _ := strings.Cut(string(text), "\n## Admin endpoint\n")
	m := example.FindStringSubmatch(page)
	if m == nil {
		t.Fatal("docs/commands/status.md has no example")
	}
	read := json.NewDecoder(strings.NewReader(m[1]))
	read.DisallowUnknownFields()
	var answer sites
	if err := read.Decode(&answer); err != nil {
		t.Error("docs/commands/status.md:", err)
	}
	for _, row := range fieldRow.FindAllStringSubmatch(page, -1) {
		for _, name := range quoted.FindAllStringSubmatch(row[1], -1) {
			if !slices.Contains(members(reflect.TypeFor[adminapi.Site]()), name[1]) {
				t.Errorf("docs/commands/status.md has a row for %s, which no site has", name[1])
			}
		}
	}
	for _, of := range types(reflect.TypeFor[sites]()) {
		for _, name := range members(of) {
			if !strings.Contains(page, "`"+name+"`") && !strings.Contains(m[1], `"`+name+`"`) {
				t.Errorf("docs/commands/status.md does not name %s of %s", name, of)
			}
		}
	}
}
