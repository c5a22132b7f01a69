//go:build wordpress

package wordpress

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/restwarden/restwarden/cmd/check/testkit/machine"
)

// startVarnish rewrites addresses several times, in another way at each of its ports, in front of
// the servers that end pages early.
func (s *stack) startVarnish(ctx context.Context) error {
	conf := filepath.Join(s.dir, "varnish.vcl")
	if err := s.render("varnish.vcl", conf, map[string]int{"Nginx": s.early.nginx, "Lighttpd": s.early.lighttpd}); err != nil {
		return err
	}
	args := []string{"-F", "-j", "none", "-T", "none", "-n", filepath.Join(s.dir, "varnish"), "-f", conf, "-s", "malloc,16m"}
	for name, port := range map[string]int{"small": s.early.small, "sorted": s.early.sorted, "twice": s.early.twice} {
		args = append(args, "-a", fmt.Sprintf("%s=127.0.0.1:%d", name, port))
	}
	p, err := s.start("varnishd", args...)
	if err != nil {
		return err
	}
	return p.Ready(ctx, machine.Connects("tcp", fmt.Sprintf("127.0.0.1:%d", s.early.twice)))
}
