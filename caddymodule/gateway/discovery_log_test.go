package gateway

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/restwarden/restwarden/policies/ask"
	"github.com/restwarden/restwarden/policies/ask/asktest"
	"github.com/restwarden/restwarden/policies/discover"
)

// warnedRoots is a site whose roots a test reads, with its warnings.
type warnedRoots struct {
	*site
	t    *testing.T
	logs *observer.ObservedLogs
}

func newWarnedRoots(t *testing.T) *warnedRoots {
	t.Helper()
	core, logs := observer.New(zap.WarnLevel)
	w := &warnedRoots{newTestSite(t), t, logs}
	w.logger = zap.New(core)
	return w
}

// read reads the root of a host and returns how many lines of it are new.
func (w *warnedRoots) read(host string, spelled bool, b ask.Backend) int {
	w.t.Helper()
	before := w.logs.Len()
	w.discovery.readRoot(w.t.Context(), w.site, b, discover.Reach{Host: host}, true, spelled)
	return w.logs.Len() - before
}

func redirecting(to string) ask.Backend {
	return &asktest.Platform{Answer: func(ask.Question) (*ask.Answer, error) {
		return &ask.Answer{Status: http.StatusMovedPermanently, Header: http.Header{"Location": {"https://" + to + "/"}}}, nil
	}}
}

func homeAt(host string) ask.Backend {
	return asktest.Answering(200, fmt.Sprintf(`{"home":"http://%s","namespaces":["cms/v2"],"routes":{"/cms/v2":{}}}`, host))
}

// TestWarnings_OfStrangers: whatever hosts clients make up, what is wrong with the site itself is
// logged and in the status, and what a wildcard's hosts have as well.
func TestWarnings_OfStrangers(t *testing.T) {
	for name, made := range map[string]func(host string) ask.Backend{
		"failures": redirecting,
		"problems": func(string) ask.Backend { return homeAt("elsewhere.example") },
	} {
		t.Run(name, func(t *testing.T) {
			w := newWarnedRoots(t)
			for i := range 3 * maxLogged {
				if host := fmt.Sprintf("shop.example:%d", i+1); w.read(host, false, made(host)) > 1 {
					t.Error(host, w.logs.All())
				}
			}
			if w.read("shop.example", true, asktest.Answering(500, "")) != 1 {
				t.Error("the site's own failure is not logged")
			}
			if w.read("shop.example", true, homeAt("own.example")) != 1 {
				t.Error("the site's own problem is not logged")
			}
			if got := fmt.Sprint(w.state.problems); !strings.Contains(got, "own.example") {
				t.Error("the status does not have it:", got)
			}
			for _, b := range []ask.Backend{asktest.Answering(500, ""), homeAt("else.example")} {
				if w.read("de.shop.example", false, b) != 1 || w.read("de.shop.example", false, b) != 0 {
					t.Error("that of another host is not logged once")
				}
			}
			if n := w.discovery.others.texts.Len(); n > maxLogged {
				t.Errorf("%d texts are kept", n)
			}
		})
	}
}

// TestWarnings_Once: a cause is logged once, and a problem again when it comes back.
func TestWarnings_Once(t *testing.T) {
	w := newWarnedRoots(t)
	fails, fits, odd := asktest.Answering(500, ""), homeAt("shop.example"), homeAt("elsewhere.example")
	for i, step := range []struct {
		b    ask.Backend
		want int
	}{{fails, 1}, {fails, 0}, {odd, 1}, {odd, 0}, {fits, 0}, {fails, 0}, {odd, 1}} {
		if got := w.read("shop.example", true, step.b); got != step.want {
			t.Errorf("%d: %d lines, want %d", i, got, step.want)
		}
	}
}

// TestDiscovery_Narrow: once the root is read, the log says which rule misses calls, and where it stands.
func TestDiscovery_Narrow(t *testing.T) {
	p := newPlatform(t)
	p.answersRoot("/cms-json/", `{"namespaces":["cms/v2"],"routes":{"/cms/v2/plugins/(?P<plugin>[^.\\/]+(?:\\/[^.\\/]+)?)":{}}}`)
	g := startGateway(t, "\trestwarden cms {\n\t\tdeny /cms/v2/plugins/:plugin\n\t}\n"+p.proxied())
	g.do("GET /cms-json/cms/v2/plugins/shop", "").want(t, 403, "")
	eventually(t, "a warning", func() bool {
		return strings.Contains(g.logged(), `"code":"W25"`) && strings.Contains(g.logged(), `"do":"write /cms/v2/plugins/**"`)
	})
}
