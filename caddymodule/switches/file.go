package switches

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"go.uber.org/zap"
)

// file keeps what is switched on, so that no restart ends it.
type file struct{ path string }

// ErrUnkept says that a switch counts, and that a restart would undo it.
var ErrUnkept = errors.New("a restart undoes this, since it cannot be kept")

// maxFile bounds the file, in bytes.
const maxFile = 64 << 20

// open reads the settings of a file, and keeps them there from then on.
func (b *Board) open(path string) {
	b.file = &file{path}
	settings, err := b.file.read()
	if err != nil {
		b.logger().Error("what is switched on cannot be read: a line that was closed before may be open", zap.String("file", path), zap.Error(err))
	}
	for _, s := range settings {
		b.merge(s, "a restart")
	}
}

// read returns the settings of the file; none where there is no file. What is none is left out, and the error says so.
func (f *file) read() (settings []setting, err error) {
	info, err := os.Stat(f.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, errors.New("it is not a file")
	case info.Size() > maxFile:
		return nil, fmt.Errorf("the file has %d bytes", info.Size())
	}
	text, err := os.ReadFile(f.path)
	if err != nil {
		return nil, err
	}
	return readSettings(string(text), func(s *setting) time.Time { // a clock that was set back since ends nothing
		now := time.Now()
		if set := time.Unix(0, s.Set); set.After(now) {
			now = set
		}
		return now
	})
}

// maxFaults bounds how many settings that are none are looked at: there is no end to garbage.
const maxFaults = 10_000

// readSettings reads a list of settings at the time that now returns for each. Those that have ended are left out, and so is all
// behind a place that cannot be read.
func readSettings(text string, now func(*setting) time.Time) (settings []setting, err error) {
	d, faults := json.NewDecoder(strings.NewReader(text)), 0
	if begin, err := d.Token(); err != nil || begin != json.Delim('[') {
		return nil, errors.Join(errList, err)
	}
	for d.More() && faults < maxFaults {
		var one json.RawMessage
		if err := d.Decode(&one); err != nil {
			return settings, fmt.Errorf("%w: %w", errList, err)
		}
		var found setting
		_ = json.Unmarshal(one, &found) // parseSetting says what is wrong
		at := now(&found)
		s, fault := parseSetting(string(one), at)
		switch {
		case fault == nil:
			settings = append(settings, s)
		case found.Set > 0 && found.left(at) <= 0:
		default:
			if faults++; err == nil {
				err = fmt.Errorf("%w: %.200q", fault, one)
			}
		}
	}
	switch end, _ := d.Token(); {
	case faults > 1:
		err = fmt.Errorf("%w, and %d more", err, faults-1)
	case err == nil && end != json.Delim(']'):
		err = errList
	}
	return settings, err
}

var errList = errors.New("not a whole list of switches")

// save writes all settings into the file, with those of other processes that share it.
func (b *Board) save() error {
	if b.file == nil {
		return nil
	}
	all := map[id]setting{}
	others, err := b.file.read()
	if err != nil { // it was told, and the owner may want to read it
		damaged := b.file.path + ".damaged"
		_ = os.Remove(damaged) // an earlier one
		_ = os.Link(b.file.path, damaged)
	}
	for _, s := range others {
		all[s.id()] = s
	}
	for name, s := range b.settings {
		if s.Set >= all[name].Set {
			all[name] = s.setting
		}
	}
	list := make([]setting, 0, len(all))
	for _, s := range all {
		list = append(list, s)
	}
	slices.SortFunc(list, func(x, y setting) int { return cmp.Compare(x.Set, y.Set) })
	if err := b.file.write(list); err != nil {
		return errors.Join(ErrUnkept, err)
	}
	return nil
}

// write replaces the file in one step.
func (f *file) write(settings []setting) error {
	text, err := json.MarshalIndent(settings, "", "\t")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(f.path), 0o700); err != nil {
		return err
	}
	next, err := os.CreateTemp(filepath.Dir(f.path), "switches-*.json")
	if err != nil {
		return err
	}
	_, err = next.Write(append(text, '\n'))
	err = errors.Join(err, next.Sync(), next.Close())
	if err == nil {
		err = os.Rename(next.Name(), f.path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(next.Name()))
	}
	return nil
}
