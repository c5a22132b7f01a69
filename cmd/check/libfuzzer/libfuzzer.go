//go:build libfuzzer && cgo

package libfuzzer

// #include <stdlib.h>
// #include <stdint.h>
import "C"

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"runtime/debug"
	"strconv"
	"strings"
	"testing"
	"time"
	"unsafe"
)

// seedsVariable names a directory: the program writes the seeds of its target there, as libFuzzer takes them, and ends.
const seedsVariable = "LIBFUZZER_SEEDS"

// registered is a fuzz target with the folder of its package.
type registered struct {
	folder string
	testing.InternalFuzzTarget
}

var targets = map[string]registered{} // by the names of their programs

// Target registers a fuzz target of the package in a folder of the repository, such as policies/call. The files that build.sh makes
// call it. The program must have the name of both, policies_call_FuzzPath.
func Target(folder, name string, target func(*testing.F)) {
	targets[strings.ReplaceAll(folder, "/", "_")+"_"+name] = registered{folder, testing.InternalFuzzTarget{Name: name, Fn: target}}
}

// entry is an input, as package testing has it.
type entry = struct {
	Parent     string
	Path       string
	Data       []byte
	Values     []any
	Generation int
	IsSeed     bool
}

var (
	types  []reflect.Type // of the arguments of the target
	ready  = make(chan struct{})
	inputs = make(chan entry)
	failed = make(chan error)
)

// LLVMFuzzerInitialize starts the target that the program is named after.
//
//export LLVMFuzzerInitialize
func LLVMFuzzerInitialize(_ *C.int, args ***C.char) C.int {
	program, err := os.Executable()
	if err == nil {
		err = start(filepath.Dir(program), filepath.Base(C.GoString(**args)))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	return 0
}

// start runs the target twice: once to learn its seeds and the types of its arguments, and then until the program ends. Both begin in
// the folder of its package below tree, beside the program, where their files are.
func start(beside, program string) error {
	target, ok := targets[program]
	if !ok {
		return fmt.Errorf("%s is the name of no target", program)
	}
	here, err := os.Getwd()
	if err == nil {
		err = os.Chdir(filepath.Join(beside, "tree", filepath.FromSlash(target.folder)))
	}
	if err != nil {
		return err
	}
	testing.Init()
	// Parsed here with these alone: the program's own arguments are libFuzzer's.
	if err := flag.CommandLine.Parse([]string{"-test.run=^$", "-test.fuzz=^" + target.Name + "$", "-test.fuzzcachedir=" + os.TempDir()}); err != nil {
		return err
	}
	m := testing.MainStart(driver{}, nil, nil, []testing.InternalFuzzTarget{target.InternalFuzzTarget}, nil)
	if code := m.Run(); code != 0 || types == nil { // by CoordinateFuzzing
		return fmt.Errorf("%s does not start", target.Name)
	}
	if err := flag.Set("test.fuzzworker", "true"); err != nil {
		return err
	}
	go m.Run()
	<-ready // by RunFuzzWorker
	return os.Chdir(here)
}

// LLVMFuzzerTestOneInput runs the target with one input. It aborts where the target fails, so that libFuzzer keeps the input.
//
//export LLVMFuzzerTestOneInput
func LLVMFuzzerTestOneInput(data *C.uint8_t, size C.size_t) C.int {
	values := decode(C.GoBytes(unsafe.Pointer(data), C.int(size)), types)
	inputs <- entry{Values: values}
	if err := <-failed; err != nil {
		fmt.Fprintf(os.Stderr, "%v\nto replay it, below testdata/fuzz:\n%s", err, corpusFile(values))
		C.abort()
	}
	return 0
}

// driver stands between package testing and libFuzzer.
type driver struct{}

// CoordinateFuzzing is called once, with the seeds and the types of the arguments.
func (driver) CoordinateFuzzing(_ time.Duration, _ int64, _ time.Duration, _ int64, _ int, seeds []entry, of []reflect.Type, _, _ string) error {
	types = of
	dir := os.Getenv(seedsVariable)
	if dir == "" {
		return nil
	}
	for i, seed := range seeds {
		if err := os.WriteFile(filepath.Join(dir, strconv.Itoa(i)), encode(seed.Values), 0o600); err != nil {
			return err
		}
	}
	os.Exit(0)
	return nil
}

// RunFuzzWorker runs the inputs until the program ends.
func (driver) RunFuzzWorker(run func(entry) error) error {
	close(ready)
	for input := range inputs {
		failed <- run(input)
	}
	return errors.New("no more inputs")
}

// SnapshotCoverage is deferred by package testing around each input: here a panic is caught while libFuzzer still has the input.
func (driver) SnapshotCoverage() {
	if r := recover(); r != nil {
		failed <- fmt.Errorf("panic: %v\n%s", r, debug.Stack())
		select {} // the program ends
	}
}

func (driver) ResetCoverage()                                     {}
func (driver) CheckCorpus([]any, []reflect.Type) error            { return nil }
func (driver) ReadCorpus(string, []reflect.Type) ([]entry, error) { return nil, nil }
func (driver) ImportPath() string                                 { return "" }
func (driver) ModulePath() string                                 { return "" }
func (driver) MatchString(pattern, name string) (bool, error) {
	return regexp.MatchString(pattern, name)
}
func (driver) SetPanicOnExit0(bool)                        {}
func (driver) StartCPUProfile(io.Writer) error             { return nil }
func (driver) StopCPUProfile()                             {}
func (driver) StartTestLog(io.Writer)                      {}
func (driver) StopTestLog() error                          { return nil }
func (driver) WriteProfileTo(string, io.Writer, int) error { return nil }

func (driver) InitRuntimeCoverage() (mode string, tearDown func(string, string) (string, error), snapshot func() float64) {
	return "", nil, nil
}
