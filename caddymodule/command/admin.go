package command

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	caddycmd "github.com/caddyserver/caddy/v2/cmd"
	"github.com/spf13/cobra"

	"github.com/restwarden/restwarden/caddymodule/adminapi"
)

// adminFlags say which Caddy a command talks to, as those of "caddy reload" do.
type adminFlags struct {
	configFlags
	address  string
	operator func() (name string, named bool) // nil for a command that switches nothing
}

func (a *adminFlags) add(cmd *cobra.Command) {
	a.configFlags.add(cmd, "configuration file that names the admin endpoint")
	f := cmd.Flags()
	f.StringVar(&a.address, "address", "", "address of the admin endpoint, if it is not in --config (default localhost:2019)")
}

// addOperator adds the flag of a command that switches or decides something.
func (a *adminFlags) addOperator(cmd *cobra.Command) {
	name := cmd.Flags().String("operator", "", "who you are: status and the log have the name, marked as claimed")
	a.operator = func() (string, bool) { return *name, cmd.Flags().Changed("operator") }
}

// Exit statuses (see docs/status).
const (
	exitFailed = 1 // Caddy cannot be reached, or has failed
	exitUsage  = 2 // Caddy does not know the site, or the command is not used as it should be
)

// withStatus makes errors of the usage exit with exitUsage, and all others with
// exitFailed.
func withStatus(cmd *cobra.Command, run func(cmd *cobra.Command, args []string) error) {
	args := cmd.Args
	cmd.Args = nil // checked below, so that the exit status is right
	cmd.RunE = func(cmd *cobra.Command, given []string) error {
		if err := args(cmd, given); err != nil {
			return exit(cmd, usage(err))
		}
		return exit(cmd, run(cmd, given))
	}
	cmd.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error { return exit(cmd, usage(err)) })
}

// exit returns err in the form in which Caddy takes the exit status from it.
func exit(cmd *cobra.Command, err error) error {
	return caddycmd.WrapCommandFuncForCobra(func(caddycmd.Flags) (int, error) {
		if errors.Is(err, errUsage) {
			return exitUsage, err
		}
		return exitFailed, err
	})(cmd, nil)
}

// errUsage marks an error of those who use the command.
var errUsage = errors.New("")

func usage(err error) error { return fmt.Errorf("%w%w", errUsage, err) }

// endpoint returns the address of the admin endpoint.
func (a *adminFlags) endpoint() (string, error) {
	var config []byte
	if a.config != "" && a.address == "" {
		var err error
		if config, _, _, err = caddycmd.LoadConfig(a.config, a.adapter); err != nil {
			return "", usage(err)
		}
		var parsed struct {
			Admin struct {
				Disabled bool `json:"disabled"`
			} `json:"admin"`
		}
		if err := json.Unmarshal(config, &parsed); err != nil {
			return "", usage(err)
		}
		if parsed.Admin.Disabled {
			return "", usage(fmt.Errorf("%s has `admin off`: a Caddy with it shows no status and cannot be switched while it runs", a.config))
		}
	}
	address, err := caddycmd.DetermineAdminAPIAddress(a.address, config, a.config, a.adapter)
	if err != nil {
		return "", usage(err)
	}
	return address, nil
}

// client returns a client for the admin endpoint.
func (a *adminFlags) client() (*adminapi.Client, error) {
	address, err := a.endpoint()
	if err != nil {
		return nil, err
	}
	c, err := adminapi.New(address)
	if err != nil {
		return nil, usage(err)
	}
	if a.operator == nil {
		return c, nil
	}
	name, named := a.operator()
	if !named {
		return c, nil
	}
	if err := adminapi.CheckOperator(name); err != nil {
		return nil, usage(fmt.Errorf("--operator: %w", err))
	}
	return c.With(http.Header{adminapi.OperatorHeader: {name}}), nil
}

// ask sends a request to the admin endpoint and reads its answer into v.
func (a *adminFlags) ask(cmd *cobra.Command, method, path string, body, v any) error {
	c, err := a.client()
	if err != nil {
		return err
	}
	return asked(c.Ask(cmd.Context(), method, path, body, v))
}

// asked marks an error of Caddy that is one of those who use the command.
func asked(err error) error {
	if said, ok := errors.AsType[*adminapi.Error](err); ok && said.Status < http.StatusInternalServerError {
		return usage(err)
	}
	return err
}
