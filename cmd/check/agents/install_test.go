//go:build agents

package agents

import (
	"embed"
	"os"
	"testing"

	"github.com/restwarden/restwarden/cmd/check/testkit/npm"
)

//go:embed clients/*.json clients/*.mjs
var embedded embed.FS

// clients are the packages, and the program that drives them.
var clients = npm.Packages{Files: embedded, Root: "clients"}

func TestMain(m *testing.M) {
	code := m.Run()
	clients.Remove()
	os.Exit(code)
}
