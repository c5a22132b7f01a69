package policies

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/restwarden/restwarden/policies/call"
)

// recorded is a message that was sent to a real server (policies/mcp/testdata).
type recorded struct {
	ID, Case, Server string
	Request          []byte
	Ran              []struct {
		Ran   string
		Input json.RawMessage
	}
}

// recordedMessages returns the recorded messages.
func recordedMessages(t *testing.T) (list []recorded) {
	t.Helper()
	f, err := os.Open("mcp/testdata/recorded.jsonl.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	unzipped, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	for d := json.NewDecoder(unzipped); ; {
		var r recorded
		if err := d.Decode(&r); errors.Is(err, io.EOF) {
			return list
		} else if err != nil {
			t.Fatal(err)
		}
		list = append(list, r)
	}
}

// TestOrderType_Recorded: what ran the update of an order is judged by the id that ran, and
// what ran anything else passes, unless it is odd.
func TestOrderType_Recorded(t *testing.T) {
	odd := map[string]bool{
		"woo-010": true, "woo-011": true, // on the shop's own server, params in params and a list
		"wpmcp-014": true, // an inner batch
	}
	updates, others := 0, 0
	for _, sent := range recordedMessages(t) {
		if sent.Server == "abilities" {
			continue
		}
		raw, err := http.ReadRequest(bufio.NewReader(bytes.NewReader(sent.Request)))
		if err != nil {
			continue // a message that Go's server refuses
		}
		body, _ := io.ReadAll(raw.Body)
		s := newSite(t)
		p := provision(t, s, new(OrderType))
		backend := shopOf(nil)
		r := request(t, s, backend, raw.Method, raw.RequestURI, string(body))
		r.HTTP.Header = raw.Header
		if r.Call.Kind != call.Single {
			continue
		}
		v, err := p.Check(t.Context(), r)
		refused := err != nil || v.Refused()
		id := ""
		for _, run := range sent.Ran {
			if strings.HasPrefix(run.Ran, "(inner REST P") && strings.Contains(run.Ran, "/wc/v3/orders/") {
				id = strings.TrimSuffix(run.Ran[strings.LastIndexByte(run.Ran, '/')+1:], ")")
			}
		}
		switch q := backend.Questions(); {
		case id != "":
			updates++
			if !refused && (len(q) == 0 || !strings.Contains(q[0].Route, "/orders/"+id+"/")) {
				t.Errorf("%s (%s) passes, asked %+v", sent.ID, sent.Case, q)
			}
		case len(sent.Ran) > 0:
			others++
			if refused != odd[sent.ID] {
				t.Errorf("%s (%s): %+v, %v", sent.ID, sent.Case, v, err)
			}
		}
	}
	if updates == 0 || others < 250 {
		t.Errorf("%d updates and %d other runs", updates, others)
	}
}
