package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/restwarden/restwarden/cmd/check/testkit/workloads"
)

// schedule says which request comes next, and when it is due. Several goroutines may ask it.
type schedule func() (k int64, due time.Time, more bool)

// constant has n requests at a constant rate a second from start on, whatever becomes of them.
func constant(start time.Time, rate float64, n int64) schedule {
	var taken atomic.Int64
	return func() (int64, time.Time, bool) {
		k := taken.Add(1) - 1
		return k, start.Add(time.Duration(float64(k) / rate * float64(time.Second))), k < n
	}
}

// closed has a request whenever somebody asks for one, until end.
func closed(end time.Time) schedule {
	var taken atomic.Int64
	return func() (int64, time.Time, bool) {
		now := time.Now()
		return taken.Add(1) - 1, now, now.Before(end)
	}
}

// outcome is what became of requests. A latency counts from the time at which the request
// was due.
type outcome struct {
	took   []time.Duration
	errors int
	first  error // of the errors

	refused int           // calls that were refused meanwhile
	cpu     time.Duration // that the Caddy took meanwhile
}

func (o *outcome) add(more outcome) {
	o.took = append(o.took, more.took...)
	o.errors, o.refused, o.cpu = o.errors+more.errors, o.refused+more.refused, o.cpu+more.cpu
	if o.first == nil {
		o.first = more.first
	}
}

// percentile returns the latency that the given share of all requests does not exceed.
func (o *outcome) percentile(share float64) time.Duration {
	if len(o.took) == 0 {
		return 0
	}
	slices.Sort(o.took)
	return o.took[max(0, int(math.Ceil(share*float64(len(o.took))))-1)]
}

// patience is how long the last requests may take.
const patience = time.Minute

// send connects senders to address, and sends requests when they are due. A sender that is
// free takes the next request, so that none waits for another as long as there are more of
// them than requests under way.
func send(ctx context.Context, address string, senders int, plan func(start time.Time) schedule, request func(k int64) []byte) (outcome, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	clients := make([]*sender, senders)
	for i := range clients {
		clients[i] = &sender{address: address}
		if err := clients[i].connect(ctx); err != nil {
			return outcome{}, err
		}
		defer clients[i].close()
	}
	next := plan(time.Now().Add(10 * time.Millisecond))
	var group sync.WaitGroup
	for _, s := range clients {
		group.Go(func() { s.work(ctx, next, request) })
	}
	group.Wait()
	var all outcome
	for _, s := range clients {
		all.add(s.outcome)
	}
	return all, context.Cause(ctx)
}

// sender sends over one connection at a time.
type sender struct {
	outcome

	address string
	client  *workloads.Client
}

func (s *sender) connect(ctx context.Context) (err error) {
	s.client, err = workloads.Dial(ctx, "tcp", s.address)
	return err
}

func (s *sender) close() {
	if s.client != nil {
		_ = s.client.Close() // all was read
	}
}

func (s *sender) work(ctx context.Context, next schedule, request func(int64) []byte) {
	for ctx.Err() == nil {
		k, due, more := next()
		if !more {
			return
		}
		time.Sleep(time.Until(due))
		if err := s.send(ctx, request(k)); err != nil {
			s.errors++
			if s.first == nil {
				s.first = err
			}
		}
		s.took = append(s.took, time.Since(due))
	}
}

// attempts are as many as a client needs whose connections a reload ends: the kept one, and
// new ones that wait for a listener which is closed.
const attempts = 4

// send sends a request, over a new connection where the server has ended the old one.
func (s *sender) send(ctx context.Context, request []byte) (err error) {
	for range attempts {
		if s.client == nil {
			if err = s.connect(ctx); err != nil {
				return fmt.Errorf("connecting: %w", err)
			}
		}
		if err = s.client.Send(request); err == nil || errors.Is(err, workloads.ErrStatus) {
			return err
		}
		s.close()
		s.client = nil
		if !errors.Is(err, workloads.ErrEnded) {
			return err
		}
	}
	return err
}
