package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/restwarden/restwarden/caddymodule/adminapi"
)

// follower hears of the refusals of a running demo.
type follower struct {
	events   io.ReadCloser
	printing sync.WaitGroup
}

// follow returns a follower, who hears of all that happens from now on.
func (d *runningDemo) follow() (*follower, error) {
	res, err := d.api.Open(context.Background(), http.MethodGet, adminapi.EventsPath, nil) //nolint:bodyclose // leave closes it
	if err != nil {
		return nil, err
	}
	return &follower{events: res.Body}, nil
}

// print begins to print a line for each refusal.
func (f *follower) print(out io.Writer) {
	f.printing.Go(func() {
		for lines := bufio.NewScanner(f.events); lines.Scan(); {
			var rec adminapi.Refusal
			data, ok := strings.CutPrefix(lines.Text(), "data: ")
			if ok && json.Unmarshal([]byte(data), &rec) == nil && rec.Policy != "" {
				_, _ = fmt.Fprintln(out, refusalLine(&rec)) // an error means that nobody reads it
			}
		}
	})
}

// leave ends the printing.
func (f *follower) leave() {
	_ = f.events.Close() // it was only read
	f.printing.Wait()
}

// refusalLine is "15:04:05  rest_not_logged_in  GET /wp/v2/users  access: built-in rule".
func refusalLine(rec *adminapi.Refusal) string {
	call := strings.TrimSpace(rec.Method + " " + rec.Route)
	return fmt.Sprintf("%s  %s  %s  %s", rec.Time.Local().Format(time.TimeOnly), rec.Code, call, policyAndRule(rec.Policy, rec.Rule, rec.Origin))
}
