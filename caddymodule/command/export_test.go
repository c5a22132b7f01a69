package command

import (
	"bytes"
	"errors"
	"io"
	"reflect"

	"github.com/spf13/cobra"
)

// CheckCommand makes the command "check".
var CheckCommand = checkCommand

// SecretOf is for tests of --secret-file.
var SecretOf = secretOf

// Run runs "caddy restwarden …" in this process.
func Run(in io.Reader, args ...string) (out, problems string, status int) {
	cmd := &cobra.Command{Use: "restwarden", SilenceUsage: true}
	build(cmd)
	cmd.SetArgs(args)
	cmd.SetIn(in)
	var o, p bytes.Buffer
	cmd.SetOut(&o)
	cmd.SetErr(&p)
	switch err := cmd.Execute(); {
	case err == nil:
	case errors.Is(err, errNo):
		status = exitNo
	default:
		status = exitNo
		if code := reflect.Indirect(reflect.ValueOf(err)); code.Kind() == reflect.Struct && code.FieldByName("ExitCode").IsValid() {
			status = int(code.FieldByName("ExitCode").Int()) // of Caddy's own type
		}
	}
	return o.String(), p.String(), status
}
