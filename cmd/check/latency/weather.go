package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"time"

	"github.com/restwarden/restwarden/cmd/check/testkit/machine"
)

// weather is what happens while a shop is busy.
type weather struct {
	name   string
	strict bool // every call must be answered
	redis  bool // the guarded side has a Redis
	fresh  bool // some callers and orders are new
	slow   bool // some questions are
	flood  bool
	refuse bool                               // calls that are refused come beside
	middle func(context.Context, *side) error // happens in the middle of each slice
}

var weathers = []weather{
	{name: "calm", strict: true},
	{name: "a reload", strict: true, middle: func(ctx context.Context, c *side) error { return c.reload(ctx) }},
	{name: "Redis lost", redis: true, fresh: true, middle: func(_ context.Context, c *side) error {
		if c.guarded { // the other side has none
			c.shop.redis.Kill()
		}
		return nil
	}},
	{name: "slow questions", fresh: true, slow: true},
	{name: "a flood", flood: true},
	{name: "refusals", strict: true, refuse: true},
}

// slowQuestion is how long one of twenty questions takes in slow weather, and unknownEach how
// many requests a second need questions where callers and orders are new.
const (
	slowQuestion = 8 * time.Second
	unknownEach  = 20
)

// measure measures both sides in turns, with the same load.
func (s *settings) measure(ctx context.Context, dir string, w weather) (row, error) {
	r := row{weather: w}
	shop, err := open(ctx, s.binary, filepath.Join(dir, w.name), w.redis)
	if err != nil {
		return r, err
	}
	defer shop.close()
	for _, c := range []*side{shop.bare, shop.guarded} {
		if _, err := c.rateHeld(ctx, s.warm, 1); err != nil { // the sites' indexes are read, the callers are known
			return r, err
		}
	}
	if w.slow {
		shop.platform.Slow(slowQuestion)
	}
	if w.refuse {
		calm := w
		calm.refuse = false
		if r.calm, err = s.slicedLoad(ctx, shop.guarded, calm); err != nil {
			return r, err
		}
	}
	for i := range s.slices {
		turn := []*side{shop.bare, shop.guarded}
		if i%2 == 1 {
			turn[0], turn[1] = turn[1], turn[0]
		}
		for _, c := range turn {
			got, err := s.slicedLoad(ctx, c, w)
			if err != nil {
				return r, err
			}
			if c.guarded {
				r.guarded = append(r.guarded, got)
			} else {
				r.bare = append(r.bare, got)
			}
		}
	}
	return r, nil
}

// slicedLoad sends one slice of load to one side.
func (s *settings) slicedLoad(ctx context.Context, c *side, w weather) (outcome, error) {
	if w.redis && c.guarded {
		c.shop.redis.Kill() // that of the slice before, where it still runs
		if err := c.shop.startRedis(ctx); err != nil {
			return outcome{}, err
		}
	}
	newOne := int64(0)
	if w.fresh {
		newOne = max(2, int64(s.rate/unknownEach))
	}
	m := newMix(c.address, newOne)
	ctx, cancel := context.WithTimeoutCause(ctx, s.slice+patience, fmt.Errorf("some requests took longer than %s", patience))
	defer cancel()
	flooding, end := context.WithCancel(ctx)
	var beside sync.WaitGroup
	if w.flood {
		requests := floodRequests(c.address)
		beside.Go(func() { flood(flooding, c.address, requests, s.flood) })
	}
	var failed, refusing error
	var refused int
	if w.refuse {
		beside.Go(func() { refused, refusing = s.refusals(ctx, c) })
	}
	if w.middle != nil {
		beside.Go(func() {
			time.Sleep(s.slice / 2)
			failed = w.middle(ctx, c)
		})
	}
	before, unknown := machine.CPU(c.process.PID())
	got, err := send(ctx, c.address, s.senders, func(start time.Time) schedule {
		return constant(start, s.rate, int64(s.rate*s.slice.Seconds()))
	}, m.request)
	end()
	beside.Wait()
	after, unknownToo := machine.CPU(c.process.PID())
	got.refused, got.cpu = refused, after-before
	return got, errors.Join(err, failed, refusing, unknown, unknownToo)
}
