package curl

import (
	"errors"
	"fmt"
	"net/url"
	"strings"
)

var (
	errNoURL = errors.New("no URL")
	errSpace = errors.New("the URL has a space or a control character; write %20")
)

// url returns a URL as curl sends it: without the fragment, the path
// without dot segments and with bytes outside of ASCII encoded. A URL without a scheme is
// https, where curl takes http: sites that redirect to https are usual. A user in it is taken as
// with --user.
func (l *Line) url(text string) (string, error) {
	if text == "" {
		return "", errNoURL
	}
	for _, c := range []byte(text) {
		if c <= ' ' || c == 0x7f {
			return "", errSpace
		}
	}
	if !l.globOff { // brackets and braces are escaped in copied lines
		text = escapedGlobs.Replace(text)
	}
	text, _, _ = strings.Cut(text, "#")
	scheme, rest, ok := strings.Cut(text, "://")
	if !ok {
		scheme, rest = "https", text
	}
	scheme = strings.ToLower(scheme)
	if scheme != "http" && scheme != "https" {
		return "", fmt.Errorf("the URL begins with %s://, not with http:// or https://", scheme)
	}
	end := strings.IndexAny(rest, "/?")
	if end < 0 {
		end = len(rest)
	}
	host, target := rest[:end], rest[end:]
	if at := strings.LastIndexByte(host, '@'); at >= 0 {
		if user, err := url.PathUnescape(host[:at]); err == nil && l.user == "" {
			l.user = user
		}
		host = host[at+1:]
	}
	if host == "" {
		return "", errNoURL
	}
	path, query, asked := strings.Cut(target, "?")
	if path == "" {
		path = "/"
	}
	if !l.pathAsIs {
		path = withoutDots(path)
	}
	path = encodeBytes(path)
	if asked {
		path += "?" + query
	}
	return scheme + "://" + host + path, nil
}

// withoutDots removes the segments "." and ".." (RFC 3986, 5.2.4).
func withoutDots(path string) string {
	segments := strings.Split(path[1:], "/")
	last := len(segments) - 1
	var kept []string
	for i, s := range segments {
		switch {
		case s == ".." && len(kept) > 0:
			kept = kept[:len(kept)-1]
			fallthrough
		case s == "..", s == ".":
			if i == last {
				kept = append(kept, "")
			}
		default:
			kept = append(kept, s)
		}
	}
	return "/" + strings.Join(kept, "/")
}

func encodeBytes(path string) string {
	var b strings.Builder
	for _, c := range []byte(path) {
		if c >= 0x80 {
			fmt.Fprintf(&b, "%%%02x", c)
		} else {
			b.WriteByte(c)
		}
	}
	return b.String()
}

// withQuery adds the data of --get to a URL.
func withQuery(to, query string) string {
	if strings.Contains(to, "?") {
		return to + "&" + query
	}
	return to + "?" + query
}

var escapedGlobs = strings.NewReplacer(`\[`, "[", `\]`, "]", `\{`, "{", `\}`, "}")
