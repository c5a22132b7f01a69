package dryrun

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/caddyserver/caddy/v2"
	caddycmd "github.com/caddyserver/caddy/v2/cmd"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/restwarden/restwarden/caddymodule/gateway"
	"github.com/restwarden/restwarden/caddymodule/routing"
)

// errNoConfig says that there is nothing to read.
var errNoConfig = errors.New("there is no configuration: name one with --config, or run the command where a file Caddyfile is")

// Adapt reads a configuration as Caddy does: a file with an adapter, "" for the one that
// belongs to its name, and without a file the Caddyfile of the working directory. It
// returns the configuration in Caddy's own JSON.
func Adapt(file, adapter string) ([]byte, error) {
	if err := quiet(); err != nil {
		return nil, err
	}
	config, _, _, err := caddycmd.LoadConfig(file, adapter)
	switch {
	case err == nil && len(config) == 0:
		err = errNoConfig
	case err != nil && adapter == "" && strings.Contains(err.Error(), "not valid JSON"):
		err = fmt.Errorf("%w If it is a Caddyfile, say --adapter caddyfile", err)
	}
	return config, err
}

// silence is a level that nothing is logged at.
const silence = "PANIC"

// quiet keeps what Caddy logs while it reads and loads a configuration off the terminal:
// loading anything is the only way to tell Caddy so. Where the log goes stays the same,
// since Caddy logs a change of that.
var quiet = sync.OnceValue(func() error {
	_, err := caddy.ProvisionContext(&caddy.Config{
		Admin:   &caddy.AdminConfig{Disabled: true},
		Logging: &caddy.Logging{Logs: map[string]*caddy.CustomLog{"default": {BaseLog: caddy.BaseLog{Level: silence}}}},
	})
	return err
})

// survey looks at the HTTP app of a configuration as a load does.
func survey(config []byte) (routing.Report, error) {
	var said struct {
		Apps struct {
			HTTP *caddyhttp.App `json:"http"`
		} `json:"apps"`
	}
	if err := json.Unmarshal(config, &said); err != nil {
		return routing.Report{}, fmt.Errorf("the configuration is not JSON as Caddy reads it: %w", err)
	}
	if said.Apps.HTTP == nil {
		return routing.Report{}, errors.New("the configuration has no site")
	}
	return routing.Survey(said.Apps.HTTP, gateway.Directives), nil
}

// loading makes the loads of dry runs wait for each other: Caddy loads one configuration at a time.
var loading sync.Mutex

// provision loads a configuration that harmless has made. The caller must call end, also with an error: modules then let go of what
// they hold.
func provision(config map[string]any) (app *caddyhttp.App, end func(), err error) {
	end = func() {}
	text, err := json.Marshal(config)
	if err != nil {
		return nil, end, err
	}
	var cfg caddy.Config
	if err := caddy.StrictUnmarshalJSON(text, &cfg); err != nil {
		return nil, end, err
	}
	loading.Lock()
	defer loading.Unlock()
	apps := cfg.AppsRaw
	cfg.AppsRaw = nil // a context that Caddy itself makes for them cannot be cancelled from here
	base, err := caddy.ProvisionContext(&cfg)
	if err != nil {
		return nil, end, err
	}
	cfg.AppsRaw = apps
	ctx, end := caddy.NewContext(base)
	module, err := ctx.App("http")
	if err != nil {
		return nil, end, err
	}
	return module.(*caddyhttp.App), end, nil
}
