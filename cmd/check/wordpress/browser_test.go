//go:build wordpress

package wordpress

import (
	"context"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"

	"github.com/restwarden/restwarden/cmd/check/testkit/machine"
)

// stepLimit bounds one step in the browser; the first one compiles all of
// WordPress on a busy machine.
const stepLimit = 90 * time.Second

// testBrowser visits every set-up, once more over HTTP/3, and where the gateway only
// observes.
func (s *stack) testBrowser(t *testing.T) {
	t.Helper()
	c := count(t)
	shots := filepath.Join(os.TempDir(), "restwarden-screenshots")
	image := filepath.Join(s.dir, "large.jpg")
	if err := errorsOf(os.MkdirAll(shots, 0o755), writeLargeImage(image)); err != nil {
		t.Fatal(err)
	}
	before, err := s.wouldRefuse(t.Context())
	c.check("metrics", err)
	var gates []*gate
	for _, site := range s.sites {
		gates = append(gates, s.gate(site.Name, modeLocked))
	}
	for _, g := range append(gates, s.gate(fpm, modeLocked).secure(), s.gate(fpm, modeObserve)) {
		t.Run(g.Name, func(t *testing.T) {
			v := &visit{gate: g, shots: shots, image: image}
			profile := filepath.Join(s.dir, "chromium-"+strings.ReplaceAll(g.Name, " ", "-"))
			if err := v.open(t.Context(), profile, s.dir); err != nil {
				t.Fatal("chromium:", err)
			}
			defer v.close()
			v.run(count(t))
		})
	}
	after, err := s.wouldRefuse(t.Context())
	if err == nil && after != before {
		err = fmt.Errorf("%g calls would have been refused: see the log of the gateway\n%s", after-before, s.wouldRefuseLog())
	}
	c.check("observe would refuse nothing", err)
	t.Logf("screenshots are in %s", shots)
}

// visit is one browser at one gate.
type visit struct {
	gate  *gate
	shots string
	image string
	done  func()

	admin   context.Context // the administrator's tab
	visitor context.Context // a tab without the administrator's cookies

	mu   sync.Mutex
	seen []response
	shot int
}

// response is what the browser got for one request.
type response struct {
	url, decision   string
	protocol, taken string // by the browser, and by the server
	status          int64
}

// trusting returns the browser's options for a gate over TLS: it speaks HTTP/3 with
// it from the first request on, and trusts Caddy's own authority, by the hash of its
// key. dir is where Caddy runs.
func trusting(g *gate, dir string) ([]chromedp.ExecAllocatorOption, error) {
	if g.Scheme != "https" {
		return nil, nil
	}
	text, err := os.ReadFile(filepath.Join(dir, "caddy-data", "pki", "authorities", "local", "intermediate.crt"))
	if err != nil {
		return nil, err
	}
	block, _ := pem.Decode(text)
	if block == nil {
		return nil, errors.New("intermediate.crt is no certificate")
	}
	authority, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		return nil, err
	}
	key := sha256.Sum256(authority.RawSubjectPublicKeyInfo)
	return []chromedp.ExecAllocatorOption{
		chromedp.Flag("ignore-certificate-errors-spki-list", base64.StdEncoding.EncodeToString(key[:])),
		chromedp.Flag("enable-quic", true), chromedp.Flag("origin-to-force-quic-on", g.host()),
	}, nil
}

