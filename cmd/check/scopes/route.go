package scopes

import (
	"slices"
	"strings"
)

// fits tells whether a route of a line covers a route, without regard to case.
func fits(pattern, route string) bool {
	return fit(segments(pattern), segments(route))
}

func segments(route string) []string {
	route = strings.Trim(strings.ToLower(route), "/")
	if route == "" {
		return nil
	}
	return strings.Split(route, "/")
}

func fit(pattern, route []string) bool {
	for i, p := range pattern {
		switch {
		case p == "**":
			return true
		case i >= len(route):
			return false
		case p != "*" && p[0] != ':' && p != route[i]:
			return false
		}
	}
	return len(pattern) == len(route)
}

// widening are the routes by which a credential could widen its own scope.
var widening = strings.Fields(`/wp/v2/users /wp/v2/users/* /wp/v2/users/*/application-passwords /wp/v2/users/*/application-passwords/*
	/wp/v2/settings /wp/v2/plugins /wp/v2/plugins/** /wp/v2/themes/**
	/wc/*/customers/* /wc/*/webhooks /wc/*/webhooks/** /wc/*/settings/** /wc/*/payment_gateways/** /wc/*/system_status/tools/**
	/wc-admin/options /wc-admin/settings/** /wc-admin/plugins/** /wc-admin/themes/** /wc-admin/onboarding/** /wc-admin/blueprint/** /wc-admin/mobile-app/**
	/wc-analytics/settings/**`)

// spelled tells whether a route of a line has each word of a widening route at its place.
func spelled(pattern, wide string) bool {
	has := segments(pattern)
	for i, word := range segments(wide) {
		if !strings.HasPrefix(word, "*") && (i >= len(has) || has[i] != word) {
			return false
		}
	}
	return true
}

// covers tells whether a route of a line covers a call.
func covers(pattern string, c *Call) bool {
	if !fits(pattern, c.Route) {
		return false
	}
	if !writes(c.Method) {
		return true
	}
	for _, wide := range widening {
		if fits(wide, c.Route) && !spelled(pattern, wide) {
			return false
		}
	}
	return true
}

func writes(method string) bool {
	return slices.Contains([]string{"POST", "PUT", "PATCH", "DELETE"}, method)
}
