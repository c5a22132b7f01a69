//go:build wordpress && frankenphp

package wordpress

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/restwarden/restwarden/cmd/check/testkit/machine"
)

// frankenExamples are the Caddyfiles of docs/guides/rewrites.md that need FrankenPHP, by their
// headings, and the site that each serves.
var frankenExamples = map[string]string{
	"FrankenPHP":                              franken,
	"FrankenPHP with a root of its own":       franken,
	"FrankenPHP with a fallback of its own":   franken,
	"FrankenPHP, all to the front controller": franken,
	"A sub-folder with FrankenPHP":            frankenFolder,
}

var frankenBlock = regexp.MustCompile("(?ms)^```caddyfile frankenphp\n(.*?)^```")

// TestFrankenPHP_Documented: each of these Caddyfiles has nothing odd, answers whom it
// should, and lets nothing else through.
func TestFrankenPHP_Documented(t *testing.T) {
	s := setUps(t)
	page, err := os.ReadFile(filepath.Join(s.root, "docs", "guides", "rewrites.md"))
	if err != nil {
		t.Fatal(err)
	}
	blocks := frankenBlock.FindAllSubmatchIndex(page, -1)
	if len(blocks) != len(frankenExamples) {
		t.Errorf("%d examples, %d are known", len(blocks), len(frankenExamples))
	}
	for _, at := range blocks {
		headings := exampleHeading.FindAllSubmatch(page[:at[0]], -1)
		name := string(headings[len(headings)-1][1])
		t.Run(name, func(t *testing.T) {
			known, ok := frankenExamples[name]
			if !ok {
				t.Fatal("no such example is known")
			}
			s.checkFrankenExample(t, string(page[at[2]:at[3]]), s.site(known))
		})
	}
}

// checkFrankenExample runs a Caddyfile of the docs in front of a site.
func (s *stack) checkFrankenExample(t *testing.T, text string, site *site) {
	t.Helper()
	ctx, c := t.Context(), count(t)
	text = strings.ReplaceAll(text, "/srv/www", site.Root)
	g, admin := s.frankenGate(t, text, site)
	c.check("nothing is odd", s.notOdd(ctx, text))
	checkRewritten(ctx, c, g, admin)
	for _, target := range []string{
		"/index.php/wp-json/wp/v2/posts", "/%77p-json/wp/v2/posts", "/wp-json/wp/v2/posts?rest_route=/wp/v2/users", "/wp-json/../wp-json/wp/v2/posts",
	} {
		c.check("refused "+target, s.refusedUnseen(ctx, g, target))
	}
}

// frankenGate starts a Caddyfile of the docs, locked, at an address of its own.
func (s *stack) frankenGate(t *testing.T, text string, site *site) (g *gate, admin int) {
	t.Helper()
	ports, err := machine.FreePorts(2)
	if err != nil {
		t.Fatal(err)
	}
	g = &gate{Name: t.Name(), Site: site, Mode: modeLocked, Front: franken, Port: ports[0]}
	text = withOptions(text, "\n\tlogin_only")
	text = strings.NewReplacer(
		"shop.example.com {", fmt.Sprintf("http://%s {\n\tbind 127.0.0.1\n\theader {\n\t\tdefer\n\t\tX-Check-Decision \"{http.vars.restwarden.kind} {http.vars.restwarden.outcome} {http.vars.restwarden.code}\"\n\t}", g.host()),
		"num_threads 16", "num_threads 1", // which every PHP can have
	).Replace(text)
	if rest, ok := strings.CutPrefix(text, "{"); ok {
		text = rest
	} else {
		text = "\n\tfrankenphp {\n\t\tnum_threads 1\n\t}\n}\n" + text
	}
	config := filepath.Join(s.dir, fmt.Sprintf("frankenphp-%d.Caddyfile", g.Port))
	head := fmt.Sprintf("{\n\tadmin 127.0.0.1:%d\n\tpersist_config off\n\tmetrics\n\tauto_https off\n\tstorage file_system %s/caddy-data", ports[1], s.dir)
	if err := os.WriteFile(config, []byte(head+text), 0o600); err != nil {
		t.Fatal(err)
	}
	p, err := s.runFrankenPHP(t.Context(), config, g.host())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Stop)
	return g, ports[1]
}

// notOdd is that the command check finds nothing in a Caddyfile.
func (s *stack) notOdd(ctx context.Context, text string) error {
	config := filepath.Join(s.dir, "odd.Caddyfile")
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		return err
	}
	out, err := machine.Run(ctx, s.dir, nil, os.Getenv(frankenVariable), "restwarden", "check", "--strict", "--config", config, "--adapter", "caddyfile")
	if err == nil && !strings.Contains(out, "nothing odd") {
		err = errors.New("the command does not say that nothing is odd")
	}
	if err != nil {
		err = fmt.Errorf("%w\n%s", err, out)
	}
	return err
}

// refusedUnseen is that a request is refused, and that WordPress does not even load.
func (s *stack) refusedUnseen(ctx context.Context, g *gate, target string) error {
	m := message{method: http.MethodGet, target: target, as: "administrator"}
	tag := fmt.Sprintf("franken-%d-%d", g.Port, len(target))
	a, err := send(ctx, g, m.render(g, tag))
	if err != nil {
		return err
	}
	seen, err := s.readTrace(tag)
	if err == nil && (a.status != http.StatusBadRequest || seen.loaded) {
		err = fmt.Errorf("got %s, WordPress ran: %s", a, seen.describe())
	}
	return err
}
