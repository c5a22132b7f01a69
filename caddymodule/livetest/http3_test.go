package livetest

import (
	"context"
	"strconv"
	"testing"
	"time"

	"github.com/quic-go/quic-go"

	"github.com/restwarden/restwarden/cmd/check/testkit/rawhttp"
)

// dialHTTP3 opens a connection from an address of its own, since the witness
// knows requests by it.
func dialHTTP3(t *testing.T, address string) *quic.Conn {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	conn, hangUp, err := rawhttp.DialHTTP3(ctx, address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(hangUp)
	return conn
}

// ask3 is ask for HTTP/3.
func ask3(t *testing.T, conn *quic.Conn, m streamed) string {
	t.Helper()
	a, err := rawhttp.HTTP3(conn, m.request("https"), time.Now().Add(patience))
	if err != nil {
		return reset
	}
	return strconv.Itoa(a.Status)
}

// TestHTTP3_Frames sends the same requests as over HTTP/2, to both kinds of
// back-ends.
func TestHTTP3_Frames(t *testing.T) {
	proxy, php := newBackend(t), newFastCGI(t)
	guard := "\ttls internal\n\trestwarden wordpress\n\twitness\n"
	addresses := run(t, "",
		block{Secure: true, Body: guard + proxy.proxied()},
		block{Secure: true, Body: guard + php.php(scripts(t), "")})
	for i, way := range []struct {
		name    string
		backend *backend
	}{{"HTTP/3", proxy}, {"HTTP/3 to FastCGI", php}} {
		for _, c := range streamFrames {
			t.Run(way.name+"/"+c.name, func(t *testing.T) {
				conn := dialHTTP3(t, addresses[i])
				got := ask3(t, conn, c.streamed)
				c.hold(t, got, connection(conn.LocalAddr().String(), conn.RemoteAddr()), way.backend)
			})
		}
		for _, a := range way.backend.rest() {
			t.Errorf("%s: reached the backend unseen: %s %s", way.name, a.method, a.target)
		}
	}
}

// TestHTTP3_Observed: a gateway that only observes refuses nothing here, either.
func TestHTTP3_Observed(t *testing.T) {
	b := newBackend(t)
	address := run(t, "", block{Secure: true, Body: "\ttls internal\n\trestwarden wordpress {\n\t\tmode observe\n\t}\n\twitness\n" + b.proxied()})[0]
	for _, m := range []streamed{{fields: get("/wp-json/wp/v2/posts")}, {fields: get("/about/#x")}, {fields: post("/", "content-type text/plain", "content-type text/plain"), body: "x"}} {
		conn := dialHTTP3(t, address)
		if got := ask3(t, conn, m); got != "200" {
			t.Errorf("%v: %s", m.fields, got)
		}
	}
}
