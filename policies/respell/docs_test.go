package respell_test

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/restwarden/restwarden/policies/respell"
)

var update = flag.Bool("update", false, "write the tables of docs/commands/spellings.md")

const (
	docs  = "../../docs/commands/spellings.md"
	start = "<!-- written by go test ./policies/respell -update -->\n"
)

// TestDocs holds the tables of docs/commands/spellings.md against All.
func TestDocs(t *testing.T) {
	text, err := os.ReadFile(docs)
	if err != nil {
		t.Fatal(err)
	}
	head, _, ok := strings.Cut(string(text), start)
	if !ok {
		t.Fatalf("%s does not say where the tables begin", docs)
	}
	want := head + start + tables(t)
	switch {
	case *update:
		if err := os.WriteFile(docs, []byte(want), 0o600); err != nil {
			t.Fatal(err)
		}
	case string(text) != want:
		t.Error("the tables are not what All says (run with -update)")
	}
}

// tables writes the places of a POST, the methods of a GET, and how many spellings there
// are of several calls. Folded names stand in the query alone, and methods on the call's own.
func tables(t *testing.T) string {
	t.Helper()
	var b strings.Builder
	b.WriteString("\n## Where the route stands\n\nThese are the spellings of `POST https://shop.example.com/wp-json/wp/v2/posts`, the method as it is.\n\n")
	b.WriteString("| spelling | what is sent |\n|---|---|\n")
	for _, s := range spellingsOf(t, "POST /wp-json/wp/v2/posts", "", "") {
		if !namesMethod(s) && (strings.HasPrefix(s.Name, "query") || !strings.Contains(s.Name, "folded name")) {
			row(&b, s)
		}
	}
	b.WriteString("\n## How the method is named\n\nThese are more spellings of `GET https://shop.example.com/wp-json/wp/v2/users`.\n\n")
	b.WriteString("| spelling | what is sent |\n|---|---|\n")
	for _, s := range spellingsOf(t, "GET /wp-json/wp/v2/users", "", "") {
		if strings.HasPrefix(s.Name, "pretty, ") && !strings.HasSuffix(s.Name, " on POST") && (namesMethod(s) || bytes.HasPrefix(s.Raw, []byte("HEAD"))) {
			row(&b, s)
		}
	}
	b.WriteString("\n## How many there are\n\n| call | spellings |\n|---|--:|\n")
	for _, c := range []struct{ line, header, body, name string }{
		{"GET /wp-json/wp/v2/users", "", "", "GET"},
		{"POST /wp-json/wp/v2/posts", "", "title=x", "POST with a form"},
		{"POST /wp-json/wp/v2/posts", "Content-Type: application/json", `{"title":"x"}`, "POST with JSON"},
		{"PUT /wp-json/wc/v3/orders/7", "Content-Type: application/json", `{"status":"completed"}`, "PUT with JSON"},
		{"DELETE /wp-json/wp/v2/posts/7", "", "", "DELETE"},
		{"POST /wp-json/wp/v2/media", "Content-Type: image/png", "x", "POST of a file as the body"},
	} {
		fmt.Fprintf(&b, "| %s | %d |\n", c.name, len(spellingsOf(t, c.line, c.header, c.body)))
	}
	return b.String()
}

func spellingsOf(t *testing.T, line, header, body string) []respell.Spelling {
	t.Helper()
	return respell.All(bothPlatforms(t)[1], requestAt("wordpress", "", line, header, body))
}

// namesMethod tells whether a spelling names the method elsewhere than on the request line.
func namesMethod(s respell.Spelling) bool {
	return strings.Contains(s.Name, "method=") || strings.Contains(s.Name, "X-HTTP-Method-Override")
}

// row writes what differs from spelling to spelling: request line, override and body.
func row(b *strings.Builder, s respell.Spelling) {
	head, body, _ := strings.Cut(string(s.Raw), "\r\n\r\n")
	lines := strings.Split(head, "\r\n")
	sent := []string{strings.TrimSuffix(lines[0], " HTTP/1.1")}
	for _, line := range lines {
		if strings.HasPrefix(line, "X-HTTP-Method-Override") {
			sent = append(sent, line)
		}
	}
	if _, part, isPart := strings.Cut(body, "form-data; "); isPart {
		part, _, _ = strings.Cut(part, "\r\n--")
		body = strings.ReplaceAll(part, "\r\n\r\n", ": ")
	}
	if body != "" {
		sent = append(sent, body)
	}
	fmt.Fprintf(b, "| %s | `%s` |\n", strings.ReplaceAll(s.Name, "_", `\_`), strings.Join(sent, "`, `"))
}
