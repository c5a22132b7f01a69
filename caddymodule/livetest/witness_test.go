package livetest

import (
	"crypto/sha256"
	"fmt"
	"hash"
	"io"
	"net"
	"net/http"
	"strconv"
	"sync"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/httpcaddyfile"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/restwarden/restwarden/policies/call"
)

func init() {
	caddy.RegisterModule(witness{})
	httpcaddyfile.RegisterHandlerDirective("witness", func(h httpcaddyfile.Helper) (caddyhttp.MiddlewareHandler, error) {
		h.Next()
		return witness{}, nil
	})
	httpcaddyfile.RegisterDirectiveOrder("witness", httpcaddyfile.Before, "basic_auth") // and so behind restwarden
}

// marker is the header by which the witness names a request to the backend: its
// number, or question for those of the gateway itself.
const (
	marker   = "X-Livetest"
	question = "question"
)

// witness stands right behind the gateway and notes what it judged and what it
// hands on.
type witness struct{}

// judged is one request as the gateway let it pass.
type judged struct {
	n                   int
	kind, route, method string // the vars
	call                *call.Call
	objects             []object // of the call, or of each part of the batch
	wire, uri           string
	header              http.Header
	body                *digest
}

// CaddyModule returns the Caddy module information.
func (witness) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: "http.handlers.witness", New: func() caddy.Module { return new(witness) }}
}

// Provision loads a matcher rest_call: without any, the gateway keeps its reading for itself.
func (witness) Provision(ctx caddy.Context) error {
	_, err := ctx.LoadModuleByID("http.matchers.rest_call", []byte(`{"routes":["/"]}`))
	return err
}

// ServeHTTP implements caddyhttp.MiddlewareHandler.
func (witness) ServeHTTP(w http.ResponseWriter, r *http.Request, next caddyhttp.Handler) error {
	v := func(name string) string {
		s, _ := caddyhttp.GetVar(r.Context(), "restwarden."+name).(string)
		return s
	}
	if lookup, _ := caddyhttp.GetVar(r.Context(), "restwarden.lookup").(bool); lookup {
		r.Header.Set(marker, question)
		return next.ServeHTTP(w, r)
	}
	j := &judged{
		kind: v("kind"), route: v("route"), method: v("method"), wire: r.Method,
		uri: r.URL.RequestURI(), header: r.Header.Clone(), body: newDigest(),
	}
	j.call, _ = caddyhttp.GetVar(r.Context(), "restwarden.call").(*call.Call)
	switch j.kind {
	case "call":
		j.objects = []object{orderOf(j.call)}
	case "batch":
		for _, part := range j.call.Parts {
			j.objects = append(j.objects, orderOf(part))
		}
	}
	server, _ := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	ledger.note(connection(r.RemoteAddr, server), j)
	r.Header.Set(marker, strconv.Itoa(j.n))
	if r.Body != nil && r.Body != http.NoBody {
		r.Body = hashing{r.Body, j.body}
	}
	return next.ServeHTTP(w, r)
}

// connection names a connection: a client may use one port for several servers.
func connection(client string, server net.Addr) string { return fmt.Sprint(client, " to ", server) }

// ledger holds what the witness saw, by connection.
var ledger = &entries{by: map[string][]*judged{}}

type entries struct {
	mu   sync.Mutex
	last int
	by   map[string][]*judged
}

func (l *entries) note(conn string, j *judged) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.last++
	j.n = l.last
	l.by[conn] = append(l.by[conn], j)
}

// take returns and forgets what was seen from a connection.
func (l *entries) take(conn string) []*judged {
	l.mu.Lock()
	defer l.mu.Unlock()
	seen := l.by[conn]
	delete(l.by, conn)
	return seen
}

// digest is the length and the hash of a body. The proxy may still look for more of the body
// when the answer is there.
type digest struct {
	mu   sync.Mutex
	hash hash.Hash
	size int64
}

func newDigest() *digest { return &digest{hash: sha256.New()} }

func digestOf(b []byte) *digest {
	d := newDigest()
	_, _ = d.Write(b)
	return d
}

func (d *digest) Write(p []byte) (int, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.size += int64(len(p))
	return d.hash.Write(p)
}

// String identifies the bytes.
func (d *digest) String() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return fmt.Sprintf("%d bytes %.8x", d.size, d.hash.Sum(nil))
}

type hashing struct {
	io.ReadCloser
	digest *digest
}

func (h hashing) Read(p []byte) (int, error) {
	n, err := h.ReadCloser.Read(p)
	_, _ = h.digest.Write(p[:n])
	return n, err
}
