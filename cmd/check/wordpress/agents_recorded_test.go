//go:build wordpress

package wordpress

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// recordedMessage is a line of policies/mcp/testdata/recorded.jsonl.gz.
type recordedMessage struct {
	ID      string `json:"id"`
	Case    string `json:"case"`
	Server  string `json:"server"`
	Adapter string `json:"adapter"`
	As      string `json:"as"`
	Request []byte `json:"request"`
	Status  int    `json:"status"`
	Ran     []struct {
		Ran   string          `json:"ran"`
		Input json.RawMessage `json:"input"`
		User  string          `json:"user"`
	} `json:"ran"`
}

func readRecorded(root string) ([]*recordedMessage, error) {
	text, err := os.ReadFile(filepath.Join(root, "policies", "mcp", "testdata", "recorded.jsonl.gz"))
	if err != nil {
		return nil, err
	}
	unpacked, err := gzip.NewReader(bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	var list []*recordedMessage
	for decoder := json.NewDecoder(unpacked); decoder.More(); {
		m := new(recordedMessage)
		if err := decoder.Decode(m); err != nil {
			return nil, err
		}
		list = append(list, m)
	}
	return list, nil
}

// reading is that of the stand-in which the message is for, "" where it has no such server.
func (m *recordedMessage) reading() string {
	switch {
	case m.Server == "woocommerce" || strings.HasPrefix(m.Adapter, "WooCommerce"):
		return "" // the stand-in of the shop is another one
	case m.Adapter == "mcp-adapter 0.3.0" && (strings.Contains(m.Case, "scalar input") || strings.Contains(m.Case, "initialize anonymous")):
		return "" // 0.3 takes the scalar as it is, and fails where a session needs a user
	case m.Adapter == "mcp-adapter 0.3.0" || m.Adapter == "mcp-adapter 0.4.1":
		return olderAdapter
	}
	return newerAdapter
}

// recordedRoles are the accounts of a site that stand for the recorded ones.
var recordedRoles = map[string]string{"admin": "administrator", "sub": "subscriber", "": ""}

// testRecorded replays the messages that were recorded against the real servers. Without
// rules the stand-in runs what those ran, and answers with their status. Behind the gateway
// it runs that or nothing, and nothing that the rules do not allow.
func (a *agents) testRecorded(t *testing.T, gates map[string]*standinGate, rules *agentRules) {
	t.Helper()
	all, err := readRecorded(a.root)
	if err != nil {
		t.Fatal(err)
	}
	c := count(t)
	r := &replay{agents: a, rules: rules, owners: ownersOf(all), sessions: map[string]string{}}
	for _, m := range all {
		if g := gates[m.reading()]; g != nil {
			c.check(m.ID+" "+m.Case, r.replay(t.Context(), g, m))
		}
	}
}

// replay has a session of the stand-in for each recorded one.
type replay struct {
	*agents

	rules            *agentRules       // nil past the gateway
	owners, sessions map[string]string // by the recorded session
}

var sessionHeader = regexp.MustCompile(`(?m)^Mcp-Session-Id: (.*?)\r$`)

// ownersOf says whose the recorded sessions are: of the administrator, where she uses it.
func ownersOf(all []*recordedMessage) map[string]string {
	owners := map[string]string{}
	for _, m := range all {
		if id := sessionHeader.FindSubmatch(m.Request); id != nil && m.As != "" && owners[string(id[1])] != "admin" {
			owners[string(id[1])] = m.As
		}
	}
	return owners
}

// replay sends a recorded message and compares what ran.
func (r *replay) replay(ctx context.Context, g *standinGate, m *recordedMessage) error {
	tag := r.tag()
	raw, err := r.rewrite(ctx, g, m, tag)
	if err != nil {
		return err
	}
	answer, err := send(ctx, &g.gate, raw)
	if err != nil {
		return err
	}
	seen, err := r.readTrace(tag)
	if err != nil {
		return err
	}
	got, want := ranBy(&seen, roleOf(g.Site)), m.ran()
	switch {
	case r.rules == nil && same(got, want) && answer.status == m.Status:
		return nil
	case r.rules != nil && (len(got) == 0 || same(got, want)):
		_, body, _ := bytes.Cut(raw, []byte("\r\n\r\n"))
		return r.rules.check(&message{body: string(body), as: recordedRoles[m.As]}, &seen)
	}
	return fmt.Errorf("ran %q, %d; the real server %q, %d\n%s\n%.500s", got, answer.status, want, m.Status, answer.body, raw)
}

// ran lists what the real server ran, as ranBy does.
func (m *recordedMessage) ran() (list []string) {
	for _, run := range m.Ran {
		if strings.HasPrefix(run.Ran, "(inner REST ") {
			list = append(list, run.Ran)
			continue
		}
		list = append(list, fmt.Sprintf("%s %s as %s", run.Ran, canonical(run.Input), recordedRoles[run.User]))
	}
	return list
}

// rewrite puts the stand-in's address, accounts and sessions in place of the recorded ones.
func (r *replay) rewrite(ctx context.Context, g *standinGate, m *recordedMessage, tag string) ([]byte, error) {
	head, body, _ := bytes.Cut(m.Request, []byte("\r\n\r\n"))
	var lines []string
	for line := range strings.SplitSeq(string(head), "\r\n") {
		name, value, _ := strings.Cut(line, ": ")
		switch name {
		case "Host":
			line = "Host: " + g.host()
		case "X-Lab":
			line = "X-Request-Tag: " + tag
		case "Authorization":
			if account, ok := g.Site.Accounts[recordedRoles[m.As]]; ok {
				line = "Authorization: " + basic(account.Login, account.Application)
			}
		case "Mcp-Session-Id":
			if owner := r.owners[value]; owner != "" {
				id, err := r.sessionFor(ctx, g, value, recordedRoles[owner])
				if err != nil {
					return nil, err
				}
				line = name + ": " + id
			}
		}
		lines = append(lines, line)
	}
	return append([]byte(strings.Join(lines, "\r\n")+"\r\n\r\n"), body...), nil
}

func (r *replay) sessionFor(ctx context.Context, g *standinGate, recorded, role string) (id string, err error) {
	if id, ok := r.sessions[recorded]; ok {
		return id, nil
	}
	id, err = r.initialize(ctx, g, role)
	r.sessions[recorded] = id
	return id, err
}
