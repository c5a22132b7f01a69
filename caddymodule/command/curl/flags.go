package curl

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// AddFlags gives cmd the flags of curl. Of the short ones -c and -a are not among them:
// they are Caddy's --config and --adapter.
func (l *Line) AddFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVarP(&l.method, "request", "X", "", "the method (default GET, or POST with a body)")
	f.StringArrayVarP(&l.headers, "header", "H", nil, `a header, "Name: value", or @FILE with headers; may be repeated`)
	l.each(cmd, "data", "d", "a body, joined with & where repeated; @FILE reads a file", l.addData)
	for _, other := range []struct{ name, usage string }{
		{"data-ascii", "as --data"},
		{"data-raw", "as --data, but @ means itself"},
		{"data-binary", "as --data, but a file is sent as it is"},
		{"data-urlencode", "as --data, but encoded: CONTENT, NAME=CONTENT, @FILE, NAME@FILE"},
		{"json", "a body in JSON, with the headers for it"},
	} {
		l.each(cmd, other.name, "", other.usage, l.addData)
	}
	l.each(cmd, "form", "F", "a part of a multipart form: NAME=CONTENT, NAME=@FILE, NAME=<FILE", l.addPart)
	l.each(cmd, "form-string", "", "as --form, but the content means itself", l.addPart)
	f.BoolVarP(&l.get, "get", "G", false, "put the data into the query")
	f.BoolVarP(&l.head, "head", "I", false, "send HEAD")
	f.StringVarP(&l.user, "user", "u", "", "log in with USER:PASSWORD or KEY:SECRET (Basic)")
	f.StringVar(&l.bearer, "oauth2-bearer", "", "log in with a token (Bearer)")
	f.StringArrayVarP(&l.cookies, "cookie", "b", nil, "cookies, NAME=VALUE; may be repeated")
	l.each(cmd, "user-agent", "A", "the header User-Agent", func(_, text string) { l.agent, l.agentSet = text, true })
	f.StringVarP(&l.referer, "referer", "e", "", "the header Referer")
	f.BoolVar(&l.compressed, "compressed", false, "the header Accept-Encoding of curl")
	f.BoolVar(&l.pathAsIs, "path-as-is", false, "leave . and .. in the path")
	f.BoolVarP(&l.globOff, "globoff", "g", false, "a backslash before a bracket means itself")
	ignored(cmd)
}

func (l *Line) addData(flag, text string) {
	l.data = append(l.data, datum{flag, text})
	l.json = l.json || flag == "json"
}

func (l *Line) addPart(flag, text string) {
	l.parts = append(l.parts, part{text, flag == "form-string"})
}

// each calls add for each use of a flag, in the order of the line.
func (l *Line) each(cmd *cobra.Command, name, short, usage string, add func(flag, text string)) {
	cmd.Flags().VarP(&repeated{name, add}, name, short, usage)
}

// repeated is the value of a flag that may be repeated among others.
type repeated struct {
	name string
	add  func(flag, text string)
}

func (r *repeated) Set(text string) error { r.add(r.name, text); return nil }
func (r *repeated) String() string        { return "" }
func (r *repeated) Type() string          { return "string" }

const unused = "of curl; changes nothing here"

// switches and values are the flags that change nothing of the request. The values take
// an argument.
var (
	switches = [][2]string{
		{"silent", "s"},
		{"show-error", "S"},
		{"insecure", "k"},
		{"include", "i"},
		{"location", "L"},
		{"fail", "f"},
		{"no-buffer", "N"},
		{"remote-name", "O"},
		{"ipv4", "4"},
		{"ipv6", "6"},
		{"progress-bar", "#"},
		{"anyauth"},
		{"basic"},
		{"fail-with-body"},
		{"http1.1"},
		{"http2"},
		{"http3"},
		{"location-trusted"},
		{"no-progress-meter"},
		{"ssl-no-revoke"},
		{"tlsv1.2"},
		{"tlsv1.3"},
	}
	values = [][2]string{
		{"output", "o"},
		{"write-out", "w"},
		{"max-time", "m"},
		{"proxy", "x"},
		{"dump-header", "D"},
		{"cacert"},
		{"connect-timeout"},
		{"connect-to"},
		{"cookie-jar"},
		{"interface"},
		{"limit-rate"},
		{"max-redirs"},
		{"noproxy"},
		{"resolve"},
		{"retry"},
	}
)

// ignored adds the flags that change nothing of the request. The list of flags leaves them
// out: Unused names them.
func ignored(cmd *cobra.Command) {
	f := cmd.Flags()
	for _, flag := range switches {
		f.BoolP(flag[0], flag[1], false, unused)
	}
	for _, flag := range values {
		f.StringArrayP(flag[0], flag[1], nil, unused)
	}
	for _, flag := range slices.Concat(switches, values) {
		f.Lookup(flag[0]).Hidden = true
	}
}

// Unused names the flags of curl that are accepted and change nothing, in lines.
func Unused() string {
	var b strings.Builder
	column := 0
	for _, flag := range slices.Concat(switches, values) {
		text := "--" + flag[0]
		if flag[1] != "" {
			text = "-" + flag[1]
		}
		switch {
		case column == 0:
		case column+len(text) > 76:
			b.WriteString("\n")
			column = 0
		default:
			b.WriteString(" ")
		}
		b.WriteString(text)
		column += len(text) + 1
	}
	return b.String()
}
