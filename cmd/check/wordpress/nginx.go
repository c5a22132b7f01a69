package wordpress

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/restwarden/restwarden/cmd/check/machine"
)

// startNginx serves a site's files the way that WordPress's handbook shows, with
// the same php-fpm.
func (s *stack) startNginx(ctx context.Context, site *site) error {
	conf := filepath.Join(s.dir, "nginx.conf")
	err := s.render("nginx.conf", conf, map[string]any{
		"Dir": s.dir, "Port": s.nginx, "User": s.accountOf(webUser), "Root": site.Root, "FPM": s.fpmSocket(),
	})
	if err != nil {
		return err
	}
	p, err := machine.Start(s.dir, "nginx", "-c", conf, "-e", filepath.Join(s.dir, "nginx.log"))
	if err != nil {
		return err
	}
	s.children = append(s.children, p)
	return p.Ready(ctx, machine.Connects("tcp", fmt.Sprintf("127.0.0.1:%d", s.nginx)))
}
