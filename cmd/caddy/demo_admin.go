package main

import (
	"context"
	"crypto/rand"
	"errors"
	"net"
	"net/http"
	"time"

	"github.com/restwarden/restwarden/caddymodule/adminapi"
	"github.com/restwarden/restwarden/caddymodule/command/statuspage"
)

// state asks Caddy for the site that it guards.
func (d *runningDemo) state() (adminapi.Site, error) {
	var answer adminapi.Sites[adminapi.Site, adminapi.Store]
	if err := d.ask(adminapi.SitesPath, &answer); err != nil || len(answer.Sites) == 0 {
		return adminapi.Site{}, err
	}
	return answer.Sites[0], nil
}

// ask asks Caddy's admin endpoint.
func (d *runningDemo) ask(path string, v any) error {
	return d.api.Ask(context.Background(), http.MethodGet, path, nil, v)
}

// learn waits until the gateway has read the REST root. It knows release and routes of the
// shop then, so that table and records are the same each time. The visitor leaves.
func (d *runningDemo) learn(v *visitor) error {
	defer v.leave()
	v.send("GET {rest}/", "", v.as("admin"))
	for until := time.Now().Add(10 * time.Second); time.Now().Before(until); time.Sleep(10 * time.Millisecond) {
		state, err := d.state()
		if err != nil || state.Routes != nil {
			return errors.Join(v.err, err)
		}
	}
	return errors.Join(v.err, errors.New("the gateway has not read the REST root of the site"))
}

// openPage serves the status page, until ctx ends, and returns its address.
func (d *runningDemo) openPage(ctx context.Context) (string, error) {
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	page := statuspage.New(d.api, []byte(rand.Text()+rand.Text()))
	go func() { _ = page.Serve(ctx, l) }() // a page that has ended shows in the browser
	return "http://" + l.Addr().String() + page.Path(""), nil
}
