package option

import (
	"math"
	"strconv"

	"github.com/caddyserver/caddy/v2"
	"github.com/dustin/go-humanize"

	"github.com/restwarden/restwarden/policies/policy"
)

// Resolved returns a value with its placeholders replaced. One that is unknown or has no value is an
// error: an unset variable must not become an empty password.
func Resolved(value string) (string, error) {
	return caddy.NewReplacer().ReplaceOrErr(value, true, true)
}

// Placed adds to an error, if there is one, where o stands.
func Placed(o policy.Option, err error) error {
	if err == nil {
		return nil
	}
	return o.Errorf("%w", err)
}

// Checked takes the single argument of o if check returns no error.
func Checked[T ~string](o policy.Option, to *T, check func(T) error) error {
	text, err := o.One()
	if err != nil {
		return err
	}
	*to = T(text)
	return Placed(o, check(*to))
}

// Size takes the single argument of o as a number of bytes, "8MiB".
func Size(o policy.Option, to *int64) error {
	text, err := o.One()
	if err != nil {
		return err
	}
	n, err := humanize.ParseBytes(text)
	if err != nil || n == 0 || n > math.MaxInt64 {
		return o.Errorf("%s: %q is not a positive size such as 8MiB", o.Name, text)
	}
	*to = int64(n)
	return nil
}

// Number takes the single argument of o as a positive number.
func Number(o policy.Option, to *int) error {
	text, err := o.One()
	if err != nil {
		return err
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		return o.Errorf("%s: %q is not a positive number", o.Name, text)
	}
	*to = n
	return nil
}
