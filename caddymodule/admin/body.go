package admin

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/restwarden/restwarden/caddymodule/adminapi"
	"github.com/restwarden/restwarden/policies/policy"
)

// read reads and parses the body of a request that switches or decides.
func (r request) read(w http.ResponseWriter, parse func([]byte) error) error {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, adminapi.MaxBody))
	if err == nil {
		err = parse(body)
	}
	if err != nil {
		return failed(http.StatusBadRequest, err)
	}
	return nil
}

// parseBody reads a strict JSON object into v. The error names the first field at fault.
func parseBody(body []byte, v any) error {
	err := json.Unmarshal(body, v, json.RejectUnknownMembers(true), json.MatchCaseInsensitiveNames(false))
	if err == nil {
		return nil
	}
	if semantic, ok := errors.AsType[*json.SemanticError](err); ok && semantic.JSONPointer != "" {
		field := strings.TrimPrefix(string(semantic.JSONPointer), "/")
		switch {
		case errors.Is(err, json.ErrUnknownName):
			return fmt.Errorf("unknown field %q", field)
		case semantic.Err != nil:
			return fmt.Errorf("%s: %w", field, semantic.Err)
		}
		return fmt.Errorf("%s: wrong type", field)
	}
	return fmt.Errorf("the body is not the JSON object that is expected: %w", err)
}

// lasting is how long a switch is to be on, in JSON as text: "2h", "1d12h". 0 is off.
type lasting time.Duration

// UnmarshalText implements encoding.TextUnmarshaler.
func (l *lasting) UnmarshalText(text []byte) error {
	d, err := lastingOf(string(text), adminapi.MaxSwitched)
	*l = lasting(d)
	return err
}

// lastingOf reads how long a switch is to be on, which is not longer than most.
func lastingOf(text string, most time.Duration) (time.Duration, error) {
	d, err := policy.ParseDuration(text)
	switch {
	case err != nil:
		return 0, err
	case d < 0 || d > most:
		return 0, fmt.Errorf("%s is not between 0s and %dd", text, most/(24*time.Hour))
	case d > 0 && d < time.Millisecond:
		return 0, fmt.Errorf("%s is too short", text)
	}
	return d, nil
}
