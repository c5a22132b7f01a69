// Package curl reads curl's own flags and says which request curl would send.
//
// The flags that change the request are as curl 7.88 has them. Those that change only how
// curl connects or what it prints are accepted and change nothing, so that a copied line
// works as it is.
package curl

import (
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"
)

// Request is the request that curl would send.
type Request struct {
	Method string
	URL    string   // absolute, without user and fragment, with the path as curl sends it
	Header []string // "Name: value"; neither Host, unless it is given, nor Content-Length
	Body   []byte
}

// Line is a line of curl flags. AddFlags fills it.
type Line struct {
	// Input is what "@-" reads.
	Input io.Reader

	method, user, agent, referer, bearer     string
	get, head, compressed, pathAsIs, globOff bool
	headers, cookies                         []string
	data                                     []datum
	parts                                    []part
	agentSet, json                           bool
}

var (
	errTwoBodies = errors.New("--form does not go with --data")
	errHead      = errors.New("--head does not go with a body; use --get, or --request HEAD")
	errJar       = errors.New(`--cookie: files of cookies are not read; write "NAME=VALUE"`)
)

// Request returns the request for a URL. Errors are those of the line, as curl has them,
// and of files that it names.
func (l *Line) Request(url string) (Request, error) {
	if len(l.data) > 0 && len(l.parts) > 0 {
		return Request{}, errTwoBodies
	}
	r := Request{Method: http.MethodGet}
	var err error
	if r.URL, err = l.url(url); err != nil {
		return r, err
	}
	contentType := ""
	switch {
	case l.head && (len(l.parts) > 0 || len(l.data) > 0 && !l.get):
		return r, errHead
	case l.head:
		r.Method = http.MethodHead
	}
	switch {
	case len(l.parts) > 0:
		r.Method, contentType = http.MethodPost, "multipart/form-data; boundary="+boundary
		r.Body, err = l.multipart()
	case len(l.data) > 0:
		if r.Body, err = l.joined(); err == nil && l.get {
			r.URL, r.Body = withQuery(r.URL, string(r.Body)), nil
		} else if !l.get {
			r.Method, contentType = http.MethodPost, "application/x-www-form-urlencoded"
		}
	}
	if err != nil {
		return r, err
	}
	if l.method != "" {
		r.Method = l.method
	}
	r.Header, err = l.header(contentType)
	return r, err
}

// header returns the lines in curl's order. A line of --header replaces curl's own of the
// same name; "Name:" removes it, "Name;" is empty.
func (l *Line) header(contentType string) ([]string, error) {
	given, err := l.givenHeaders()
	if err != nil {
		return nil, err
	}
	accept := "*/*"
	if l.json {
		contentType, accept = "application/json", "application/json"
	}
	agent := l.agent
	if !l.agentSet {
		agent = "curl/7.88.1"
	}
	encoding := ""
	if l.compressed {
		encoding = "deflate, gzip, br, zstd"
	}
	if slices.ContainsFunc(l.cookies, func(c string) bool { return !strings.Contains(c, "=") }) {
		return nil, errJar
	}
	var all []string
	for _, own := range []struct{ name, value string }{
		{"Authorization", l.authorization()},
		{"User-Agent", agent},
		{"Accept", accept},
		{"Accept-Encoding", encoding},
		{"Referer", strings.TrimSuffix(l.referer, ";auto")},
		{"Cookie", strings.Join(l.cookies, ";")},
		{"Content-Type", contentType},
	} {
		named := func(line string) bool { return strings.EqualFold(headerName(line), own.name) }
		if own.value != "" && !slices.ContainsFunc(given, named) {
			all = append(all, own.name+": "+own.value)
		}
	}
	for _, line := range given {
		_, value, colon := strings.Cut(line, ":")
		switch bare, empty := strings.CutSuffix(line, ";"); {
		case colon && strings.TrimSpace(value) != "":
			all = append(all, line)
		case !colon && empty:
			all = append(all, bare+":")
		}
	}
	return all, nil
}

// givenHeaders are the lines of --header.
func (l *Line) givenHeaders() (all []string, err error) { return Headers(l.headers, l.Input) }

// Headers returns header lines as they are given to --header, and in place of "@FILE" those of the file; "@-" is input, unless that is nil.
func Headers(given []string, input io.Reader) (all []string, err error) {
	for _, line := range given {
		file, ok := strings.CutPrefix(line, "@")
		if !ok {
			all = append(all, line)
			continue
		}
		text, err := (&Line{Input: input}).read(file)
		if err != nil {
			return nil, fmt.Errorf("--header: %w", err)
		}
		for line := range strings.Lines(string(text)) {
			all = append(all, strings.TrimRight(line, "\r\n"))
		}
	}
	return all, nil
}

func headerName(line string) string {
	if name, _, colon := strings.Cut(line, ":"); colon {
		return name
	}
	return strings.TrimSuffix(line, ";")
}

func (l *Line) authorization() string {
	switch {
	case l.user != "":
		user := l.user
		if !strings.Contains(user, ":") {
			user += ":" // curl asks for the password
		}
		return "Basic " + base64.StdEncoding.EncodeToString([]byte(user))
	case l.bearer != "":
		return "Bearer " + l.bearer
	}
	return ""
}

// read returns what stands in a file, or in the input for "-".
func (l *Line) read(file string) ([]byte, error) {
	if file == "-" && l.Input != nil {
		return io.ReadAll(l.Input)
	}
	return os.ReadFile(file) //nolint:gosec // the user of the command names the file
}
