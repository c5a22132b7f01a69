package command

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/restwarden/restwarden/caddymodule/command/rawrequest"
	"github.com/restwarden/restwarden/policies"
	"github.com/restwarden/restwarden/policies/call"
	"github.com/restwarden/restwarden/policies/call/platforms"
	"github.com/restwarden/restwarden/policies/typo"
)

// classifier prints how the gateway reads recorded requests.
type classifier struct {
	platform, base, permalinks string
}

func classifyCommand() *cobra.Command {
	c := classifier{}
	cmd := &cobra.Command{
		Use:   "classify [--platform " + strings.Join(platforms.Names(), "|") + "] [--base PATH] [--permalinks pretty|plain] [FILE]",
		Short: "Reads recorded requests and prints the call of each",
		Long: `Reads JSON lines {"id":…,"request":"<base64 of the exact bytes>"} from a file or
standard input and prints one JSON line for each: what the gateway takes the
request for. A line that cannot be read is answered as refused, for the reason
"input", and named on standard error; the exit status is then 1. Blank lines
are skipped.`,
		Args:         cobra.MaximumNArgs(1),
		SilenceUsage: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			in := cmd.InOrStdin()
			if len(args) == 1 && args[0] != "-" {
				f, err := os.Open(args[0])
				if err != nil {
					return fmt.Errorf("classify: %w", err)
				}
				defer func() { _ = f.Close() }() // it was only read
				in = f
			}
			return c.run(in, cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	f := cmd.Flags()
	f.StringVar(&c.platform, "platform", "cms", "names: "+platforms.List("or"))
	f.StringVar(&c.base, "base", "", "sub-folder of the install, such as /blog")
	f.StringVar(&c.permalinks, "permalinks", "pretty", "pretty or plain; with plain, pretty paths are pages")
	return cmd
}

// recorded is a line of input; other fields are ignored.
type recorded struct {
	ID      json.RawMessage `json:"id"`
	Request *string         `json:"request"`
}

// classified is a line of output.
type classified struct {
	ID       json.RawMessage  `json:"id"`
	Kind     string           `json:"kind"`
	Route    *string          `json:"route"`
	Method   *string          `json:"method"`
	ObjectID *string          `json:"object_id"`
	Parts    []classifiedPart `json:"parts,omitzero"` // a batch has them, even none
	Reason   string           `json:"reason,omitempty"`
}

type classifiedPart struct {
	Route    string  `json:"route"`
	Method   string  `json:"method"`
	ObjectID *string `json:"object_id"`
}

func (c *classifier) run(in io.Reader, out, problems io.Writer) error {
	reader, err := c.reader()
	if err != nil {
		return fmt.Errorf("classify: %w", err)
	}
	lines := bufio.NewReaderSize(in, 64<<10)
	encoder := json.NewEncoder(out)
	failed := false
	for number := 1; ; number++ {
		line, readErr := lines.ReadBytes('\n')
		if line = bytes.Trim(line, " \t\r\n"); len(line) > 0 {
			answer, err := c.answer(reader, line)
			if err != nil {
				failed = true
				_, _ = fmt.Fprintf(problems, "line %d: %v\n", number, err) // the exit status tells, too
			}
			if err := encoder.Encode(answer); err != nil {
				return fmt.Errorf("classify: %w", err)
			}
		}
		switch {
		case readErr == io.EOF && failed:
			return errors.New("classify: some lines could not be read")
		case readErr == io.EOF:
			return nil
		case readErr != nil:
			return fmt.Errorf("classify: line %d: %w", number, readErr)
		}
	}
}

// answer returns the line of output for a line of input, whatever stands in it. Every
// line has one, so that callers can pair lines by number.
func (c *classifier) answer(reader *call.Reader, line []byte) (classified, error) {
	var r recorded
	err := json.Unmarshal(line, &r)
	_, syntax := errors.AsType[*json.SyntaxError](err)
	switch {
	case syntax:
		return refusedAs(r.ID, "input"), fmt.Errorf("not JSON: %w", err)
	case err != nil || r.Request == nil:
		return refusedAs(r.ID, "input"), errors.New("not an object with a text \"request\"")
	}
	request, err := base64.StdEncoding.DecodeString(*r.Request)
	if err != nil {
		return refusedAs(r.ID, "input"), fmt.Errorf("\"request\" is not base64: %w", err)
	}
	return c.classify(reader, r.ID, request), nil
}

func (c *classifier) reader() (*call.Reader, error) {
	if err := typo.Check(c.platform, platforms.Names()...); err != nil {
		return nil, fmt.Errorf("--platform %w", err)
	}
	if err := typo.Check(c.permalinks, "pretty", "plain"); err != nil {
		return nil, fmt.Errorf("--permalinks %w", err)
	}
	platform, _ := platforms.ByName(c.platform)
	if err := call.CheckBase(c.base); err != nil {
		return nil, fmt.Errorf("--base: %w", err)
	}
	return policies.NewReader(call.Config{Platform: platform, Base: c.base}), nil
}

func (c *classifier) classify(reader *call.Reader, id json.RawMessage, request []byte) classified {
	read := rawrequest.Read(reader, request)
	defer read.Close()
	result := classified{ID: id, Kind: read.Kind.String()}
	switch {
	case read.Kind == call.Page, c.permalinks == "plain" && read.Kind != call.Refused && read.Form == call.Pretty:
		result.Kind = call.Page.String()
		return result
	case read.Kind == call.Refused:
		result.Reason = read.Refusal.Reason
		return result
	case read.Foreign:
		return refusedAs(id, "foreign_prefix")
	}
	result.Route, result.Method = &read.Route, &read.Method
	var err error
	if result.ObjectID, err = objectID(read); err != nil {
		return refusedAs(id, reasonOf(err))
	}
	if read.Kind == call.Batch {
		result.Parts = []classifiedPart{}
	}
	for _, p := range read.Parts {
		object, err := objectID(p)
		if err != nil {
			return refusedAs(id, reasonOf(err))
		}
		result.Parts = append(result.Parts, classifiedPart{p.Route, p.Method, object})
	}
	return result
}

func refusedAs(id json.RawMessage, reason string) classified {
	return classified{ID: id, Kind: call.Refused.String(), Reason: reason}
}

func objectID(c *call.Call) (*string, error) {
	id, ok, err := c.ObjectID()
	if !ok || err != nil {
		return nil, err
	}
	return &id, nil
}

func reasonOf(err error) string {
	if refusal, ok := errors.AsType[*call.Refusal](err); ok {
		return refusal.Reason
	}
	return err.Error()
}
