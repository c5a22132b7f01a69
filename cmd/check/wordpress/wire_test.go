//go:build wordpress

package wordpress

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"strings"
	"time"
)

// send writes raw to a gate and reads one answer.
func send(ctx context.Context, g *gate, raw []byte) (*answer, error) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", g.host())
	if err != nil {
		return nil, err
	}
	defer func() { _ = conn.Close() }() // the answer is complete
	stop := context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Now()) })
	defer stop()
	if _, err := conn.Write(raw); err != nil {
		return nil, err
	}
	method, _, _ := strings.Cut(string(raw), " ")
	answers, asked := bufio.NewReader(conn), &http.Request{Method: strings.ToUpper(method)}
	resp, err := http.ReadResponse(answers, asked)
	for err == nil && resp.StatusCode == http.StatusContinue {
		resp, err = http.ReadResponse(answers, asked)
	}
	if err != nil {
		return nil, err
	}
	defer func() { _ = resp.Body.Close() }() // it has been read
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return nil, err
	}
	return newAnswer(resp, body), nil
}
