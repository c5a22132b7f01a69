package admin

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/restwarden/restwarden/caddymodule/adminapi"
	"github.com/restwarden/restwarden/caddymodule/switches"
)

// switchLine switches a line of a site.
type switchLine = func(g Gateways, site string, line adminapi.LineSwitch, lasts time.Duration, by adminapi.By) (adminapi.LineSwitched, error)

// serveLine answers POST sites/<site>/open, or close.
func serveLine(parse func(*adminapi.LineSwitch) (time.Duration, error), turn switchLine) func(http.ResponseWriter, request) error {
	return func(w http.ResponseWriter, r request) error {
		var b adminapi.LineSwitch
		var lasts time.Duration
		err := r.read(w, func(body []byte) error {
			err := parseBody(body, &b)
			if err == nil {
				lasts, err = parse(&b)
			}
			return err
		})
		if err != nil {
			return err
		}
		by, err := r.by()
		if err != nil {
			return err
		}
		answer, err := turn(r.gateways, r.name, b, lasts, by)
		if refused, ok := errors.AsType[*RefusedError](err); ok {
			return failed(refused.Status, refused)
		}
		if err != nil {
			return failed(http.StatusBadRequest, err)
		}
		return writeJSON(w, answer)
	}
}

// parseOpen checks what a line opens, and returns for how long.
func parseOpen(b *adminapi.LineSwitch) (time.Duration, error) {
	switch {
	case b.For == nil:
		return 0, errFor
	case (b.Plugin == "") == (b.Route == ""):
		return 0, errors.New("name a route, or a plugin")
	case b.Plugin != "" && len(b.Methods) > 0:
		return 0, errors.New("methods: a plugin has its own")
	case strings.Contains(b.Route, "**"):
		return 0, fmt.Errorf("route: %s opens whatever is below: name the route, or use * for one segment", b.Route)
	case strings.IndexAny(strings.TrimLeft(b.Route, "/"), "*:") == 0:
		return 0, fmt.Errorf("route: %s opens calls of every plugin: name the namespace, such as /acme", b.Route)
	}
	return parseFor(*b.For, adminapi.MaxOpened)
}

// parseClose checks what a line closes, and returns for how long.
func parseClose(b *adminapi.LineSwitch) (time.Duration, error) {
	switch {
	case b.Plugin != "":
		return 0, errors.New("plugin: name the routes to close, such as /acme/v1/**")
	case b.Route == "":
		return 0, errors.New("route: name one")
	case b.For == nil:
		return switches.Forever, nil
	}
	return parseFor(*b.For, switches.MaxClosed)
}

func parseFor(text string, most time.Duration) (time.Duration, error) {
	d, err := lastingOf(text, most)
	if err != nil {
		return 0, fmt.Errorf("for: %w", err)
	}
	return d, nil
}
