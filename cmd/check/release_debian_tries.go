package main

import (
	"errors"
	"fmt"
	"os"
	"strings"
)

// restarts tells whether the stand-ins were told to restart Caddy. They must have been told
// of the changed unit.
func (d *debianRoot) restarts() (bool, error) {
	calls, err := d.called()
	if err == nil && !strings.Contains(calls, "systemctl --system daemon-reload\n") {
		err = fmt.Errorf("systemd was not told of the drop-in:\n%s", calls)
	}
	return strings.Contains(calls, "restart"), err
}

func (d *debianRoot) installs() error {
	if err := d.says("systemctl restart caddy", "dpkg", "--install", "/root/package.deb"); err != nil {
		return err
	}
	restarted, err := d.restarts()
	if err == nil && restarted {
		err = errors.New("it restarted Caddy")
	}
	return err
}

func (d *debianRoot) isCaddy() error {
	return errors.Join(
		d.says("http.handlers.restwarden\n", "caddy", "list-modules"),
		d.says("v2.", "caddy", "version"),
		d.says("/usr/bin/caddy.distrib by caddy-restwarden", "dpkg-divert", "--list", "/usr/bin/caddy"),
		d.says("2.", "/usr/bin/caddy.distrib", "version"),
		d.says("drwx------ caddy:caddy", "stat", "--format", "%A %U:%G", "/var/lib/restwarden"),
		d.says("-rw------- root:root", "stat", "--format", "%A %U:%G", "/etc/caddy/restwarden.env"),
		d.says("", "dpkg", "--verify", "caddy-restwarden"),
		d.says("caddy-restwarden-explain.8.gz", "dpkg", "--listfiles", "caddy-restwarden"),
	)
}

// unit has systemd read the unit of Debian's Caddy with the drop-in.
func (d *debianRoot) unit() error {
	return errors.Join(
		d.says("", "systemd-analyze", "verify", "--man=no", "caddy.service"),
		d.says("restwarden.conf", "systemd-analyze", "cat-config", "--no-pager", "systemd/system/caddy.service"),
	)
}

// example loads the example as the service would.
func (d *debianRoot) example() error {
	_, err := d.validate("/usr/share/doc/caddy-restwarden/examples/Caddyfile")
	return err
}

func (d *debianRoot) validate(config string) (string, error) {
	return d.run("runuser", "-u", "caddy", "--", "env", "HOME=/var/lib/caddy", "TMPDIR=/var/lib/restwarden",
		"COOKIE_PLUGIN_KEY=a-key-of-the-check-0123456789", "SHOP_READ_KEY=ck_check:cs_check",
		"caddy", "validate", "--config", config)
}

// upgrades installs the package over itself, with a Caddyfile that loads and with one that
// does not.
func (d *debianRoot) upgrades() error {
	const config = "/etc/caddy/Caddyfile"
	own, err := os.ReadFile(d.path(config))
	if err != nil {
		return err
	}
	for _, try := range []struct {
		config   string
		restarts bool
	}{
		{"http://shop.example.com {\n\trestwarden wordpress {\n\t\tlogin_only\n\t\tspool_dir /var/lib/restwarden\n\t}\n\treverse_proxy 127.0.0.1:8080\n}\n", true},
		{"http://shop.example.com {\n\trestwarden wordpress {\n\t\tno_such_option\n\t}\n}\n", false},
	} {
		if err := os.WriteFile(d.path(config), []byte(try.config), 0o644); err != nil { //nolint:gosec // as it was
			return err
		}
		out, err := d.run("dpkg", "--install", "/root/package.deb")
		if err != nil {
			return err
		}
		restarted, err := d.restarts()
		if err != nil {
			return err
		}
		if said := strings.Contains(out, "the old one runs on"); restarted != try.restarts || said == try.restarts {
			return fmt.Errorf("restarted: %t, said that it was not: %t, with\n%s", restarted, said, try.config)
		}
	}
	if err := d.says("Debian's Caddy does not know", "dpkg", "--remove", "caddy-restwarden"); err != nil {
		return err
	}
	return errors.Join(
		os.WriteFile(d.path(config), own, 0o644), //nolint:gosec // as it was
		d.says("drwx------ caddy:caddy", "stat", "--format", "%A %U:%G", "/var/lib/restwarden"),
	)
}

func (d *debianRoot) purges() error {
	if _, err := d.run("dpkg", "--purge", "caddy-restwarden"); err != nil {
		return err
	}
	restarted, err := d.restarts()
	if err == nil && restarted {
		err = errors.New("it restarted Caddy")
	}
	if err != nil {
		return err
	}
	after, err := d.state()
	if err != nil {
		return err
	}
	if lines := different(d.before, after); len(lines) > 0 {
		return fmt.Errorf("what it changed:\n%s", strings.Join(lines, "\n"))
	}
	return nil
}
