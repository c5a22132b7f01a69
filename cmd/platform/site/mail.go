package site

import (
	"fmt"
	"net"
	"net/smtp"
	"strings"
	"time"
)

// mail is one message of the shop.
type mail struct{ to, subject, body string }

// mailTimeout bounds a delivery, so that a dead mail server does not hang a page.
const mailTimeout = 5 * time.Second

// merchant is who gets the shop's own notifications. s.mu is held.
func (s *Site) merchant() string { return s.users[0].email }

// send delivers m to the configured mail server. As on the real platform a
// failure does not fail the request that caused the mail.
func (s *Site) send(m mail) {
	if s.opt.SMTP == "" {
		return
	}
	conn, err := net.DialTimeout("tcp", s.opt.SMTP, mailTimeout)
	if err != nil {
		return
	}
	defer conn.Close()
	conn.SetDeadline(time.Now().Add(mailTimeout)) //nolint:errcheck // a dead connection fails below
	host, _, _ := net.SplitHostPort(s.opt.SMTP)
	client, err := smtp.NewClient(conn, host)
	if err != nil {
		return
	}
	deliver(client, m) //nolint:errcheck // see above
}

func deliver(client *smtp.Client, m mail) error {
	const from = "shop@example.test"
	if err := client.Mail(from); err != nil {
		return err
	}
	if err := client.Rcpt(m.to); err != nil {
		return err
	}
	w, err := client.Data()
	if err != nil {
		return err
	}
	// The body goes through the writer's dot-stuffing; the headers hold nothing
	// but checked single lines.
	fmt.Fprintf(w, "From: %s\r\nTo: %s\r\nSubject: %s\r\nContent-Type: text/plain; charset=utf-8\r\n\r\n%s\r\n",
		from, m.to, m.subject, strings.ReplaceAll(m.body, "\x00", ""))
	if err := w.Close(); err != nil {
		return err
	}
	return client.Quit()
}
