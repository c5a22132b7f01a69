package main

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/restwarden/restwarden/cmd/check/testkit/workloads"
)

// mix is all workloads in turns, as bytes.
type mix struct {
	host   string
	usual  [][]byte
	newOne int64 // of so many requests one is of a caller or an order that nobody knows; 0 for none
}

func newMix(host string, newOne int64) *mix {
	m := &mix{host: host, newOne: newOne}
	for i := range workloads.All {
		m.usual = append(m.usual, workloads.All[i].Request(host))
	}
	return m
}

// request returns the request number k.
func (m *mix) request(k int64) []byte {
	if m.newOne > 0 && k%m.newOne == m.newOne-1 {
		return m.unknown(k / m.newOne % 2)
	}
	return m.usual[k%int64(len(m.usual))]
}

// unknown returns a request that the gateway must ask about: of a new caller for 0, and for 1 about a
// new order. It comes from an address of its own, since new callers of one address are few.
func (m *mix) unknown(kind int64) []byte {
	n := rand.Uint32()
	w := workloads.All[slices.IndexFunc(workloads.All, func(w workloads.Workload) bool {
		return w.Name == [...]string{"identified", "order update"}[kind]
	})]
	w.From = fmt.Sprintf("12.%d.%d.%d", n>>16&255, n>>8&255, n&255)
	if kind == 0 {
		w.Pair = fmt.Sprintf("editor:%024d", n)
	} else {
		w.Target = fmt.Sprintf("/wp-json/wc/v3/orders/%d", 10_000+n)
	}
	return w.Request(m.host)
}
