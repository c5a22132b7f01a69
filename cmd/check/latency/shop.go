package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/restwarden/restwarden/cmd/check/testkit/caddyrun"
	"github.com/restwarden/restwarden/cmd/check/testkit/machine"
	"github.com/restwarden/restwarden/cmd/check/testkit/redisrun"
	"github.com/restwarden/restwarden/cmd/check/testkit/workloads"
)

// shop is a platform behind two Caddys, and a Redis where the weather needs one.
type shop struct {
	platform  *workloads.Platform
	upstream  string
	redisAt   string // "" for none
	redisDir  string
	redis     *machine.Process
	bare      *side
	guarded   *side
	endServer func()
}

// side is one Caddy.
type side struct {
	shop     *shop
	guarded  bool
	address  string
	admin    machine.Admin
	process  *machine.Process
	versions int // of its configuration
}

// open starts the processes of a shop in dir.
func open(ctx context.Context, binary, dir string, withRedis bool) (s *shop, err error) {
	l, err := machine.Listen()
	if err != nil {
		return nil, err
	}
	s = &shop{platform: new(workloads.Platform), upstream: l.Addr().String(), endServer: func() { _ = l.Close() }}
	go s.platform.Serve(l)
	defer func() {
		if err != nil {
			s.close()
		}
	}()
	ports, err := machine.FreePorts(5)
	if err != nil {
		return nil, err
	}
	at := func(i int) string { return fmt.Sprintf("127.0.0.1:%d", ports[i]) }
	if withRedis {
		s.redisAt, s.redisDir = at(4), filepath.Join(dir, "redis")
		if err := errors.Join(os.MkdirAll(s.redisDir, 0o750), s.startRedis(ctx)); err != nil {
			return nil, err
		}
	}
	s.bare = &side{shop: s, address: at(0), admin: machine.Admin(at(1))}
	s.guarded = &side{shop: s, address: at(2), admin: machine.Admin(at(3)), guarded: true}
	for name, c := range map[string]*side{"bare": s.bare, "guarded": s.guarded} {
		if c.process, err = machine.StartCaddy(ctx, binary, filepath.Join(dir, name), c.caddyfile(), c.address); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// close ends what has started.
func (s *shop) close() {
	for _, c := range []*side{s.bare, s.guarded} {
		if c != nil {
			c.process.Stop()
		}
	}
	s.redis.Kill()
	s.endServer()
}

func (s *shop) startRedis(ctx context.Context) (err error) {
	s.redis, err = redisrun.Run(ctx, s.redisAt, s.redisDir, redisrun.Args(s.redisAt, s.redisDir))
	return err
}

// proxy keeps as many connections to the platform as the client has. With fewer, a Caddy that
// falls behind opens new ones all the time, and does not catch up.
const proxy = "\treverse_proxy %s {\n\t\ttransport http {\n\t\t\tkeepalive_idle_conns_per_host 512\n\t\t}\n\t}"

// caddyfile returns a configuration of its own for each version. Requests from loopback may
// name the client that they come from.
func (c *side) caddyfile() string {
	f := caddyrun.File{Admin: string(c.admin), Global: "\tservers {\n\t\ttrusted_proxies static 127.0.0.0/8\n\t}\n"}
	body := fmt.Sprintf("\tvars version %d\n", c.versions)
	if c.guarded {
		more := fmt.Sprintf("\t\tallow anyone GET /version-%d/v1/status\n", c.versions)
		if at := c.shop.redisAt; at != "" {
			f.Global += "\trestwarden {\n\t\tstore redis " + at + "\n\t}\n"
			more += "\t\trate_limit 1000000/1m POST /complianz/**\n" // so that calls ask Redis
		}
		body += strings.TrimSuffix(workloads.Directive, "\t}\n") + more + "\t}\n"
	}
	f.Sites = []caddyrun.Site{{Address: c.address, Body: body + fmt.Sprintf(proxy, c.shop.upstream)}}
	return f.String()
}

// reload loads the next version.
func (c *side) reload(ctx context.Context) error {
	c.versions++
	return c.admin.Load(ctx, c.caddyfile(), "text/caddyfile")
}

// rateHeld is how many requests a second this Caddy answers for a while, the mix by as many senders as it takes
// to keep it busy: the least of several times.
func (c *side) rateHeld(ctx context.Context, slice time.Duration, times int) (float64, error) {
	const busy = 32
	least := 0.0
	for i := range times {
		start := time.Now()
		got, err := send(ctx, c.address, busy, func(start time.Time) schedule { return closed(start.Add(slice)) }, newMix(c.address, 0).request)
		if err != nil || got.errors > 0 {
			return 0, errors.Join(err, got.first)
		}
		if rate := float64(len(got.took)) / time.Since(start).Seconds(); i == 0 || rate < least {
			least = rate
		}
	}
	return least, nil
}
