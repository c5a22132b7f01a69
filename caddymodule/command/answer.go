package command

import (
	"errors"
	"io"
	"os"
	"strings"

	caddycmd "github.com/caddyserver/caddy/v2/cmd"
	"github.com/spf13/cobra"
)

// Exit statuses of the commands that answer a question about a configuration. Status 2,
// exitUsage, also says that the configuration does not load.
const (
	exitNo         = 1 // the answer is no
	exitUnknown    = 3 // the answer depends on what nobody said
	exitNotReached = 4 // the gateway is not on the request's way
)

// errNo makes Caddy exit with 1. It is never printed.
var errNo = errors.New("no")

// withAnswer makes cmd exit with the status that run returns. Errors of the flags are
// exitUsage.
func withAnswer(cmd *cobra.Command, run func(cmd *cobra.Command, args []string) (int, error)) {
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		status, err := run(cmd, args)
		return ended(cmd, status, err)
	}
	cmd.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error { return ended(cmd, exitUsage, err) })
}

// ended prints err and returns the error from which Caddy takes the exit status. Caddy would
// write err to its log, which is off while a configuration is read.
func ended(cmd *cobra.Command, status int, err error) error {
	cmd.SilenceErrors = true
	if err != nil {
		cmd.PrintErrln("Error:", shownError(err))
	}
	if status == exitNo {
		return errNo
	}
	return caddycmd.WrapCommandFuncForCobra(func(caddycmd.Flags) (int, error) { return status, nil })(cmd, nil)
}

// shownError is the text of an error for a terminal: it may have words of a site or of a log.
func shownError(err error) string {
	lines := strings.Split(err.Error(), "\n")
	for i := range lines {
		parts := strings.Split(lines[i], "\t")
		for j := range parts {
			parts[j] = escapedText(parts[j])
		}
		lines[i] = strings.Join(parts, "\t")
	}
	return strings.Join(lines, "\n")
}

// readInput reads a file, or standard input for "-".
func readInput(cmd *cobra.Command, file string) ([]byte, error) {
	if file == "-" {
		return io.ReadAll(cmd.InOrStdin())
	}
	return os.ReadFile(file) //nolint:gosec // the user of the command names the file
}
