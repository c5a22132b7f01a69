//go:build !race

package gateway

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
)

// A checkout that states another total than its cart has.
const (
	checkoutTarget = "/wp-json/wc/store/v1/checkout"
	checkoutBody   = `{"expected_total":1}`
)

// cartOf returns a cart of about size bytes.
func cartOf(size int) []byte {
	item := `{"id":1,"description":"` + strings.Repeat(`<p>lorem ipsum &amp; dolor<\/p>`, 100) + `"}`
	return []byte(`{"items":[` + item + strings.Repeat(","+item, size/len(item)) + `],"totals":{"total_price":"2000"}}`)
}

// question is what the gateway holds of a question beside its answer.
const question = 8 << 10

// TestCarts_Held: of a cart that a checkout makes the gateway ask for, nothing is held that no
// share counts: neither while it comes, nor while the client does not take it.
func TestCarts_Held(t *testing.T) {
	g := provisioned(t, `{"platform":"wordpress","identity":{"max_in_flight":1000}}`)
	for _, size := range []int{100 << 10, 4 << 20} {
		cart := cartOf(size)
		for name, comes := range map[string]int{"while it comes": len(cart) - 1, "while it is not taken": len(cart)} {
			t.Run(fmt.Sprintf("%d KiB, %s", size>>10, name), func(t *testing.T) {
				s := &stalled{wire: fmt.Sprintf("POST %s HTTP/1.1\r\nHost: a\r\nNonce: x\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", checkoutTarget, len(checkoutBody), checkoutBody)}
				next := caddyhttp.HandlerFunc(func(w http.ResponseWriter, r *http.Request) error {
					if r.URL.Path == checkoutTarget {
						t.Error("the checkout goes on")
					}
					if _, err := w.Write(cart[:comes]); err != nil || comes == len(cart) {
						return err
					}
					<-s.let
					_, err := w.Write(cart[comes:])
					return err
				})
				onDisk := int64(0)
				counted := func() int64 { onDisk = g.engine.spool.Bytes() / exchanges; return g.engine.memory.Bytes() }
				live, shares := s.held(t, caddyhttp.HandlerFunc(func(w http.ResponseWriter, r *http.Request) error { return g.ServeHTTP(w, r, next) }), counted)
				if live > shares+small+copied+question {
					t.Errorf("%d bytes are held, and %d are counted", live, shares)
				}
				if shares > 64<<10 || shares+onDisk+4<<10 < int64(comes) {
					t.Errorf("%d bytes are counted in memory and %d on disk, of %d", shares, onDisk, comes)
				}
				if left := g.engine.memory.Bytes() + g.engine.spool.Bytes(); left != 0 {
					t.Errorf("%d bytes are never given back", left)
				}
			})
		}
	}
}

// TestCarts_Answer: the 409 has the cart in the bytes of the platform.
func TestCarts_Answer(t *testing.T) {
	g := provisioned(t, `{"platform":"wordpress"}`)
	const before = `{"code":"woocommerce_rest_checkout_total_mismatch","message":"The total of the cart has changed. Please review it before you place the order.","data":{`
	for _, mark := range []string{"", "\ufeff"} {
		for _, size := range []int{0, 20 << 10, 70 << 10, 1 << 20} {
			cart := cartOf(size)
			for nonce, want := range map[string]string{"x": before + `"cart":` + string(cart) + `,"status":409}}`, "": before + `"status":409}}`} {
				w := httptest.NewRecorder()
				r := prepared(w, checkoutTarget, "Content-Type", "application/json", "Nonce", nonce)
				r.Method, r.Body, r.ContentLength = http.MethodPost, io.NopCloser(strings.NewReader(checkoutBody)), int64(len(checkoutBody))
				err := g.ServeHTTP(w, r, caddyhttp.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) error {
					_, err := io.Copy(w, io.MultiReader(strings.NewReader(mark), bytes.NewReader(cart)))
					return err
				}))
				if err != nil || w.Code != http.StatusConflict || w.Body.String() != want || !json.Valid(w.Body.Bytes()) || w.Header().Get("Content-Length") != fmt.Sprint(len(want)) {
					t.Errorf("%d bytes: %v, %d, %d bytes of %d", len(cart), err, w.Code, w.Body.Len(), len(want))
				}
			}
		}
	}
	if left := g.engine.memory.Bytes() + g.engine.spool.Bytes(); left != 0 {
		t.Errorf("%d bytes are never given back", left)
	}
}

// TestCarts_LargeAnswers: another answer that is large is counted until the request has been decided.
func TestCarts_LargeAnswers(t *testing.T) {
	g := provisioned(t, `{"platform":"wordpress"}`)
	refusal := `{"code":"x","message":"` + strings.Repeat("x", 200<<10) + `"}`
	w := httptest.NewRecorder()
	r := prepared(w, checkoutTarget, "Content-Type", "application/json")
	body := `{"expected_total":1,"billing_address":{"country":"GB"}}`
	r.Method, r.Body, r.ContentLength = http.MethodPost, io.NopCloser(strings.NewReader(body)), int64(len(body))
	err := g.ServeHTTP(w, r, caddyhttp.HandlerFunc(func(w http.ResponseWriter, r *http.Request) error {
		if r.Method == http.MethodPost {
			if left := g.engine.spool.Bytes(); left != 0 {
				t.Errorf("%d bytes of the cart before are held", left)
			}
			w.WriteHeader(http.StatusBadRequest)
			_, err := io.WriteString(w, refusal)
			return err
		}
		_, err := w.Write(cartOf(1 << 20))
		return err
	}))
	if err != nil || w.Code != http.StatusBadRequest || w.Body.String() != refusal {
		t.Errorf("%v, %d, %d bytes", err, w.Code, w.Body.Len())
	}
	if left := g.engine.memory.Bytes() + g.engine.spool.Bytes(); left != 0 {
		t.Errorf("%d bytes are never given back", left)
	}
}

// TestMemory_Carts: 100 clients with carts of 8 MiB check out at the same moment, from one address and
// from ten. Each gets its cart, and the gateway stays far below the size of the carts.
func TestMemory_Carts(t *testing.T) {
	const clients, bound = 100, 384
	cart := cartOf(8<<20 - 8<<10)
	platform := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		if strings.HasSuffix(r.URL.Path, "/cart") {
			_, _ = w.Write(cart)
		}
	}))
	t.Cleanup(platform.Close)
	for _, addresses := range []int{1, 10} {
		p := startProcess(t, "memory", "\trestwarden wordpress\n\treverse_proxy "+platform.Listener.Addr().String()+"\n")
		before, _ := p.resident()
		patient := &http.Client{Timeout: 4 * time.Minute, Transport: strangers.Transport}
		var group sync.WaitGroup
		for i := range clients {
			group.Go(func() {
				status, header, err := p.sendBy(patient, "POST "+checkoutTarget, checkoutBody, "Content-Type: application/json", "Nonce: x", fmt.Sprintf("X-Forwarded-For: 203.0.113.%d", i%addresses+1))
				if status != http.StatusConflict && status != http.StatusServiceUnavailable || err != nil {
					t.Errorf("%d, %v, %v", status, header, err)
				}
			})
		}
		group.Wait()
		_, most := p.resident()
		t.Logf("%d addresses: %d MiB before, at most %d", addresses, before, most)
		if most-before > bound {
			t.Errorf("%d addresses: %d MiB in memory, more than %d", addresses, most-before, bound)
		}
	}
}
