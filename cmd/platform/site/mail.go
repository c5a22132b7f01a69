package site

import (
	"context"
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

// send delivers m to the configured mail server, where there is one, and tells
// whether that went well. As on the real platform a failure does not fail the
// request that caused the mail; it is logged.
func (s *Site) send(m mail) bool {
	if s.opt.SMTP == "" {
		return true
	}
	if err := s.deliver(m); err != nil {
		s.opt.Logf("mail %q to %s not sent: %v", m.subject, m.to, err)
		return false
	}
	return true
}

// mailDomain is the shop's part of addresses and message ids.
const mailDomain = "example.test"

func (s *Site) deliver(m mail) error {
	conn, err := (&net.Dialer{Timeout: mailTimeout}).DialContext(context.Background(), "tcp", s.opt.SMTP)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	_ = conn.SetDeadline(time.Now().Add(mailTimeout)) // a dead connection fails below
	host, _, _ := net.SplitHostPort(s.opt.SMTP)
	client, err := smtp.NewClient(conn, host)
	if err != nil {
		return err
	}
	if err := client.Mail("shop@" + mailDomain); err != nil {
		return err
	}
	if err := client.Rcpt(m.to); err != nil {
		return err
	}
	w, err := client.Data()
	if err != nil {
		return err
	}
	if _, err := w.Write([]byte(m.text(s.opt.Now(), s.hexToken(16)))); err != nil {
		return err
	}
	if err := w.Close(); err != nil {
		return err
	}
	return client.Quit()
}

// text is m as it is sent, with this id. The headers hold nothing but checked single lines;
// the body goes through the writer's dot-stuffing.
func (m mail) text(now time.Time, id string) string {
	headers := []string{
		"From: Reference shop <shop@" + mailDomain + ">", "To: " + m.to, "Subject: " + m.subject,
		"Date: " + now.Format(time.RFC1123Z), fmt.Sprintf("Message-ID: <%s@%s>", id, mailDomain),
		"MIME-Version: 1.0", "Content-Type: text/plain; charset=utf-8", "Content-Transfer-Encoding: 8bit",
	}
	return strings.Join(headers, "\r\n") + "\r\n\r\n" + strings.ReplaceAll(m.body, "\x00", "") + "\r\n"
}
