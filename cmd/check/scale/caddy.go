package main

import (
	"context"
	"fmt"
	"os"
	"regexp"
	"strconv"
	"sync"
	"time"

	"github.com/restwarden/restwarden/cmd/check/testkit/client"
	"github.com/restwarden/restwarden/cmd/check/testkit/machine"
)

// caddy is a running Caddy.
type caddy struct {
	process *machine.Process
	address string // of all sites
	admin   machine.Admin
	config  string
}

func (s *settings) startCaddy(ctx context.Context, dir string, k kind, platform string) (*caddy, error) {
	ports, err := machine.FreePorts(2)
	if err != nil {
		return nil, err
	}
	c := &caddy{address: fmt.Sprintf("127.0.0.1:%d", ports[0]), admin: machine.Admin(fmt.Sprintf("127.0.0.1:%d", ports[1]))}
	c.config = k.caddyfile(s.sites, string(c.admin), strconv.Itoa(ports[0]), platform)
	c.process, err = machine.StartCaddy(ctx, s.binary, dir, c.config, c.address)
	return c, err
}

// reload loads the Caddyfile again. Caddy adapts it as it does at start.
func (c *caddy) reload(ctx context.Context) error {
	return c.admin.Load(ctx, c.config, "text/caddyfile")
}

// reloadJSON loads what the first load has made of the Caddyfile.
func (c *caddy) reloadJSON(ctx context.Context) error {
	config, err := c.adapted(ctx)
	if err != nil {
		return err
	}
	return c.admin.Load(ctx, string(config), "application/json")
}

// adapted returns what Caddy has made of the Caddyfile.
func (c *caddy) adapted(ctx context.Context) ([]byte, error) { return c.admin.Get(ctx, "/config/") }

// use sends requests to every site, a few at a time.
func (c *caddy) use(ctx context.Context, sites int, lines []string) error {
	const workers = 8
	crowd := client.New()
	defer crowd.CloseIdleConnections()
	var group sync.WaitGroup
	failed := make(chan error, workers)
	for worker := range workers {
		group.Go(func() {
			for site := worker; site < sites; site += workers {
				for _, line := range lines {
					req, err := client.Request(ctx, "http://"+c.address, line, "", client.Lines("Host: "+host(site)))
					if err == nil {
						_, err = client.Do(crowd, req)
					}
					if err != nil {
						failed <- fmt.Errorf("%s: %s: %w", host(site), line, err)
						return
					}
				}
			}
		})
	}
	group.Wait()
	close(failed)
	return <-failed // nil where nothing failed
}

// state is what a process has taken.
type state struct {
	cpu      time.Duration
	resident int64 // bytes in memory
	heap     int64 // bytes of live objects
}

// The process is quiet when its CPU time and memory have not changed for a while. It has
// settlePatience to become so.
const (
	settleEvery    = 250 * time.Millisecond
	settlePatience = 20 * time.Second
)

// after does work and returns what it took.
func (c *caddy) after(ctx context.Context, work func(context.Context) error) (state, error) {
	before, err := c.cpu()
	if err == nil {
		err = work(ctx)
	}
	if err != nil {
		return state{}, err
	}
	return c.settle(ctx, time.Duration(before))
}

// settle waits until the process is quiet, collects its garbage, and returns what it has
// taken. The CPU time counts from before and does not include the collection.
func (c *caddy) settle(ctx context.Context, before time.Duration) (state, error) {
	cpu, err := c.quiet(ctx, c.cpu)
	if err != nil {
		return state{}, err
	}
	var text []byte
	for range 2 { // pools are emptied by the second collection
		if text, err = c.admin.Get(ctx, "/debug/pprof/heap?gc=1&debug=1"); err != nil {
			return state{}, err
		}
	}
	resident, err := c.quiet(ctx, c.residentMiB)
	if err != nil {
		return state{}, err
	}
	heap, err := field(text, "# HeapAlloc = ")
	return state{time.Duration(cpu) - before, resident << 20, heap}, err
}

// quiet returns a value of the process when it has stopped changing.
func (c *caddy) quiet(ctx context.Context, value func() (int64, error)) (int64, error) {
	last := int64(-1)
	for end := time.Now().Add(settlePatience); ; time.Sleep(settleEvery) {
		now, err := value()
		switch {
		case err != nil:
			return 0, err
		case now == last, time.Now().After(end):
			return now, nil
		case ctx.Err() != nil:
			return 0, context.Cause(ctx)
		}
		last = now
	}
}

// cpu is the CPU time of the process, in nanoseconds.
func (c *caddy) cpu() (int64, error) {
	took, err := machine.CPU(c.process.PID())
	return int64(took), err
}

func (c *caddy) residentMiB() (int64, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", c.process.PID()))
	if err != nil {
		return 0, err
	}
	kib, err := field(text, "VmRSS:")
	return kib >> 10, err
}

// field returns the number behind a name.
func field(text []byte, name string) (int64, error) {
	m := regexp.MustCompile(`(?m)^` + regexp.QuoteMeta(name) + `\s*(\d+)`).FindSubmatch(text)
	if m == nil {
		return 0, fmt.Errorf("there is no %s", name)
	}
	return strconv.ParseInt(string(m[1]), 10, 64)
}
