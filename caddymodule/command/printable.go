package command

import (
	"encoding/json"
	"strconv"
	"strings"
	"unicode"
)

// printable returns a copy of v for a terminal: characters that would move its cursor or
// change its colours stand as escapes. A request is written by its client, and so are the
// words that it is explained with.
func printable[T any](v *T) (*T, error) {
	if v == nil {
		return nil, nil
	}
	text, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	var plain any
	if err := json.Unmarshal(text, &plain); err != nil {
		return nil, err
	}
	if text, err = json.Marshal(escaped(plain)); err != nil {
		return nil, err
	}
	shown := new(T)
	return shown, json.Unmarshal(text, shown)
}

func escaped(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for name := range v {
			v[name] = escaped(v[name])
		}
	case []any:
		for i := range v {
			v[i] = escaped(v[i])
		}
	case string:
		return escapedText(v)
	}
	return v
}

func escapedText(text string) string {
	var b strings.Builder
	for _, c := range text {
		if unicode.IsPrint(c) {
			b.WriteRune(c)
		} else {
			quoted := strconv.QuoteRune(c)
			b.WriteString(quoted[1 : len(quoted)-1])
		}
	}
	return b.String()
}