func (v *visit) open(ctx context.Context, profile, dir string) error {
	path, err := machine.LookPath("chromium")
	if err != nil {
		return err
	}
	more, err := trusting(v.gate, dir)
	if err != nil {
		return err
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(path), chromedp.UserDataDir(profile), chromedp.NoSandbox, chromedp.DisableGPU,
		chromedp.Flag("headless", "new"), chromedp.Flag("disable-component-update", true),
		chromedp.Flag("force-prefers-reduced-motion", true),                        // a click must not miss a panel that slides in
		chromedp.Flag("host-resolver-rules", "MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"), // nothing leaves this machine
		chromedp.WindowSize(1400, 1000),
	)
	options = append(options, more...)
	allocator, stop := chromedp.NewExecAllocator(ctx, options...)
	var closeAdmin, closeVisitor context.CancelFunc = func() {}, func() {}
	v.done = func() { closeVisitor(); closeAdmin(); stop() }
	v.admin, closeAdmin = chromedp.NewContext(allocator)
	if err := chromedp.Listen(v.admin, v.note); err != nil { // starts the browser
		v.done()
		return err
	}
	v.visitor, closeVisitor = chromedp.NewContext(v.admin, chromedp.WithNewBrowserContext())
	if err := chromedp.Listen(v.visitor, v.note); err != nil {
		v.done()
		return err
	}
	return nil
}

func (v *visit) close() { v.done() }

// note keeps what the gateway decided on every request of the browser.
func (v *visit) note(event any) {
	e, ok := event.(*network.EventResponseReceived)
	if !ok || !strings.Contains(e.Response.URL, v.gate.host()) {
		return
	}
	r := response{url: e.Response.URL, status: e.Response.Status, protocol: e.Response.Protocol}
	for name, value := range e.Response.Headers {
		switch http.CanonicalHeaderKey(name) {
		case "X-Check-Decision":
			r.decision = fmt.Sprint(value)
		case "X-Check-Protocol":
			r.taken = fmt.Sprint(value)
		}
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	v.seen = append(v.seen, r)
}

// run goes through the scenario. After a step that fails the next ones have
// nothing to stand on: they fail, too.
func (v *visit) run(c *checks) {
	var broken string
	calls := 0
	for _, step := range scenario {
		if step.refused && v.gate.Mode == modeObserve {
			continue
		}
		name := step.name
		if broken != "" {
			c.failf(name, "not reached: %s failed", broken)
			continue
		}
		tab := v.admin
		if step.visitor {
			tab = v.visitor
		}
		ctx, cancel := context.WithTimeout(tab, stepLimit)
		err := step.run(v, ctx)
		err = errorsOf(err, v.screenshot(ctx, step.name))
		cancel()
		refused, n := v.refusals()
		calls += n
		if err == nil && len(refused) > 0 && !step.refused {
			err = fmt.Errorf("refused:\n%s", strings.Join(refused, "\n"))
		}
		if err != nil {
			broken = step.name
		}
		c.check(name, err)
	}
	c.t.Logf("%d REST calls", calls)
	if broken == "" && calls < 20 {
		c.failf("calls", "too few")
	}
}

// refusals returns what the gateway refused, the server failed at, or came by
// another protocol than HTTP/3 where that is what is tried, since the last step,
// and how many REST calls there were.
func (v *visit) refusals() (refused []string, calls int) {
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, r := range v.seen {
		if !strings.HasPrefix(r.decision, "page") && r.decision != "" {
			calls++
		}
		if v.gate.Scheme == "https" && r.decision != "" && (r.protocol != "h3" || r.taken != "HTTP/3.0") {
			refused = append(refused, fmt.Sprintf("%s came by %s, and the server took it as %s", r.url, r.protocol, r.taken))
		}
		if strings.Contains(r.decision, "refuse") || r.status >= 500 {
			refused = append(refused, fmt.Sprintf("%d %s %s", r.status, r.decision, r.url))
		}
	}
	v.seen = nil
	return refused, calls
}

// screenshot keeps what the page looked like at the end of a step.
func (v *visit) screenshot(ctx context.Context, step string) error {
	if ctx.Err() != nil { // the step took too long; the page may still be worth a look
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(v.admin, 10*time.Second)
		defer cancel()
	}
	png, err := chromedp.Run(ctx, chromedp.CaptureScreenshot())
	if err != nil {
		return fmt.Errorf("screenshot: %w", err)
	}
	v.shot++
	name := fmt.Sprintf("%s %02d %s.png", v.gate.Name, v.shot, step)
	return os.WriteFile(filepath.Join(v.shots, strings.ReplaceAll(name, " ", "-")), png, 0o644)
}
