package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"time"

	"github.com/restwarden/restwarden/cmd/check/grammar"
	"github.com/restwarden/restwarden/cmd/check/testkit/workloads"
)

// doors and dearest are the requests of a flood: of each kind that the shop's directive reads, the one
// that docs/guides/cost.md names as the dearest.
var (
	doors = grammar.Doors{
		"page":    {"/shop/"},
		"call":    {"/wp-json/wc/store/v1/checkout?_embed"},
		"form":    {"/"},
		"batch":   {"/wp-json/wc/store/v1/batch"},
		"message": {"/wp-json/mcp/mcp-adapter-default-server"},
	}
	dearest = map[[3]string]bool{
		{"page", "query", "%6|hsa"}:                    true,
		{"call", "form", ";a0"}:                        true,
		{"form", "form that names the route", "a0[0]"}: true,
		{"batch", "paths of parts", "rest_rout&"}:      true,
		{"message", "arguments", `"a0":"\\`}:           true,
	}
)

// The flood comes from an address of its own, as a connection and as a client.
const (
	floodFrom   = "127.0.0.2"
	floodClient = "203.0.113.9"
	flooders    = 8 // connections at a time
)

// repetitions are the requests of a flood. To find them takes a second of CPU time.
var repetitions = sync.OnceValue(func() (all []*grammar.Repetition) {
	for _, r := range grammar.Repetitions(doors) {
		for of := range dearest {
			if r.Kind == of[0] && r.Place == of[1] && strings.HasPrefix(r.Unit, of[2]) {
				r.Fields = append(r.Fields, grammar.Field{Name: "X-Forwarded-For", Value: floodClient}, grammar.Field{Name: "Connection", Value: "close"})
				all = append(all, r)
			}
		}
	}
	return all
})

// floodRequests returns the requests of a flood to host.
func floodRequests(host string) (all [][]byte) {
	for _, r := range repetitions() {
		all = append(all, r.Wire(host))
	}
	return all
}

// flood sends requests in turns at a rate a second until ctx ends. Where all connections are taken, it
// sends less.
func flood(ctx context.Context, address string, all [][]byte, rate float64) {
	next := constant(time.Now(), rate, 1<<62)
	var group sync.WaitGroup
	for range flooders {
		group.Go(func() {
			for {
				k, due, _ := next()
				select {
				case <-ctx.Done():
					return
				case <-time.After(time.Until(due)):
				}
				sendOnce(ctx, address, all[k%int64(len(all))])
			}
		})
	}
	group.Wait()
}

// refusals sends calls that the directive refuses for one slice. It returns how many it has refused.
func (s *settings) refusals(ctx context.Context, c *side) (int, error) {
	w := workloads.Workload{Method: "GET", Target: "/wp-json/wp/v2/users", From: floodClient}
	request := w.Request(c.address)
	got, err := send(ctx, c.address, flooders, func(start time.Time) schedule {
		return constant(start, s.refused, int64(s.refused*s.slice.Seconds()))
	}, func(int64) []byte { return request })
	if refused := got.errors == len(got.took) && errors.Is(got.first, workloads.ErrStatus); err == nil && refused != c.guarded {
		err = fmt.Errorf("%d of %d calls were refused, the first with %w", got.errors, len(got.took), got.first)
	}
	return got.errors, err
}

// sendOnce sends a request over a connection of its own, whatever the answer is.
func sendOnce(ctx context.Context, address string, request []byte) {
	from := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(floodFrom)}}
	conn, err := from.DialContext(ctx, "tcp", address)
	if err != nil {
		return
	}
	defer func() { _ = conn.Close() }()
	stop := context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Now()) })
	defer stop()
	_, _ = conn.Write(request) // it may be refused before its end
	_, _ = io.Copy(io.Discard, conn)
}
