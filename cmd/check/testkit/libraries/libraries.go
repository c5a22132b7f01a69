// Package libraries runs sessions of the client libraries that programs use in front of a REST
// interface, as npm has them: npm/package.json names them, and each program beside it is a session.
package libraries

import (
	"bytes"
	"context"
	"embed"
	"encoding/json"
	"errors"
	"io"
	"testing"
	"time"

	"github.com/restwarden/restwarden/cmd/check/testkit/machine"
	"github.com/restwarden/restwarden/cmd/check/testkit/npm"
)

//go:embed npm/*.json npm/*.mjs
var embedded embed.FS

// Packages are the libraries with the sessions. TestMain of who runs any must remove them.
var Packages = npm.Packages{Files: embedded, Root: "npm"}

// limit bounds one session.
const limit = 2 * time.Minute

// Step is what a library made of one step: a result, or an error.
type Step struct {
	Name   string          `json:"step"`
	Result json.RawMessage `json:"result"`
	Error  *Error          `json:"error"`
}

// Error is an error as the library hands it to its caller.
type Error struct {
	Status  int    `json:"status"`
	Code    string `json:"code"`
	Message string `json:"message"`
}

// Run runs a session, such as "wpapi.mjs", and returns its steps. given is what it is told;
// certificate is a file with the certificate that it trusts, or empty.
func Run(tb testing.TB, session, certificate string, given any) (steps []Step) {
	tb.Helper()
	dir := Packages.Dir(tb)
	told, err := json.Marshal(given)
	if err != nil {
		tb.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(tb.Context(), limit)
	defer cancel()
	cmd, err := machine.Command(ctx, dir, "node", session)
	if err != nil {
		tb.Fatal(err)
	}
	var stderr bytes.Buffer
	cmd.Env = append(cmd.Environ(), "NODE_EXTRA_CA_CERTS="+certificate)
	cmd.Stdin, cmd.Stderr = bytes.NewReader(told), &stderr
	out, err := cmd.Output()
	if err != nil {
		tb.Fatalf("%s: %v\n%s\n%s", session, err, out, &stderr)
	}
	for lines := json.NewDecoder(bytes.NewReader(out)); ; {
		var s Step
		switch err := lines.Decode(&s); {
		case errors.Is(err, io.EOF):
			return steps
		case err != nil:
			tb.Fatalf("%s: %v\n%s", session, err, out)
		}
		steps = append(steps, s)
	}
}

// Failed returns the codes of the steps that failed, by name. An error without a code, such as
// that of a broken connection, has its message.
func Failed(steps []Step) map[string]string {
	codes := map[string]string{}
	for _, s := range steps {
		switch {
		case s.Error == nil:
		case s.Error.Code == "":
			codes[s.Name] = s.Error.Message
		default:
			codes[s.Name] = s.Error.Code
		}
	}
	return codes
}
