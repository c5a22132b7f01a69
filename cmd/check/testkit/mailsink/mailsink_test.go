package mailsink

import (
	"net/smtp"
	"slices"
	"testing"
)

func TestStart(t *testing.T) {
	t.Parallel()
	address, mails := Start(t)
	for _, text := range []string{"Subject: a\r\n\r\n.b\r\n", "Subject: c\r\n\r\nd\r\n"} {
		if err := smtp.SendMail(address, nil, "from@example.test", []string{"a@example.test", "b@example.test"}, []byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	for _, want := range []string{"Subject: a\n\n.b\n", "Subject: c\n\nd\n"} {
		if m := <-mails; m.Text != want || !slices.Equal(m.To, []string{"a@example.test", "b@example.test"}) {
			t.Errorf("got %q", m)
		}
	}
}
