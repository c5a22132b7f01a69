package livetest

import (
	"sync/atomic"
	"testing"

	"github.com/restwarden/restwarden/cmd/check/testkit/recordings"
)

// TestLive_Observe: a gateway that only observes changes nothing: every request
// that Caddy serves arrives as it was sent, whatever the limits.
func TestLive_Observe(t *testing.T) {
	f := &front{name: "observe", backend: newBackend(t)}
	site := func(limits string) string {
		return "\trestwarden wordpress {\n\t\tmode observe\n" + limits + "\t}\n\twitness\n" + f.backend.proxied()
	}
	at := runEverywhere(t, "", site("\t\tbody_limit 1KiB\n\t\tupload_limit 1KiB\n\t\tbatch_limit 1\n"), site("\t\tspool_limit 100KiB\n"))
	var streams atomic.Int64
	sendAll(recordings.Requests(t), 0, func(by *client, r *recordings.Recording) {
		if by.protocol != http1 && streams.Add(1)%4 > 0 {
			return // some will do
		}
		f.unchanged(t, by, r.ID, at(by.protocol)[0], r.Raw)
	})
	overAll(t, "", func(t *testing.T, by *client) {
		addresses := at(by.protocol)
		for _, c := range frames {
			f.unchanged(t, by, c.name, addresses[0], c.raw)
		}
		for name, body := range map[string]string{"memory": noise(2000), "disk": noise(200 << 10), "spool": noise(3 << 20)} {
			for _, header := range []string{form, multipartType, jsonType} {
				for _, line := range []string{"POST /contact/", "POST /wp-json/wc/v3/orders/7", "PUT /wp-json/wc/v3/orders/batch"} {
					for _, address := range addresses {
						f.unchanged(t, by, name, address, request(line, body, header))
						f.unchanged(t, by, name+", chunked", address, chunked(line, body, 5000, header))
					}
				}
			}
		}
	})
	if n := f.pages.Load(); n < 9000 {
		t.Errorf("only %d requests arrived", n)
	}
}

// unchanged sends a request, which arrives as it is if it is one that Caddy serves.
func (f *front) unchanged(t *testing.T, by *client, name, address string, raw []byte) {
	t.Helper()
	p := by.try(t, address, f.backend, raw)
	first, err := parse(raw)
	if err != nil || len(p.judged) != 1 {
		return
	}
	if len(p.arrived) != 1 {
		t.Errorf("%s, %s: arrived %d times, got %.200q\n%.400q", name, by.protocol, len(p.arrived), p.raw, raw)
		return
	}
	f.pages.Add(1)
	p.judged[0].kind = aPage // headers that Connection names are gone
	for _, why := range f.compare(first.over(by.protocol), p.judged[0], p.arrived[0]) {
		t.Errorf("%s, %s: %s\n%.400q", name, by.protocol, why, raw)
	}
}
