package dryrun

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/restwarden/restwarden/policies/caller"
)

// Build returns the request that curl would send: method, URL, header lines "Name: value"
// and a body. An empty method is GET, or POST with a body. Secure and Port are those of the
// URL, which may have no scheme: then it is https.
func Build(method, address string, header []string, body []byte) (Request, error) {
	if !strings.Contains(address, "://") {
		address = "https://" + address
	}
	u, err := url.Parse(address)
	switch {
	case err != nil:
		return Request{}, err
	case u.Scheme != "http" && u.Scheme != "https" || u.Host == "":
		return Request{}, fmt.Errorf("%q is no address such as https://shop.example.com/wp-json/", address)
	}
	if method == "" {
		method = http.MethodGet
		if body != nil {
			method = http.MethodPost
		}
	}
	_, rest, _ := strings.Cut(address, "://") // the bytes of the address as they are
	path := ""
	if i := strings.IndexAny(rest, "/?#"); i >= 0 {
		path, _, _ = strings.Cut(rest[i:], "#")
	}
	if !strings.HasPrefix(path, "/") {
		path = "/" + path
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s %s HTTP/1.1\r\n", method, path)
	has := func(name string) bool {
		return slices.ContainsFunc(header, func(line string) bool {
			own, _, _ := strings.Cut(line, ":")
			return strings.EqualFold(strings.TrimSpace(own), name)
		})
	}
	if !has("Host") {
		fmt.Fprintf(&b, "Host: %s\r\n", u.Host)
	}
	for _, line := range header {
		fmt.Fprintf(&b, "%s\r\n", line)
	}
	if body != nil && !has("Content-Length") && !has("Transfer-Encoding") {
		fmt.Fprintf(&b, "Content-Length: %d\r\n", len(body))
	}
	b.WriteString("\r\n")
	b.Write(body)
	port, _ := strconv.Atoi(u.Port())
	return Request{Raw: b.Bytes(), Secure: u.Scheme == "https", Port: port}, nil
}

// What the stub's callers send. The site of a dry run knows each of them.
const (
	standInNonce  = "5tand1n0"
	standInCookie = "0123456789abcdef0123456789abcdef"
)

// withCredentials returns the bytes of r with credentials of its caller, unless it has some.
func (r Request) withCredentials(g *guard, has caller.Credential) []byte {
	if r.As.Kind == Anonymous || r.As.Kind == "" || r.saysWho(g) {
		return r.Raw
	}
	line, rest, _ := bytes.Cut(r.Raw, []byte("\n"))
	var b bytes.Buffer
	b.Write(line)
	b.WriteString("\n")
	if basic := r.basic(has); basic != "" {
		b.WriteString("Authorization: Basic " + base64.StdEncoding.EncodeToString([]byte(basic)) + "\r\n")
		b.Write(rest)
		return b.Bytes()
	}
	cookie := g.site.Platform.LoginCookie() + standInCookie + "=" + url.QueryEscape(has.Login+"|"+r.As.String())
	if !g.site.SaysNonce(headOf(r.Raw)) {
		b.WriteString(g.site.Platform.NonceHeader + ": " + standInNonce + "\r\n")
	}
	if i := cookieLine(rest); i >= 0 {
		b.Write(rest[:i])
		b.WriteString(cookie + "; ")
		b.Write(rest[i:])
		return b.Bytes()
	}
	b.WriteString("Cookie: " + cookie + "\r\n")
	b.Write(rest)
	return b.Bytes()
}

// basic is what the caller sends as name and password; "" for one who logs in by a cookie.
func (r Request) basic(has caller.Credential) string {
	switch {
	case r.As.Kind == Key && has.Key != "":
		return "ck_stand_in_" + has.Key + ":cs_stand_in"
	case r.As.Kind == Key:
		return standInShopKey
	case has.Kind == caller.CredentialPassword:
		return has.Login + ":stand in password"
	}
	return ""
}

// saysWho tells whether r has a credential of somebody by itself.
func (r Request) saysWho(g *guard) bool { return g.site.SaysWho(headOf(r.Raw)) }

// headOf reads the header lines and the query of a request, without judging them: what the
// gateway knows as credentials is looked for in them.
func headOf(raw []byte) *http.Request {
	line, _, _ := bytes.Cut(raw, []byte("\n"))
	_, target, _ := strings.Cut(strings.TrimRight(string(line), "\r"), " ")
	target, _, _ = strings.Cut(target, " ")
	_, query, _ := strings.Cut(target, "?")
	r := &http.Request{Header: http.Header{}, URL: &url.URL{RawQuery: query}}
	for name, value := range headerLines(raw) {
		r.Header.Add(strings.TrimSpace(name), value)
	}
	return r
}

// cookieLine returns where the value of the first Cookie header begins, or -1.
func cookieLine(head []byte) int {
	at := 0
	for at < len(head) {
		end := bytes.IndexByte(head[at:], '\n')
		if end <= 1 {
			return -1
		}
		if line := head[at : at+end]; len(line) > 7 && strings.EqualFold(string(line[:7]), "Cookie:") {
			value := bytes.TrimLeft(line[7:], " \t")
			return at + len(line) - len(value)
		}
		at += end + 1
	}
	return -1
}
