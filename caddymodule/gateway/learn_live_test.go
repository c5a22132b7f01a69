package gateway

import (
	"compress/gzip"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	_ "github.com/caddyserver/caddy/v2/modules/caddyhttp/encode/zstd" // an encoder of the Caddyfile
	"github.com/klauspost/compress/zstd"
	"github.com/quic-go/quic-go/http3"

	"github.com/restwarden/restwarden/cmd/check/testkit/caddyrun"
	"github.com/restwarden/restwarden/cmd/check/testkit/client"
	"github.com/restwarden/restwarden/cmd/check/testkit/rawhttp"
	referencesite "github.com/restwarden/restwarden/cmd/platform/site"
)

// decodedBody decodes an answer as its head says.
func decodedBody(t *testing.T, r client.Reply) string {
	t.Helper()
	var body io.Reader = strings.NewReader(r.Body)
	var err error
	switch r.Header.Get("Content-Encoding") {
	case "gzip":
		body, err = gzip.NewReader(body)
	case "zstd":
		body, err = zstd.NewReader(body)
	}
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(body)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// awaitDecoders waits until no answer is decoded: each holds memory until its end.
func awaitDecoders(t *testing.T) {
	t.Helper()
	eventually(t, "the decoders have ended", func() bool {
		return !slices.ContainsFunc(current.Load().gateways, func(g *Gateway) bool { return g.engine.memory.Bytes() > 0 })
	})
}

// makeRecord makes a record past the gateway, and returns its id.
func makeRecord(t *testing.T, s http.Handler, collection, record, key string) int {
	t.Helper()
	name, value, _ := strings.Cut(key, ": ")
	r := httptest.NewRequest(http.MethodPost, collection, strings.NewReader(record))
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set(name, value)
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	var made struct{ ID int }
	if err := json.Unmarshal(w.Body.Bytes(), &made); err != nil || w.Code != http.StatusCreated {
		t.Fatal(w.Code, w.Body, err)
	}
	return made.ID
}

// makeOrders makes orders past the gateway, and returns their ids.
func makeOrders(t *testing.T, s http.Handler, key string, n int) (ids []int) {
	t.Helper()
	for range n {
		ids = append(ids, makeRecord(t, s, wooOrders, `{"status":"processing"}`, key))
	}
	return ids
}

// TestLearning_Encoded: with encode behind the gateway, a list proves its orders over each
// protocol and in each encoding that can be read, and the client gets it as it would without
// the gateway.
func TestLearning_Encoded(t *testing.T) {
	s, err := referencesite.New(referencesite.Options{Platform: "wordpress", Release: "10.7"})
	if err != nil {
		t.Fatal(err)
	}
	info := s.Info()
	var records atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/notes/0") {
			records.Add(1)
		}
		s.ServeHTTP(w, r)
	}))
	defer server.Close()
	f := &caddyrun.File{Sites: []caddyrun.Site{{
		Secure: true, Body: "\ttls internal\n\trestwarden wordpress\n\tencode gzip zstd\n\treverse_proxy " + strings.TrimPrefix(server.URL, "http://"),
	}}}
	caddyrun.Start(t, f)
	eventually(t, "Caddy has a certificate", func() bool {
		conn, err := (&tls.Dialer{Config: rawhttp.Trusting("h2")}).DialContext(t.Context(), "tcp", f.Sites[0].Address)
		if err == nil {
			_ = conn.Close()
		}
		return err == nil
	})
	quic := &http3.Transport{TLSClientConfig: rawhttp.Trusting("h3")}
	defer func() { _ = quic.Close() }()
	key := basicAuth(info.Keys.ReadWriteKey)
	for protocol, transport := range map[string]http.RoundTripper{
		"HTTP/1.1": &http.Transport{TLSClientConfig: rawhttp.Trusting("http/1.1"), DisableCompression: true},
		"HTTP/2.0": &http.Transport{TLSClientConfig: rawhttp.Trusting("h2"), ForceAttemptHTTP2: true, DisableCompression: true},
		"HTTP/3.0": quic,
	} {
		c := &http.Client{Transport: transport}
		for _, encoding := range []string{"identity", "gzip", "zstd"} {
			t.Run(protocol+"/"+encoding, func(t *testing.T) {
				orders := makeOrders(t, s, key, 5) // of its own: what another run has learned does not count
				include := strings.Trim(strings.ReplaceAll(fmt.Sprint(orders), " ", ","), "[]")
				do := func(line, body string, headers ...string) client.Reply {
					t.Helper()
					req, err := client.RequestFrom(t.Context(), "https://"+f.Sites[0].Address, line, strings.NewReader(body), client.Lines(append(headers, key)...))
					if err != nil {
						t.Fatal(err)
					}
					if body == "" {
						req.Body, req.ContentLength = http.NoBody, 0
					}
					got, err := client.Do(c, req)
					if err != nil || got.Status != 200 {
						t.Fatal(got, err)
					}
					return got
				}
				list := do("GET "+wooOrders+"?include="+include, "", "Accept-Encoding: "+encoding)
				if got := list.Header.Get("Content-Encoding"); strings.TrimPrefix(encoding, "identity") != got {
					t.Fatalf("the answer is encoded as %q", got)
				}
				for _, order := range orders {
					if !strings.Contains(decodedBody(t, list), fmt.Sprintf(`"id":%d,`, order)) {
						t.Errorf("order %d is not in the list", order)
					}
				}
				awaitDecoders(t)
				before := records.Load()
				for _, order := range orders {
					do(fmt.Sprintf("PUT %s/%d", wooOrders, order), `{"status":"completed"}`, asJSON)
				}
				if n := records.Load() - before; n != 0 {
					t.Errorf("%d questions about %d orders", n, len(orders))
				}
			})
		}
	}
	if records.Load() != 0 {
		t.Errorf("%d questions", records.Load())
	}
}
