package policies

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/restwarden/restwarden/policies/policy"
)

// plain are the texts of a configuration that are no secrets, by their names in JSON.
var plain = []string{
	"allow", "at", "audit", "between", "domain", "doors", "except", "fields", "for", "from", "is", "key", "member", "methods",
	"name", "only", "optional", "other_doors", "password", "path", "pattern", "per", "plugin", "rate", "recommended", "refuse",
	"route", "routes", "scheme", "scope", "signature_header", "timestamp_header", "until", "user", "values",
}

// texts fills v, so that each list has one element, and returns the texts in it with their names.
func texts(v reflect.Value, name string, found map[*string]string) map[*string]string {
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() {
			v.Set(reflect.New(v.Type().Elem()))
		}
		texts(v.Elem(), name, found)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		texts(v.Index(0), name, found)
	case reflect.Struct:
		for f, value := range v.Fields() {
			if own, _, _ := strings.Cut(f.Tag.Get("json"), ","); f.IsExported() {
				texts(value, own, found)
			}
		}
	case reflect.String:
		if v.SetString("x"); v.Type() == reflect.TypeFor[string]() {
			found[v.Addr().Interface().(*string)] = name
		}
	case reflect.Map, reflect.Interface, reflect.Func, reflect.Chan, reflect.Array:
		panic(name + ": a kind that may hold a text")
	default:
	}
	return found
}

// TestSecrets: a policy says of each text of its configuration that is a secret.
func TestSecrets(t *testing.T) {
	t.Parallel()
	for _, e := range Catalog {
		p := e.New()
		found := texts(reflect.ValueOf(p), e.Name, map[*string]string{})
		if holder, ok := p.(policy.SecretHolder); ok {
			for _, secret := range holder.Secrets() {
				if name := found[secret.Text]; name == "" || slices.Contains(plain, name) {
					t.Errorf("%s: %q is a secret", e.Name, name)
				}
				delete(found, secret.Text)
			}
		}
		for _, name := range found {
			if !slices.Contains(plain, name) {
				t.Errorf("%s: %s is a secret that Secrets does not return, or plain", e.Name, name)
			}
		}
	}
}
