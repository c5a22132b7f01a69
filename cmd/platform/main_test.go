package main

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/restwarden/restwarden/cmd/check/testkit/machine"
	"github.com/restwarden/restwarden/cmd/platform/site"
)

// start runs the platform until the test ends and returns what it prints.
func start(t *testing.T, args ...string) (address string, info site.Info) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	reader, writer := io.Pipe()
	done := make(chan error, 1)
	go func() { done <- run(ctx, append([]string{"--listen", "127.0.0.1:0"}, args...), writer, io.Discard) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	lines := bufio.NewReader(reader)
	address, err := lines.ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	if err := json.NewDecoder(lines).Decode(&info); err != nil {
		t.Fatal(err)
	}
	go io.Copy(io.Discard, lines) //nolint:errcheck // lets the writer go on
	return strings.TrimSpace(address), info
}

func TestRun(t *testing.T) {
	address, info := start(t, "--base", "/blog", "--release", "10.7")
	if info.Users["admin"].ApplicationPassword == "" || info.Release != "10.7" || len(info.Orders) < 3 {
		t.Fatalf("info %+v", info)
	}
	if status := get(t, address+"cms-json/cms/v2/users"); status != http.StatusOK {
		t.Fatalf("status %d", status)
	}
}

// TestRun_Options: flags that are lists reach the site.
func TestRun_Options(t *testing.T) {
	address, _ := start(t, "--login-only", "--login-allow", "/cms-abilities/v1,/pay/v1", "--core", "6.8", "--abilities-plugin", "--symbol", "MOP=M")
	for route, want := range map[string]int{"cms-abilities/v1": 200, "pay/v1": 200, "cms/v2/posts": 401} {
		if status := get(t, address+"cms-json/"+route); status != want {
			t.Errorf("%s: status %d, want %d", route, status, want)
		}
	}
}

func get(t *testing.T, url string) (status int) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(request) //nolint:forbidigo // go test bounds it
	if err != nil {
		t.Fatal(err)
	}
	_ = response.Body.Close()
	return response.StatusCode
}

var shBlock = regexp.MustCompile("(?s)```sh\n(go run \\./cmd/platform ([^\n]*)\n(.*?))```")

// TestDocs_Withdrawal runs the commands of docs/project/reference-platform.md. They switch the
// withdrawal flow on, which is off before.
func TestDocs_Withdrawal(t *testing.T) {
	page, err := os.ReadFile("../../docs/project/reference-platform.md")
	if err != nil {
		t.Fatal(err)
	}
	commands := shBlock.FindStringSubmatch(string(page))
	if commands == nil {
		t.Fatal("no commands found")
	}
	address, info := start(t, strings.Fields(commands[2])...)
	form := func() int {
		t.Helper()
		return get(t, address+"my-account/withdraw-order/")
	}
	if status := form(); status != http.StatusNotFound {
		t.Errorf("before: %d", status)
	}
	script := strings.NewReplacer(
		"http://127.0.0.1:8080/", address, "<application password>", info.Users["admin"].ApplicationPassword,
	).Replace(commands[3])
	out, err := machine.Run(t.Context(), "", nil, "bash", "-euc", script)
	if err != nil || !strings.Contains(out, "order_withdrawal") {
		t.Fatalf("%v: %s\n%s", err, out, script)
	}
	if status := form(); status != http.StatusOK {
		t.Errorf("after: %d", status)
	}
}

func TestBadFlags(t *testing.T) {
	for _, args := range []string{
		"--platform x", "--release 9.9", "--core 5", "--permalinks odd", "--cookie-plugin 1", "--fault x", "--smtp nohost", "--base blog", "--base /blog/",
		"--listen nowhere", "--nosuch", "extra",
		"--symbol MOP", "--login-allow /consent/v1/consent", "--login-only --login-allow /nosuch", "--cookie-path blog", "--install blog",
	} {
		t.Run(args, func(t *testing.T) {
			if err := run(t.Context(), strings.Fields(args), io.Discard, io.Discard); err == nil {
				t.Fatal("no error")
			}
		})
	}
}
