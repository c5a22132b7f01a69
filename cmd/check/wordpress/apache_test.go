//go:build wordpress

package wordpress

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/restwarden/restwarden/cmd/check/testkit/machine"
)

// apacheModuleNames are what a stock configuration loads and a WordPress site
// needs.
var apacheModuleNames = []string{
	"mpm_prefork", "authz_core", "authz_host", "access_compat", "alias", "dir", "env", "filter", "headers",
	"mime", "negotiation", "proxy", "proxy_fcgi", "reqtimeout", "rewrite", "setenvif", "deflate",
}

// startApache serves a site's files with mod_php and the stock .htaccess, and once more with
// PHP-FPM behind mod_proxy_fcgi, where Authorization does not reach PHP.
func (s *stack) startApache(ctx context.Context, site *site) error {
	php, err := machine.Newest(apachePHP)
	if err != nil {
		return err
	}
	conf := filepath.Join(s.dir, "apache.conf")
	err = s.render("apache.conf", conf, map[string]any{
		"Dir": s.dir, "Port": site.Apache, "Early": s.early.apache, "Lost": s.early.lost, "FPM": s.earlySocket(), "User": s.accountOf(webUser), "Root": site.Root,
		"Modules": apacheModuleNames, "ModuleDir": apacheModules, "PHP": php,
	})
	if err != nil {
		return err
	}
	rules := filepath.Join(site.Root, ".htaccess")
	if err := s.render("htaccess", rules, nil); err != nil {
		return err
	}
	if err := s.giveToWebUser(ctx, rules); err != nil { // the permalink settings write it
		return err
	}
	p, err := s.start("apache2", "-f", conf, "-D", "FOREGROUND")
	if err != nil {
		return err
	}
	return p.Ready(ctx, machine.Connects("tcp", fmt.Sprintf("127.0.0.1:%d", site.Apache)))
}
