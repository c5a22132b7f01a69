package curl

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
)

// datum is the value of one of the flags --data….
type datum struct {
	flag string
	text string
}

// joined returns the body of all --data flags. Each is joined with "&", but for --json,
// whose text follows as it is.
func (l *Line) joined() ([]byte, error) {
	body := []byte{}
	for i, d := range l.data {
		text, err := l.datum(d)
		if err != nil {
			return nil, fmt.Errorf("--%s: %w", d.flag, err)
		}
		if i > 0 && d.flag != "json" {
			body = append(body, '&')
		}
		body = append(body, text...)
	}
	return body, nil
}

func (l *Line) datum(d datum) ([]byte, error) {
	file, at := strings.CutPrefix(d.text, "@")
	switch {
	case d.flag == "data-urlencode":
		return l.encoded(d.text)
	case d.flag == "data-raw" || !at:
		return []byte(d.text), nil
	}
	text, err := l.read(file)
	if err == nil && (d.flag == "data" || d.flag == "data-ascii") {
		text = withoutLines(text)
	}
	return text, err
}

// withoutLines drops what --data drops of a file: the ends of lines and NUL.
func withoutLines(text []byte) []byte {
	return slices.DeleteFunc(text, func(c byte) bool { return c == '\r' || c == '\n' || c == 0 })
}

// encoded reads "content", "=content", "name=content", "@file" and "name@file".
func (l *Line) encoded(text string) ([]byte, error) {
	at := strings.IndexAny(text, "=@")
	if at < 0 {
		return []byte(escape(text)), nil
	}
	name, content := text[:at], text[at+1:]
	if text[at] == '@' {
		read, err := l.read(content)
		if err != nil {
			return nil, err
		}
		content = string(read)
	}
	if name != "" {
		name += "="
	}
	return []byte(name + escape(content)), nil
}

// escape encodes as curl does: a space is "+".
func escape(text string) string { return url.QueryEscape(text) }
