package command_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/restwarden/restwarden/caddymodule/command"
)

// TestCommands_Masked: no command writes a credential that is a segment of a path.
func TestCommands_Masked(t *testing.T) {
	const secret = "Tok3nInThePath"
	root := rootOf(t, "mcp/v1", "POST /mcp/v1/"+secret, "POST /mcp/v1/"+secret+"/sse")
	config := guarded(t, "login_only", "allow anyone /mcp/v1/"+secret, "deny POST /mcp/v1/"+secret+" /mcp/v1/"+secret, "allow users /mcp/v1/upload/"+secret)
	broken := guarded(t, "allow anyone /mcp/v1/"+secret+"/(")
	page := filepath.Join(t.TempDir(), "page.html")
	log := logFile(t, "log", []byte(strings.Repeat(observed("shop.example.com", "POST", "/mcp/v1/"+secret, "192.0.2.1", 1)+"\n", 3)))
	journal := logFile(t, "journal", []byte(passed("shop.example.com", erp, "POST", "/mcp/v1/"+secret, "192.0.2.1", 200, 1)))
	address := "https://shop.example.com/wp-json/mcp/v1/" + secret
	for name, args := range map[string][]string{
		"explain":          {"explain", "--config", config, "-X", "POST", address},
		"explain, verbose": {"explain", "--config", config, "--verbose", "--index", root, address},
		"explain, JSON":    {"explain", "--config", config, "--format", "json", address},
		"check":            {"check", "--config", config},
		"check, JSON":      {"check", "--config", config, "--format", "json"},
		"check, SARIF":     {"check", "--config", config, "--format", "sarif"},
		"check, an error":  {"check", "--config", broken},
		"audit":            {"audit", "--config", config, "--all", "--index", root},
		"audit, JSON":      {"audit", "--config", config, "--format", "json", "--index", root},
		"audit, HTML":      {"audit", "--config", config, "--html", page, "--index", root},
		"suggest":          {"suggest", log},
		"credentials":      {"credentials", journal},
		"scopes":           {"credentials", "--scopes", journal},
		"suggest, JSON":    {"suggest", "--format", "json", log},
		"explain, replay":  {"explain", "--config", config, "--log", log, "a"},
	} {
		t.Run(name, func(t *testing.T) {
			out, problems, _ := command.Run(strings.NewReader(""), args...)
			text := out + problems
			if name == "audit, HTML" {
				html, err := os.ReadFile(page)
				if err != nil {
					t.Fatalf("%v: %s", err, text)
				}
				text += string(html)
			}
			if strings.Contains(strings.ToLower(text), strings.ToLower(secret)) {
				t.Errorf("got %s", text)
			}
			if !strings.Contains(text, "/mcp/v1/:token") && name != "check, an error" {
				t.Errorf("nothing is masked in %s", text)
			}
		})
	}
}
