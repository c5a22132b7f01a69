package command

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/restwarden/restwarden/caddymodule/command/curl"
	"github.com/restwarden/restwarden/caddymodule/command/explanation"
	"github.com/restwarden/restwarden/caddymodule/command/terminal"
	"github.com/restwarden/restwarden/caddymodule/dryrun"
	"github.com/restwarden/restwarden/policies/mcp"
	"github.com/restwarden/restwarden/policies/typo"
)

// explainer says what becomes of a request, and why.
type explainer struct {
	configFlags
	runningFlags
	index            string
	as, from, format string
	ids, abilities   []string
	live, verbose    bool
	raw, log         string
	http, https      bool
	port             int
	line             curl.Line
}

func explainCommand() *cobra.Command {
	e := &explainer{}
	cmd := &cobra.Command{
		Use:   "explain [--running] [flags] URL | --raw FILE | --log FILE REQUEST_ID",
		Short: "Says what becomes of a request, which line decides it, and why",
		Long: `Runs a request through your own configuration, as Caddy would, and says what
becomes of it: whether the gateway is reached, how the request is read, who is
calling, what each policy says, which rules were considered, and the smallest line
that would change the answer.

Nothing is sent: what answers behind the gateway is a stub, which plays the caller
that --as names and the records that --id names. Flags of curl mean what they mean
for curl, so that a copied line works: "explain curl …". The short flags -c and -a
are Caddy's. A URL without a scheme is taken for https. These flags of curl change
nothing here:

` + curl.Unused() + `

Exit status: 0 the request passes, 1 it is refused, 2 usage, or the configuration
does not load, 3 it cannot be known, 4 the gateway is not on the request's way.`,
		Example: `  caddy restwarden explain https://shop.example.com/wp-json/wp/v2/users
  caddy restwarden explain -X PUT --as role:editor https://shop.example.com/wp-json/wp/v2/posts/5
  caddy restwarden explain --as key --id 7=subscription --json '{"status":"completed"}' -X PUT https://shop.example.com/wp-json/wc/v3/orders/7
  caddy restwarden explain --raw request.txt
  caddy restwarden explain --log /var/log/caddy/refused.log 01c28898-b4c7-46df-ab8b-d2ad5b894c10`,
		Args:         cobra.ArbitraryArgs,
		SilenceUsage: true,
	}
	e.flags(cmd)
	withAnswer(cmd, func(cmd *cobra.Command, args []string) (int, error) { return e.run(cmd, args) })
	return cmd
}

func (e *explainer) flags(cmd *cobra.Command) {
	e.configFlags.add(cmd, configUsage)
	e.runningFlags.add(cmd, runningUsage)
	f := cmd.Flags()
	f.StringVar(&e.index, "index", "", "file with the saved REST root of the site; routes are then named by the site's own patterns")
	f.StringVar(&e.as, "as", "", "who is calling: "+strings.Join(dryrun.Callers(), ", ")+" (default anonymous; credentials in the request are then nobody's that is known)")
	f.StringArrayVar(&e.ids, "id", nil, "what a record is: N=order, N=subscription or N=none; may be repeated")
	f.StringArrayVar(&e.abilities, "ability", nil, "what the site says of an ability: ID="+strings.Join(dryrun.Abilities(), ", ID=")+"; may be repeated, and the site then lists no others")
	f.StringVar(&e.from, "from", "", "the client's address (default one of the Internet)")
	f.BoolVar(&e.live, "live", false, "put questions that only read to the real site; the request itself is never sent")
	f.StringVar(&e.format, "format", "text", "text or json")
	f.BoolVarP(&e.verbose, "verbose", "v", false, "also show what did not matter")
	f.StringVar(&e.raw, "raw", "", "file with the exact bytes of a request, - for standard input")
	f.StringVar(&e.log, "log", "", "log of Caddy in JSON lines, - for standard input: explain the record with the request id")
	f.BoolVar(&e.http, "http", false, "with --raw: the request comes by http")
	f.BoolVar(&e.https, "https", false, "with --raw: the request comes by https (the default)")
	f.IntVar(&e.port, "port", 0, "with --raw: the port that the request comes to")
	e.line.AddFlags(cmd)
	complete(cmd, "format", "text", "json")
	complete(cmd, "as", callers()...)
	completeBy(cmd, "id", func(typed string) (words []string) {
		number, _, _ := strings.Cut(typed, "=")
		for _, record := range recordWords() {
			words = append(words, number+"="+record)
		}
		return words
	})
}

// callers are the words that --as completes.
func callers() (words []string) {
	for _, word := range dryrun.Callers() {
		if kind, named := strings.CutSuffix(word, "NAME"); !named {
			words = append(words, word)
		} else if kind == "role:" {
			for _, role := range dryrun.Roles() {
				words = append(words, kind+role)
			}
		} else {
			words = append(words, kind)
		}
	}
	return words
}

