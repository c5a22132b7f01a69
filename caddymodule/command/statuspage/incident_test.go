package statuspage_test

import (
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"sync/atomic"
	"testing"

	"github.com/restwarden/restwarden/cmd/check/testkit/browser"
)

const guardSecond = "http://shop-2.example.com:PORT {\n\tbind 127.0.0.1\n\trestwarden wordpress {\n\t\tlogin_only\n\t}\n\treverse_proxy 127.0.0.1:9\n}\n"

// TestPage_Incident: what an operator reads while things go wrong is so.
func TestPage_Incident(t *testing.T) {
	g := guard(t, 2)
	target, err := url.Parse(g.url)
	if err != nil {
		t.Fatal(err)
	}
	proxy, down, noSites := httputil.NewSingleHostReverseProxy(target), new(atomic.Bool), new(atomic.Bool)
	proxy.FlushInterval = -1
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if down.Load() || noSites.Load() && r.URL.Path == g.page.Path("")+"sites" {
			http.Error(w, "bad gateway", http.StatusBadGateway)
			return
		}
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(front.Close)
	b := tab{browser.Open(t), t}
	b.Show(front.URL+g.page.Path(""), "light", 1280, 900)
	b.shows("live", `document.getElementById("live").textContent === "live"`)

	t.Run("a failure that is over", func(*testing.T) {
		noSites.Store(true)
		b.says("live", "answers 502")
		noSites.Store(false)
		b.says("live", "live")
	})
	t.Run("a proxy in front that has no server of the page", func(*testing.T) {
		down.Store(true)
		front.CloseClientConnections()
		b.says("live", "the server of this page does not answer")
		b.shows("an end of the events", "source.readyState === EventSource.CLOSED")
		down.Store(false)
		b.says("live", "live")
	})
	t.Run("a site with both switches", func(*testing.T) {
		b.click("#rows tr:nth-child(1) button")
		b.says("name", first)
		b.click("#lock")
		b.click("#yes")
		b.says("said", first+": lockdown until ")
		b.shows("a lockdown", `!document.getElementById("unlock").hidden`)
		b.click("#observe")
		b.says("question", "refuses nothing but what the lockdown closes")
		b.click("#no")
		if status, text := g.ask("", "POST", "mode", `{"site":"`+first+`","mode":"enforce","for":"1h"}`); status != http.StatusOK {
			t.Fatal(text)
		}
		b.says("enforce", "End enforcing")
		b.click("#lock-all")
		b.click("#yes")
		b.says("said", "All sites: lockdown until ")
		b.shows("the button", `!document.getElementById("unlock-all").hidden`)
		b.click("#unlock-all")
		b.click("#yes")
		b.says("said", "All sites: lockdowns of their own on 1")
	})
	t.Run("a picked site that a reload removes", func(*testing.T) {
		g.refuse(second)
		b.shows("no refusal of another site", `document.querySelectorAll("#list li").length === 0`)
		g.configure(guardSecond)
		b.says("said", first+" is not guarded any more")
		b.shows("no site", `document.getElementById("detail").hidden`)
		b.shows("the refusals of all", `document.querySelectorAll("#list li").length === 1`)
	})
}
