//go:build wordpress

package wordpress

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/restwarden/restwarden/cmd/check/examples"
	"github.com/restwarden/restwarden/cmd/check/testkit/client"
	"github.com/restwarden/restwarden/cmd/check/testkit/machine"
)

// probe is a page of PHP that tells what it knows of its visitor.
const (
	probe     = "example-probe.php"
	probeText = `<?php echo json_encode( array( 'https' => $_SERVER['HTTPS'] ?? '', 'address' => $_SERVER['REMOTE_ADDR'] ) );`
)

// example is one of docs/examples in front of WordPress.
type example struct {
	*examples.Example
	s    *stack
	dir  string
	site *site
}

// TestExamples: the examples guard WordPress itself, with nginx and Apache as they configure them. PHP knows the visitor's
// address, and that the site is one of https. A program logs in. What FrankenPHP serves is served by php-fpm here:
// TestFrankenPHP_Example has FrankenPHP.
func TestExamples(t *testing.T) {
	s := setUps(t)
	for name, run := range map[string]func(*testing.T, *example) examples.Place{
		"wordpress": func(_ *testing.T, e *example) examples.Place {
			return examples.Place{Instead: map[string]string{"wordpress:80": fmt.Sprintf("127.0.0.1:%d", e.site.Apache)}}
		},
		"nginx":  exampleNginx,
		"apache": exampleApache,
		"frankenphp": func(_ *testing.T, e *example) examples.Place {
			upstream := "unix/" + s.fpmSocket()
			return examples.Place{Instead: map[string]string{upstream: upstream}, Caddyfile: map[string]string{
				"{\n\tfrankenphp {\n\t\tnum_threads 16\n\t\tmax_wait_time 10s\n\t}\n}\n": "",
				"/app/public": e.site.Root, "php_server": "php_fastcgi " + upstream + "\n\tfile_server",
			}}
		},
	} {
		t.Run(name, func(t *testing.T) {
			e := s.example(t, name)
			e.holds(t, run(t, e), filepath.Join(s.dir, "caddy"), nil)
		})
	}
}

// example reads one, for the site apache, which nginx and php-fpm can serve as well.
func (s *stack) example(t *testing.T, name string) *example {
	t.Helper()
	read, err := examples.Read(t.Context(), s.root, name)
	if err != nil {
		t.Fatal(err)
	}
	e := &example{Example: read, s: s, dir: filepath.Join(s.dir, strings.ToLower(strings.ReplaceAll(t.Name(), "/", "-"))), site: s.site(apache)}
	if err := os.Mkdir(e.dir, 0o755); err != nil {
		t.Fatal(err)
	}
	return e
}

// holds starts the example's Caddy and calls the site through it.
func (e *example) holds(t *testing.T, p examples.Place, program string, env []string) {
	t.Helper()
	ports, err := machine.FreePorts(3)
	if err != nil {
		t.Fatal(err)
	}
	for i, address := range []*string{&p.HTTP, &p.HTTPS, &p.Admin} {
		*address = fmt.Sprintf("127.0.0.1:%d", ports[i])
	}
	service := "caddy"
	if _, err := e.Project.GetService(service); err != nil {
		service = "frankenphp"
	}
	process, err := e.Start(t.Context(), program, service, e.dir, "localhost", p, env...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(process.Stop)
	page := filepath.Join(e.site.Root, probe)
	if err := os.WriteFile(page, []byte(probeText), 0o644); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Remove(page) })
	visitor, c, admin := examples.Client(examples.Visitor, p), count(t), e.site.Accounts["administrator"]
	c.check("guarded", examples.Guarded(t.Context(), visitor, "https://localhost"))
	if e.Name != "wordpress" { // there the image of WordPress sees to it
		c.check("what PHP knows", exampleKnows(t.Context(), visitor))
	}
	c.check("a program logs in", exampleAnswers(t.Context(), visitor, "/wp-json/wp/v2/users/me", client.Login(admin.Login+":"+admin.Application)))
	c.check("a directory without its slash", exampleRedirects(t.Context(), visitor))
	c.check("the log-in page", exampleAnswers(t.Context(), visitor, "/wp-login.php"))
}

// exampleKnows is that PHP knows visitor and scheme.
func exampleKnows(ctx context.Context, visitor *http.Client) error {
	req, err := client.Request(ctx, "https://localhost", "GET /"+probe, "")
	if err != nil {
		return err
	}
	got, err := client.Do(visitor, req)
	if err == nil && (client.At(got.Body, "https") != "on" || client.At(got.Body, "address") != examples.Visitor) {
		err = fmt.Errorf("got %d %s, want %s over https", got.Status, got.Body, examples.Visitor)
	}
	return err
}

