package command

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/restwarden/restwarden/caddymodule/command/adminapi"
	"github.com/restwarden/restwarden/caddymodule/command/statuspage"
)

// secretSize is how many bytes a secret of the page has at least.
const secretSize = 32

// serve serves the status page until the command is interrupted. A Caddy that does not
// answer, and a site that it does not guard, are errors at once.
func (f *statusFlags) serve(cmd *cobra.Command, c *adminapi.Client) error {
	ctx, stop := signal.NotifyContext(cmd.Context(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	path := "sites"
	if f.site != "" {
		path += "/" + url.PathEscape(f.site) + "/refusals"
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
	if err := f.printPage(cmd.OutOrStdout(), "http://"+dialled(to)+page.Path(f.site)); err != nil {
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
	text, err := os.ReadFile(file) //nolint:gosec // the user names it
	if errors.Is(err, fs.ErrNotExist) {
		return fresh, os.WriteFile(file, append(fresh, '\n'), 0o600)
	}
	if err != nil {
		return nil, err
	}
	if secret := strings.TrimSpace(string(text)); len(secret) >= secretSize {
		return []byte(secret), nil
	}
	return nil, fmt.Errorf("%s has fewer than %d bytes", file, secretSize)
}
