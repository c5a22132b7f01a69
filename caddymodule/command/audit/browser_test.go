package audit_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"flag"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"github.com/restwarden/restwarden/caddymodule/command/audit"
	"github.com/restwarden/restwarden/cmd/check/testkit/machine"
)

var update = flag.Bool("update", false, "write the screenshot of docs/audit.md anew")

// picture is the screenshot of the docs. Beside it stands the hash of the page that it shows.
const picture = "../../../docs/images/audit.png"

// patience bounds what the browser does in one test, also on a busy machine.
const patience = 2 * time.Minute

func savedReport(t *testing.T) *audit.Report {
	t.Helper()
	text, err := os.ReadFile("testdata/report.json")
	if err != nil {
		t.Fatal(err)
	}
	report, err := audit.Read(text)
	if err != nil {
		t.Fatal(err)
	}
	return report
}

func pageOf(t *testing.T, report *audit.Report) []byte {
	t.Helper()
	var page bytes.Buffer
	if err := report.HTML(&page); err != nil {
		t.Fatal(err)
	}
	return page.Bytes()
}

// browser is a Chromium that notes what a page asks for and complains about.
type browser struct {
	context.Context
	mu    sync.Mutex
	notes []string
}

func openBrowser(t *testing.T) *browser {
	t.Helper()
	path, err := machine.LookPath("chromium")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithTimeout(t.Context(), patience)
	t.Cleanup(stop)
	allocator, stop := chromedp.NewExecAllocator(ctx, append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(path), chromedp.UserDataDir(t.TempDir()), chromedp.NoSandbox, chromedp.DisableGPU,
		chromedp.Flag("headless", "new"), chromedp.Flag("disable-component-update", true), chromedp.Flag("hide-scrollbars", true),
		chromedp.Flag("host-resolver-rules", "MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"), // nothing leaves this machine
	)...)
	t.Cleanup(stop)
	b := new(browser)
	tab, stop := chromedp.NewContext(allocator)
	t.Cleanup(stop)
	b.Context = tab
	if err := chromedp.Listen(tab, b.note); err != nil { // starts the browser
		t.Fatal(err)
	}
	if _, err := chromedp.Call(tab, log.Enable, cdp.Empty{}); err != nil {
		t.Fatal(err)
	}
	return b
}

func (b *browser) note(event any) {
	text := ""
	switch e := event.(type) {
	case *network.EventRequestWillBeSent:
		if !strings.HasPrefix(e.Request.URL, "data:") {
			text = "request " + e.Request.URL
		}
	case *runtime.EventExceptionThrown:
		text = "exception " + e.ExceptionDetails.Text
	case *runtime.EventConsoleAPICalled:
		text = "console " + string(e.Type)
	case *log.EventEntryAdded:
		text = "log " + e.Entry.Text
	}
	if text != "" {
		b.mu.Lock()
		b.notes = append(b.notes, text)
		b.mu.Unlock()
	}
}

// noted returns the notes since the last call.
func (b *browser) noted() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	notes := b.notes
	b.notes = nil
	return notes
}

// show opens a page and looks at it.
func (b *browser) show(url, scheme string, width, height int64) (*seen, error) {
	media := emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}}
	if _, err := chromedp.Call(b, emulation.SetEmulatedMedia, media); err != nil {
		return nil, err
	}
	size := emulation.SetDeviceMetricsOverrideParams{Width: width, Height: height, DeviceScaleFactor: 1, Mobile: width < 500}
	if _, err := chromedp.Call(b, emulation.SetDeviceMetricsOverride, size); err != nil {
		return nil, err
	}
	if err := chromedp.Do(b, chromedp.Navigate(url)); err != nil {
		return nil, err
	}
	return chromedp.Run(b, chromedp.Evaluate[*seen](look))
}

// TestReport_HTML: the page shows the numbers of the report, in both colour schemes, on a
// telephone and on a desk, without sideways scrolling, also with all details open. It loads
// nothing and complains of nothing.
func TestReport_HTML(t *testing.T) {
	report := savedReport(t)
	page := pageOf(t, report)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = w.Write(page) // a browser that is gone shows in the test
	}))
	defer server.Close()
	b, grounds := openBrowser(t), map[string]bool{}
	for _, scheme := range []string{"light", "dark"} {
		for _, width := range []int64{390, 1280} {
			shown, err := b.show(server.URL, scheme, width, 900)
			if err != nil {
				t.Fatal(err)
			}
			name := fmt.Sprintf("%s, %d px", scheme, width)
			if notes := b.noted(); len(notes) != 1 || notes[0] != "request "+server.URL+"/" {
				t.Errorf("%s: %q", name, notes)
			}
			if shown.Wide[0] > width || shown.Wide[1] > width || shown.Contrast < 4.5 {
				t.Errorf("%s: %d px wide, %d px with all details, contrast %.1f", name, shown.Wide[0], shown.Wide[1], shown.Contrast)
			}
			grounds[shown.Ground] = true
			shown.compare(t, name, report)
		}
	}
	if len(grounds) != 2 {
		t.Errorf("the colour schemes are %v", grounds)
	}
	b.picture(t, server.URL, page)
}

