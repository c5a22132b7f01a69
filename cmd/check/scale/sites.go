package main

import (
	"fmt"
	"strings"
)

// kind is one kind of configuration.
type kind struct {
	name, title string
	guarded     bool
	override    bool // each site has a line of its own
}

// The first kind is what the others are compared with.
var kinds = []kind{
	{name: "bare", title: "bare"},
	{name: "snippet", title: "one snippet", guarded: true},
	{name: "override", title: "a line each", guarded: true, override: true},
}

// plugins are those of the lines that sites have of their own.
var plugins = []string{"contact-form-7", "complianz-gdpr", "woocommerce-payments", "wpforms-lite", "wordpress-seo"}

// guard is the directive of a site that is closed but for what a shop's visitors need.
const guard = `	restwarden wordpress {
		login_only
		allow anyone GET /wp/v2/posts /wp/v2/posts/:id /wp/v2/pages /wp/v2/media/:id
		allow anyone POST /contact-form-7/v1/contact-forms/:id/feedback
		allow anyone /wc/store/v1/**
		deny /wp/v2/comments as 404
		rate_limit 60/1m POST /contact-form-7/**
		{block}
	}
`

// host is the name of a site.
func host(site int) string { return fmt.Sprintf("shop%d.example.com", site) }

// caddyfile returns the configuration of all sites, on one port.
func (k kind) caddyfile(sites int, admin, port, platform string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "{\n\tadmin %s\n\tpersist_config off\n\tauto_https off\n\tgrace_period 5s\n\tlog {\n\t\toutput discard\n\t}\n}\n", admin)
	fmt.Fprint(&b, "(site) {\n\tbind 127.0.0.1\n")
	if k.guarded {
		b.WriteString(guard)
	}
	fmt.Fprintf(&b, "\treverse_proxy %s\n}\n", platform)
	for site := range sites {
		fmt.Fprintf(&b, "http://%s:%s {\n\timport site", host(site), port)
		if k.override {
			fmt.Fprintf(&b, " {\n\t\tallow plugin %s\n\t}", plugins[site%len(plugins)])
		}
		b.WriteString("\n}\n")
	}
	return b.String()
}

// requests are what each site is asked: a call that the rules refuse, one that they let
// through, and a page.
var requests = []string{"GET /wp-json/wp/v2/users", "POST /wp-json/contact-form-7/v1/contact-forms/5/feedback", "GET /about"}
