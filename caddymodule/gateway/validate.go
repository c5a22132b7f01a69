package gateway

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"golang.org/x/net/http/httpguts"

	"github.com/restwarden/restwarden/policies/call"
	"github.com/restwarden/restwarden/policies/call/platforms"
	"github.com/restwarden/restwarden/policies/caller"
	"github.com/restwarden/restwarden/policies/policy"
	"github.com/restwarden/restwarden/policies/typo"
)

// The checks of single options, for Caddyfile and JSON alike.

func validatePlatform(name string) error {
	if name == "" {
		return fmt.Errorf("platform: %s must be named", platforms.List("or"))
	}
	if err := typo.Check(name, platforms.Names()...); err != nil {
		return fmt.Errorf("platform: %w", err)
	}
	return nil
}

const pathLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.~/"

func validateBase(base string) error {
	if err := call.CheckBase(base); err != nil {
		return fmt.Errorf("base: %w", err)
	}
	return nil
}

func validatePrefix(prefix string) error {
	if prefix == "" {
		return nil
	}
	if strings.Contains(prefix, "/") || strings.Trim(prefix, pathLetters) != "" || !plainSegments(prefix) {
		return fmt.Errorf("prefix: %q is not one plain segment of a path, without /", prefix)
	}
	if strings.Contains(prefix, ".") { // the platform's rewrite rules do not quote it
		return fmt.Errorf("prefix: %q has a dot, which the platform takes for any character", prefix)
	}
	return nil
}

func validatePrefixes(prefixes call.Prefixes) error {
	for i, prefix := range prefixes {
		if err := validatePrefix(prefix); err != nil {
			return err
		}
		if prefix == "" || slices.Contains(prefixes[:i], prefix) {
			return fmt.Errorf("prefix: %q is empty or stands twice", prefix)
		}
	}
	return nil
}

func validateAliases(aliases []call.Alias) error {
	for i, a := range aliases {
		if err := a.Validate(); err != nil {
			return fmt.Errorf("alias: %w", err)
		}
		if slices.Contains(aliases[:i], a) {
			return fmt.Errorf("%s: stands twice", a)
		}
	}
	return nil
}

func plainSegments(path string) bool {
	return !slices.ContainsFunc(strings.Split(path, "/"), func(s string) bool { return s == "" || s == "." || s == ".." })
}

func validateRelease(release string) error {
	_, err := policy.ParseRelease(release)
	return err
}

func validateSwitch(option, word string) error {
	if err := typo.Check(cmp.Or(word, "on"), "on", "off"); err != nil {
		return fmt.Errorf("%s: %w", option, err)
	}
	return nil
}

func validateCredentials(c *caller.Own) error {
	if c == nil {
		return nil
	}
	for _, name := range slices.Concat(c.Headers, c.Cookies) {
		if !httpguts.ValidHeaderFieldName(name) {
			return fmt.Errorf("credentials: %q is not the name of a header or cookie", name)
		}
	}
	for _, name := range c.Headers {
		if http.CanonicalHeaderKey(name) == "Cookie" {
			return errors.New("credentials: cookies are named one by one, with credentials cookie <name>")
		}
	}
	return nil
}

func validateNotNegative(option string, n int64) error {
	if n < 0 {
		return fmt.Errorf("%s: %d is negative", option, n)
	}
	return nil
}

func validateIdentity(i *Identity) error {
	_, err := i.options()
	return err
}

// options checks i and fills in the defaults; a nil i means all defaults.
func (i *Identity) options() (caller.Options, error) {
	var opts caller.Options
	if i != nil {
		if i.TTL < 0 || i.Timeout < 0 || i.MaxInFlight < 0 {
			return opts, errors.New("identity: a negative value")
		}
		if i.Rate != "" {
			rate, err := policy.ParseRate(i.Rate)
			if err != nil {
				return opts, fmt.Errorf("identity: rate: %w", err)
			}
			opts.Rate, opts.Per = rate.Count, rate.Per
		}
		opts.TTL, opts.Timeout, opts.MaxInFlight = time.Duration(i.TTL), time.Duration(i.Timeout), i.MaxInFlight
	}
	return opts.WithDefaults(), nil
}
