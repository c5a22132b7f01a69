//go:build wordpress

package wordpress

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/restwarden/restwarden/cmd/check/testkit/machine"
)

// startHAProxy normalises addresses in front of the nginx that ends pages early, and of Varnish.
func (s *stack) startHAProxy(ctx context.Context) error {
	conf := filepath.Join(s.dir, "haproxy.cfg")
	if err := s.render("haproxy.cfg", conf, map[string]int{"Port": s.early.haproxy, "To": s.early.nginx, "Before": s.early.before, "Sorted": s.early.sorted}); err != nil {
		return err
	}
	p, err := s.start("haproxy", "-db", "-f", conf)
	if err != nil {
		return err
	}
	return p.Ready(ctx, machine.Connects("tcp", fmt.Sprintf("127.0.0.1:%d", s.early.haproxy)))
}
