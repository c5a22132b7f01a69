package livetest

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/restwarden/restwarden/cmd/check/testkit/rawhttp"
)

// patience is how long anything may take before a test gives up: nothing is
// timed, it only keeps a failure from hanging.
const patience = 20 * time.Second

// reply is what a client got for one connection's bytes.
type reply struct {
	conn   string // as the witness names it
	raw    []byte
	status int    // of the first answer, 0 where there is none
	body   string // of the first answer
}

// is tells whether the answer is the error object with this code.
func (r reply) is(code string) bool { return strings.Contains(r.body, `"code":"`+code+`"`) }

// send writes raw to a new connection and reads until the server closes it.
func send(tb testing.TB, address string, raw []byte) reply {
	tb.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	x, err := rawhttp.HTTP1(ctx, address, raw)
	if err != nil {
		tb.Errorf("%v to %.300q", err, raw)
	}
	if x.Local == nil {
		return reply{}
	}
	return reply{connection(x.Local.String(), x.Remote), x.Raw, x.Status, string(x.Body)}
}

// sent is a request as its bytes say it, without any reading of the platform's.
type sent struct {
	*http.Request
	body *digest
}

// parse reads raw with Go's own parser; it fails where the request is not whole.
func parse(raw []byte) (s sent, err error) {
	s.body = digestOf(nil)
	s.Request, err = rawhttp.Parse(raw, s.body)
	return s, err
}

// request builds the bytes of a request, chunked one whose body comes in chunks.
var request, chunked = rawhttp.Bytes, rawhttp.ChunkedBytes

const (
	form     = "Content-Type: application/x-www-form-urlencoded"
	jsonType = "Content-Type: application/json"
)
