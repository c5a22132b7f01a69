//go:build wordpress

package wordpress

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// dispatchLog reads what early.php writes: a line for every dispatched route, whoever
// asked for it and however it got there. Several goroutines may use it.
type dispatchLog struct {
	path string

	mu      sync.Mutex
	offset  int64
	waiting map[int][]dispatched // for whoever sent the request
	changed int                  // how many had a number that is no shot's, and were not open
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

// take returns the dispatches of one request since the last call.
func (l *dispatchLog) take(number int) ([]dispatched, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	err := l.read()
	seen := l.waiting[number]
	delete(l.waiting, number)
	return seen, err
}

// strays returns how many dispatches there were whose number no random shot has: an
// operator has changed it.
func (l *dispatchLog) strays() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.changed
}

// stray forgets the dispatches that nobody took, and returns an error where one of them
// was not open: an operator may have changed the number in its route, or it came late.
func (l *dispatchLog) stray() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	err := l.read()
	for number, seen := range l.waiting {
		for i := range seen {
			if _, open := seen[i].canary(); number != 0 && !open && err == nil {
				err = fmt.Errorf("request %d, which is not under way, ran %s %q", number, seen[i].Method, seen[i].Route)
			}
		}
	}
	clear(l.waiting)
	return err
}

// read sorts the new lines by request. l.mu is locked.
func (l *dispatchLog) read() error {
	f, err := os.Open(l.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }() // it was only read
	text, err := io.ReadAll(io.NewSectionReader(f, l.offset, 1<<40))
	if err != nil {
		return err
	}
	end := bytes.LastIndexByte(text, '\n') + 1
	l.offset += int64(end)
	if l.waiting == nil {
		l.waiting = map[int][]dispatched{}
	}
	for line := range bytes.Lines(text[:end]) {
		var d dispatched
		if err := json.Unmarshal(line, &d); err != nil {
			return err
		}
		if canaryRoute.MatchString(string(d.Route)) {
			number, open := d.canary()
			if number != 0 && number < firstShot && !open {
				l.changed++
			}
			l.waiting[number] = append(l.waiting[number], d)
		}
	}
	return nil
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
