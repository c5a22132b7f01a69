package main

import (
	"encoding/json"
	"errors"
	"net/http"
	"time"

	caddycmd "github.com/caddyserver/caddy/v2/cmd"
)

// siteState is a site in the answers of the admin endpoint.
type siteState struct {
	Name   string `json:"site"`
	Source string `json:"release_source"`
}

// state asks Caddy for the site that it guards.
func (d *runningDemo) state() (siteState, error) {
	var answer struct{ Sites []siteState }
	if err := d.ask("sites", &answer); err != nil || len(answer.Sites) == 0 {
		return siteState{}, err
	}
	return answer.Sites[0], nil
}

// ask asks Caddy's admin endpoint.
func (d *runningDemo) ask(path string, v any) error {
	res, err := caddycmd.AdminAPIRequest(d.admin, http.MethodGet, "/restwarden/"+path, nil, nil)
	if err != nil {
		return err
	}
	defer func() { _ = res.Body.Close() }() // it was only read
	return json.NewDecoder(res.Body).Decode(v)
}

// learn waits until the gateway has read the REST root. It knows release and routes of the
// shop then, so that table and records are the same each time. The visitor leaves.
func (d *runningDemo) learn(v *visitor) error {
	defer v.leave()
	v.send("GET {rest}/", "", v.as("admin"))
	for until := time.Now().Add(10 * time.Second); time.Now().Before(until); time.Sleep(10 * time.Millisecond) {
		state, err := d.state()
		if err != nil || state.Source == "rest root" {
			return errors.Join(v.err, err)
		}
	}
	return errors.Join(v.err, errors.New("the gateway has not read the REST root of the site"))
}
