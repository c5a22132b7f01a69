package statuspage_test

import (
	"net/http"
	"testing"

	"github.com/restwarden/restwarden/cmd/check/testkit/browser"
)

// TestPage_Phone: on a telephone of 360 pixels the page has its width, no name of a site is broken
// and nothing is cut off. An owner reads sentences.
func TestPage_Phone(t *testing.T) {
	g := guard(t, 12)
	if status, text := g.ask("", "POST", "mode", `{"site":"`+second+`","mode":"observe","for":"2h"}`); status != http.StatusOK {
		t.Fatal(text)
	}
	const (
		broken = `[...document.querySelectorAll("#rows button")].filter(b => b.getClientRects().length !== 1 || b.offsetHeight > 48).length`
		cut    = `[...document.querySelectorAll("h1, h2, th, td, button, select, label")].filter(e => e.offsetParent && e.scrollWidth > e.clientWidth + 1 && e.clientWidth > 0).map(e => e.textContent).join()`
		width  = `document.documentElement.scrollWidth`
	)
	b := tab{browser.Open(t), t}
	fits := func(what string) {
		t.Helper()
		if wide, names, text := browser.Run[int](b.Browser, width), browser.Run[int](b.Browser, broken), browser.Run[string](b.Browser, cut); wide > 360 || names > 0 || text != "" {
			t.Errorf("%s: %d pixels wide, %d names broken, cut off: %q", what, wide, names, text)
		}
	}
	b.Show(g.url+g.page.Path(""), "light", 360, 740)
	b.says("live", "live")
	b.says("count-sites", "12")
	const shop = "shop-3.example.com"
	g.call(shop, "GET", "/wp-json/wp/v2/posts")
	g.call(shop, "GET", "/wp-json/wp/v2/users/1")
	g.call(shop, "GET", "/wp-json/wp/v2/posts?rest_route=/x")
	b.says("count-seen", "3")
	b.says("list", "built-in: only users")
	fits("all sites")
	b.click("#rows tr:nth-child(3) button")
	b.shows("the site", `!document.getElementById("detail").hidden`)
	fits("one site")
	b.click("#lock")
	b.says("question", "shop's checkout")
	b.click("#no")

	b.Show(g.url+g.page.Path(shop), "light", 360, 740)
	b.says("live", "live")
	b.says("list", "unclear request")
	b.says("list", "needs a login")
	b.click("#list summary")
	b.says("list", "names two different REST routes")
	fits("the owner's page")
}
