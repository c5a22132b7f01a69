package statuspage_test

import (
	"flag"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/restwarden/restwarden/cmd/check/testkit/browser"
	"github.com/restwarden/restwarden/cmd/check/testkit/wait"
)

var update = flag.Bool("update", false, "write the screenshot of docs/commands/status.md anew")

// tab is a page in a browser.
type tab struct {
	*browser.Browser
	t *testing.T
}

// click clicks on what a selector finds.
func (b tab) click(selector string) {
	b.t.Helper()
	browser.Run[bool](b.Browser, fmt.Sprintf(`(() => { document.querySelector(%q).click(); return true; })()`, selector))
}

// enter types into a field.
func (b tab) enter(id, text string) {
	b.t.Helper()
	browser.Run[bool](b.Browser, fmt.Sprintf(`(() => { const e = document.getElementById(%q); e.value = %q; e.dispatchEvent(new Event("input")); return true; })()`, id, text))
}

// shows waits until a script is true.
func (b tab) shows(what, script string) {
	b.t.Helper()
	wait.For(b.t, 30*time.Second, what, func() bool { return browser.Run[bool](b.Browser, script) })
}

// says waits until an element has a text.
func (b tab) says(id, text string) {
	b.t.Helper()
	b.shows(id+" with "+text, fmt.Sprintf(`document.getElementById(%q).textContent.includes(%q)`, id, text))
}

// counts waits until an element shows a number.
func (b tab) counts(id string, n int) {
	b.t.Helper()
	b.shows(fmt.Sprintf("%s is %d", id, n), fmt.Sprintf(`document.getElementById(%q).textContent === "%d"`, id, n))
}

// rows is how many rows the list of sites shows.
const rows = `[...document.querySelectorAll("#rows tr")].filter(r => !r.hidden).length`

// clean leaves the page, and holds that it asked its own server alone and complained of nothing.
func (b tab) clean(url string) {
	b.t.Helper()
	b.Show("about:blank", "light", 1280, 900) // a live page asks until it is left
	for _, note := range b.Noted() {
		if !strings.HasPrefix(note, "request "+url) && note != "request about:blank" {
			b.t.Error(note)
		}
	}
}

// TestPage_Browser: a person looks at 1,000 sites while they refuse, finds one, lets it
// observe, locks it down, and opens the page of that site alone.
func TestPage_Browser(t *testing.T) {
	const many = 1000
	g := guard(t, many)
	b := tab{browser.Open(t), t}
	b.Show(g.url+g.page.Path(""), "light", 1280, 900)
	b.says("live", "live")
	b.shows("all sites", rows+fmt.Sprintf(" === %d", many))
	b.counts("count-sites", many)
	b.counts("count-problems", 1)
	b.counts("count-lockdown", 0)

	flood(b, g, many)
	b.switchOne(g)
	b.switchAll()
	b.clean(g.url + g.page.Path(""))
	b.lookAtOne(g)
}

// flood holds that the page counts a stream of refusals of all sites.
func flood(b tab, g *guarded, many int) {
	b.t.Helper()
	const stream = 3000
	browser.Run[bool](b.Browser, `(() => { window.longest = 0; let last = performance.now();
		setInterval(() => { const now = performance.now(); window.longest = Math.max(window.longest, now - last); last = now; }, 10); return true; })()`)
	started := time.Now()
	var group sync.WaitGroup
	for part := range 4 {
		group.Go(func() {
			for i := part; i < stream; i += 4 {
				g.refuse(fmt.Sprintf("shop-%d.example.com", i%many+1))
			}
		})
	}
	group.Wait()
	b.t.Logf("%d refusals in %v; the page did nothing else for at most %.0f ms", stream, time.Since(started).Round(time.Millisecond), browser.Run[float64](b.Browser, "window.longest"))
	// A page that reads too slowly is told how many refusals it has lost.
	b.shows("all refusals in the count", fmt.Sprintf(`seen + missed === %d && document.getElementById("count-seen").textContent === String(seen)`, stream))
	b.shows("three refusals of the site", `[...document.querySelectorAll("#rows tr")].find(r => r.cells[0].textContent === "shop-7.example.com").cells[3].textContent === "3"`)
	if n := browser.Run[int](b.Browser, `document.querySelectorAll("#list li").length`); n == 0 || n > 300 {
		b.t.Errorf("%d refusals are listed", n)
	}
}

// switchOne finds a site among the others, looks at its refusals, and switches it.
func (b tab) switchOne(g *guarded) {
	b.t.Helper()
	b.enter("find-site", "SHOP-77.")
	b.shows("one row", rows+" === 1")
	b.click("#rows tr:not([hidden]) button")
	b.says("name", "shop-77.example.com")
	b.shows("its refusals alone", `document.querySelectorAll("#list li").length === 3`)
	b.click("#list summary")
	b.says("list", "A rule asks for a login for this call")
	b.click("#observe")
	b.says("question", "Let shop-77.example.com observe for 2 hours?")
	b.click("#no")
	if g.shown("")["shop-77.example.com"]["mode"] != "enforce" {
		b.t.Error("a switch without a yes")
	}
	b.click("#observe")
	b.click("#yes")
	b.says("said", "shop-77.example.com: mode observe until ")
	b.says("rows", "observes until ")
	if status := g.call("shop-77.example.com", "GET", "/wp-json/wp/v2/posts"); status != http.StatusNotFound { // the backend's
		b.t.Errorf("it refuses with %d", status)
	}
	b.says("list", "would be rest_not_logged_in")
	b.click("#lock")
	b.click("#yes")
	b.says("said", "lockdown until ")
	g.refuse("shop-77.example.com")
	b.click("#unlock")
	b.click("#yes")
	b.says("said", "no lockdown")
	b.click("#enforce")
	b.click("#yes")
	b.says("said", "mode enforce")
	g.switchLines("shop-77.example.com", "1h")
	b.says("rows", "1 open, 1 closed")
	b.says("facts", "POST /acme/v1/x until ")
	b.says("facts", "by anna, claimed (127.0.0.1)")
	b.says("facts", "/acme/v1/y until it is taken back, since ")
	g.switchLines("shop-77.example.com", "0s")
	if own := browser.Run[string](b.Browser, `document.getElementById("link").href`); own != g.url+g.page.Path("shop-77.example.com") {
		b.t.Error(own)
	}
	b.click("#close")
}

