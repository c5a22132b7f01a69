package mcp_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/restwarden/restwarden/policies/mcp"
)

// BenchmarkRead reads a call of a tool with 1 KiB of arguments.
func BenchmarkRead(b *testing.B) {
	body := []byte(execute(`"ability_name":"shop/query","parameters":{"note":"` + strings.Repeat("x", 1<<10) + `"}`))
	b.ReportAllocs()
	b.SetBytes(int64(len(body)))
	for b.Loop() {
		if _, err := mcp.Read(body, http.Header{}); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkMayExecute looks for a message in what an editor saves: 64 KiB of blocks.
func BenchmarkMayExecute(b *testing.B) {
	for name, block := range map[string]string{"plain": "<p>text</p> ", "escapes": `<p class=\"a\">text<\/p>\n`} {
		b.Run(name, func(b *testing.B) {
			body := []byte(`{"id":7,"status":"draft","content":"` + strings.Repeat(block, (64<<10)/len(block)) + `"}`)
			b.ReportAllocs()
			b.SetBytes(int64(len(body)))
			for b.Loop() {
				if mcp.MayExecute(body) {
					b.Fatal("no message")
				}
			}
		})
	}
}
