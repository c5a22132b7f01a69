// Package redisrun runs real Redis servers on loopback for tests: one, a Cluster, a
// Sentinel, and a proxy that makes a server slow or unreachable.
package redisrun

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/restwarden/restwarden/cmd/check/testkit/machine"
)

// Server is a redis-server in a directory of its own.
type Server struct {
	Addr string

	tb      testing.TB
	dir     string
	args    []string
	running *machine.Process
}

// Start runs a server until the test ends; args are added to its command line.
func Start(tb testing.TB, args ...string) *Server {
	tb.Helper()
	s := newServer(tb)
	s.args = append(Args(s.Addr, s.dir), args...)
	s.Start()
	return s
}

// Sentinel runs a Sentinel that watches master under a name.
func Sentinel(tb testing.TB, master *Server, name string) *Server {
	tb.Helper()
	s := newServer(tb)
	config := filepath.Join(s.dir, "sentinel.conf") // a Sentinel writes its state there
	if err := os.WriteFile(config, nil, 0o600); err != nil {
		tb.Fatal(err)
	}
	s.args = []string{config, "--sentinel", "--bind", "127.0.0.1", "--port", machine.Port(s.Addr)}
	s.Start()
	if err := s.Admin().Do(tb.Context(), "SENTINEL", "MONITOR", name, "127.0.0.1", machine.Port(master.Addr), 1).Err(); err != nil {
		tb.Fatal(err)
	}
	return s
}

func newServer(tb testing.TB) *Server {
	tb.Helper()
	s := &Server{Addr: machine.FreeAddress(tb), tb: tb, dir: tb.TempDir()}
	tb.Cleanup(s.Kill)
	return s
}

// Start starts a server that was killed, on the same port and directory, and waits
// until it listens.
func (s *Server) Start() {
	s.tb.Helper()
	var err error
	if s.running, err = Run(s.tb.Context(), s.Addr, s.dir, s.args); err != nil {
		s.tb.Fatal(err)
	}
}

// Args is the command line of a server at addr that keeps nothing.
func Args(addr, dir string) []string {
	return []string{"--bind", "127.0.0.1", "--port", machine.Port(addr), "--dir", dir, "--save", "", "--daemonize", "no"}
}

// Run starts a server in dir and waits until it listens on addr, for what is no test.
func Run(ctx context.Context, addr, dir string, args []string) (*machine.Process, error) {
	running, err := machine.Start(dir, "redis-server", args...)
	if err != nil {
		return nil, fmt.Errorf("%w; `go run ./cmd/check` installs it, or: apt-get install redis-server", err)
	}
	if err := running.Ready(ctx, machine.Connects("tcp", addr)); err != nil {
		running.Kill()
		return nil, err
	}
	return running, nil
}

// Kill ends the server at once, as a crash would.
func (s *Server) Kill() {
	s.running.Kill()
	s.running = nil
}

// Admin returns a client of the test's own, without deadlines.
func (s *Server) Admin(options ...func(*redis.Options)) *redis.Client {
	o := &redis.Options{Addr: s.Addr, DisableIdentity: true}
	for _, f := range options {
		f(o)
	}
	c := redis.NewClient(o)
	s.tb.Cleanup(func() { _ = c.Close() }) // the server may be gone
	return c
}

// DocumentedUser returns the user "gateway" that a page of the documentation shows, as arguments of
// [Start]. It has the password PASSWORD, and may use keys that begin with "shop".
func DocumentedUser(tb testing.TB, page string) []string {
	tb.Helper()
	text, err := os.ReadFile(page)
	if err != nil {
		tb.Fatal(err)
	}
	_, rest, ok := strings.Cut(string(text), "```text\nuser gateway ")
	line, _, _ := strings.Cut(rest, "\n")
	if !ok {
		tb.Fatal(page, "has no ACL")
	}
	return append([]string{"--user", "gateway"}, strings.Fields(line)...)
}
