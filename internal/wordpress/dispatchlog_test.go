//go:build wordpress

package wordpress

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// dispatchLog reads what early.php writes: a line for every dispatched route, whoever
// asked for it and however it got there.
type dispatchLog struct {
	path   string
	offset int64
}

// dispatched is one line.
type dispatched struct {
	Route  base64Text `json:"route"`
	Method string     `json:"method"`
}

// base64Text is text that stands in JSON as base64.
type base64Text string

// UnmarshalJSON implements json.Unmarshaler.
func (t *base64Text) UnmarshalJSON(data []byte) error {
	var b []byte
	err := json.Unmarshal(data, &b)
	*t = base64Text(b)
	return err
}

// next returns the lines since the last call.
func (l *dispatchLog) next() ([]dispatched, error) {
	f, err := os.Open(l.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // it was only read
	text, err := io.ReadAll(io.NewSectionReader(f, l.offset, 1<<40))
	if err != nil {
		return nil, err
	}
	end := bytes.LastIndexByte(text, '\n') + 1
	l.offset += int64(end)
	var list []dispatched
	for line := range bytes.Lines(text[:end]) {
		var d dispatched
		if err := json.Unmarshal(line, &d); err != nil {
			return nil, err
		}
		list = append(list, d)
	}
	return list, nil
}

var canaryRoute = regexp.MustCompile(`(?i)canary/v1/(open/|read/|never/)?t([0-9]+)`)

// canary returns which request a dispatch is of, 0 for none; open tells whether
// anybody may make it, or the administrator who did.
func (d *dispatched) canary() (number int, open bool) {
	at := canaryRoute.FindStringSubmatchIndex(string(d.Route))
	if at == nil {
		return 0, false
	}
	m := canaryRoute.FindStringSubmatch(string(d.Route))
	number, _ = strconv.Atoi(m[2])
	named := at[0] == 1 && d.Route[0] == '/' // by the rules, and not another route
	switch strings.ToLower(m[1]) {
	case "open/":
		open = named && (d.Method == http.MethodGet || d.Method == http.MethodHead)
	case "read/":
		open = !named || !slices.Contains([]string{"POST", "PUT", "PATCH", "DELETE"}, d.Method)
	case "never/":
		open = !named
	}
	return number, open
}

// of returns the dispatches of one request.
func of(list []dispatched, number int) []dispatched {
	return slices.DeleteFunc(list, func(d dispatched) bool {
		n, _ := d.canary()
		return n != number || !canaryRoute.MatchString(string(d.Route))
	})
}
