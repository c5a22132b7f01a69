package platforms

import (
	"net/http"
	"slices"
	"strings"
)

// Marks are the headers by which the platform marks every answer of its REST interface, errors
// too, and no page (WP_REST_Server::serve_request). A plugin may add to them or take one away,
// so that each counts alone, as a bit.
type Marks uint8

// markHeaders are the headers of the marks, in the order of their bits. They name the nonce's header, and that of totals.
var markHeaders = [...]string{"Access-Control-Allow-Headers", "Access-Control-Expose-Headers"}

// Headers returns the names of the headers.
func (m Marks) Headers() (names []string) {
	for i, name := range markHeaders {
		if m&(1<<i) != 0 {
			names = append(names, name)
		}
	}
	return names
}

// MarkHeaders are the values of the headers that can be marks.
type MarkHeaders [len(markHeaders)][]string

// None tells whether there is no such header.
func (h *MarkHeaders) None() bool { return len(h[0]) == 0 && len(h[1]) == 0 }

// MarkHeadersOf returns the values that h has now. Values that are added to h later do not
// change them.
func MarkHeadersOf(h http.Header) (now MarkHeaders) {
	for i, name := range markHeaders {
		now[i] = h[name]
	}
	return now
}

// Marks returns the marks among the values of h, without those that stood there before.
func (p *Platform) Marks(h MarkHeaders, before *MarkHeaders) (found Marks) {
	for i, word := range [...]string{p.NonceHeader, p.TotalHeader()} {
		for _, value := range beyond(h[i], before[i]) {
			if lists(value, word) {
				found |= 1 << i
			}
		}
	}
	return found
}

// beyond returns the values behind those of before; all of them if those were replaced.
func beyond(values, before []string) []string {
	if n := len(before); len(values) >= n && slices.Equal(values[:n], before) {
		return values[n:]
	}
	return values
}

// lists tells whether a header's value, a list with commas, has a word.
func lists(value, word string) bool {
	for item := range strings.SplitSeq(value, ",") {
		if strings.EqualFold(strings.Trim(item, " \t"), word) {
			return true
		}
	}
	return false
}
