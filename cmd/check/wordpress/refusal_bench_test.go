//go:build wordpress

package wordpress

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"
)

// BenchmarkRefusal measures how many anonymous calls a second are refused: by WordPress with
// nothing but a filter as plugins have it that close REST, and by the gateway in front of the
// same site. One operation is a round of each, so that what else the machine does slows both.
func BenchmarkRefusal(b *testing.B) {
	n, err := setUps(b).newStandins()
	if err != nil {
		b.Fatal(err)
	}
	n.variable, n.level = "STANDIN_LOCKDOWN", "INFO" // which writes a line for each refusal, as usual
	plugin := &refusals{gate: n.add("refusal-plugin", "1"), code: "standin_locked"}
	gateway := &refusals{gate: n.add("refusal-gateway", "1", "login_only"), code: "rest_not_logged_in"}
	if err := n.start(b.Context()); err != nil {
		b.Fatal(err)
	}
	for _, r := range []*refusals{plugin, gateway} {
		defer r.hangUp()
		if err := errors.Join(r.dial(b.Context(), n.port), r.round()); err != nil { // PHP compiles the plugin
			b.Fatalf("%s: %v", r.gate.Name, err)
		}
		r.calls, r.took = 0, 0
	}
	for b.Loop() {
		for _, r := range []*refusals{plugin, gateway} {
			if err := r.round(); err != nil {
				b.Fatalf("%s: %v", r.gate.Name, err)
			}
		}
	}
	b.ReportMetric(0, "ns/op") // the length of a round says nothing
	b.ReportMetric(plugin.rate(), "plugin-refusals/s")
	b.ReportMetric(gateway.rate(), "gateway-refusals/s")
	b.ReportMetric(gateway.rate()/plugin.rate(), "ratio")
}

// Bounds of a round. A connection starts no call after roundTime.
const (
	refusalConnections = 16
	roundTime          = time.Second
	roundCalls         = 10_000 // of one connection
)

// refusals are the calls to one address, all of which must be refused with code.
type refusals struct {
	gate  *standinGate
	code  string
	conns []net.Conn
	calls int
	took  time.Duration
}

func (r *refusals) dial(ctx context.Context, port int) error {
	for range refusalConnections {
		conn, err := new(net.Dialer).DialContext(ctx, "tcp", fmt.Sprintf("127.0.0.1:%d", port))
		if err != nil {
			return err
		}
		r.conns = append(r.conns, conn)
	}
	return nil
}

func (r *refusals) hangUp() {
	for _, conn := range r.conns {
		_ = conn.Close() // its answers have been read
	}
}

// rate returns how many calls were refused in a second.
func (r *refusals) rate() float64 { return float64(r.calls) / r.took.Seconds() }

// round calls over all connections at once until the round's time is over, and the last
// call is answered.
func (r *refusals) round() error {
	group := new(errgroup.Group)
	calls := make([]int, len(r.conns))
	start := time.Now()
	for i, conn := range r.conns {
		group.Go(func() (err error) {
			calls[i], err = r.callUntil(conn, start.Add(roundTime))
			return err
		})
	}
	err := group.Wait()
	r.took += time.Since(start)
	for _, n := range calls {
		r.calls += n
	}
	return err
}

// callUntil calls over one connection, and returns how many calls were refused as they
// must be. Any other answer is an error.
func (r *refusals) callUntil(conn net.Conn, end time.Time) (calls int, err error) {
	call := fmt.Appendf(nil, "GET /wp-json/wp/v2/posts HTTP/1.1\r\nHost: %s\r\n\r\n", r.gate.host())
	code := fmt.Appendf(nil, `"code":%q`, r.code)
	if err := conn.SetDeadline(end.Add(time.Minute)); err != nil {
		return 0, err
	}
	answers, body := bufio.NewReader(conn), new(bytes.Buffer)
	for calls < roundCalls && time.Now().Before(end) {
		if _, err := conn.Write(call); err != nil {
			return calls, err
		}
		answer, err := http.ReadResponse(answers, nil)
		if err != nil {
			return calls, err
		}
		body.Reset()
		_, err = body.ReadFrom(answer.Body)
		if err := errors.Join(err, answer.Body.Close()); err != nil {
			return calls, err
		}
		if answer.StatusCode != http.StatusUnauthorized || !bytes.Contains(body.Bytes(), code) {
			return calls, fmt.Errorf("not refused with %s: %s %.200s", r.code, answer.Status, body)
		}
		calls++
	}
	return calls, nil
}
