// Package mailsink is a mail server that takes every mail and sends none.
package mailsink

import (
	"bufio"
	"io"
	"net"
	"strings"
	"testing"

	"github.com/restwarden/restwarden/cmd/check/testkit/machine"
)

// Mail is what the server was given.
type Mail struct {
	To   []string // of the envelope
	Text string   // header and body, lines end with \n
}

// Start runs a mail server until the test ends. Mails that nobody takes from the
// channel are kept; there is room for 100.
func Start(tb testing.TB) (address string, mails <-chan Mail) {
	tb.Helper()
	l := machine.Listener(tb)
	got := make(chan Mail, 100)
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			receive(conn, got)
		}
	}()
	return l.Addr().String(), got
}

// receive speaks one session of SMTP (RFC 5321).
func receive(conn net.Conn, got chan<- Mail) {
	defer func() { _ = conn.Close() }()
	say := func(line string) { _, _ = io.WriteString(conn, line+"\r\n") } // the client may be gone
	say("220 ready")
	var m Mail
	var text strings.Builder
	inText := false
	for lines := bufio.NewScanner(conn); lines.Scan(); {
		line := lines.Text()
		verb := strings.ToUpper(line)
		switch {
		case inText && line == ".":
			m.Text = text.String()
			got <- m
			m, inText = Mail{}, false
			text.Reset()
			say("250 ok")
		case inText:
			text.WriteString(strings.TrimPrefix(line, ".") + "\n") // a point at the start is doubled
		case strings.HasPrefix(verb, "RCPT TO:"):
			m.To = append(m.To, strings.Trim(line[len("RCPT TO:"):], " <>"))
			say("250 ok")
		case verb == "DATA":
			inText = true
			say("354 go on")
		case verb == "QUIT":
			say("221 bye")
			return
		default:
			say("250 ok")
		}
	}
}
