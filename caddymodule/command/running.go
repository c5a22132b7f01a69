package command

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/spf13/cobra"

	"github.com/restwarden/restwarden/caddymodule/adminapi"
	"github.com/restwarden/restwarden/caddymodule/command/testfile"
	"github.com/restwarden/restwarden/caddymodule/gateway"
	"github.com/restwarden/restwarden/policies/policy"
)

// runningFlags say that a command is about the Caddy that runs, in place of a file.
type runningFlags struct {
	running bool
	address string
}

func (r *runningFlags) add(cmd *cobra.Command, usage string) {
	f := cmd.Flags()
	f.BoolVar(&r.running, "running", false, usage)
	f.StringVar(&r.address, "address", "", "address of the admin endpoint for --running (default localhost:2019)")
}

// runningUsage is the usage of --running for commands that read one configuration.
const runningUsage = "take the configuration of the Caddy that runs, and what is switched on there"

var errAddress = errors.New("--address: only with --running")

// check checks the flags beside those of a file.
func (r *runningFlags) check(file *configFlags) error {
	switch {
	case r.address != "" && !r.running:
		return errAddress
	case r.running && (file.config != "" || file.adapter != ""):
		return errors.New("--running takes the place of --config and --adapter")
	}
	return nil
}

// String writes the flags as a command line has them.
func (r *runningFlags) String() string {
	switch {
	case !r.running:
		return ""
	case r.address == "":
		return " --running"
	}
	return " --running --address " + testfile.Quoted(r.address)
}

// ask returns the configuration of the Caddy that runs, and its sites.
func (r *runningFlags) ask(ctx context.Context) (config json.RawMessage, sites []adminapi.Site, err error) {
	c, err := (&adminFlags{address: r.address}).client()
	if err != nil {
		return nil, nil, err
	}
	if config, err = c.Config(ctx); err != nil {
		return nil, nil, err
	}
	var list adminapi.Sites[adminapi.Site, adminapi.Store]
	return config, list.Sites, asked(c.Ask(ctx, "GET", adminapi.SitesPath, nil, &list))
}

// load returns the configuration of the Caddy that runs, and what is switched on at its sites.
func (r *runningFlags) load(ctx context.Context) (json.RawMessage, map[string]*policy.Switches, error) {
	config, sites, err := r.ask(ctx)
	if err != nil {
		return nil, nil, err
	}
	on := map[string]*policy.Switches{}
	for i := range sites {
		if on[sites[i].Site], err = gateway.SwitchesOf(&sites[i]); err != nil {
			return nil, nil, err
		}
	}
	return config, on, nil
}