// switchAll looks for sites, and locks all down.
func (b tab) switchAll() {
	b.t.Helper()
	b.enter("find-site", "nobody")
	b.shows("no row", rows+" === 0 && !document.getElementById('no-site').hidden")
	b.enter("find-site", "")
	b.enter("which", "problems")
	b.shows("the site with a problem", rows+" === 1")
	b.click("#lock-all")
	b.says("question", "all 1000 sites")
	b.click("#yes")
	b.says("said", "All sites: lockdown until ")
	b.counts("count-lockdown", 1000)
	b.click("#unlock-all")
	b.click("#yes")
	b.says("said", "All sites: no lockdown")
}

// lookAtOne looks at the page of one site alone, on a telephone.
func (b tab) lookAtOne(g *guarded) {
	b.t.Helper()
	own := g.url + g.page.Path("shop-77.example.com")
	g.call("shop-77.example.com", "GET", "/api/wp/v2/users")
	wait.For(b.t, 30*time.Second, "a misread page", func() bool {
		misread, _ := g.shown("")["shop-77.example.com"]["misread"].(map[string]any)
		return misread["count"] == 1.0
	})
	b.Show(own, "dark", 390, 900)
	b.says("live", "live")
	b.says("list", "only observed: needs a login")
	b.says("facts", "the REST interface answered")
	if text := browser.Run[string](b.Browser, `document.documentElement.outerHTML`); strings.Contains(text, "shop-7.") || strings.Contains(text, "Caddyfile:") || strings.Contains(text, g.admin) {
		b.t.Error("the page of one site tells more")
	}
	const listed = `document.querySelectorAll("#list li").length === `
	b.shows("all refusals of the site", listed+"5")
	g.refuse("shop-78.example.com")
	g.refuse("shop-77.example.com")
	b.shows("one more", listed+`6 && document.getElementById("count-seen").textContent === "1"`)
	if wide := browser.Run[int](b.Browser, `document.documentElement.scrollWidth`); wide > 390 {
		b.t.Errorf("%d pixels wide on a telephone", wide)
	}
	b.clean(own)
}

// TestPage_Picture: what docs/commands/status.md shows is this page, which reads well in both colour
// schemes.
func TestPage_Picture(t *testing.T) {
	g := guard(t, 12)
	if status, text := g.ask("", "POST", "mode", `{"site":"`+second+`","mode":"observe","for":"2h"}`); status != http.StatusOK {
		t.Fatal(text)
	}
	if status, text := g.ask("", "POST", "lockdown", `{"site":"shop-4.example.com","for":"8h"}`); status != http.StatusOK {
		t.Fatal(text)
	}
	b := tab{browser.Open(t), t}
	calls := []string{"GET /wp/v2/users", "GET /wp/v2/posts", "POST /contact-form-7/v1/contact-forms/5/feedback", "GET /wp/v2/users/1", "PUT /wc/v3/orders/7"}
	for _, scheme := range []string{"dark", "light"} {
		b.Show(g.url+g.page.Path(""), scheme, 1280, 860)
		b.says("live", "live")
		b.says("count-sites", "12")
		for i := range 60 {
			method, route, _ := strings.Cut(calls[i%len(calls)], " ")
			g.call(fmt.Sprintf("shop-%d.example.com", i*i%11+1), method, "/wp-json"+route)
		}
		b.says("count-seen", "60")
		b.click("#rows tr:nth-child(5) button")
		b.shows("the site", `!document.getElementById("detail").hidden && document.querySelectorAll("#list li").length > 0`)
		if contrast := browser.Run[float64](b.Browser, contrasts); contrast < 4.5 {
			t.Errorf("%s: contrast %.1f", scheme, contrast)
		}
	}
	b.click("#close")
	b.click("#list summary")
	b.shows("why", `document.querySelector("#list dl") !== null`)
	var source []byte
	for _, file := range []string{"page.html", "page.css", "page.js", "live.js"} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		source = slices.Concat(source, text)
	}
	b.Picture("../../../docs/images/status.png", "../../../docs/commands/status.md", source, *update)
}

// contrasts is the lowest contrast of a text with what is behind it (WCAG 2.1, 1.4.3).
const contrasts = `(() => {
	const channels = text => text.match(/[\d.]+/g).map(Number);
	const light = text => channels(text).slice(0, 3).map(c => c / 255).map(c => c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4)
		.reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
	const behind = e => { for (; e; e = e.parentElement) { const c = getComputedStyle(e).backgroundColor; if (channels(c)[3] !== 0) return c; } return "rgb(255, 255, 255)"; };
	return Math.min(...[...document.querySelectorAll("h1, h2, p, li, b, small, span, summary, td, th, dt, dd, code, button, label, a")].filter(e => e.offsetParent).map(e => {
		const [a, b] = [light(getComputedStyle(e).color), light(behind(e))].sort((x, y) => y - x);
		return (a + 0.05) / (b + 0.05);
	}));
})()`
