package drytest

import (
	"encoding"
	"encoding/json"
	"reflect"
	"slices"
	"strings"

	"github.com/caddyserver/caddy/v2"

	"github.com/restwarden/restwarden/caddymodule/adminapi"
	"github.com/restwarden/restwarden/caddymodule/command/audit"
	"github.com/restwarden/restwarden/caddymodule/command/compare"
	"github.com/restwarden/restwarden/caddymodule/command/credentials"
	"github.com/restwarden/restwarden/caddymodule/command/suggest"
	"github.com/restwarden/restwarden/caddymodule/command/testfile"
	"github.com/restwarden/restwarden/caddymodule/dryrun"
	records "github.com/restwarden/restwarden/caddymodule/record"
	"github.com/restwarden/restwarden/policies"
	"github.com/restwarden/restwarden/policies/policy"
)

// declared are the types of what is written in JSON, by what begins the names of their members. Reports whose
// types commands keep to themselves are in the list as far as a run shows their members.
var declared = map[string]reflect.Type{
	"log":                         reflect.TypeFor[records.Record](),
	"log journal":                 reflect.TypeFor[records.Call](),
	"admin sites":                 reflect.TypeFor[adminapi.Sites[adminapi.Site, adminapi.Store]](),
	"admin sites/*/refusals":      reflect.TypeFor[adminapi.Refusals[adminapi.Refusal]](),
	"admin sites/*/mode asked":    reflect.TypeFor[adminapi.ModeSwitch[string]](),
	"admin sites/*/mode":          reflect.TypeFor[adminapi.Switched](),
	"admin lockdown asked":        reflect.TypeFor[adminapi.LockdownSwitch[string]](),
	"admin lockdown":              reflect.TypeFor[adminapi.Switched](),
	"admin sites/*/open asked":    reflect.TypeFor[adminapi.LineSwitch](),
	"admin sites/*/open":          reflect.TypeFor[adminapi.LineSwitched](),
	"admin sites/*/close asked":   reflect.TypeFor[adminapi.LineSwitch](),
	"admin sites/*/close":         reflect.TypeFor[adminapi.LineSwitched](),
	"admin events lost":           reflect.TypeFor[adminapi.Lost](),
	"admin confirmations":         reflect.TypeFor[adminapi.Confirmations](),
	"admin confirmations/* asked": reflect.TypeFor[adminapi.Decision](),
	"admin confirmations/*":       reflect.TypeFor[adminapi.Confirmation](),
	"report audit":                reflect.TypeFor[audit.Report](),
	"report audit --diff":         reflect.TypeFor[audit.Diff](),
	"report credentials":          reflect.TypeFor[credentials.Report](),
	"report diff":                 reflect.TypeFor[compare.Report](),
	"report explain":              reflect.TypeFor[dryrun.Result](),
	"report suggest":              reflect.TypeFor[suggest.Report](),
	"report test":                 reflect.TypeFor[testfile.Report](),
}

// types adds the members of all that is declared.
func (n nameSet) types() {
	for at, t := range declared {
		n.fields(at, t)
	}
}

// modules adds those of Caddy's modules that are the gateway's, with their fields. Those of dry runs stand
// in no configuration.
func (n nameSet) modules() {
	for _, m := range caddy.Modules() {
		info, err := caddy.GetModule(m)
		if err != nil || !strings.Contains(m, "restwarden") && !strings.Contains(m, "rest_call") || strings.Contains(m, "dry_run") {
			continue
		}
		n["module "+m] = true
		if !strings.Contains(m, ".policies.") {
			n.fields("module "+m, reflect.TypeOf(info.New()))
		}
	}
	for _, e := range policies.Catalog {
		at := "module http.handlers.restwarden.policies." + e.Name
		n.fields(at, reflect.TypeFor[policy.Settings]())
		n.fields(at, reflect.TypeOf(e.New()))
	}
}

// fields adds the names of a type in JSON, with the kinds of their values.
func (n nameSet) fields(at string, t reflect.Type, within ...reflect.Type) {
	kind := kindOf(t)
	switch {
	case t.Kind() == reflect.Pointer:
		n.fields(at, t.Elem(), within...)
	case kind == "list":
		n.fields(at+"[]", t.Elem(), within...)
	case kind == "object" && t.Kind() == reflect.Map:
		n.fields(at+".*", t.Elem(), within...)
	case kind == "object" && t.Kind() == reflect.Struct && !slices.Contains(within, t):
		for _, f := range reflect.VisibleFields(t) {
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			if f.IsExported() && name != "-" && (name != "" || !f.Anonymous) {
				n.fields(at+"."+name, f.Type, append(within, t)...)
			}
		}
	default:
		n[at+" "+kind] = true
	}
}

// kindOf is the kind of a value in JSON. What a type writes itself shows by its zero value.
func kindOf(t reflect.Type) string {
	for _, own := range []reflect.Type{reflect.TypeFor[json.Marshaler](), reflect.TypeFor[encoding.TextMarshaler]()} {
		if t.Kind() != reflect.Pointer && t.Kind() != reflect.Interface && t.Implements(own) {
			text, err := json.Marshal(reflect.Zero(t).Interface())
			if err == nil && len(text) > 0 && text[0] == '"' {
				return "string"
			}
			return "any"
		}
	}
	switch t.Kind() {
	case reflect.String:
		return "string"
	case reflect.Bool:
		return "bool"
	case reflect.Slice, reflect.Array:
		return "list"
	case reflect.Struct, reflect.Map:
		return "object"
	case reflect.Interface, reflect.Pointer:
		return "any"
	default:
		return "number"
	}
}
