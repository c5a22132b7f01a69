package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/restwarden/restwarden/cmd/check/testkit/machine"
	"github.com/restwarden/restwarden/cmd/platform/site"
)

// The README's own site, and where it answers without Caddy.
const (
	readmeSite     = "shop.example.com"
	readmeUpstream = "127.0.0.1:8080"
	userList       = "/wp-json/wp/v2/users"
)

// newUserCommands are those without which a new user gets nowhere.
var newUserCommands = []string{
	"./caddy restwarden audit", "sudo ./caddy start", "./caddy restwarden status --web", "./caddy restwarden suggest", "./caddy reload",
}

// newUser puts the gateway in front of a site, by the README's own lines and with its
// Caddyfile: the site is the reference platform, and all addresses are on loopback.
type newUser struct {
	dir, caddyfile string
	answer         string // what a stranger gets once the door is closed
	env            []string
	upstream, gate string // addresses
	started        bool
	server         *http.Server
}

// newUserOf starts the site that the README in dir shall guard.
func newUserOf(dir, readme string) (*newUser, error) {
	block := regexp.MustCompile("(?ms)^```caddyfile\n(.*?)^```").FindStringSubmatch(readme)
	if block == nil {
		return nil, errors.New("the README has no Caddyfile")
	}
	_, answer, found := strings.Cut(readme, "\n$ curl https://"+readmeSite+"/?rest_route=/wp/v2/users\n")
	answer, _, _ = strings.Cut(answer, "\n")
	if !found {
		return nil, errors.New("the README does not say what a stranger gets")
	}
	platform, err := site.New(site.Options{Platform: "wordpress", Release: "10.7"})
	if err != nil {
		return nil, err
	}
	l, err := machine.Listen()
	if err != nil {
		return nil, err
	}
	ports, err := machine.FreePorts(2)
	if err != nil {
		return nil, errors.Join(err, l.Close())
	}
	home := filepath.Join(filepath.Dir(dir), "home")
	u := &newUser{
		dir: dir, answer: answer, upstream: l.Addr().String(), gate: fmt.Sprintf("127.0.0.1:%d", ports[0]),
		env:    []string{"HOME=" + home, "XDG_DATA_HOME=" + home, "XDG_CONFIG_HOME=" + home, fmt.Sprintf("CADDY_ADMIN=127.0.0.1:%d", ports[1])},
		server: &http.Server{Handler: platform, ReadHeaderTimeout: 10 * time.Second},
	}
	u.caddyfile = strings.NewReplacer(readmeSite+" {\n", "http://"+u.gate+" {\n\tbind 127.0.0.1\n", readmeUpstream, u.upstream).Replace(block[1])
	go func() { _ = u.server.Serve(l) }() // a site that is gone shows in the lines
	return u, nil
}

// close stops what the lines have left running.
func (u *newUser) close(ctx context.Context) error {
	var err error
	if u.started {
		_, err = u.run(ctx, "./caddy stop")
	}
	return errors.Join(err, u.server.Close())
}

// does tells whether a line is one of those that guard the site.
func (u *newUser) does(line string) bool {
	words := strings.Fields(strings.TrimPrefix(line, "sudo "))
	return words[0] == "./caddy" && !contains([]string{line}, demoCommand) && (slices.Contains(words, "Caddyfile") || words[1] == "restwarden" || words[1] == "stop")
}

// try runs a line, and looks at what the site answers then. The file is there from the first
// line on that names it.
func (u *newUser) try(ctx context.Context, line string) (string, error) {
	line = strings.TrimPrefix(line, "sudo ")
	words := strings.Fields(line)
	if words[1] == "reload" { // the README says to take this out
		u.caddyfile = strings.Replace(u.caddyfile, "\t\tmode observe\n", "", 1)
	}
	if slices.Contains(words, "Caddyfile") {
		if err := os.WriteFile(filepath.Join(u.dir, "Caddyfile"), []byte(u.caddyfile), 0o600); err != nil {
			return "", err
		}
	}
	switch {
	case words[1] == "start":
		u.started = true
		out, err := u.run(ctx, line+" > start.log") // Caddy keeps both streams
		return out, errors.Join(err, expect(ctx, "http://"+u.gate+userList, http.StatusOK, ""))
	case words[1] == "reload":
		out, err := u.run(ctx, line)
		return out, errors.Join(err, u.closed(ctx))
	case slices.Contains(words, "--web"):
		return u.page(ctx, line)
	}
	out, err := u.run(ctx, line)
	if want := u.says(words); err == nil && !strings.Contains(out, want) {
		err = fmt.Errorf("it does not say %q", want)
	}
	return out, err
}

// says is what a line prints whose site is as it is then: while it observed, the list of
// users was asked for once.
func (u *newUser) says(words []string) string {
	switch words[2] {
	case "audit":
		return map[bool]string{false: "no configuration given", true: "behind the gateway, with login_only"}[u.started]
	case "suggest":
		return "1 call"
	case "status":
		return "  enforce  "
	}
	return ""
}

// closed waits until the gateway refuses in README's words: a reload takes effect in the background.
func (u *newUser) closed(ctx context.Context) error {
	for try := 0; ; try++ {
		_, body, err := get(ctx, "http://"+u.gate+userList)
		switch {
		case err == nil && body == u.answer:
			return expect(ctx, "http://"+u.gate+"/", http.StatusOK, "")
		case try == 50:
			return errors.Join(err, fmt.Errorf("a stranger gets %s, README says %s", body, u.answer))
		}
		time.Sleep(100 * time.Millisecond)
	}
}

func (u *newUser) run(ctx context.Context, line string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	public := u.gate
	if !u.started { // nothing is in front yet
		public = u.upstream
	}
	line = strings.NewReplacer("https://"+readmeSite, "http://"+public, readmeUpstream, u.upstream).Replace(line)
	return machine.Run(ctx, u.dir, u.env, "bash", "-euo", "pipefail", "-c", line)
}

// page runs a line that serves a page, opens the page, and interrupts the line.
func (u *newUser) page(ctx context.Context, line string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	words := strings.Fields(line)
	cmd, err := machine.Command(ctx, u.dir, filepath.Join(u.dir, words[0]), words[1:]...)
	if err != nil {
		return "", err
	}
	cmd.Env = append(os.Environ(), u.env...)
	stdout, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return "", err
	}
	address, err := bufio.NewReader(stdout).ReadString('\n')
	if err == nil {
		err = expect(ctx, strings.TrimSpace(address), http.StatusOK, "")
	}
	return address, errors.Join(err, machine.Signal(cmd, syscall.SIGINT), cmd.Wait())
}
