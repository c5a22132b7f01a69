package dryrun_test

import (
	"slices"
	"strings"
	"testing"
)

const manyHomes = `{
	auto_https off
}
(rw) {
	restwarden wordpress {
		deny /acme/v1/{args[0]}
		tag {args[0]}
	}
	reverse_proxy 127.0.0.1:1
}
http://a.example:8081 {
	bind 127.0.0.1
	import rw a
}
http://b.example:8081 {
	bind 127.0.0.2
	import rw b
}
http://first.example:8082, http://second.example:8082 {
	@first host first.example
	handle @first {
		respond 404
	}
	handle {
		import rw second
	}
}
http://posts.example:8083 {
	@posts method POST
	route {
		restwarden @posts wordpress {
			tag posts
		}
		reverse_proxy 127.0.0.1:1
	}
}
http://both.example:8084 {
	@posts method POST
	route {
		restwarden @posts wordpress {
			tag posting
		}
		import rw both
	}
}
http://socket.example {
	bind unix//nowhere
	import rw socket
}
http://paths.example:8086 {
	@pretty path /wp-json/*
	@plain not path /wp-json/*
	route {
		restwarden @pretty wordpress {
			deny /acme/v1/pretty
		}
		restwarden @plain wordpress
		reverse_proxy 127.0.0.1:1
	}
}
http://same.example:8087 {
	bind 127.0.0.1
	import rw one
}
http://same.example:8087 {
	bind 127.0.0.2
	import rw two
}
http://exact.example:8088 {
	bind 127.0.0.2
	import rw exact
}
http://*.example:8088 {
	bind 127.0.0.1
	import rw pattern
}
http://*.any.example:80 {
	import rw any
	handle_errors {
		restwarden wordpress
		respond 500
	}
}
:8085 {
	import rw all
}
`

// TestHomes: each directive is a site with an address that leads to it, or is told as one whose address nobody knows.
func TestHomes(t *testing.T) {
	c := load(t, manyHomes)
	homes, err := c.Homes(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, h := range homes {
		got = append(got, h.Name+" "+h.Called+" "+strings.Join(h.Tags, ","))
	}
	unreached, err := c.Unreached(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, u := range unreached {
		got = append(got, u.Name+" unknown "+strings.Join(u.Tags, ","))
	}
	slices.Sort(got)
	want := []string{
		"*.any.example http://any.any.example:80 any", "*.example http://any.example:8088 pattern", "*:8085 http://site.invalid:8085 all", "a.example http://a.example:8081 a", "b.example http://b.example:8081 b",
		"both.example http://both.example:8084 both,posting", "exact.example http://exact.example:8088 exact", "first.example http://second.example:8082 second", "paths.example http://paths.example:8086 ", "paths.example http://paths.example:8086 ",
		"posts.example unknown posts", "same.example http://same.example:8087 one", "same.example unknown two",
	}
	socket := slices.IndexFunc(got, func(s string) bool { return strings.HasPrefix(s, "socket.example ") })
	if socket < 0 {
		t.Fatal("no site on a socket")
	}
	if got = slices.Delete(got, socket, socket+1); !slices.Equal(got, want) {
		t.Errorf("%q\nwant %q", got, want)
	}
	for address, several := range map[string]bool{"http://exact.example:8088/wp-json/": true, "http://both.example:8084/wp-json/": false} {
		assumed := run(t, c, "", "GET "+address).Assumed
		if said := slices.ContainsFunc(assumed, func(s string) bool { return strings.HasPrefix(s, "of the 2 servers on port 8088, ") }); said != several {
			t.Errorf("%s: %q", address, assumed)
		}
	}
	addressed, err := c.Addressed(t.Context())
	if err != nil || len(addressed) != len(homes)-1 {
		t.Errorf("%d addresses of %d homes, %v", len(addressed), len(homes), err)
	}
	if len(unreached) > 0 && !strings.Contains(unreached[0].Why(), "/Caddyfile:5 (imported by ") {
		t.Error(unreached[0].Why())
	}
}
