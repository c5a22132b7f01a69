package php

import (
	"strconv"
	"strings"

	"github.com/restwarden/restwarden/policies/call/phpvars"
)

// serialize writes an array as PHP's serialize does.
func serialize(a *phpvars.Array) string {
	var b strings.Builder
	writeArray(&b, a)
	return b.String()
}

func writeArray(b *strings.Builder, a *phpvars.Array) {
	b.WriteString("a:" + strconv.Itoa(a.Len()) + ":{")
	for _, k := range a.Keys() {
		b.WriteString(key(k))
		switch v, _ := a.Get(k); v := v.(type) {
		case string:
			b.WriteString(text(v))
		case *phpvars.Array:
			writeArray(b, v)
		}
	}
	b.WriteByte('}')
}

// serializeList writes names as array_keys returns them.
func serializeList(names []string) string {
	var b strings.Builder
	b.WriteString("a:" + strconv.Itoa(len(names)) + ":{")
	for i, name := range names {
		b.WriteString("i:" + strconv.Itoa(i) + ";" + key(name))
	}
	b.WriteByte('}')
	return b.String()
}

// key is a name in an array: those that are written as PHP writes integers are
// integers.
func key(name string) string {
	if n, err := strconv.ParseInt(name, 10, 64); err == nil && strconv.FormatInt(n, 10) == name {
		return "i:" + name + ";"
	}
	return text(name)
}

func text(s string) string { return "s:" + strconv.Itoa(len(s)) + `:"` + s + `";` }

// topLevel tells whether a serialized array has a key. It does not look into what
// is nested, nor into values.
func topLevel(serialized, name string) bool {
	depth, isKey, rest := 0, true, serialized
	for rest != "" {
		switch rest[0] {
		case 'a':
			i := strings.IndexByte(rest, '{')
			depth, isKey, rest = depth+1, true, rest[i+1:]
			continue
		case '}':
			depth, rest = depth-1, rest[1:]
			isKey = true
			continue
		}
		item, tail := scalar(rest)
		if depth == 1 && isKey && item == key(name) {
			return true
		}
		isKey, rest = !isKey, tail
	}
	return false
}

// scalar cuts an integer or string off a serialized value.
func scalar(s string) (item, rest string) {
	end := strings.IndexByte(s, ';') + 1
	if s[0] == 's' {
		length, _, _ := strings.Cut(s[2:], ":")
		n, _ := strconv.Atoi(length)
		end = 2 + len(length) + 2 + n + 2
	}
	return s[:end], s[end:]
}
