package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/restwarden/restwarden/cmd/check/testkit/machine"
)

// guarded is the Caddyfile in the container: its bodies go where TMPDIR says.
const guarded = `{
	admin 127.0.0.1:%d
}

http://127.0.0.1:%d {
	restwarden wordpress {
		login_only
	}
	reverse_proxy %s
}
`

// tryContainer runs the program of the archive as the recipe beside it says, in front of a
// small site.
func (c *check) tryContainer(ctx context.Context, dir, unpacked string) {
	start := time.Now()
	k := &container{dir: filepath.Join(dir, "container")}
	out, err := k.try(ctx, unpacked)
	c.results.verdict("the recipe of the container, in an empty root", time.Since(start), out, err)
	if err == nil {
		c.results.progress("        %s", k.limits())
	}
}

func (k *container) try(ctx context.Context, unpacked string) (out string, err error) {
	if k.recipe, err = readRecipe(unpacked); err != nil {
		return "", err
	}
	ports, err := machine.FreePorts(2)
	if err != nil {
		return "", err
	}
	site, err := newUploads()
	if err != nil {
		return "", err
	}
	defer site.close()
	config := filepath.Join(k.dir, "Caddyfile")
	err = os.MkdirAll(k.dir, 0o755) //nolint:gosec // the container's user works below it
	if err == nil {
		err = os.WriteFile(config, fmt.Appendf(nil, guarded, ports[0], ports[1], site.address), 0o644) //nolint:gosec // the same
	}
	if err == nil {
		k.root, err = k.recipe.lay(ctx, k.dir, unpacked, config)
	}
	if err == nil {
		err = k.start(ctx, k.recipe.args)
	}
	if err != nil {
		return "", errors.Join(err, k.stop())
	}
	address := fmt.Sprintf("http://127.0.0.1:%d", ports[1])
	err = k.process.Ready(ctx, machine.Connects("tcp", fmt.Sprintf("127.0.0.1:%d", ports[1])))
	if err == nil {
		err = errors.Join(
			k.holds(ctx),
			expect(ctx, address+"/", http.StatusOK, ""),
			expect(ctx, address+"/wp-json/wp/v2/users", http.StatusUnauthorized, "rest_not_logged_in"),
			k.spools(ctx, site, address+"/contact/"),
			k.healthy(ctx, fmt.Sprintf("127.0.0.1:%d", ports[0])),
		)
	}
	if err = errors.Join(err, k.stop()); err == nil {
		err = k.binds(ctx)
	}
	log, _ := os.ReadFile(filepath.Join(k.dir, "unshare.out")) // for the message
	return string(log), err
}

// own is a Caddyfile that listens on the ports of the web.
const own = `{
	admin off
	skip_install_trust
}

localhost {
	tls internal
	respond ok
}
`

// binds starts it again, in a network of its own, and holds that it listens on the ports that
// the recipe publishes.
func (k *container) binds(ctx context.Context) error {
	config := filepath.Join(k.root, k.recipe.args[slices.Index(k.recipe.args, "--config")+1])
	if err := os.WriteFile(config, []byte(own), 0o644); err != nil { //nolint:gosec // as above
		return err
	}
	k.network = true
	if err := k.start(ctx, k.recipe.args); err != nil {
		return errors.Join(err, k.stop())
	}
	return errors.Join(k.process.Ready(ctx, k.listens), k.stop())
}

// listens looks up the ports among those of the process's network.
func (k *container) listens(context.Context) error {
	for _, published := range k.recipe.ports {
		_, port, _ := strings.Cut(published, ":")
		kind, state := "tcp6", "0A" // listening
		if udp, is := strings.CutSuffix(port, "/udp"); is {
			port, kind, state = udp, "udp6", "07" // not connected
		}
		n, err := strconv.Atoi(port)
		if err != nil {
			return err
		}
		sockets, err := os.ReadFile(fmt.Sprintf("/proc/%d/net/%s", k.process.PID(), kind))
		if want := fmt.Sprintf(":%04X 00000000000000000000000000000000:0000 %s", n, state); err == nil && !strings.Contains(string(sockets), want) {
			err = fmt.Errorf("nothing listens on %s", published)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// healthy runs what the image asks of itself, against this Caddy's endpoint.
func (k *container) healthy(ctx context.Context, endpoint string) error {
	program := filepath.Join(k.root, k.recipe.health[0])
	out, err := output(ctx, time.Minute, k.dir, program, append(k.recipe.health[1:], "--address", endpoint)...)
	if err == nil && !strings.Contains(out, "127.0.0.1  enforce") {
		err = errors.New("the status does not name the site")
	}
	if err != nil {
		err = fmt.Errorf("%w\n%s", err, out)
	}
	return err
}

// uploadSize is more than the gateway keeps of a body in memory.
const uploadSize = 20 << 20

// spools sends a file to a page and holds that its body is on the volume, by name or without
// one, while the site has it.
func (k *container) spools(ctx context.Context, site *uploads, url string) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	part, err := form.CreateFormFile("file", "photo.bin")
	if err == nil {
		_, err = part.Write(make([]byte, uploadSize))
	}
	if err = errors.Join(err, form.Close()); err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, &body)
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", form.FormDataContentType())
	site.look = func() bool { return k.bodies() > 0 }
	resp, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	answer, err := io.ReadAll(io.LimitReader(resp.Body, 1<<10))
	if want := fmt.Sprintf("%d bytes, on disk: true", req.ContentLength); err == nil && string(answer) != want {
		err = fmt.Errorf("an upload: %s %q, want %q", resp.Status, answer, want)
	}
	return err
}

// bodies counts the files of bodies that the process has open. The root is read-only: they
// are on a volume.
func (k *container) bodies() (n int) {
	open, err := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", k.process.PID()))
	if err != nil {
		return 0
	}
	for _, fd := range open {
		if to, err := os.Readlink(fd); err == nil && strings.Contains(to, "restwarden-") {
			n++
		}
	}
	return n
}

// uploads is a site that reads what it is sent, and looks around meanwhile.
type uploads struct {
	address string
	look    func() bool
	server  *http.Server
}

func newUploads() (*uploads, error) {
	l, err := machine.Listen()
	if err != nil {
		return nil, err
	}
	u := &uploads{address: l.Addr().String()}
	u.server = &http.Server{Handler: u, ReadHeaderTimeout: time.Minute}
	go func() { _ = u.server.Serve(l) }() // until close
	return u, nil
}

func (u *uploads) close() { _ = u.server.Close() }

// ServeHTTP answers an upload with its size, and whether it lay on disk.
func (u *uploads) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch {
	case strings.HasPrefix(r.URL.Path, "/wp-json/"): // the index: a site that the gateway knows
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"namespaces":["wp/v2"],"routes":{}}`)
		return
	case r.Method != http.MethodPost:
		return
	}
	held := u.look()
	n, err := io.Copy(io.Discard, r.Body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	_, _ = fmt.Fprintf(w, "%d bytes, on disk: %t", n, held)
}
