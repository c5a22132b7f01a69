package gateway

import (
	"reflect"

	"github.com/caddyserver/caddy/v2"

	"github.com/restwarden/restwarden/policies/policy"
)

// resolveSecrets replaces the placeholders in the secrets of c. An unknown or empty
// placeholder is an error: an unset variable must not become an empty key.
func resolveSecrets(c *policy.Configured) error {
	holder, ok := c.Policy.(policy.SecretHolder)
	if !ok {
		return nil
	}
	at := map[*string]string{}
	positions(reflect.ValueOf(c.Policy), c.Settings.At, at)
	for _, secret := range holder.Secrets() {
		resolved, err := caddy.NewReplacer().ReplaceOrErr(*secret, true, true)
		if err != nil {
			return policy.Option{Pos: at[secret]}.Errorf("%w", err) // the gateway knows the import
		}
		*secret = resolved
	}
	return nil
}

// positions maps every string in v to its place in the Caddyfile: the field At of the
// nearest struct around it.
func positions(v reflect.Value, at string, found map[*string]string) {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			positions(v.Elem(), at, found)
		}
	case reflect.Slice:
		for i := range v.Len() {
			positions(v.Index(i), at, found)
		}
	case reflect.Struct:
		if f := v.FieldByName("At"); f.IsValid() && f.Kind() == reflect.String {
			at = f.String()
		}
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				positions(v.Field(i), at, found)
			}
		}
	case reflect.String:
		if v.CanAddr() {
			if s, ok := reflect.TypeAssert[*string](v.Addr()); ok {
				found[s] = at
			}
		}
	default: // no other kind holds a string
	}
}
