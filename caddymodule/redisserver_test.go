package caddymodule

import (
	"bytes"
	"net"
	"os/exec"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
)

// redisServer is a real redis-server on loopback, in a directory of its own.
type redisServer struct {
	t    testing.TB
	addr string
	args []string
	cmd  *exec.Cmd
	log  *bytes.Buffer
}

// startRedis runs a server until the test ends; args are added to its command line.
func startRedis(t testing.TB, args ...string) *redisServer {
	t.Helper()
	addr := freeAddr(t)
	_, port, _ := net.SplitHostPort(addr)
	s := &redisServer{t: t, addr: addr, args: append([]string{
		"--bind", "127.0.0.1", "--port", port, "--dir", t.TempDir(), "--save", "", "--daemonize", "no",
	}, args...)}
	s.start()
	t.Cleanup(s.kill)
	return s
}

// start begins a server that was not begun or was killed, on the same port and
// directory, and waits until it answers.
func (s *redisServer) start() {
	s.t.Helper()
	path, err := exec.LookPath("redis-server")
	if err != nil {
		s.t.Fatal("redis-server is not installed; `go run ./cmd/check` installs it, or: apt-get install redis-server")
	}
	s.log = new(bytes.Buffer)
	s.cmd = exec.Command(path, s.args...)
	s.cmd.Stdout, s.cmd.Stderr = s.log, s.log
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := s.cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	for range 200 {
		if c, err := net.Dial("tcp", s.addr); err == nil {
			c.Close()
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
	s.kill()
	s.t.Fatalf("redis-server does not listen: %s", s.log)
}

// kill ends the server at once, as a crash would.
func (s *redisServer) kill() {
	if s.cmd == nil {
		return
	}
	_ = s.cmd.Process.Kill() // it may have ended
	_ = s.cmd.Wait()
	s.cmd = nil
}

// admin returns a client of the test's own, without deadlines.
func (s *redisServer) admin(options ...func(*redis.Options)) *redis.Client {
	o := &redis.Options{Addr: s.addr, DisableIdentity: true}
	for _, f := range options {
		f(o)
	}
	c := redis.NewClient(o)
	s.t.Cleanup(func() { c.Close() })
	return c
}

// lag is a proxy in front of a server, whose answers it can delay or withhold.
type lag struct {
	addr string

	mu     sync.Mutex
	delay  time.Duration
	closed bool
	conns  []net.Conn
}

func startLag(t testing.TB, to string) *lag {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &lag{addr: l.Addr().String()}
	t.Cleanup(func() { l.Close(); p.cut() })
	go func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			server, err := net.Dial("tcp", to)
			if err != nil || !p.accept(client, server) {
				client.Close()
				continue
			}
			go p.copy(server, client, false)
			go p.copy(client, server, true)
		}
	}()
	return p
}

func (p *lag) set(delay time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.delay = delay
}

// refuse makes the proxy take no connections, or take them again.
func (p *lag) refuse(closed bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = closed
}

func (p *lag) accept(client, server net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		server.Close()
		return false
	}
	p.conns = append(p.conns, client, server)
	return true
}

// cut ends all connections.
func (p *lag) cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range p.conns {
		c.Close()
	}
	p.conns = nil
}

func (p *lag) copy(to, from net.Conn, delayed bool) {
	defer to.Close()
	defer from.Close()
	b := make([]byte, 32<<10)
	for {
		n, err := from.Read(b)
		if delayed {
			p.mu.Lock()
			delay := p.delay
			p.mu.Unlock()
			time.Sleep(delay)
		}
		if _, werr := to.Write(b[:n]); err != nil || werr != nil {
			return
		}
	}
}
