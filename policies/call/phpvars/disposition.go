package phpvars

import "strings"

// disposition reads the parameters of a Content-Disposition header as PHP does:
// names and values may be unquoted, in single or double quotes, the last name
// wins. file tells whether there is a file name, be it empty.
func disposition(header string) (name string, file, named bool) {
	header = strings.TrimLeft(header, blanks)
	for header != "" {
		var pair string
		pair, header = word(header, ';')
		header = strings.TrimLeft(header, blanks)
		if !strings.Contains(pair, "=") {
			continue
		}
		key, value := word(pair, '=')
		switch {
		case EqualFold(key, "name"):
			name, named = unquote(value), true
		case EqualFold(key, "filename"):
			file = true
		}
	}
	return name, file, named
}

const blanks = " \t\n\v\f\r"

// word cuts s at the first stop outside quotes; several in a row are one.
func word(s string, stop byte) (word, rest string) {
	i := 0
	for i < len(s) && s[i] != stop {
		quote := s[i]
		i++
		if quote != '"' && quote != '\'' {
			continue
		}
		for i < len(s) && s[i] != quote {
			if s[i] == '\\' && i+1 < len(s) && s[i+1] == quote {
				i++
			}
			i++
		}
		i = min(i+1, len(s))
	}
	return s[:i], strings.TrimLeft(s[i:], string(stop))
}

// unquote returns a value without its quotes; a backslash escapes the quote and
// itself. An unquoted value ends at the first blank.
func unquote(s string) string {
	s = strings.TrimLeft(s, blanks)
	quote := byte(0)
	if s != "" && (s[0] == '"' || s[0] == '\'') {
		quote, s = s[0], s[1:]
	} else if i := strings.IndexAny(s, blanks); i >= 0 {
		s = s[:i]
	}
	var b strings.Builder
	for i := 0; i < len(s) && (quote == 0 || s[i] != quote); i++ {
		if s[i] == '\\' && i+1 < len(s) && (s[i+1] == '\\' || quote != 0 && s[i+1] == quote) {
			i++
		}
		b.WriteByte(s[i])
	}
	return b.String()
}
