package main

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/restwarden/restwarden/cmd/platform/site"
)

func TestRun(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	reader, writer := io.Pipe()
	done := make(chan error, 1)
	go func() {
		done <- run(ctx, []string{"--listen", "127.0.0.1:0", "--base", "/blog", "--release", "10.7"}, writer, io.Discard)
	}()
	lines := bufio.NewReader(reader)
	address, err := lines.ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	var info site.Info
	if err := json.NewDecoder(lines).Decode(&info); err != nil {
		t.Fatal(err)
	}
	go io.Copy(io.Discard, lines) //nolint:errcheck // lets the writer go on
	if info.Users["admin"].ApplicationPassword == "" || info.Release != "10.7" || len(info.Orders) < 3 {
		t.Fatalf("info %+v", info)
	}
	response, err := http.Get(strings.TrimSpace(address) + "cms-json/cms/v2/users")
	if err != nil {
		t.Fatal(err)
	}
	response.Body.Close()
	if response.StatusCode != http.StatusOK {
		t.Fatalf("status %d", response.StatusCode)
	}
	cancel()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
}

func TestBadFlags(t *testing.T) {
	for _, args := range []string{
		"--platform x", "--release 9.9", "--core 5", "--permalinks odd", "--cookie-plugin 1", "--fault x", "--smtp nohost", "--base blog", "--base /blog/",
		"--listen nowhere", "--nosuch", "extra",
	} {
		t.Run(args, func(t *testing.T) {
			if err := run(t.Context(), strings.Fields(args), io.Discard, io.Discard); err == nil {
				t.Fatal("no error")
			}
		})
	}
}