// run returns the exit status.
func (e *explainer) run(cmd *cobra.Command, args []string) (int, error) {
	if err := typo.Check(e.format, "text", "json"); err != nil {
		return exitUsage, fmt.Errorf("--format: %w", err)
	}
	if e.raw != "" && e.log != "" || e.http && e.https {
		return exitUsage, errors.New("--raw does not go with --log, nor --http with --https")
	}
	options, err := e.options(cmd.Context())
	if err != nil {
		return exitUsage, err
	}
	e.line.Input = cmd.InOrStdin()
	if e.log != "" {
		return e.runLog(cmd, options, args)
	}
	request, err := e.request(cmd, args)
	if err != nil {
		return exitUsage, err
	}
	progress := terminal.NewProgress(cmd.ErrOrStderr())
	progress.Step("running the request through the configuration")
	result, err := runAndChange(cmd.Context(), options, request)
	progress.End()
	if err != nil {
		return exitUsage, err
	}
	out := cmd.OutOrStdout()
	err = show(out, e.format, result, func(r *dryrun.Result) string {
		return explanation.Explanation{Result: r, Palette: terminal.PaletteOf(out), Verbose: e.verbose}.Text()
	})
	if err != nil {
		return exitUsage, err
	}
	return statusOf(result.Answer), nil
}

// options say which configuration to load.
func (e *explainer) options(ctx context.Context) (o dryrun.Options, err error) {
	o = dryrun.Options{File: e.config, Adapter: e.adapter, Live: e.live}
	if err := e.check(&e.configFlags); err != nil {
		return o, err
	}
	if e.running {
		if o.JSON, o.Switches, err = e.load(ctx); err != nil {
			return o, err
		}
	}
	if e.index == "" {
		return o, nil
	}
	if o.Index, err = os.ReadFile(e.index); err != nil {
		return o, fmt.Errorf("--index: %w", err)
	}
	if !json.Valid(o.Index) {
		return o, fmt.Errorf("--index: %s is not JSON", e.index)
	}
	return o, nil
}

var errOneURL = errors.New("name one URL (or --raw FILE, or --log FILE and a request id)")

// request returns the request that the flags describe.
func (e *explainer) request(cmd *cobra.Command, args []string) (r dryrun.Request, err error) {
	if e.raw != "" {
		r, err = e.rawRequest(cmd, args)
	} else {
		if len(args) > 1 && args[0] == "curl" {
			args = args[1:]
		}
		switch {
		case len(args) != 1:
			return r, errOneURL
		case strings.HasPrefix(args[0], "curl "):
			return r, errors.New("the whole curl line is one argument: leave out the quotes around it")
		}
		var sent curl.Request
		if sent, err = e.line.Request(args[0]); err == nil {
			r, err = dryrun.Build(sent.Method, sent.URL, sent.Header, sent.Body)
		}
	}
	if err != nil {
		return r, err
	}
	return r, e.facts(&r)
}

func (e *explainer) rawRequest(cmd *cobra.Command, args []string) (dryrun.Request, error) {
	if len(args) > 0 {
		return dryrun.Request{}, errOneURL
	}
	raw, err := readInput(cmd, e.raw)
	if err != nil {
		return dryrun.Request{}, fmt.Errorf("--raw: %w", err)
	}
	return dryrun.Request{Raw: raw, Secure: !e.http, Port: e.port}, nil
}

// facts adds to r what --as, --id and --from say.
func (e *explainer) facts(r *dryrun.Request) (err error) {
	if r.As, err = dryrun.ParseAs(e.as); err != nil {
		return fmt.Errorf("--as: %w", err)
	}
	if e.from != "" {
		if r.Client, err = netip.ParseAddr(e.from); err != nil {
			return fmt.Errorf("--from: %w", err)
		}
	}
	if err := e.saysAbilities(r); err != nil {
		return err
	}
	r.Records = map[uint64]dryrun.RecordKind{}
	for _, text := range e.ids {
		number, record, _ := strings.Cut(text, "=")
		id, err := strconv.ParseUint(number, 10, 64)
		if err != nil {
			return fmt.Errorf("--id: %q is not N=%s", text, strings.Join(recordWords(), "|"))
		}
		if err := typo.Check(record, recordWords()...); err != nil {
			return fmt.Errorf("--id: %w", err)
		}
		r.Records[id] = dryrun.RecordKind(record)
	}
	return nil
}

// saysAbilities adds to r what --ability says.
func (e *explainer) saysAbilities(r *dryrun.Request) error {
	r.Abilities = map[string]dryrun.Ability{}
	for _, text := range e.abilities {
		id, about, _ := strings.Cut(text, "=")
		if !mcp.AbilityID(id) {
			return fmt.Errorf("--ability: %q is not ID=%s, such as shop/orders-query=readonly", text, strings.Join(dryrun.Abilities(), "|"))
		}
		if err := typo.Check(about, dryrun.Abilities()...); err != nil {
			return fmt.Errorf("--ability: %w", err)
		}
		r.Abilities[id] = dryrun.Ability(about)
	}
	return nil
}

// recordWords are what --id can say of a record.
func recordWords() []string {
	return []string{string(dryrun.Order), string(dryrun.Subscription), string(dryrun.NoRecord)}
}

// runAndChange runs a request, and looks for the line that changes the answer.
func runAndChange(ctx context.Context, o dryrun.Options, r dryrun.Request) (result *dryrun.Result, err error) {
	config, err := dryrun.Load(o)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, config.Close()) }()
	if result, err = config.Run(ctx, r); err != nil {
		return nil, err
	}
	result.Change, err = config.Change(ctx, r, result)
	return result, err
}

// statusOf is the exit status for an answer.
func statusOf(a dryrun.Answer) int {
	switch a {
	case dryrun.Pass, dryrun.Page, dryrun.WouldRefuse:
		return 0
	case dryrun.Refused:
		return exitNo
	case dryrun.NotReached:
		return exitNotReached
	case dryrun.Unknown:
	}
	return exitUnknown
}
