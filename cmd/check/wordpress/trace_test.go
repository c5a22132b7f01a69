//go:build wordpress

package wordpress

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// trace is what WordPress made of one request, as the plugin reported it.
type trace struct {
	loaded     bool
	dispatches []dispatch
	items      []item // of a shop's batch
	agents     []agentRun
	carried    []carried // by the calls of conditions.php
	doors      []doorTaken
}

// dispatch is one dispatched route: the request's own first, then batch parts
// and embeds.
type dispatch struct {
	Route   []byte  `json:"route"`
	Method  string  `json:"method"`
	Pattern *string `json:"pattern"` // nil where no route fits
	User    int     `json:"user"`
	Key     string  `json:"key"` // of the shop, that acts in place of a user
	App     string  `json:"app"` // the uuid of the application password that counts

	matched bool            // WordPress went as far as the route's own parameters
	ID      json.RawMessage `json:"id"` // null where there is none
	OrderID json.RawMessage `json:"order_id"`
	Error   string
	ran     bool // the handler was called
}

// doorTaken is another door than REST that a request has come through.
type doorTaken struct {
	Door string `json:"door"` // "xmlrpc.php", "page", "admin"
	User int    `json:"user"` // who has sent the message
	Key  string `json:"key"`  // of the shop, that acts on the page
}

// agentRun is an ability or a tool that a server of agents ran.
type agentRun struct {
	Ran   string          `json:"ran"` // "lab/write-item", "(tool lab_tool)"
	Input json.RawMessage `json:"input"`
	User  int             `json:"user"`
}

type item struct {
	Method string `json:"method"`
	ID     int64  `json:"id"`
}

// readTrace returns what was reported under tag, nothing where WordPress did not
// run, and forgets it.
func (s *stack) readTrace(tag string) (trace, error) {
	var t trace
	name := filepath.Join(s.reports, tag)
	text, err := os.ReadFile(name)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
		return t, err
	}
	lines := bufio.NewScanner(bytes.NewReader(text))
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		if err := t.add(lines.Bytes()); err != nil {
			return t, err
		}
	}
	return t, errors.Join(lines.Err(), os.Remove(name))
}

func (t *trace) add(line []byte) error {
	var fact struct {
		At      string          `json:"at"`
		ID      json.RawMessage `json:"id"`
		OrderID json.RawMessage `json:"order_id"`
		Error   string          `json:"error"`
	}
	if err := json.Unmarshal(line, &fact); err != nil {
		return err
	}
	t.loaded = true
	switch fact.At {
	case "dispatch":
		var d dispatch
		if err := json.Unmarshal(line, &d); err != nil {
			return err
		}
		t.dispatches = append(t.dispatches, d)
	case "item":
		var i item
		if err := json.Unmarshal(line, &i); err != nil {
			return err
		}
		t.items = append(t.items, i)
	case "agent":
		var a agentRun
		if err := json.Unmarshal(line, &a); err != nil {
			return err
		}
		t.agents = append(t.agents, a)
	case "door":
		var d doorTaken
		if err := json.Unmarshal(line, &d); err != nil {
			return err
		}
		t.doors = append(t.doors, d)
	case "carried":
		var c carried
		if err := json.Unmarshal(line, &c); err != nil {
			return err
		}
		t.carried = append(t.carried, c)
	case "match", "run":
		if len(t.dispatches) == 0 {
			return fmt.Errorf("%s before any dispatch", fact.At)
		}
		d := &t.dispatches[len(t.dispatches)-1]
		if fact.At == "run" {
			d.ran = true
			return nil
		}
		d.matched, d.ID, d.OrderID, d.Error = true, fact.ID, fact.OrderID, fact.Error
	}
	return nil
}
