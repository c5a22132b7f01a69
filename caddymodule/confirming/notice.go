package confirming

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"time"

	"go.uber.org/zap"

	"github.com/restwarden/restwarden/policies/confirm"
)

const (
	// MaxTelling is how many notifications may be under way in one process.
	MaxTelling = 16
	// TellTimeout is how long one may take.
	TellTimeout = 10 * time.Second
)

// Notice is what the owner's address gets. It has no arguments: they are for those who open
// the link.
type Notice struct {
	Site         string    `json:"site"`
	Confirmation string    `json:"confirmation"`
	Ability      string    `json:"ability"`
	Caller       string    `json:"caller"`
	Link         string    `json:"link"`
	Expires      time.Time `json:"expires"`
}

// Tell sends a Notice of c to an address in the background, until life ends. A failure is one
// line of the log, which holds neither the address nor the link.
func (d *Desk) Tell(life context.Context, to string, c *confirm.Confirmation) {
	telling := d.People.telling
	select {
	case telling <- struct{}{}:
	default:
		d.notTold(c, errors.New("too many notifications are under way"))
		return
	}
	go func() {
		defer func() { <-telling }()
		ctx, cancel := context.WithTimeout(life, TellTimeout)
		defer cancel()
		link, err := d.Link(ctx, c)
		if err == nil {
			err = post(ctx, to, Notice{d.Site, c.ID, c.Ability, c.Caller, link, c.Expires})
		}
		if err != nil {
			d.notTold(c, err)
		}
	}()
}

func (d *Desk) notTold(c *confirm.Confirmation, err error) {
	d.Logger.Warn("nobody could be told of a confirmation", zap.String("site", d.Site), zap.String("confirmation", c.ID), zap.Error(err))
}

// teller follows no redirect: it would take the link to an address that nobody has
// configured. It keeps no connection, which would outlive the configuration.
var teller = &http.Client{
	Transport:     telling(),
	CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
}

func telling() *http.Transport {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.DisableKeepAlives = true
	return t
}

// post sends n. Its errors do not hold the address.
func post(ctx context.Context, to string, n Notice) error {
	text, err := json.Marshal(n)
	if err != nil {
		return err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, to, bytes.NewReader(text))
	if err != nil {
		return errors.New("the address is none")
	}
	r.Header.Set("Content-Type", "application/json")
	res, err := teller.Do(r)
	switch {
	case errors.Is(err, context.Canceled):
		return errors.New("the configuration has ended meanwhile")
	case errors.Is(err, context.DeadlineExceeded), os.IsTimeout(err):
		return errors.New("the address does not answer in time")
	case err != nil:
		return errors.New("the address cannot be reached") // the error itself names it
	}
	_ = res.Body.Close() // only the status counts
	if res.StatusCode >= http.StatusMultipleChoices {
		return fmt.Errorf("the address answers %d", res.StatusCode)
	}
	return nil
}
