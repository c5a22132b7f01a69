package ordertype

import (
	"bufio"
	"bytes"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/restwarden/restwarden/policies/call"
	"github.com/restwarden/restwarden/policies/policytest"
)

// TestOrderType_Recorded: what ran the update of an order is judged by the id that ran, and
// what ran anything else passes, unless it is odd.
func TestOrderType_Recorded(t *testing.T) {
	odd := map[string]bool{
		"woo-010": true, "woo-011": true, // on the shop's own server, params in params and a list
		"wpmcp-014": true, // an inner batch
	}
	updates, others := 0, 0
	for _, sent := range policytest.Recordings(t) {
		if sent.Server == "abilities" {
			continue
		}
		raw, err := http.ReadRequest(bufio.NewReader(bytes.NewReader(sent.Request)))
		if err != nil {
			continue // a message that Go's server refuses
		}
		body, _ := io.ReadAll(raw.Body)
		s := policytest.NewSite(t)
		p := policytest.Provision(t, s, new(OrderType))
		backend := policytest.Shop(nil)
		r := policytest.Request(t, s, backend, raw.Method, raw.RequestURI, string(body))
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
