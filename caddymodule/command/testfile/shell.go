package testfile

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/restwarden/restwarden/caddymodule/dryrun"
)

// curl is the command line that sends a request.
func (r *Runner) curl(q *Request) string { return "curl -i" + credentials(q.As) + sent(q) }

// explain is the command line that explains a request.
func (r *Runner) explain(q *Request) string { return r.explains(q) + sent(q) }

// explainRaw is the command line that explains the bytes of another spelling of a request.
func (r *Runner) explainRaw(q *Request, raw []byte) string {
	var b strings.Builder
	for _, c := range raw {
		switch {
		case c == '\\':
			b.WriteString(`\\`)
		case c < ' ' || c > '~':
			fmt.Fprintf(&b, `\0%03o`, c)
		default:
			b.WriteByte(c)
		}
	}
	line := "printf %b " + Quoted(b.String()) + " | " + r.explains(q) + " --raw -"
	if !q.Secure {
		line += " --http"
	}
	if q.Port != 0 {
		line += fmt.Sprintf(" --port %d", q.Port)
	}
	return line
}

func (r *Runner) explains(q *Request) string {
	var b strings.Builder
	b.WriteString("caddy restwarden explain" + r.Flags + " --as " + Quoted(q.As.String()))
	for _, id := range slices.Sorted(maps.Keys(q.Records)) {
		fmt.Fprintf(&b, " --id %d=%s", id, q.Records[id])
	}
	for _, id := range slices.Sorted(maps.Keys(q.Abilities)) {
		fmt.Fprintf(&b, " --ability %s=%s", id, q.Abilities[id])
	}
	if q.Client.IsValid() {
		b.WriteString(" --from " + q.Client.String())
	}
	return b.String()
}

// sent are the flags of curl for a request.
func sent(q *Request) string {
	var b strings.Builder
	flag := func(name, value string) { b.WriteString(" " + name + " " + Quoted(value)) }
	flag("-X", q.Method)
	for _, line := range q.Headers {
		flag("-H", line)
	}
	if q.Body != nil {
		if !slices.ContainsFunc(q.Headers, isContentType) {
			flag("-H", "Content-Type:") // else curl sends one of its own
		}
		flag("--data-raw", string(bytes.ToValidUTF8(q.Body, []byte("?"))))
	}
	if strings.Contains(q.URL, "/.") {
		b.WriteString(" --path-as-is")
	}
	if strings.ContainsAny(q.URL, "[]{}") {
		b.WriteString(" -g")
	}
	b.WriteString(" " + Quoted(q.URL))
	return b.String()
}

func isContentType(line string) bool {
	name, _, _ := strings.Cut(line, ":")
	return strings.EqualFold(name, "Content-Type")
}

// credentials are the flags of curl that somebody has to fill in.
func credentials(a dryrun.As) string {
	if a.Scope != "" {
		return " -u 'NAME:SECRET'"
	}
	switch a.Kind {
	case dryrun.Key:
		return " -u 'ck_…:cs_…'"
	case dryrun.User, dryrun.Role, dryrun.Capability:
		return " -u 'LOGIN:APPLICATION-PASSWORD'"
	case dryrun.Anonymous, dryrun.OfScope:
	}
	return ""
}

// Quoted quotes an argument for a shell where it has to be.
func Quoted(text string) string {
	plain := func(c rune) bool {
		return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.ContainsRune("-_./:,@%+=", c)
	}
	if text != "" && strings.TrimLeftFunc(text, plain) == "" {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}
