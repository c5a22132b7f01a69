package scopes

import (
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/restwarden/restwarden/cmd/check/testkit/rawhttp"
	"github.com/restwarden/restwarden/policies/call/platforms"
	"github.com/restwarden/restwarden/policies/respell"
)

// Wire is a request as it is sent.
type Wire struct {
	Method, Target string
	Header         []string // "Name: value"
	Body           string
}

// Bytes returns the request of HTTP/1.1.
func (w *Wire) Bytes() []byte { return rawhttp.Bytes(w.Method+" "+w.Target, w.Body, w.Header...) }

// Fields returns the request of HTTP/2 and 3.
func (w *Wire) Fields(authority string) rawhttp.Request {
	r := rawhttp.Request{Body: w.Body, Fields: []rawhttp.Field{
		{Name: ":method", Value: w.Method}, {Name: ":scheme", Value: "https"}, {Name: ":authority", Value: authority}, {Name: ":path", Value: w.Target},
	}}
	for _, line := range w.Header {
		name, value, _ := strings.Cut(line, ": ")
		r.Fields = append(r.Fields, rawhttp.Field{Name: strings.ToLower(name), Value: value})
	}
	return r
}

// Marks in a call that is spelled, in place of what a request then has there: so the
// spellings of a call are made once for all that carry it.
const (
	queryMark = "qmark=1"
	formMark  = "fmark=1"
	jsonMark  = `{"jmark":1}`
)

// speller writes calls in all ways, and remembers them.
type speller struct {
	base string
	kept map[string][]Wire
}

// spellings returns the ways to write a call whose body is of some type.
func (s *speller) spellings(c *Call, body string, query bool) []Wire {
	id := fmt.Sprint(c.Method, c.Route, body, query)
	if list, ok := s.kept[id]; ok {
		return list
	}
	r := respell.Request{Method: c.Method, URL: "http://127.0.0.1" + s.base + "/wp-json" + c.Route, Base: s.base, Body: []byte(body)}
	if query {
		r.URL += "?" + queryMark
	}
	switch body {
	case "":
		r.Body = nil
	case formMark:
	default:
		r.Header = []string{"Content-Type: application/json"}
	}
	var list []Wire
	platform, _ := platforms.ByName("wordpress") // it is known
	for _, spelled := range respell.All(platform, r) {
		list = append(list, wireOf(spelled.Raw))
	}
	if marked := body == "" || body == jsonMark || body == formMark; marked {
		s.kept[id] = list
	}
	return list
}

// wireOf takes a spelling apart.
func wireOf(raw []byte) (w Wire) {
	head, body, _ := strings.Cut(string(raw), "\r\n\r\n")
	lines := strings.Split(head, "\r\n")
	w.Method, w.Target, _ = strings.Cut(strings.TrimSuffix(lines[0], " HTTP/1.1"), " ")
	for _, line := range lines[1:] {
		if !strings.HasPrefix(line, "Host:") && !strings.HasPrefix(line, "Content-Length:") {
			w.Header = append(w.Header, line)
		}
	}
	w.Body = body
	return w
}

// load puts what a request carries where the marks are.
func (w *Wire) load(l *load, content string) {
	w.Header = slices.Concat(w.Header, l.header)
	w.Target = strings.Replace(w.Target, queryMark, strings.Join(l.query, "&"), 1)
	switch {
	case w.Body == jsonMark:
		w.Body = content
	case strings.Contains(w.Body, `name="fmark"`):
		first, rest, _ := strings.Cut(w.Body, `Content-Disposition: form-data; name="fmark"`)
		_, end, _ := strings.Cut(rest, "\r\n\r\n1\r\n")
		delimiter, _, _ := strings.Cut(w.Body, "\r\n")
		var parts []string
		for _, pair := range l.form {
			name, value, _ := strings.Cut(pair, "=")
			parts = append(parts, "Content-Disposition: form-data; name=\""+decoded(name)+"\"\r\n\r\n"+decoded(value)+"\r\n")
		}
		w.Body = first + strings.Join(parts, delimiter+"\r\n") + end
	default:
		w.Body = strings.Replace(w.Body, formMark, strings.Join(l.form, "&"), 1)
	}
}

func decoded(text string) string {
	plain, err := url.QueryUnescape(text)
	if err != nil { // an escape that was meant as it stands
		return text
	}
	return plain
}

// object returns the JSON object of members.
func object(members []Member) string {
	all := map[string]any{}
	for _, m := range members {
		at := all
		names := strings.Split(m.Path, ".")
		for _, name := range names[:len(names)-1] {
			inner, ok := at[name].(map[string]any)
			if !ok {
				inner = map[string]any{}
				at[name] = inner
			}
			at = inner
		}
		var value any = m.Value.Text
		if m.Value.Literal {
			value = json.RawMessage(m.Value.Text)
		}
		at[names[len(names)-1]] = value
	}
	text, _ := json.Marshal(all) // of texts and JSON
	return string(text)
}

// pairName is the name of a member in a query or a form.
func pairName(path string) string {
	first, rest, nested := strings.Cut(path, ".")
	if !nested {
		return first
	}
	return first + "[" + strings.ReplaceAll(rest, ".", "][") + "]"
}

// String is for messages.
func (w *Wire) String() string {
	return fmt.Sprintf("%s %s\n%s\n%q", w.Method, w.Target, strings.Join(w.Header, "\n"), w.Body)
}
