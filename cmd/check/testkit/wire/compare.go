package wire

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/restwarden/restwarden/cmd/check/testkit/rawhttp"
)

// Compare holds that two recordings of a session have the same answers: status lines, header
// fields with their order, and bodies, byte for byte. May are the fields that differ by right:
// one without a value may have any, one with a value may have it in second, in place of what
// first has. Requests must be for the same paths; their queries may hold signatures.
func Compare(first, second []Exchange, may ...rawhttp.Field) error {
	var differences []error
	for i := range min(len(first), len(second)) {
		if what := differ(first[i], second[i], may); what != "" {
			differences = append(differences, fmt.Errorf("%s %s: %s", first[i].Method, first[i].Target, what))
		}
	}
	if len(first) != len(second) {
		differences = append(differences, fmt.Errorf("%d exchanges, then %d: %s, then %s", len(first), len(second), list(first), list(second)))
	}
	return errors.Join(differences...)
}

// chunked is the field of bodies whose length the server did not know when it began. It is no
// part of what the answer says; bodies are compared in any case.
const chunked = "Transfer-Encoding"

func differ(a, b Exchange, may []rawhttp.Field) string {
	pathA, _, _ := strings.Cut(a.Target, "?")
	pathB, _, _ := strings.Cut(b.Target, "?")
	if a.Method != b.Method || pathA != pathB {
		return "then " + b.Method + " " + b.Target
	}
	headA, headB := lines(a.Head), lines(b.Head)
	if (field(headA, chunked) == "") != (field(headB, chunked) == "") { // one server knew the length, the other did not
		may = append(slices.Clip(may), rawhttp.Field{Name: chunked}, rawhttp.Field{Name: "Content-Length"})
	}
	for _, f := range may {
		if f.Value == "" || field(headB, f.Name) == f.Value {
			other := func(line string) bool { return named(line, f.Name) }
			headA, headB = slices.DeleteFunc(headA, other), slices.DeleteFunc(headB, other)
		}
	}
	switch {
	case !slices.Equal(headA, headB):
		return fmt.Sprintf("the answer begins\n%s\nthen\n%s", strings.Join(headA, "\n"), strings.Join(headB, "\n"))
	case !bytes.Equal(a.Body, b.Body):
		return fmt.Sprintf("the answer is\n%s\nthen\n%s", a.Body, b.Body)
	}
	return ""
}

// lines are those of a head.
func lines(head []byte) []string {
	return strings.Split(strings.TrimSuffix(string(head), "\r\n\r\n"), "\r\n")
}

func named(line, name string) bool {
	got, _, isField := strings.Cut(line, ":")
	return isField && strings.EqualFold(got, name)
}

// field is the value of the first field with a name, or empty.
func field(lines []string, name string) string {
	i := slices.IndexFunc(lines, func(line string) bool { return named(line, name) })
	if i < 0 {
		return ""
	}
	_, value, _ := strings.Cut(lines[i], ":")
	return strings.TrimSpace(value)
}

// Field is the value of the answer's first field with a name, or empty.
func (x *Exchange) Field(name string) string { return field(lines(x.Head), name) }

// Bare is x without the fields of its answer.
func (x *Exchange) Bare() Exchange {
	bare := *x
	bare.Head = []byte(lines(x.Head)[0] + "\r\n\r\n")
	return bare
}

func list(all []Exchange) string {
	var names []string
	for _, x := range all {
		names = append(names, fmt.Sprintf("%s %s %d", x.Method, x.Target, x.Status))
	}
	return strings.Join(names, ", ")
}
