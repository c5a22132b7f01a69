package command

import (
	"encoding/json"
	"io"

	"github.com/spf13/cobra"
)

// configFlags say which configuration a command reads, as those of "caddy run" do.
type configFlags struct{ config, adapter string }

// add adds the flags. usage says what --config is for.
func (c *configFlags) add(cmd *cobra.Command, usage string) {
	f := cmd.Flags()
	f.StringVarP(&c.config, "config", "c", "", usage)
	f.StringVarP(&c.adapter, "adapter", "a", "", "name of the config adapter")
}

// configUsage is the usage of --config for commands that read the operator's own
// configuration.
const configUsage = "configuration file (default the Caddyfile of the working directory)"

// printIndented prints v as JSON for people and programs.
func printIndented(out io.Writer, v any) error {
	encoder := json.NewEncoder(out)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	return encoder.Encode(v)
}
