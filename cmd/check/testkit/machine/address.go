package machine

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
)

// Listen opens a listener on a free port of the loopback address.
func Listen() (*net.TCPListener, error) {
	l, err := new(net.ListenConfig).Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	return l.(*net.TCPListener), nil
}

// Listener is Listen for a test: it is closed when the test ends.
func Listener(tb testing.TB) *net.TCPListener {
	tb.Helper()
	l, err := Listen()
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = l.Close() }) // the test may have closed it
	return l
}

// The ports of FreePorts lie below those that Linux gives to connections and to listeners on
// port 0: a free one of those may be taken before the server that shall have it starts. They
// lie above 10080, the last one that a browser refuses to open.
const firstPort, lastPort = 11000, 32767

// drawn counts the ports that this process has tried, from a random one on.
var drawn = func() *atomic.Int64 {
	n := new(atomic.Int64)
	n.Store(rand.Int64N(lastPort - firstPort + 1))
	return n
}()

// FreePorts returns n ports of the loopback address on which no process listens, and which
// no other process gets from it while this one runs: Caddy shares a port with others
// without a message.
func FreePorts(n int) ([]int, error) {
	ports := make([]int, 0, n)
	for tries := 0; len(ports) < n; tries++ {
		if tries > lastPort-firstPort {
			return nil, fmt.Errorf("no %d ports from %d to %d are free", n, firstPort, lastPort)
		}
		port := firstPort + int(drawn.Add(1)%(lastPort-firstPort+1))
		if free(port) && reserve(port) {
			ports = append(ports, port)
		}
	}
	return ports, nil
}

// free tells whether no process listens on a port of the loopback address.
func free(port int) bool {
	l, err := new(net.ListenConfig).Listen(context.Background(), "tcp", fmt.Sprintf("127.0.0.1:%d", port))
	return err == nil && l.Close() == nil
}

// tempDir is one for all processes: a test may set TMPDIR for itself.
var tempDir = os.TempDir()

// reservations is a file in which each process locks the byte at the number of each of its
// ports.
var reservations = sync.OnceValue(func() *os.File {
	f, err := os.OpenFile(filepath.Join(tempDir, "ports-of-restwarden-tests"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil // the ports are free, if not reserved
	}
	return f
})

// reserve tells whether no other process has reserved the port, and reserves it until this
// process ends.
func reserve(port int) bool {
	f := reservations()
	if f == nil {
		return true
	}
	return lockByte(f, int64(port))
}

// FreeAddresses returns n different loopback addresses, "127.0.0.1:port", on which no
// process listens.
func FreeAddresses(tb testing.TB, n int) (addresses []string) {
	tb.Helper()
	ports, err := FreePorts(n)
	if err != nil {
		tb.Fatal(err)
	}
	for _, port := range ports {
		addresses = append(addresses, fmt.Sprintf("127.0.0.1:%d", port))
	}
	return addresses
}

// FreeAddress returns one such address.
func FreeAddress(tb testing.TB) string {
	tb.Helper()
	return FreeAddresses(tb, 1)[0]
}

// Port is the port of "host:port".
func Port(address string) string {
	_, port, err := net.SplitHostPort(address)
	if err != nil {
		panic(err) // of a test
	}
	return port
}

// Connects returns a probe: it succeeds if a process listens on address.
func Connects(network, address string) func(context.Context) error {
	return func(ctx context.Context) error {
		conn, err := new(net.Dialer).DialContext(ctx, network, address)
		if err != nil {
			return err
		}
		return conn.Close()
	}
}