// exampleRedirects is that a redirect of the server behind leads to the site, and not to the server's own port.
func exampleRedirects(ctx context.Context, visitor *http.Client) error {
	req, err := client.Request(ctx, "https://localhost", "GET /wp-admin", "")
	if err != nil {
		return err
	}
	res, err := visitor.Transport.RoundTrip(req)
	if err != nil {
		return err
	}
	defer func() { _ = res.Body.Close() }()
	to, err := res.Location()
	if err == nil && (to.Host != "localhost" || to.Path != "/wp-admin/") {
		err = fmt.Errorf("it leads to %s", to)
	}
	return err
}

func exampleAnswers(ctx context.Context, visitor *http.Client, target string, edits ...client.Edit) error {
	req, err := client.Request(ctx, "https://localhost", "GET "+target, "", edits...)
	if err != nil {
		return err
	}
	got, err := client.Do(visitor, req)
	if err == nil && got.Status != http.StatusOK {
		err = fmt.Errorf("got %d %.300s", got.Status, got.Body)
	}
	return err
}

// exampleNginx starts nginx with the example's site.
func exampleNginx(t *testing.T, e *example) examples.Place {
	t.Helper()
	address := machine.FreeAddress(t)
	conf := filepath.Join(e.dir, "nginx.conf")
	e.render(t, "example.nginx.conf", conf, map[string]any{"Dir": e.dir, "User": e.s.accountOf(webUser), "Site": e.moved(t, "nginx", "/etc/nginx/conf.d/default.conf", map[string]string{
		"listen 8080;": "listen " + address + ";", "root /var/www/html;": "root " + e.site.Root + ";",
		"10.0.0.0/8;": "127.0.0.0/8;", "wordpress:9000;": "unix:" + e.s.fpmSocket() + ";",
	})})
	e.serve(t, address, "nginx", "-c", conf, "-e", filepath.Join(e.dir, "nginx.log"))
	return examples.Place{Instead: map[string]string{"nginx:8080": address}}
}

// exampleImageModules are what Apache's own image loads, but for what Debian's Apache has built in.
var exampleImageModules = strings.Fields("mpm_event authn_core authz_core authz_host access_compat reqtimeout filter mime env headers setenvif autoindex dir alias")

// exampleApache starts Apache with the example's site.
func exampleApache(t *testing.T, e *example) examples.Place {
	t.Helper()
	address := machine.FreeAddress(t)
	if err := os.Symlink(apacheModules, filepath.Join(e.dir, "modules")); err != nil {
		t.Fatal(err)
	}
	conf := filepath.Join(e.dir, "apache.conf")
	e.render(t, "example.apache.conf", conf, map[string]any{"Dir": e.dir, "User": e.s.accountOf(webUser), "Address": address, "Modules": exampleImageModules})
	file := e.moved(t, "apache", "/usr/local/apache2/conf/site.conf", map[string]string{
		"DocumentRoot /var/www/html": "DocumentRoot " + e.site.Root, "<Directory /var/www/html>": "<Directory " + e.site.Root + ">",
		"10.0.0.0/8": "127.0.0.0/8", "proxy:fcgi://wordpress:9000": "proxy:unix:" + e.s.fpmSocket() + "|fcgi://localhost",
	})
	command := e.Project.Services["apache"].Command
	e.serve(t, address, "apache2", "-f", conf, "-D", "FOREGROUND", command[1], strings.Replace(command[2], "conf/site.conf", file, 1))
	return examples.Place{Instead: map[string]string{"apache:80": address}}
}

// moved writes a file of the example, in which texts are replaced, and returns its path.
func (e *example) moved(t *testing.T, service, path string, instead map[string]string) string {
	t.Helper()
	file, err := e.Mounted(service, path)
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	moved, err := examples.MoveText(string(text), instead)
	if err != nil {
		t.Fatal(err)
	}
	to := filepath.Join(e.dir, filepath.Base(file))
	if err := os.WriteFile(to, []byte(moved), 0o600); err != nil {
		t.Fatal(err)
	}
	return to
}

func (e *example) render(t *testing.T, name, to string, data any) {
	t.Helper()
	if err := e.s.render(name, to, data); err != nil {
		t.Fatal(err)
	}
}

// serve runs a server until the test ends.
func (e *example) serve(t *testing.T, address, name string, args ...string) {
	t.Helper()
	process, err := e.s.startServer(machine.Server{Dir: e.dir, Name: name, Args: args})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(process.Stop)
	if err := process.Ready(t.Context(), machine.Connects("tcp", address)); err != nil {
		t.Fatal(err)
	}
}
