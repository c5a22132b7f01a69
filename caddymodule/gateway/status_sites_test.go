package gateway

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/restwarden/restwarden/caddymodule/redisstore"
	"github.com/restwarden/restwarden/cmd/check/testkit/machine"
)

// TestStatus_Ports: two directives for one host, each on a port or with a mode of its own, are
// told apart, with the problems of each. One directive for two ports is one site, and so are
// directives of one mode on one port.
func TestStatus_Ports(t *testing.T) {
	var ports []string
	for _, address := range machine.FreeAddresses(t, 5) {
		ports = append(ports, address[strings.LastIndexByte(address, ':')+1:])
	}
	startSites(t, fmt.Sprintf(`http://shop.example.com:%s {
	restwarden cms
}
http://shop.example.com:%s {
	restwarden cms {
		mode observe
		call off
	}
}
http://blog.example.com:%s, http://blog.example.com:%s {
	restwarden wordpress
}
http://two.example.com:%s {
	handle /a/* {
		restwarden wordpress
	}
	handle /b/* {
		restwarden wordpress {
			tag shops eu
		}
	}
	handle {
		restwarden wordpress {
			mode observe
		}
	}
}
`, ports[0], ports[1], ports[2], ports[3], ports[4]))
	got := map[string]string{}
	for _, s := range (endpoint{current.Load()}).Statuses() {
		if tagged := slices.Equal(s.Tags, []string{"eu", "shops"}); tagged != (s.Site == "two.example.com") || !tagged && s.Tags != nil {
			t.Errorf("%s has the tags %q", s.Site, s.Tags) // each directive of a site gives it tags
		}
		name := s.Site + " " + strings.Join(s.Listen, " ")
		got[name] = strings.TrimSpace(got[name] + " " + s.Mode)
		for _, p := range s.Problems {
			if p.Code == "W10" { // call off
				got[name] += " " + p.Code
			}
		}
	}
	want := map[string]string{"blog.example.com ": "enforce", "shop.example.com 127.0.0.1:" + ports[0]: "enforce", "shop.example.com 127.0.0.1:" + ports[1]: "observe W10", "two.example.com 127.0.0.1:" + ports[4]: "enforce observe"}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%v, want %v", got, want)
	}
	var names []string
	for _, s := range current.Load().sites() { // that switches belong to
		names = append(names, s.Name)
	}
	if !slices.Equal(names, []string{"blog.example.com", "shop.example.com", "two.example.com"}) {
		t.Errorf("%q", names)
	}
}

// TestStatus_Store: the status says since when the Redis is lost, and why.
func TestStatus_Store(t *testing.T) {
	if st := (endpoint{new(App)}).Store(); st != nil {
		t.Errorf("without a Redis: %+v", st)
	}
	redis := openRedis(t, redisstore.Options{Addresses: []string{machine.FreeAddress(t)}})
	a := &App{shared: redis}
	if st := (endpoint{a}).Store(); st == nil || !st.Reachable {
		t.Errorf("before it was used: %+v", st)
	}
	if _, _, err := redis.Get(t.Context(), "x"); err == nil {
		t.Fatal("it answers")
	}
	if st := (endpoint{a}).Store(); st.Reachable || st.Since == nil || time.Since(*st.Since) > time.Minute || st.Error == "" {
		t.Errorf("lost: %+v", st)
	}
}
