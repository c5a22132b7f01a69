package command

import (
	"bytes"
	"io"

	"github.com/spf13/cobra"

	"github.com/restwarden/restwarden/policies/call/routes"
)

// masking makes a command write no credential that is a segment of a path, whatever the path
// comes from: an address that was typed, a rule, a REST index or a log. classify alone writes
// what it reads: its answers are compared with those of platforms.
func masking(cmd *cobra.Command) {
	for _, sub := range cmd.Commands() {
		masking(sub)
	}
	run := cmd.RunE
	if run == nil || cmd.Name() == "classify" {
		return
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		out := &maskedLines{maskedWriter: maskedWriter{cmd.OutOrStdout()}}
		cmd.SetOut(out)
		cmd.SetErr(maskedWriter{cmd.ErrOrStderr()})
		err := run(cmd, args)
		if _, failed := out.w.Write(masked(out.begun)); err == nil {
			err = failed
		}
		return maskedError(err)
	}
}

func masked(text []byte) []byte { return []byte(routes.Masked(string(text))) }

// maskedWriter masks what is written at once. It is for messages.
type maskedWriter struct{ w io.Writer }

// Unwrap returns the writer behind it, which may be a terminal.
func (m maskedWriter) Unwrap() io.Writer { return m.w }

// Write implements io.Writer.
func (m maskedWriter) Write(b []byte) (int, error) {
	if _, err := m.w.Write(masked(b)); err != nil {
		return 0, err
	}
	return len(b), nil
}

// maskedLines masks whole lines, however they are written.
type maskedLines struct {
	maskedWriter
	begun []byte // of a line
}

// Write implements io.Writer.
func (m *maskedLines) Write(b []byte) (int, error) {
	m.begun = append(m.begun, b...)
	end := bytes.LastIndexByte(m.begun, '\n') + 1
	if end == 0 {
		return len(b), nil
	}
	lines := masked(m.begun[:end])
	m.begun = append(m.begun[:0], m.begun[end:]...)
	if _, err := m.w.Write(lines); err != nil {
		return 0, err
	}
	return len(b), nil
}

// maskedError returns err with its message masked.
func maskedError(err error) error {
	if err == nil {
		return nil
	}
	text := err.Error()
	if shown := routes.Masked(text); shown != text {
		return &maskError{shown, err}
	}
	return err
}

// maskError is an error with another message.
type maskError struct {
	text string
	error
}

// Error implements error.
func (e *maskError) Error() string { return e.text }

// Unwrap returns the error with its own message.
func (e *maskError) Unwrap() error { return e.error }
