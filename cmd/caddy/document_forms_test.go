package main

import (
	"slices"
	"strings"
	"testing"
)

// prettyOnly are callers whose credentials count in the query form from 11.1 on only
// (docs/project/interface 9).
var prettyOnly = []string{"key", "oauth", "write-only"}

// inQueryForm returns r with its call in the query form. ok is false for a row that is
// about the form itself, or about a path.
func (r row) inQueryForm(release string) (_ row, ok bool) {
	method, target, _ := strings.Cut(r.line, " ")
	route, isCall := strings.CutPrefix(target, "/cms-json")
	about := func(of string) bool { return strings.HasPrefix(of, "4 rule") || strings.HasPrefix(of, "names text") }
	if !isCall || r.base || r.options != nil || r.with != "" || slices.ContainsFunc(r.names(), about) || release != "11.1" && slices.Contains(prettyOnly, r.as) {
		return r, false
	}
	route, query, _ := strings.Cut(route, "?")
	r.line = method + " /?rest_route=" + route
	if query != "" {
		r.line += "&" + query
	}
	return r, true
}

// TestDocument_QueryForm walks the rows in their other address (docs/project/interface 1, rule 8).
func TestDocument_QueryForm(t *testing.T) {
	for _, platform := range []string{"cms", "wordpress"} {
		for _, release := range []string{"10.7", "11.1"} {
			for _, mode := range modes()[:2] {
				var its []row
				for _, r := range rows() {
					if r, ok := r.inQueryForm(release); ok {
						its = append(its, r)
					}
				}
				t.Run(platform+" "+release+" "+mode.name, func(t *testing.T) {
					newDocument(t, platform, release, "").walk(t, its, mode)
				})
			}
		}
	}
}
