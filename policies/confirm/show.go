package confirm

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf16"
)

// Show writes the arguments of a confirmation for a person: indented, and with every
// character escaped that could hide others or change their order on a screen.
func Show(arguments string) string {
	if arguments == "" {
		return ""
	}
	var b bytes.Buffer
	if json.Indent(&b, []byte(arguments), "", "  ") != nil {
		return Plain(arguments) // not written by Arguments
	}
	return Plain(b.String())
}

// blanks are letters and symbols that show nothing.
const blanks = "\u115f\u1160\u2800\u3164\uffa0"

// Plain escapes what does not print, as JSON does. Ends of lines stay.
func Plain(text string) string {
	var b strings.Builder
	for _, r := range text {
		switch {
		case r == '\n' || unicode.IsPrint(r) && !strings.ContainsRune(blanks, r):
			b.WriteRune(r)
		case r > 0xffff:
			high, low := utf16.EncodeRune(r)
			_, _ = fmt.Fprintf(&b, `\u%04x\u%04x`, high, low) // to memory
		default:
			_, _ = fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.String()
}
