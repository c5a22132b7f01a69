//go:build wordpress

package wordpress

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/restwarden/restwarden/cmd/check/testkit/machine"
)

// bypassProxy is a server whose configuration stands on the page.
type bypassProxy struct {
	name  string
	start func(ctx context.Context, s *stack, page string) (address string, err error)
}

var bypassProxies = []bypassProxy{
	{name: "nginx", start: startBypassNginx},
	{name: "Caddy", start: startBypassCaddy("text")},
	{name: gatewayProxy, start: startBypassCaddy("caddyfile")},
}

// bypassBlock returns the first block of a kind that has some text, led to ports of this
// machine, and a directory for its server.
func (s *stack) bypassBlock(page, kind, has string) (dir, block, address string, err error) {
	for _, m := range regexp.MustCompile("(?ms)^```"+kind+"\n(.*?)^```").FindAllStringSubmatch(page, -1) {
		if block == "" && strings.Contains(m[1], has) {
			block = m[1]
		}
	}
	if block == "" {
		return "", "", "", fmt.Errorf("%s has no block %q with %q", bypassPage, kind, has)
	}
	ports, err := machine.FreePorts(1)
	if err != nil {
		return "", "", "", err
	}
	address = fmt.Sprintf("127.0.0.1:%d", ports[0])
	block = strings.NewReplacer(
		"127.0.0.1:8000", address, "127.0.0.1:8080", fmt.Sprintf("127.0.0.1:%d", s.site(apache).Apache),
		"shop.example.com {", fmt.Sprintf("http://shop.example.com:%d {\n\tbind 127.0.0.1", ports[0]),
	).Replace(block)
	if dir, err = os.MkdirTemp(s.dir, "bypass-"); err == nil {
		err = s.shareDir(dir)
	}
	return dir, block, address, err
}

func startBypassNginx(ctx context.Context, s *stack, page string) (string, error) {
	dir, block, address, err := s.bypassBlock(page, "nginx", "location")
	if err != nil {
		return "", err
	}
	user := ""
	if s.accountOf(webUser) != "" {
		user = "user " + webUser + ";\n"
	}
	var temporary strings.Builder
	for _, kind := range []string{"client_body", "proxy", "fastcgi", "uwsgi", "scgi"} {
		fmt.Fprintf(&temporary, "%s_temp_path %s/%s;\n", kind, dir, kind)
	}
	conf := filepath.Join(dir, "nginx.conf")
	text := fmt.Sprintf("%sdaemon off;\npid %s/pid;\nerror_log %s/log;\nevents {}\nhttp {\naccess_log off;\n%s%s}\n", user, dir, dir, &temporary, block)
	if err := os.WriteFile(conf, []byte(text), 0o644); err != nil {
		return "", err
	}
	p, err := s.start("nginx", "-c", conf, "-e", filepath.Join(dir, "log"))
	if err != nil {
		return "", err
	}
	return address, p.Ready(ctx, machine.Connects("tcp", address))
}

// startBypassCaddy starts the Caddy of the tree with the block of a kind.
func startBypassCaddy(kind string) func(context.Context, *stack, string) (string, error) {
	return func(ctx context.Context, s *stack, page string) (string, error) {
		dir, block, address, err := s.bypassBlock(page, kind, "reverse_proxy")
		if err != nil {
			return "", err
		}
		file := filepath.Join(dir, "Caddyfile")
		if err := os.WriteFile(file, []byte("{\n\tadmin off\n\tpersist_config off\n}\n"+block), 0o644); err != nil {
			return "", err
		}
		p, err := s.start(filepath.Join(s.dir, "caddy"), "run", "--config", file, "--adapter", "caddyfile")
		if err != nil {
			return "", err
		}
		return address, p.Ready(ctx, machine.Connects("tcp", address))
	}
}
