package curl

import (
	"bytes"
	"cmp"
	"fmt"
	"path/filepath"
	"strings"
)

// boundary stands where curl writes a random one.
const boundary = "------------------------7265737477617264"

// part is the value of --form or --form-string.
type part struct {
	text    string
	literal bool // of --form-string
}

// multipart returns the body of all --form flags.
func (l *Line) multipart() ([]byte, error) {
	var body bytes.Buffer
	for _, p := range l.parts {
		f, err := l.field(p)
		if err != nil {
			return nil, fmt.Errorf("--form: %w", err)
		}
		fmt.Fprintf(&body, "--%s\r\nContent-Disposition: form-data; name=\"%s\"", boundary, quoted(f.name))
		if f.file {
			fmt.Fprintf(&body, "; filename=\"%s\"", quoted(f.filename))
		}
		if f.contentType != "" {
			fmt.Fprintf(&body, "\r\nContent-Type: %s", f.contentType)
		}
		fmt.Fprintf(&body, "\r\n\r\n%s\r\n", f.content)
	}
	fmt.Fprintf(&body, "--%s--\r\n", boundary)
	return body.Bytes(), nil
}

// field is one part of a form.
type field struct {
	name, filename, contentType string
	file                        bool
	content                     []byte
}

// field reads `name=content`, `name=@file` and `name=<file`, with `;type=` and
// `;filename=` behind it.
func (l *Line) field(p part) (f field, err error) {
	name, value, ok := strings.Cut(p.text, "=")
	if !ok {
		return f, fmt.Errorf("%q is not NAME=CONTENT", p.text)
	}
	f.name = name
	if p.literal {
		f.content = []byte(value)
		return f, nil
	}
	file, isFile := strings.CutPrefix(value, "@")
	text, isText := strings.CutPrefix(value, "<")
	switch {
	case isFile:
		value = file
	case isText:
		value = text
	}
	value, options := word(value)
	f.file = isFile
	for options != "" {
		var option string
		option, options = word(strings.TrimLeft(options[1:], " "))
		switch key, v, _ := strings.Cut(option, "="); key {
		case "type":
			f.contentType = v
		case "filename":
			f.filename, f.file = unquoted(v), true
		}
	}
	if !isFile && !isText {
		f.content = []byte(value)
		return f, nil
	}
	if isFile && f.filename == "" {
		f.filename = filepath.Base(value)
	}
	if isFile && f.contentType == "" {
		f.contentType = cmp.Or(types[strings.ToLower(filepath.Ext(value))], "application/octet-stream")
	}
	f.content, err = l.read(value)
	return f, err
}

// word splits text before the first ";" outside of quotes, and takes the quotes away.
func word(text string) (value, rest string) {
	if strings.HasPrefix(text, `"`) {
		for i := 1; i < len(text); i++ {
			switch text[i] {
			case '\\':
				i++
			case '"':
				return unquoted(text[:i+1]), text[i+1:]
			}
		}
	}
	if at := strings.IndexByte(text, ';'); at >= 0 {
		return text[:at], text[at:]
	}
	return text, ""
}

func unquoted(text string) string {
	if len(text) < 2 || text[0] != '"' || text[len(text)-1] != '"' {
		return text
	}
	return quotedEscapes.Replace(text[1 : len(text)-1])
}

// quoted writes a name as curl does between quotes.
func quoted(name string) string { return inQuotes.Replace(name) }

var (
	quotedEscapes = strings.NewReplacer(`\\`, `\`, `\"`, `"`)
	inQuotes      = strings.NewReplacer(`"`, "%22", "\r", "%0D", "\n", "%0A")
)

// types are the types that curl knows by the end of a file's name.
var types = map[string]string{
	".gif": "image/gif", ".jpg": "image/jpeg", ".jpeg": "image/jpeg", ".png": "image/png",
	".svg": "image/svg+xml", ".txt": "text/plain", ".htm": "text/html", ".html": "text/html",
	".pdf": "application/pdf", ".xml": "application/xml",
}
