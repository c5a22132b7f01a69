package gateway

import (
	"strings"
	"testing"

	"github.com/restwarden/restwarden/cmd/check/testkit/caddyrun"
)

// TestSpoolDir_Finding: a directory with less free than spool_limit is a warning, once for
// each load.
func TestSpoolDir_Finding(t *testing.T) {
	p := newPlatform(t)
	dir := t.TempDir()
	site := loginOnlyWith("spool_dir "+dir, "spool_limit 4EiB") + p.proxied()
	g := startFile(t, &caddyrun.File{Sites: []caddyrun.Site{{Body: site}, {Body: site}}})
	warned := func() int { return strings.Count(g.logged(), `"code":"W14"`) }
	if n := warned(); n != 1 || !strings.Contains(g.logged(), dir) {
		t.Errorf("%d warnings: %s", n, g.logged())
	}
	g.load(site)
	if n := warned(); n != 2 {
		t.Errorf("%d warnings after a reload", n)
	}
}
