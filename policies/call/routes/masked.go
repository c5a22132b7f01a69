package routes

import "strings"

// maskedSegment stands in outputs for a segment that is a secret.
const maskedSegment = ":token"

// plainSegments are the words below /mcp/v1 that are no secret (docs/platform IV.1).
var plainSegments = map[string]bool{
	"http": true, "sse": true, "messages": true, "upload": true, "discover": true,
	"*": true, "**": true, maskedSegment: true,
}

// Masked returns a text for an output, such as a route, an address, a rule or a message: below
// /mcp/v1 any segment that is none of the server's own words is a credential, and becomes
// ":token". Slashes may be encoded as in queries and in JSON.
func Masked(text string) string {
	var b strings.Builder
	done := 0
	for at := 0; at < len(text); at++ {
		begin := secretsBegin(text, at)
		if begin < 0 {
			continue
		}
		b.WriteString(text[done:begin])
		done = maskSegments(&b, text, begin)
		at = done - 1
	}
	if done == 0 {
		return text
	}
	return b.String() + text[done:]
}

// secretsBegin returns where the segments below /mcp/v1 begin if that namespace stands at a
// place of the text, else -1.
func secretsBegin(text string, at int) int {
	if text[at]|0x20 != 'm' || at > 0 && isWordByte(text[at-1]) && !strings.HasSuffix(strings.ToLower(text[max(0, at-3):at]), "%2f") {
		return -1
	}
	for i, word := range []string{"mcp", "v1"} {
		if len(text)-at < len(word) || !strings.EqualFold(text[at:at+len(word)], word) {
			return -1
		}
		at += len(word)
		n := slashes(text[at:])
		if n == 0 {
			return -1
		}
		if at += n; i == 1 {
			return at
		}
	}
	return -1
}

// maskSegments writes the segments of text from a place on, and returns where they end.
func maskSegments(b *strings.Builder, text string, at int) int {
	for first := true; ; first = false {
		end := at
		for end < len(text) && slashes(text[end:]) == 0 && !endsAddress(text[end]) {
			end++
		}
		segment := strings.TrimRight(text[at:end], ",;:.!)")
		switch word := strings.ToLower(segment); {
		case first && word == "oauth":
			b.WriteString(text[at:end])
			return end
		case segment == "", plainSegments[word]:
			b.WriteString(text[at:end])
		default:
			b.WriteString(maskedSegment + text[at+len(segment):end])
		}
		n := slashes(text[end:])
		b.WriteString(text[end : end+n])
		if at = end + n; n == 0 {
			return at
		}
	}
}

// slashes returns the length of the slashes that text begins with.
func slashes(text string) (n int) {
	for n < len(text) {
		switch rest := text[n:]; {
		case rest[0] == '/':
			n++
		case strings.HasPrefix(rest, `\/`):
			n += 2
		case len(rest) >= 3 && strings.EqualFold(rest[:3], "%2f"):
			n += 3
		default:
			return n
		}
	}
	return n
}

// endsAddress tells whether an address ends before c, in a text or as a part of JSON or HTML.
func endsAddress(c byte) bool {
	return c <= ' ' || strings.IndexByte("\"'`\\?#&<>", c) >= 0
}

func isWordByte(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'z' || strings.IndexByte("_-.", c) >= 0
}
