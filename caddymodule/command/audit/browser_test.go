package audit_test

import (
	"bytes"
	"flag"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/restwarden/restwarden/caddymodule/command/audit"
	"github.com/restwarden/restwarden/cmd/check/testkit/browser"
)

var update = flag.Bool("update", false, "write the screenshot of docs/commands/audit.md anew")

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
	b, grounds := browser.Open(t), map[string]bool{}
	for _, scheme := range []string{"light", "dark"} {
		for _, width := range []int64{390, 1280} {
			b.Show(server.URL, scheme, width, 900)
			shown := browser.Run[*seen](b, look)
			name := fmt.Sprintf("%s, %d px", scheme, width)
			if notes := b.Noted(); len(notes) != 1 || notes[0] != "request "+server.URL+"/" {
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
	b.Show(server.URL, "light", 960, 1180)
	b.Picture("../../../docs/images/audit.png", "../../../docs/commands/audit.md", page, *update)
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
