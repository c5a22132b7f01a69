package gateway

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/restwarden/restwarden/caddymodule/adminapi"
	"github.com/restwarden/restwarden/cmd/check/testkit/caddyrun"
	"github.com/restwarden/restwarden/cmd/check/testkit/machine"
)

// TestMasked_EveryOutput: a credential that is a segment of a path comes out of no log, no
// metric and no answer of the admin endpoint, even if the REST index and a rule hold it.
func TestMasked_EveryOutput(t *testing.T) {
	const secret = "Tok3nInThePath"
	p := newToolServer(t)
	tools := p.answering()
	p.setAnswer(func(w http.ResponseWriter, r *http.Request) bool {
		if strings.Trim(r.URL.Path, "/") != "wp-json" {
			return tools(w, r)
		}
		index := fmt.Sprintf(`"/mcp/v1/%s":{},"/mcp/v1/%[1]s/sse":{},"/mcp/v1/upload/%[1]s":{}`, secret)
		_, _ = fmt.Fprintf(w, `{"home":"http://%s","url":"http://%s","namespaces":["mcp/v1"],"routes":{%s}}`, r.Host, r.Host, index)
		return true
	})
	rules := "restwarden wordpress {\nabilities {\naudit arguments\nallow shop/query\ndoors /mcp/v1/**\n}\n" +
		"login_only\nrate_limit 1/1h POST /mcp/v1/" + secret + "/messages\ndeny /mcp/v1/upload/" + secret + "\nallow anyone /mcp/v1/" + secret + "\nallow users /mcp/v1/" + secret + "\n}\n"
	file := &caddyrun.File{
		Admin: machine.FreeAddress(t), Global: "\tmetrics {\n\t\tper_host\n\t}\n",
		Sites: []caddyrun.Site{{Body: rules + p.proxied()}, {Body: "metrics /metrics"}},
	}
	g := startFile(t, file)
	m := &gateway{t: t, url: "http://" + file.Sites[1].Address}
	var seen strings.Builder
	streamed := follow(t, file.Admin)
	for _, path := range []string{"", "/sse", "/messages", "/messages", "/nothing"} {
		for _, line := range []string{"POST /wp-json/mcp/v1/" + secret + path, "POST /?rest_route=/mcp/v1/" + secret + path, "GET /wp-json/MCP/v1/" + secret + path} {
			g.do(line, toolCall("shop-query", `{}`), jsonBody)
		}
	}
	eventually(t, "the index", func() bool {
		g.do("POST /wp-json/mcp/v1/upload/"+secret, "{}", jsonBody)
		return strings.Contains(g.logged(), "/mcp/v1/upload/:token")
	})
	g.do("POST /wp-json/mcp/v1/"+secret, toolCall("shop-query", `{}`), jsonBody)
	_, sites := adminOf(t, file.Admin, http.MethodGet, "sites", "")
	seen.WriteString(sites)
	time.Sleep(50 * time.Millisecond) // for the events, which nothing awaits
	seen.WriteString(m.do("GET /metrics", "").body)
	caddyrun.Stop(t)
	seen.WriteString(<-streamed)
	seen.WriteString(g.logged())
	for _, want := range []string{"/mcp/v1/:token", "agent call", "/mcp/v1/upload/:token", "caddy_restwarden_agent_calls_total"} {
		if !strings.Contains(seen.String(), want) {
			t.Errorf("no output has %s", want)
		}
	}
	for line := range strings.Lines(seen.String()) {
		if strings.Contains(strings.ToLower(line), strings.ToLower(secret)) {
			t.Errorf("the secret is in %s", line)
		}
	}
}

// follow reads the events of the admin endpoint until it ends, and then gives their text.
func follow(t *testing.T, admin string) <-chan string {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+admin+adminapi.Path+adminapi.EventsPath, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	streamed := make(chan string, 1)
	res, err := new(http.Client).Do(req) //nolint:bodyclose // closed in the background
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		defer func() { _ = res.Body.Close() }()
		text, _ := io.ReadAll(res.Body)
		streamed <- string(text)
	}()
	return streamed
}
