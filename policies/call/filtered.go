package call

import (
	"net/url"
	"slices"
	"strings"
)

// Some sites have PHP filter what it reads (filter.default in php.ini): variables, and what the
// server says of a request, PATH_INFO, CONTENT_TYPE and REQUEST_METHOD among it. The usual
// filter takes out tags, from a "<" to some ">" or to the end, and rewrites quotes. Its flags
// take out control bytes, back ticks, and all bytes that are not ASCII (docs/platform I.13, B6).

// filters tells whether a filter of PHP may take c out of a text, or write it otherwise.
func filters(c byte) bool {
	return dropped(c) || c == '<' || c == '>' || c == '"' || c == '\''
}

// dropped tells whether a filter of PHP may take c alone out of a text.
func dropped(c byte) bool { return c < ' ' || c >= 0x80 || c == '`' }

// plainType tells whether a filter leaves the media type of a Content-Type alone, which the
// platform reads after it. PHP reads forms before.
func plainType(values []string) bool {
	return !slices.ContainsFunc(values, func(value string) bool {
		if end := strings.IndexByte(value, ';'); end > 0 { // at the beginning it ends nothing
			value = value[:end]
		}
		return filtered(strings.Trim(value, " \t")) // the platform trims it, too
	})
}

// filtered tells whether a filter may change a text.
func filtered(text string) bool {
	for i := range len(text) {
		if filters(text[i]) {
			return true
		}
	}
	return false
}

// filteredPath refuses a page whose decoded path names the prefix, or a script with nothing
// behind it, once a filter has been at it: it is PATH_INFO on some pages, and some servers put it
// into their requests to the next one.
func (rd *Reader) filteredPath(tried *trials, u *url.URL, path string) *Refusal {
	if !filtered(path) {
		return nil
	}
	if before, _, tag := strings.Cut(path, "<"); tag && !rd.names(path) {
		switch {
		case slices.ContainsFunc(rd.prefixes, func(prefix string) bool { return spells(lower(path), prefix) }):
			return errPath
		case strings.Contains(lower(before), ".php"):
			return errScriptPath
		}
	}
	for _, low := range []rune{0, ' '} { // with and without control bytes
		rest := without(path, func(c byte) bool { return c >= 0x80 || c == '`' || c < byte(low) })
		switch {
		case (rd.names(rest) || rd.names(lower(rest))) && !rd.names(path):
			return errPath
		case strings.Contains(lower(rest), ".php/") && rd.cutsInfo(u, lower(rest)):
			return errScriptPath
		case rest != path && rd.aliasWithin(tried, rest) && !rd.aliasWithin(tried, path), tried.spent():
			return errPath
		}
	}
	return nil
}

// filteredHolds tells whether a query may hold word once a filter and the platform have cleaned it.
func filteredHolds(query, word string) bool {
	if !filtered(query) {
		return false
	}
	return strings.IndexByte(query, '<') >= 0 && spells(query, word) || strings.Contains(cleanedURL(without(query, filters)), word)
}

// spells tells whether the bytes of word stand in text in their order, whatever is between them.
func spells(text, word string) bool {
	for i := range len(text) {
		if word == "" {
			break
		}
		if text[i] == word[0] {
			word = word[1:]
		}
	}
	return word == ""
}

// without returns text without the bytes that drop names.
func without(text string, drop func(c byte) bool) string {
	var b strings.Builder
	from := 0
	for i := range len(text) {
		if drop(text[i]) {
			b.WriteString(text[from:i])
			from = i + 1
		}
	}
	if from == 0 {
		return text
	}
	b.WriteString(text[from:])
	return b.String()
}
