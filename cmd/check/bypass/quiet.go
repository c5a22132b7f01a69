package main

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"net/http"
	"net/textproto"
	"strings"

	"github.com/restwarden/restwarden/cmd/check/grammar"
	"github.com/restwarden/restwarden/policies/call/phpvars"
)

// quiet tells whether a request may be sent to a site that others use: it asks for
// GET, brings no credentials, goes to no script that does things, and is one request for
// whoever reads it, so that the next visitor's is not taken for a part of it. Its target
// names no other host.
func quiet(r *grammar.Request, host string) bool {
	return !r.Short && reads(r) && knownFields(r) && here(r.Target, host) && oneRequest(r)
}

// reads tells whether GET is what the platform is asked for: by GET itself, or by POST
// with that method in the query or in the override header. No other may be named.
func reads(r *grammar.Request) bool {
	path, query, _ := strings.Cut(r.Target, "?")
	named, times, plain := phpvars.Last(query, "_method")
	if times > 0 && (!plain || !strings.EqualFold(named, http.MethodGet)) {
		return false
	}
	for _, f := range r.Fields {
		if fieldName(f) == overrideHeader {
			if times++; !strings.EqualFold(strings.TrimSpace(f.Value), http.MethodGet) {
				return false
			}
		}
	}
	switch r.Method {
	case http.MethodGet:
		return true
	case http.MethodPost: // of scripts only what all pages are
		return times > 0 && !strings.Contains(strings.ReplaceAll(strings.ToLower(phpvars.Decode(path)), "index.php", ""), ".php")
	}
	return false
}

const overrideHeader = "X-Http-Method-Override"

// fieldName is the name of a field, whatever stands in place of its hyphens.
func fieldName(f grammar.Field) string {
	return textproto.CanonicalMIMEHeaderKey(strings.Map(func(c rune) rune {
		if 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' {
			return c
		}
		return '-'
	}, f.Name))
}

// knownFields tells whether all fields are about the body and the method. Others may name
// a user, or change what a cache keeps for other visitors.
func knownFields(r *grammar.Request) bool {
	lengths := 0
	for _, f := range r.Fields {
		switch fieldName(f) {
		case "Content-Length", "Transfer-Encoding":
			lengths++
		case "Content-Type", overrideHeader:
		default:
			return false
		}
	}
	return lengths <= 1
}

// oneRequest tells whether nothing is left of a request, and nothing is missing, where its
// body ends, and whether nothing in its target may be taken for another one.
func oneRequest(r *grammar.Request) bool {
	if strings.ContainsAny(r.Target, "\r\n") || strings.Contains(strings.ToUpper(phpvars.Decode(phpvars.Decode(r.Target))), "HTTP/1") {
		return false
	}
	framed := *r
	framed.Method, framed.Target = http.MethodPost, "/"
	in := bufio.NewReader(bytes.NewReader(framed.Wire("x")))
	parsed, err := http.ReadRequest(in)
	if err != nil {
		return false
	}
	if _, err := io.Copy(io.Discard, parsed.Body); err != nil {
		return false
	}
	_, err = in.ReadByte()
	return errors.Is(err, io.EOF)
}

// here tells whether a target that names a host names that of the site.
func here(target, host string) bool {
	path, _, _ := strings.Cut(target, "?")
	_, named, absolute := strings.Cut(path, "://")
	name, _, _ := strings.Cut(named, "/")
	return !absolute || name == host
}
