//go:build wordpress

package wordpress

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/restwarden/restwarden/cmd/check/testkit/machine"
)

// startLighttpd serves a site's files in the two ways that its own documentation shows, by the pool
// that ends pages early.
func (s *stack) startLighttpd(ctx context.Context, site *site) error {
	conf, bodies := filepath.Join(s.dir, "lighttpd.conf"), filepath.Join(s.dir, "lighttpd")
	if err := s.shareDir(bodies); err != nil {
		return err
	}
	err := s.render("lighttpd.conf", conf, map[string]any{
		"Bodies": bodies, "Port": s.early.lighttpd, "Rewrites": s.early.qsa, "FPM": s.earlySocket(), "User": s.accountOf(webUser), "Root": site.Root,
	})
	if err != nil {
		return err
	}
	p, err := s.start("lighttpd", "-D", "-f", conf)
	if err != nil {
		return err
	}
	return p.Ready(ctx, machine.Connects("tcp", fmt.Sprintf("127.0.0.1:%d", s.early.qsa)))
}
