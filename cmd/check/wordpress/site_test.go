//go:build wordpress

package wordpress

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/restwarden/restwarden/cmd/check/testkit/machine"
)

// source is what the sites are made of: Debian's WordPress and an empty
// database, or a copy of somebody's own site.
type source struct {
	files    string // directory of WordPress
	database string // dump in SQL, "" for none
	prefix   string // of the database's tables
}

func sourceFromEnvironment() source {
	return source{
		files:    cmp.Or(os.Getenv("RESTWARDEN_WORDPRESS"), wordpressFiles),
		database: os.Getenv("RESTWARDEN_DATABASE"),
		prefix:   cmp.Or(os.Getenv("RESTWARDEN_TABLE_PREFIX"), "wp_"),
	}
}

func (s *site) database() string { return "standin_" + s.Name }

// files is the directory of WordPress's own files.
func (s *site) files() string { return filepath.Join(s.Root, s.Base, s.Core) }

// createSite copies WordPress and installs it with the stand-ins.
func (s *stack) createSite(ctx context.Context, site *site) error {
	site.Root = filepath.Join(s.dir, "sites", site.Name)
	if err := s.shareDir(filepath.Dir(site.files())); err != nil {
		return err
	}
	// The package links to other packages' files; ABSPATH must be the copy.
	if out, err := machine.Run(ctx, s.dir, nil, "cp", "-rL", s.source.files, site.files()); err != nil {
		return fmt.Errorf("%w\n%s", err, out)
	}
	config := filepath.Join(site.files(), "wp-config.php")
	if err := os.Remove(config); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if out, err := machine.Run(ctx, s.dir, nil, "cp", "-rL", classicTheme, filepath.Join(site.files(), "wp-content", "themes")); err != nil {
		return fmt.Errorf("%w\n%s", err, out)
	}
	err := s.render("wp-config.php", config, map[string]string{
		"Base": site.Base, "Core": site.Core, "Database": site.database(), "Socket": s.socket,
		"Secret": site.Name, "Reports": s.reports, "Prefix": s.source.prefix,
	})
	if err != nil {
		return err
	}
	if err := s.copyPlugin(filepath.Join(site.files(), "wp-content", "mu-plugins")); err != nil {
		return err
	}
	if site.Core != "" {
		front := fmt.Sprintf("<?php\ndefine( 'WP_USE_THEMES', true );\nrequire __DIR__ . '%s/wp-blog-header.php';\n", site.Core)
		if err := os.WriteFile(filepath.Join(site.Root, site.Base, "index.php"), []byte(front), 0o644); err != nil {
			return err
		}
	}
	if err := s.install(ctx, site); err != nil {
		return err
	}
	return s.giveToWebUser(ctx, site.files())
}

// install runs the platform's own installer, or loads the dump, and fills the
// site.
func (s *stack) install(ctx context.Context, site *site) error {
	if s.source.database != "" {
		if _, err := s.sql(ctx, site, "SOURCE "+s.source.database); err != nil {
			return err
		}
	}
	setup := filepath.Join(s.dir, "setup-"+site.Name+".php") // sites are created at the same time
	if err := s.render("setup.php", setup, nil); err != nil {
		return err
	}
	out, err := machine.Run(ctx, s.dir, nil, "php", "-d", "memory_limit=512M", "-d", "display_errors=stderr",
		setup, site.files(), site.Permalinks, "127.0.0.1")
	if err != nil {
		reason, _, _ := strings.Cut(out, "<!DOCTYPE") // what follows is a page about it
		return fmt.Errorf("%w\n%s", err, reason)
	}
	if err := json.Unmarshal([]byte(out[max(0, strings.LastIndex(out, `{"release"`)):]), site); err != nil {
		return fmt.Errorf("setup.php of %s: %w\n%s", site.Name, err, out)
	}
	return nil
}

func (s *stack) copyPlugin(to string) error {
	plugin, err := fs.Sub(embedded, "plugin")
	if err != nil {
		return err
	}
	return os.CopyFS(to, plugin)
}
