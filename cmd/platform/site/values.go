package site

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/restwarden/restwarden/policies/call/phpvars"
)

// obj is a JSON object of a request or an answer.
type obj = map[string]any

// plain turns a PHP value into JSON's types: an array with the keys 0..n-1
// becomes a list, any other an object.
func plain(v any) any {
	a, ok := v.(*phpvars.Array)
	if !ok {
		return v
	}
	list := make([]any, 0, a.Len())
	object := make(obj, a.Len())
	for i, key := range a.Keys() {
		item, _ := a.Get(key)
		object[key] = plain(item)
		if list != nil && key == strconv.Itoa(i) {
			list = append(list, object[key])
		} else {
			list = nil
		}
	}
	if list != nil {
		return list
	}
	return object
}

// variables is a whole set of PHP variables as an object.
func variables(a *phpvars.Array) obj {
	o := make(obj, a.Len())
	for _, key := range a.Keys() {
		v, _ := a.Get(key)
		o[key] = plain(v)
	}
	return o
}

// list returns the elements of v: of a list, of an object (ordered by key),
// or of comma-separated text, as the platform reads array arguments.
func list(v any) []any {
	switch v := v.(type) {
	case []any:
		return v
	case obj:
		items := make([]any, 0, len(v))
		for _, key := range slices.Sorted(maps.Keys(v)) {
			items = append(items, v[key])
		}
		return items
	case string:
		var items []any
		for part := range strings.SplitSeq(v, ",") {
			if part = strings.TrimSpace(part); part != "" {
				items = append(items, part)
			}
		}
		return items
	case nil:
		return nil
	}
	return []any{v}
}

// object returns v as an object; a list has its indices as keys.
func object(v any) obj {
	switch v := v.(type) {
	case obj:
		return v
	case []any:
		o := make(obj, len(v))
		for i, item := range v {
			o[strconv.Itoa(i)] = item
		}
		return o
	}
	return nil
}

// text is v as PHP casts it to a string.
func text(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case json.Number:
		return v.String()
	case bool:
		if v {
			return "1"
		}
	case int:
		return strconv.Itoa(v)
	}
	return ""
}

// integer reads what the platform takes for an integer argument: any PHP
// numeric string with an integral value (docs/platform I.3.1).
func integer(v any) (int, bool) {
	var s string
	switch v := v.(type) {
	case int:
		return v, true
	case json.Number:
		s = v.String()
	case string:
		s = strings.Trim(v, " \t\n\r\v\f")
	default:
		return 0, false
	}
	if n, err := strconv.Atoi(s); err == nil {
		return n, true
	}
	if strings.ContainsAny(s, "xXpP_iInN") { // Go's spellings that PHP does not know
		return 0, false
	}
	f, err := strconv.ParseFloat(s, 64)
	switch {
	case err != nil || f != math.Trunc(f):
		return 0, false
	case f >= math.MaxInt64:
		return math.MaxInt64, true
	case f <= math.MinInt64:
		return math.MinInt64, true
	}
	return int(f), true
}

// cast is PHP's (int): the leading digits of a text, the first element's truth
// of an array (docs/platform III.5).
func cast(v any) int {
	if n, ok := integer(v); ok {
		return n
	}
	switch v := v.(type) {
	case bool:
		if v {
			return 1
		}
	case []any:
		if len(v) > 0 {
			return 1
		}
	case json.Number, string:
		s := strings.TrimLeft(text(v), " \t\n\r\v\f")
		end := 0
		for end < len(s) && (s[end] >= '0' && s[end] <= '9' || end == 0 && (s[0] == '-' || s[0] == '+')) {
			end++
		}
		n, _ := strconv.Atoi(s[:end])
		return n
	}
	return 0
}

// truth reads a boolean argument as the platform does; ok is false for what it
// refuses.
func truth(v any) (value, ok bool) {
	switch v := v.(type) {
	case bool:
		return v, true
	case string, json.Number:
		switch strings.ToLower(text(v)) {
		case "true", "1":
			return true, true
		case "false", "0", "":
			return false, true
		}
	}
	return false, false
}

// money is an amount in minor units, written with two decimals.
type money int64

func (m money) String() string {
	sign := ""
	if m < 0 {
		sign, m = "-", -m
	}
	return fmt.Sprintf("%s%d.%02d", sign, m/100, m%100)
}

// minor is m as the checkout API writes it.
func (m money) minor() string { return strconv.FormatInt(int64(m), 10) }

// amount reads a decimal amount; ok is false where v is none.
func amount(v any) (m money, ok bool) {
	f, err := strconv.ParseFloat(strings.TrimSpace(text(v)), 64)
	if err != nil || !(math.Abs(f) <= 1e12) { // also refuses NaN
		return 0, false
	}
	return money(math.Round(f * 100)), true
}
