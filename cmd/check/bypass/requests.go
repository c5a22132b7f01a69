package main

import (
	"math/rand/v2"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/restwarden/restwarden/cmd/check/grammar"
	"github.com/restwarden/restwarden/cmd/check/testkit/recordings"
	"github.com/restwarden/restwarden/policies/call/platforms"
	"github.com/restwarden/restwarden/policies/respell"
)

// collection is a list of requests without doubles.
type collection struct {
	host  string
	known map[string]bool
	list  []*grammar.Request
}

// add adds a request, unless it is there or may not be sent.
func (c *collection) add(r *grammar.Request) {
	if wire := string(r.Wire(c.host)); !c.known[wire] && quiet(r, c.host) {
		c.known[wire] = true
		c.list = append(c.list, r)
	}
}

// draw returns what is sent to a site at host: first the spellings of package respell, and
// then as many of the recordings as random requests of the grammar. Each asks for the route.
func (s *settings) draw(host string) ([]*grammar.Request, error) {
	c := &collection{host: host, known: map[string]bool{}}
	platform, _ := platforms.ByName("wordpress")
	for _, spelling := range respell.All(platform, respell.Request{URL: "http://" + host + "/wp-json" + s.route}) {
		if r, ok := parse(spelling.Raw); ok {
			c.add(r)
		}
	}
	recorded, err := s.recorded(host)
	if err != nil {
		return nil, err
	}
	for half := (len(c.list) + s.requests) / 2; len(c.list) < half && len(recorded) > 0; recorded = recorded[1:] {
		c.add(recorded[0])
	}
	g := grammar.New(s.seed, 0)
	aim := &grammar.Aim{Route: s.route, Method: http.MethodGet, Host: host, Decoy: s.open}
	for len(c.list) < s.requests {
		c.add(g.Request(aim))
	}
	return c.list[:s.requests], nil
}

// recorded are the recordings of sites at the root of their host, moved, in random order.
func (s *settings) recorded(host string) (list []*grammar.Request, err error) {
	all, err := recordings.Read()
	for _, recording := range all {
		if recording.Base() == "" {
			list = append(list, moved(recording, s.route, host)...)
		}
	}
	rand.New(rand.NewPCG(s.seed, 1)).Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	return list, err
}

// parse takes a request apart that is whole. Host and Connection: close are left out.
func parse(raw []byte) (r *grammar.Request, ok bool) {
	head, body, whole := strings.Cut(string(raw), "\r\n\r\n")
	line, fields, _ := strings.Cut(head, "\r\n")
	method, rest, _ := strings.Cut(line, " ")
	target, version := strings.CutSuffix(rest, " HTTP/1.1")
	r = &grammar.Request{Method: method, Target: target, Body: body}
	for field := range strings.SplitSeq(fields, "\r\n") {
		name, value, colon := strings.Cut(field, ":")
		value = strings.TrimPrefix(value, " ")
		if !colon || strings.HasPrefix(field, " ") || strings.HasPrefix(field, "\t") {
			return nil, false
		}
		if name != "Host" && (name != "Connection" || value != "close") {
			r.Fields = append(r.Fields, grammar.Field{Name: name, Value: value})
		}
	}
	return r, whole && version
}

// recordedHost is the host of the recordings.
const recordedHost = "127.0.0.1:8080"

// moved are the requests that a recording becomes for another route: one for each route
// that some release ran with GET.
func moved(recording *recordings.Recording, route, host string) (list []*grammar.Request) {
	var routes []string
	for _, o := range recording.Outcomes {
		if o.Ran && o.Method == http.MethodGet && o.Route != nil && len(*o.Route) > 1 && !slices.Contains(routes, *o.Route) {
			routes = append(routes, *o.Route)
		}
	}
	for _, old := range routes {
		replace := strings.NewReplacer(old, route, escaped(old, "%2F"), escaped(route, "%2F"), escaped(old, "%2f"), escaped(route, "%2f"), recordedHost, host)
		r, ok := parse(recording.Raw)
		if !ok {
			continue
		}
		length := strconv.Itoa(len(r.Body))
		r.Target, r.Body = replace.Replace(r.Target), replace.Replace(r.Body)
		for i, f := range r.Fields {
			if f.Name == "Content-Length" && f.Value == length {
				r.Fields[i].Value = strconv.Itoa(len(r.Body))
			}
		}
		list = append(list, r)
	}
	return list
}

// escaped writes the slashes of a route as escapes.
func escaped(route, slash string) string { return strings.ReplaceAll(route, "/", slash) }
