package caddymodule

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/restwarden/restwarden/cmd/check/testkit/caddyrun"
	"github.com/restwarden/restwarden/cmd/check/testkit/machine"
)

// TestMasked_EveryOutput: a credential that is a segment of a path comes out of no log, no
// metric and no answer of the admin endpoint, even if the REST index and a rule hold it.
func TestMasked_EveryOutput(t *testing.T) {
	const secret = "Tok3nInThePath"
	p := newToolServer(t)
	tools, index := p.answer, ""
	list := func(more string) {
		p.mu.Lock()
		defer p.mu.Unlock()
		index = fmt.Sprintf(`"/mcp/v1/%s":{},"/mcp/v1/%[1]s/sse":{},"/mcp/v1/upload/%[1]s":{}%s`, secret, more)
	}
	list("")
	p.answer = func(w http.ResponseWriter, r *http.Request) bool {
		if strings.Trim(r.URL.Path, "/") != "wp-json" {
			return tools(w, r)
		}
		p.mu.Lock()
		defer p.mu.Unlock()
		_, _ = fmt.Fprintf(w, `{"home":"http://%s","url":"http://%s","namespaces":["mcp/v1"],"routes":{%s}}`, r.Host, r.Host, index)
		return true
	}
	rules := "restwarden wordpress {\nabilities {\naudit arguments\nallow shop/query\ndoors /mcp/v1/**\n}\n" +
		"login_only\nrate_limit 1/1h POST /mcp/v1/" + secret + "/messages\ndeny /mcp/v1/upload/" + secret + "\nallow anyone /mcp/v1/" + secret + "\nallow users /mcp/v1/" + secret + "\n}\n"
	file := &caddyrun.File{
		Admin: machine.FreeAddress(t), Global: "\tmetrics {\n\t\tper_host\n\t}\n",
		Sites: []caddyrun.Site{{Body: rules + p.proxied()}, {Body: "metrics /metrics"}},
	}
	g := startFile(t, file)
	m := &gateway{t: t, url: "http://" + file.Sites[1].Address}
	var seen strings.Builder
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+file.Admin+"/restwarden/events", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	events, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	streamed := make(chan string, 1)
	go func() {
		text, _ := io.ReadAll(events.Body)
		streamed <- string(text)
	}()
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
	for _, path := range []string{"sites", "sites/" + "_/refusals"} {
		_, answer := adminOf(t, file.Admin, http.MethodGet, path, "")
		seen.WriteString(answer)
	}
	time.Sleep(50 * time.Millisecond) // for the events, which nothing awaits
	caddyrunMetrics := m.do("GET /metrics", "").body
	seen.WriteString(caddyrunMetrics)
	caddyrun.Stop(t)
	_ = events.Body.Close()
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
