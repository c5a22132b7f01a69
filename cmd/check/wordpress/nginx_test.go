//go:build wordpress

package wordpress

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/restwarden/restwarden/cmd/check/testkit/machine"
)

// startNginx serves a site's files the way that WordPress's handbook shows, with
// the same php-fpm.
func (s *stack) startNginx(ctx context.Context, site *site) error {
	conf := filepath.Join(s.dir, "nginx.conf")
	type server struct {
		Port             int
		Root, FPM, Query string // Query is what a page's script gets
	}
	err := s.render("nginx.conf", conf, struct {
		server
		Dir, User string
		Early     []server
	}{
		server{s.nginx, site.Root, s.fpmSocket(), "$args"},
		s.dir, s.accountOf(webUser),
		[]server{
			{s.early.nginx, site.Root, s.earlySocket(), "$args"},
			{s.early.nginxQ, site.Root, s.earlySocket(), "q=$uri&$args"},
			{s.early.lossy, site.Root, s.earlySocket(), "q=$request_uri"},
			{s.early.queryless, site.Root, s.earlySocket(), ""},
		},
	})
	if err != nil {
		return err
	}
	p, err := s.start("nginx", "-c", conf, "-e", filepath.Join(s.dir, "nginx.log"))
	if err != nil {
		return err
	}
	return p.Ready(ctx, machine.Connects("tcp", fmt.Sprintf("127.0.0.1:%d", s.nginx)))
}
