// Package browser shows pages of the gateway's commands to a Chromium, and takes pictures of
// them for the docs.
package browser

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
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

	"github.com/restwarden/restwarden/cmd/check/testkit/machine"
)

// patience bounds what a browser does in one test, also on a busy machine.
const patience = 5 * time.Minute

// Browser is a Chromium that notes what a page asks for and complains about.
type Browser struct {
	context.Context

	tb    testing.TB
	mu    sync.Mutex
	notes []string
}

// Open starts a browser that ends with the test. Nothing that it asks for leaves the machine.
func Open(tb testing.TB) *Browser {
	tb.Helper()
	path, err := machine.LookPath("chromium")
	if err != nil {
		tb.Fatal(err)
	}
	ctx, stop := context.WithTimeout(tb.Context(), patience)
	tb.Cleanup(stop)
	allocator, stop := chromedp.NewExecAllocator(ctx, append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(path), chromedp.UserDataDir(tb.TempDir()), chromedp.NoSandbox, chromedp.DisableGPU,
		chromedp.Flag("headless", "new"), chromedp.Flag("disable-component-update", true), chromedp.Flag("hide-scrollbars", true),
		chromedp.Flag("host-resolver-rules", "MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"),
	)...)
	tb.Cleanup(stop)
	b := &Browser{tb: tb}
	tab, stop := chromedp.NewContext(allocator)
	tb.Cleanup(stop)
	b.Context = tab
	if err := chromedp.Listen(tab, b.note); err != nil { // starts the browser
		tb.Fatal(err)
	}
	if _, err := chromedp.Call(tab, log.Enable, cdp.Empty{}); err != nil {
		tb.Fatal(err)
	}
	return b
}

func (b *Browser) note(event any) {
	text := ""
	switch e := event.(type) {
	case *network.EventRequestWillBeSent:
		if !strings.HasPrefix(e.Request.URL, "data:") {
			text = "request " + e.Request.URL
		}
	case *runtime.EventExceptionThrown:
		text = "exception " + e.ExceptionDetails.Text
		if e.ExceptionDetails.Exception != nil {
			text += " " + e.ExceptionDetails.Exception.Description
		}
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

// Noted returns, since the last call, the requests of the page ("request URL"), what it says
// on the console, and its errors.
func (b *Browser) Noted() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	notes := b.notes
	b.notes = nil
	return notes
}

// Show opens a page in a colour scheme, "light" or "dark", and a size in pixels.
func (b *Browser) Show(url, scheme string, width, height int64) {
	b.tb.Helper()
	media := emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}}
	if _, err := chromedp.Call(b, emulation.SetEmulatedMedia, media); err != nil {
		b.tb.Fatal(err)
	}
	size := emulation.SetDeviceMetricsOverrideParams{Width: width, Height: height, DeviceScaleFactor: 1, Mobile: width < 500}
	if _, err := chromedp.Call(b, emulation.SetDeviceMetricsOverride, size); err != nil {
		b.tb.Fatal(err)
	}
	if err := chromedp.Do(b, chromedp.Navigate(url)); err != nil {
		b.tb.Fatal(err)
	}
}

// Run runs a script in the page and returns its value.
func Run[T any](b *Browser, script string) T {
	b.tb.Helper()
	value, err := chromedp.Run(b.Context, chromedp.Evaluate[T](script))
	if err != nil {
		b.tb.Fatalf("%v\n%s", err, script)
	}
	return value
}

// Picture holds that a picture of the docs, a PNG, is one of source: a hash of that stands
// beside it. With update it takes the picture of what the browser shows now. The page of the
// docs must show the picture.
func (b *Browser) Picture(file, doc string, source []byte, update bool) {
	b.tb.Helper()
	sum := sha256.Sum256(source)
	hash, beside := hex.EncodeToString(sum[:])+"\n", strings.TrimSuffix(file, ".png")+".sha256"
	if update {
		png, err := chromedp.Run(b.Context, chromedp.CaptureScreenshot())
		if err != nil {
			b.tb.Fatal(err)
		}
		for file, text := range map[string][]byte{file: png, beside: []byte(hash)} {
			if err := os.WriteFile(file, text, 0o600); err != nil {
				b.tb.Fatal(err)
			}
		}
	}
	was, err := os.ReadFile(beside)
	if png, missing := os.ReadFile(file); err != nil || missing != nil || string(was) != hash || !bytes.HasPrefix(png, []byte("\x89PNG")) {
		b.tb.Errorf("%s shows another page (%v, %v): run this test with -update", file, err, missing)
	}
	docs, err := os.ReadFile(doc)
	if err != nil || !strings.Contains(string(docs), filepath.Base(file)+")") {
		b.tb.Errorf("%s does not show %s: %v", doc, filepath.Base(file), err)
	}
}
