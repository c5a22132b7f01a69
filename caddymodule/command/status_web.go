package command

import (
	"bytes"
	"cmp"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/restwarden/restwarden/caddymodule/adminapi"
	"github.com/restwarden/restwarden/caddymodule/command/statuspage"
)

const (
	// secretSize is how many bytes a secret of the page has at least.
	secretSize = 32
	// maxSecret is how many bytes the file with it has at most.
	maxSecret = 64 << 10
)

// serve serves the status page until the command is interrupted. A Caddy that does not
// answer, and a site that it does not guard, are errors at once.
func (f *statusFlags) serve(cmd *cobra.Command, c *adminapi.Client) error {
	ctx, stop := signal.NotifyContext(cmd.Context(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	path, site := adminapi.SitesPath, ""
	switch {
	case len(f.choice.Sites) > 1, len(f.choice.Tags) > 0:
		return usage(errors.New("--web: a page shows all sites, or the one of --site"))
	case len(f.choice.Sites) == 1:
		site = f.choice.Sites[0]
		path = adminapi.Named(adminapi.RefusalsPath, site)
	}
	var answer json.RawMessage
	if err := asked(c.Ask(ctx, http.MethodGet, path, nil, &answer)); err != nil {
		return err
	}
	secret, err := secretOf(f.secretFile)
	if err != nil {
		return usage(fmt.Errorf("--secret-file: %w", err))
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", f.listen)
	if err != nil {
		return usage(fmt.Errorf("--listen: %w", err))
	}
	to := listener.Addr().(*net.TCPAddr)
	if !to.IP.IsLoopback() {
		_, _ = fmt.Fprintf(cmd.ErrOrStderr(), "the page is not encrypted, and %s can be reached from other machines\n", to) // the page is served all the same
	}
	page := statuspage.New(c, secret)
	if err := f.printPage(cmd.OutOrStdout(), "http://"+dialled(to)+page.Path(site)); err != nil {
		return err
	}
	return page.Serve(ctx, listener)
}

func (f *statusFlags) printPage(out io.Writer, address string) error {
	if f.format == "json" {
		return json.NewEncoder(out).Encode(struct {
			Version int    `json:"v"`
			Page    string `json:"page"`
		}{1, address})
	}
	_, err := fmt.Fprintln(out, address)
	return err
}

// dialled is where a browser of this machine reaches a listener.
func dialled(to *net.TCPAddr) string {
	if to.IP.IsUnspecified() {
		return fmt.Sprintf("localhost:%d", to.Port)
	}
	return to.String()
}

// secretOf returns the secret in a file, which it makes if there is none. Without a name it
// returns one that nobody keeps.
func secretOf(file string) ([]byte, error) {
	fresh := []byte(rand.Text() + rand.Text())
	if file == "" {
		return fresh, nil
	}
	text, err := readSecret(file)
	if errors.Is(err, fs.ErrNotExist) {
		if err = makeSecret(file, fresh); err == nil || errors.Is(err, fs.ErrExist) { // another process may have made it
			text, err = readSecret(file)
		}
	}
	if err != nil {
		return nil, err
	}
	switch secret := bytes.TrimSpace(text); {
	case len(text) > maxSecret:
		return nil, fmt.Errorf("%s has more than %d bytes", file, maxSecret)
	case len(secret) < secretSize:
		return nil, fmt.Errorf("%s has fewer than %d bytes", file, secretSize)
	default:
		return secret, nil
	}
}

// readSecret reads what is more than maxSecret in part.
func readSecret(file string) ([]byte, error) {
	f, err := os.Open(file) //nolint:gosec // the user names it
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // it was only read
	return io.ReadAll(io.LimitReader(f, maxSecret+1))
}

// makeSecret makes a file with a secret. The file has its name only once it is whole, and
// replaces no other.
func makeSecret(file string, secret []byte) error {
	f, err := os.CreateTemp(filepath.Dir(file), filepath.Base(file)+".*")
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(f.Name()) }() // its other name stays
	_, err = f.Write(append(secret, '\n'))
	if err := cmp.Or(err, f.Close()); err != nil {
		return err
	}
	return os.Link(f.Name(), file)
}
