package php

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/restwarden/restwarden/policies/call/phpvars"
)

// What becomes of an input that shows no difference.
const (
	verdictSame    = "the same"
	verdictRefused = "refused" // the reader says that it cannot tell
)

// watched are variables whose presence the gateway's quick looks must never miss.
var watched = []string{"rest_route", "_method", "id"}

var errDiffers = errors.New("PHP reads it differently")

// judge compares what PHP made of in with what phpvars does. An error says how
// they differ, and verdict where. A PHP that splits at ";" too does so in queries and in
// bodies that the core parses as one; forms of POST stay as they are.
func judge(in *input, found *list, splits bool) (verdict string, err error) {
	verdict = verdictSame
	if splits {
		in = in.split()
	}
	for _, part := range []struct {
		name  string
		check func(*input, *list) (refused bool, err error)
	}{
		{"query", judgeQuery}, {"form", judgeForm}, {"multipart", judgeMultipart}, {"body of PUT", judgeRaw},
	} {
		refused, err := part.check(in, found)
		if err != nil {
			return part.name, err
		}
		if refused {
			verdict = verdictRefused
		}
	}
	return verdict, nil
}

// readable tells whether the gateway goes by a query or form at all.
func readable(raw string) bool {
	return phpvars.Pairs(raw) <= phpvars.MaxPairs && !phpvars.Disputed(raw)
}

func judgeQuery(in *input, found *list) (refused bool, err error) {
	if err := quickLook(in.query, found.get); err != nil {
		return false, err
	}
	if !readable(in.query) {
		return true, nil
	}
	return false, same(phpvars.Query(in.query), found.get)
}

// judgeForm is for urlencoded bodies of POST. Where the type is none of a form PHP
// fills nothing, and then nothing is expected.
func judgeForm(in *input, found *list) (refused bool, err error) {
	urlencoded, multipart := phpvars.FormKind(in.contentType)
	switch {
	case in.method != "POST" || !urlencoded && !multipart:
		return false, same(nil, found.post)
	case !urlencoded:
		return false, nil
	case multipart:
		return true, nil
	}
	if err := quickLook(in.body, found.post); err != nil {
		return false, err
	}
	if !readable(in.body) {
		return true, nil
	}
	return false, same(phpvars.Form(in.body), found.post)
}

func judgeMultipart(in *input, found *list) (refused bool, err error) {
	urlencoded, multipart := phpvars.FormKind(in.contentType)
	if in.method != "POST" || !multipart || urlencoded {
		return false, nil
	}
	if _, ok := phpvars.Boundary(in.contentType); !ok {
		return false, same(nil, found.post)
	}
	for _, name := range watched {
		if err := alone(in, name, found.post); err != nil {
			return false, err
		}
	}
	vars, files, err := phpvars.MultipartFiles(in.contentType, strings.NewReader(in.body))
	if err != nil {
		return true, nil //nolint:nilerr // the gateway refuses it as well
	}
	if err := same(vars, found.post); err != nil {
		return false, err
	}
	if len(files) > maxFiles || slices.ContainsFunc(files, func(name string) bool { return strings.ContainsAny(name, "[]") }) {
		return true, nil
	}
	return false, sameFiles(files, found.files)
}

// maxFiles is PHP's max_file_uploads: what is beyond it stands nowhere. Of files
// whose names have brackets PHP drops some; no parameter depends on that.
const maxFiles = 20

// alone is that the reader of one variable says what PHP says of it, or nothing.
func alone(in *input, name, post string) error {
	one, err := phpvars.MultipartOnly(in.contentType, strings.NewReader(in.body), name)
	if err != nil {
		return nil //nolint:nilerr // refused
	}
	_, set := one.Get(name)
	if topLevel(post, name) && !set {
		return fmt.Errorf("%w: it sets %s, the reader of that variable alone does not see it", errDiffers, name)
	}
	return nil
}

func judgeRaw(in *input, found *list) (refused bool, err error) {
	if in.method != "PUT" {
		return false, nil
	}
	if !readable(in.body) {
		return true, nil
	}
	return false, same(phpvars.RawForm(in.body), found.raw)
}

// quickLook is that no quick look misses a variable that PHP sets, whatever else is
// in the text.
func quickLook(raw, vars string) error {
	for _, name := range watched {
		if !topLevel(vars, name) {
			continue
		}
		_, times, plain := phpvars.Last(raw, name)
		switch {
		case !phpvars.Has(raw, name):
			return fmt.Errorf("%w: it sets %s, Has says no", errDiffers, name)
		case !phpvars.HasReader(strings.NewReader(raw), name):
			return fmt.Errorf("%w: it sets %s, HasReader says no", errDiffers, name)
		case plain && times == 0:
			return fmt.Errorf("%w: it sets %s, Last says no", errDiffers, name)
		}
	}
	return nil
}

func same(ours *phpvars.Array, theirs string) error {
	if text := serialize(ours); text != theirs {
		return fmt.Errorf("%w:\nPHP  %.2000q\nours %.2000q", errDiffers, theirs, text)
	}
	return nil
}

// sameFiles compares the names of fields alone: contents are no parameters.
func sameFiles(names []string, theirs string) error {
	fields := new(phpvars.Array)
	for _, name := range names {
		fields.Register(name+"[name]", "")
	}
	got := serializeList(fields.Keys())
	if got != theirs {
		return fmt.Errorf("%w: of files:\nPHP  %.2000q\nours %.2000q", errDiffers, theirs, got)
	}
	return nil
}
