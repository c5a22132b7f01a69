package statuspage

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/restwarden/restwarden/caddymodule/adminapi"
)

const (
	// again is how long after a failure Caddy is asked again.
	again = 2 * time.Second
	// silence is how long Caddy may say nothing: it sends a comment every 15 seconds.
	silence = 45 * time.Second
	// maxLine bounds, in bytes, one event of Caddy's.
	maxLine = 1 << 20
	// askedSites is of how many sites the last refusals are asked for. A host with more
	// sites that refuse sees enough.
	askedSites = 50
)

var errEnded = errors.New("the events of Caddy have ended")

// follow gives the readers what Caddy refuses, until ctx ends.
func (f *feed) follow(ctx context.Context, api *adminapi.Client) {
	for ctx.Err() == nil {
		err := f.once(ctx, api)
		if err == nil {
			err = errEnded
		}
		f.report(err.Error())
		select {
		case <-time.After(again):
		case <-ctx.Done():
		}
	}
}

// once follows one Caddy as long as it answers.
func (f *feed) once(ctx context.Context, api *adminapi.Client) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	res, err := api.Open(ctx, http.MethodGet, adminapi.EventsPath, nil)
	if err != nil {
		return err
	}
	defer func() { _ = res.Body.Close() }() // it was only read
	older, err := last(ctx, api)
	if err != nil {
		return err
	}
	twice := map[string]bool{} // records that come as events, too
	for _, record := range older {
		twice[keyOf(record)] = true
	}
	f.merge(older)
	f.report("")
	quiet := time.AfterFunc(silence, cancel)
	defer quiet.Stop()
	lines, name := bufio.NewScanner(res.Body), ""
	lines.Buffer(nil, maxLine)
	for lines.Scan() {
		quiet.Reset(silence)
		if event, ok := strings.CutPrefix(lines.Text(), "event: "); ok {
			name = event
		} else if data, ok := strings.CutPrefix(lines.Text(), "data: "); ok {
			if err := f.event(name, data, twice); err != nil {
				return err
			}
		} else if lines.Text() == "" {
			name = ""
		}
	}
	return lines.Err()
}

// event hands on one event of Caddy's.
func (f *feed) event(name, data string, twice map[string]bool) error {
	if name == adminapi.EventLost {
		var lost adminapi.Lost
		if err := json.Unmarshal([]byte(data), &lost); err != nil {
			return err
		}
		f.lose(lost.Lost)
		return nil
	}
	var record object
	if err := json.Unmarshal([]byte(data), &record); err != nil {
		return err
	}
	if len(twice) == 0 || !twice[keyOf(record)] {
		f.send(record)
	}
	return nil
}

// last returns the records that Caddy keeps of the first sites that refuse.
func last(ctx context.Context, api *adminapi.Client) (all []object, err error) {
	var answer adminapi.Sites[adminapi.Site, adminapi.Store]
	if err := api.Ask(ctx, http.MethodGet, adminapi.SitesPath, nil, &answer); err != nil {
		return nil, err
	}
	asked := 0
	for _, site := range answer.Sites {
		if site.Refusals == 0 || asked == askedSites {
			continue
		}
		asked++
		records, err := refusals(ctx, api, site.Site)
		if err != nil {
			return nil, err
		}
		all = append(all, records...)
	}
	return all, nil
}
