package routing

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/caddyserver/caddy/v2/modules/caddytls"
	jsonv1 "github.com/go-json-experiment/json/v1"
)

// failure is a place where a request may fail, so that handle_errors gets it.
type failure struct {
	cubes  []cube
	status int // 0 stands for any
}

// fails notes that a handler, or a matcher that is asked for requests at s, may fail.
func (f *flow) fails(s spot, status int) {
	q := query{facts: f.facts, groups: s.groups}
	if !s.errors && len(q.cover(s.cubes).open) > 0 {
		f.failures = append(f.failures, failure{s.cubes, status})
	}
}

// mayFail tells whether a matcher of the route may fail.
func (n *node) mayFail() bool {
	for _, set := range n.sets {
		for _, m := range set {
			if !m.pure || m.kind == "remote_ip" || m.kind == "client_ip" {
				return true
			}
		}
	}
	return false
}

// errs tells whether a request that comes to the visit by handle_errors may have failed.
func (at *visit) errs() bool {
	if !at.final || at.server.checksNames() {
		return true
	}
	return slices.ContainsFunc(at.server.failures, func(f failure) bool {
		for _, of := range f.cubes {
			for _, c := range at.cubes {
				if !c.with(of...).empty() && c.takesStatus(f.status) {
					return true
				}
			}
		}
		return false
	})
}

// checksNames tells whether the server itself fails where the client's TLS name is not the
// request's host.
func (f *flow) checksNames() bool {
	s := f.server
	return s.StrictSNIHost != nil && *s.StrictSNIHost ||
		slices.ContainsFunc(s.TLSConnPolicies, func(p *caddytls.ConnectionPolicy) bool { return p.ClientAuthentication != nil })
}

// takesStatus tells whether requests that failed with a status may be in c.
func (c cube) takesStatus(status int) bool {
	return status == 0 || !slices.ContainsFunc(c, func(a atom) bool { return a.leavesOut(status) })
}

var (
	statusRange = regexp.MustCompile(`^\{http\.error\.status_code\} >= (\d+) && \{http\.error\.status_code\} <= (\d+)$`)
	statusList  = regexp.MustCompile(`^\{http\.error\.status_code\} in \[([\d, ]+)\]$`)
)

// leavesOut tells whether a is the matcher of "handle_errors 404 5xx", for other statuses.
func (a atom) leavesOut(status int) bool {
	var expression string
	if a.kind != "expression" || jsonv1.Unmarshal(a.raw, &expression) != nil {
		return false
	}
	for term := range strings.SplitSeq(expression, " || ") {
		if m := statusRange.FindStringSubmatch(term); m != nil {
			from, _ := strconv.Atoi(m[1])
			if to, _ := strconv.Atoi(m[2]); from <= status && status <= to {
				return false
			}
			continue
		}
		m := statusList.FindStringSubmatch(term)
		if m == nil || slices.Contains(strings.Split(strings.ReplaceAll(m[1], " ", ""), ","), strconv.Itoa(status)) {
			return false
		}
	}
	return true
}