// seen is what a script reads from the page.
type seen struct {
	Wide                                 []int64
	Ground                               string
	Contrast                             float64
	Numbers                              map[string]int
	Propose, Then                        string
	Plugins, Holes, Endpoints, Strangers int
	Namespaces                           []string
}

// look opens all details, measures the page before and after, and counts.
const look = `(() => {
	const wide = [document.documentElement.scrollWidth];
	document.querySelectorAll("details").forEach(d => d.open = true);
	wide.push(document.documentElement.scrollWidth);
	const number = id => Number(document.getElementById(id).textContent);
	const channels = text => text.match(/[\d.]+/g).map(Number);
	const light = text => channels(text).slice(0, 3).map(c => c / 255).map(c => c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4)
		.reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
	const behind = e => { for (; e; e = e.parentElement) { const c = getComputedStyle(e).backgroundColor; if (channels(c)[3] !== 0) return c; } };
	const contrasts = [...document.querySelectorAll("h1, p, li, b, small, span, summary, td, th, dt, code, pre")].map(e => {
		const [a, b] = [light(getComputedStyle(e).color), light(behind(e))].sort((x, y) => y - x);
		return (a + 0.05) / (b + 0.05);
	});
	const rows = [...document.querySelectorAll("tbody tr")];
	const part = (title) => { const all = [], h = [...document.querySelectorAll("h2")].find(h => h.textContent === title);
		for (let e = h.nextElementSibling; e && e.tagName !== "H2"; e = e.nextElementSibling) if (e.tagName === "DETAILS") all.push(e); return all; };
	return {
		Wide: wide, Ground: getComputedStyle(document.body).backgroundColor, Contrast: Math.min(...contrasts),
		Numbers: Object.fromEntries(["open", "endpoints", "writes", "holes", "closed", "then"].map(id => [id, number(id)])),
		Propose: document.getElementById("propose").textContent, Then: document.getElementById("then").parentElement.textContent,
		Plugins: part("Plugins").length, Holes: part("Published security holes").length, Endpoints: rows.length,
		Strangers: rows.filter(r => r.cells[1].textContent !== "no").length,
		Namespaces: part("All addresses").map(d => d.querySelector("b").textContent),
	};
})()`

// compare compares what the page shows with the report.
func (s *seen) compare(t *testing.T, name string, r *audit.Report) {
	t.Helper()
	reached := func(c audit.Count) int { return c.All + c.Some + c.Unknown }
	want := map[string]int{
		"open": r.Totals.Anonymous.All, "endpoints": r.Totals.Endpoints, "writes": len(r.Writes), "then": r.Proposed.Anonymous.All,
		"holes": len(r.OpenHoles()), "closed": r.Lacking(),
	}
	for id, n := range want {
		if s.Numbers[id] != n {
			t.Errorf("%s: %s is %d, the report has %d", name, id, s.Numbers[id], n)
		}
	}
	if s.Plugins != len(r.Plugins) || s.Holes != want["holes"] || s.Endpoints != want["endpoints"] || s.Strangers != reached(r.Totals.Anonymous) || len(s.Namespaces) != len(r.Namespaces()) {
		t.Errorf("%s: %+v", name, s)
	}
	then := fmt.Sprintf("With these lines: %d of %d, and %d in part", r.Proposed.Anonymous.All, r.Totals.Endpoints, r.Proposed.Anonymous.Some)
	if s.Then != then { // as in the text
		t.Errorf("%s: %q is not %q", name, s.Then, then)
	}
	for _, line := range append([]string{"login_only"}, r.Propose...) {
		if !strings.Contains(s.Propose, "\t"+line+"\n") {
			t.Errorf("%s: the lines do not have %s: %q", name, line, s.Propose)
		}
	}
}

// picture holds that the screenshot is one of this page. With -update it makes it.
func (b *browser) picture(t *testing.T, url string, page []byte) {
	t.Helper()
	sum := sha256.Sum256(page)
	hash, beside := hex.EncodeToString(sum[:])+"\n", strings.TrimSuffix(picture, ".png")+".sha256"
	if *update {
		if _, err := b.show(url, "light", 960, 1180); err != nil {
			t.Fatal(err)
		}
		if err := chromedp.Do(b, chromedp.Navigate(url)); err != nil { // with closed details
			t.Fatal(err)
		}
		png, err := chromedp.Run(b, chromedp.CaptureScreenshot())
		if err != nil {
			t.Fatal(err)
		}
		for file, text := range map[string][]byte{picture: png, beside: []byte(hash)} {
			if err := os.MkdirAll(filepath.Dir(file), 0o750); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(file, text, 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	was, err := os.ReadFile(beside)
	if png, missing := os.ReadFile(picture); err != nil || missing != nil || string(was) != hash || !bytes.HasPrefix(png, []byte("\x89PNG")) {
		t.Errorf("the screenshot shows another page (%v, %v): run this test with -update", err, missing)
	}
	docs, err := os.ReadFile("../../../docs/audit.md")
	if err != nil || !strings.Contains(string(docs), "](images/audit.png)") {
		t.Errorf("docs/audit.md does not show the picture: %v", err)
	}
}
