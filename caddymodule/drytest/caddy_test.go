package drytest

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	_ "github.com/caddyserver/caddy/v2/modules/standard"

	_ "github.com/restwarden/restwarden/caddymodule"
	"github.com/restwarden/restwarden/cmd/check/testkit/caddyrun"
	"github.com/restwarden/restwarden/cmd/check/testkit/client"
	"github.com/restwarden/restwarden/cmd/check/testkit/machine"
	"github.com/restwarden/restwarden/cmd/check/testkit/rawhttp"
)

func TestMain(m *testing.M) { caddyrun.Main(m) }

// running is a Caddy that runs a configuration in a process of its own, with other
// addresses, and with the platform behind it.
type running struct {
	t       *testing.T
	dir     string
	ports   map[string]string // of the configuration, to those that Caddy listens on
	listens map[string]bool   // on these of its ports
	admin   string            // the address of its admin endpoint
	process *machine.Process
}

// startCaddy runs a configuration, in Caddy's JSON, in a program.
func startCaddy(t *testing.T, program string, config []byte, to upstream) *running {
	t.Helper()
	c := &running{t: t, dir: t.TempDir(), ports: map[string]string{}, listens: map[string]bool{}, admin: machine.FreeAddress(t)}
	if err := os.WriteFile(filepath.Join(c.dir, "config.json"), c.translated(config, to), 0o600); err != nil {
		t.Fatal(err)
	}
	started, err := machine.Server{
		Name: program, Args: []string{"run", "--config", filepath.Join(c.dir, "config.json")},
		Dir: c.dir, Env: []string{"HOME=" + c.dir, "XDG_DATA_HOME=" + c.dir, "XDG_CONFIG_HOME=" + c.dir},
	}.Start()
	if err != nil {
		t.Fatal(err)
	}
	c.process = started
	t.Cleanup(started.Stop)
	for port := range c.listens {
		if err := started.Ready(t.Context(), machine.Connects("tcp", "127.0.0.1:"+c.ports[port])); err != nil {
			t.Fatal(err)
		}
	}
	return c
}

// request is what a client sends, and from where.
type request struct {
	name   string // for messages
	raw    []byte
	bare   []byte // without the credentials of the caller; nil if that is not compared
	secure bool
	// stranger tells of credentials that the platform does not know. What it says to them is
	// no matter of the gateway's.
	stranger bool
	port     string // of the configuration
	host     string
	as       string // the name of the caller
	client   string // the address, which no other request has
}

// patience is how long an answer may take.
const patience = 20 * time.Second

// answer is what a client got.
type answer struct {
	status int    // 0 if there is none
	code   string // of the error object
}

// send sends r and returns the answer.
func (c *running) send(r *request) (answer, error) {
	raw, err := c.exchange(r)
	if err != nil {
		return answer{}, err
	}
	return firstAnswer(raw), nil
}

// exchange sends r and returns all that the server writes.
func (c *running) exchange(r *request) ([]byte, error) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	dialer := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(r.client)}}
	conn, err := dialer.DialContext(ctx, "tcp", "127.0.0.1:"+c.ports[r.port])
	if err != nil {
		return nil, err
	}
	defer func() { _ = conn.Close() }()
	_ = conn.SetDeadline(time.Now().Add(patience)) // fails only on a closed connection
	closing := conn.(interface{ CloseWrite() error })
	if r.secure {
		//nolint:gosec // a server of the test, with a certificate of its own
		secure := tls.Client(conn, &tls.Config{InsecureSkipVerify: true, ServerName: r.host, NextProtos: []string{"http/1.1"}})
		conn, closing = secure, secure
		if err := secure.HandshakeContext(ctx); err != nil {
			return nil, err
		}
	}
	go func() {
		_, _ = conn.Write(r.raw) // fails where the server has refused early
		if _, err := rawhttp.Parse(r.raw, io.Discard); err != nil {
			_ = closing.CloseWrite()
		}
	}()
	raw, err := io.ReadAll(conn)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return nil, err
	}
	return raw, nil
}

func firstAnswer(raw []byte) (a answer) {
	in := bufio.NewReader(bytes.NewReader(raw))
	for a.status < 200 { // informational, or none yet
		res, err := http.ReadResponse(in, nil)
		if err != nil {
			return answer{}
		}
		body, _ := io.ReadAll(res.Body) // what there is of it
		_ = res.Body.Close()
		a.status = res.StatusCode
		if a.code, _ = client.At(string(body), "code").(string); a.code == "" { // an agent's refusal
			a.code, _ = client.At(string(body), "error", "data", "code").(string)
		}
	}
	return a
}

// line is what Caddy logs about a request, with the vars of the gateway.
type line struct {
	Request struct {
		RemoteIP string `json:"remote_ip"`
	} `json:"request"`
	Status                                                              int
	Kind, Outcome, Policy, Code, Caller, Method, Route, Rule, At, Error string
}

// says returns the status and the body that the admin endpoint answers.
func (c *running) says(path string) (status int, body string) {
	c.t.Helper()
	req, err := client.Request(c.t.Context(), "http://"+c.admin, "GET "+path, "")
	if err != nil {
		c.t.Fatal(err)
	}
	got, err := client.Do(&http.Client{Timeout: time.Minute}, req)
	if err != nil {
		c.t.Fatal(err)
	}
	return got.Status, got.Body
}

// stop ends Caddy, and returns what it has logged about each request, by the client's
// address. Only the first request of a connection counts.
func (c *running) stop() map[string]line {
	c.t.Helper()
	if err := c.process.End(patience); err != nil {
		c.t.Error(err)
	}
	lines, errs := map[string]line{}, map[string]string{}
	for _, l := range logged[record](c, "records.log") {
		errs[l.ClientIP] = l.Error
	}
	for _, l := range logged[line](c, "access.log") {
		if _, known := lines[l.Request.RemoteIP]; !known {
			l.Error = errs[l.Request.RemoteIP]
			lines[l.Request.RemoteIP] = l
		}
	}
	return lines
}

// record is what the gateway logs about a refusal.
type record struct {
	ClientIP string `json:"client_ip"`
	Error    string
}

// logged reads a log.
func logged[T any](c *running, name string) (lines []T) {
	c.t.Helper()
	file, err := os.Open(filepath.Join(c.dir, name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil // nothing was logged
	}
	if err != nil {
		c.t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	in := json.NewDecoder(file)
	for {
		var l T
		err := in.Decode(&l)
		if errors.Is(err, io.EOF) {
			return lines
		}
		if err != nil {
			c.t.Fatal(err)
		}
		lines = append(lines, l)
	}
}

// unlogged tells whether a status is of an answer that no handler of Caddy gives: of the
// server itself to what is no request, or of the redirect to https.
func unlogged(status int) bool {
	return status == 0 || status == http.StatusBadRequest || status == http.StatusRequestHeaderFieldsTooLarge || status == http.StatusPermanentRedirect ||
		status == http.StatusNotImplemented || status == http.StatusHTTPVersionNotSupported || status == http.StatusExpectationFailed
}
