//go:build !js

package tooltest

import (
	"bytes"
	"cmp"
	"context"
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"strings"
	"sync"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/seed-49bee653/samestep/internal/testing/browser"
	"github.com/seed-49bee653/samestep/internal/testing/testenv"
)

// A Program is one that the binary of the tests is under its name.
type Program struct {
	Main func() // of a process of its own
	Run  func(ctx context.Context, args []string, stdout, stderr io.Writer) int
}

// Programs are those of a package, by name. They have samestep.
type Programs map[string]Program

// programs are those of [Main].
var programs Programs

// tests are the tests of a package, which share a browser, workers and demos.
type tests struct{ *testing.M }

// Run implements [testscript.TestingM].
func (t tests) Run() int {
	debug.SetGCPercent(gcPercent)
	defer removeDemos()
	defer closeWorkers()
	return browser.Run(t.M)
}

// Main runs the tests of a package, or one of its programs if the binary has its name. It does not return.
func Main(m *testing.M, p Programs) {
	testenv.Overlap(8) // mostly for servers and clocks
	programs = p
	commands := make(map[string]func())
	for name, program := range p {
		commands[name] = func() {
			if os.Getenv(workerVariable) == "" {
				program.Main()
				return
			}
			if err := work(); err != nil {
				fmt.Fprintln(os.Stderr, err)
				os.Exit(1)
			}
		}
	}
	testscript.Main(tests{m}, commands)
}

// Run runs a command line in this process. args[0] is the name of the program.
func Run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	p, ok := programs[filepath.Base(args[0])]
	if !ok {
		fmt.Fprintf(stderr, "unknown program %q; see tooltest.Main\n", args[0])
		return -1
	}
	return p.Run(ctx, args, stdout, stderr)
}

// Output runs a verb of samestep in this process, requires an exit code, and returns the output.
func Output(t *testing.T, code int, args ...string) string {
	t.Helper()
	var out, errs bytes.Buffer
	if got := Run(context.Background(), append([]string{"samestep"}, args...), &out, &errs); got != code {
		t.Errorf("%s: got exit code %d, want %d: %s", strings.Join(args, " "), got, code, errs.String())
	}
	return out.String()
}

// Says reports whether an output has a text, wherever its lines end.
func Says(out, text string) bool { return strings.Contains(OneLine(out), OneLine(text)) }

// OneLine returns a text without white space.
func OneLine(text string) string { return strings.Join(strings.Fields(text), "") }

// A worker is a process that runs command lines one after another, each in its own folder and environment. The scripts have
// hundreds of them, and to start a process for each one takes longer than most of them do.
type worker struct {
	process *exec.Cmd
	in      io.Closer
	orders  *gob.Encoder
	results *gob.Decoder
}

// An Order is a command line for a worker.
type Order struct {
	Args []string // with the name of the program
	Dir  string
	Env  []string
}

// A Result is what came of an order.
type Result struct {
	Code           int
	Stdout, Stderr string
}

// gcPercent is for the small heaps of the tests.
const gcPercent = 400

const workerVariable = "SAMESTEP_TEST_WORKER"

// workers are those that have nothing to do.
var workers struct {
	mu   sync.Mutex
	idle []*worker
}

// Run lets a worker run the command line.
func (o Order) Run() (Result, error) {
	workers.mu.Lock()
	var w *worker
	if last := len(workers.idle) - 1; last >= 0 {
		w, workers.idle = workers.idle[last], workers.idle[:last]
	}
	workers.mu.Unlock()
	if w == nil {
		var err error
		if w, err = newWorker(); err != nil {
			return Result{}, err
		}
	}
	var result Result
	err := w.orders.Encode(o)
	if err == nil {
		err = w.results.Decode(&result)
	}
	if err != nil {
		return Result{}, fmt.Errorf("%s: the worker: %w", strings.Join(o.Args, " "), errors.Join(err, w.close()))
	}
	workers.mu.Lock()
	workers.idle = append(workers.idle, w)
	workers.mu.Unlock()
	return result, nil
}

func newWorker() (*worker, error) {
	program, err := exec.LookPath("samestep") // the verbs that start themselves find it again
	if err != nil {
		return nil, err
	}
	w := &worker{process: exec.Command(program)}
	w.process.Env = append(os.Environ(), workerVariable+"=1")
	w.process.Stderr = os.Stderr
	in, err := w.process.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := w.process.StdoutPipe()
	if err != nil {
		return nil, err
	}
	w.in, w.orders, w.results = in, gob.NewEncoder(in), gob.NewDecoder(out)
	return w, w.process.Start()
}

func (w *worker) close() error {
	w.in.Close()
	return w.process.Wait()
}

// closeWorkers ends all workers.
func closeWorkers() {
	for _, w := range workers.idle {
		w.close()
	}
	workers.idle = nil
}

// work is the main program of a worker.
func work() error {
	home, err := os.Getwd()
	if err != nil {
		return err
	}
	orders, results := gob.NewDecoder(os.Stdin), gob.NewEncoder(os.Stdout)
	os.Stdout = os.Stderr
	if os.Stdin, err = os.Open(os.DevNull); err != nil {
		return err
	}
	for {
		var o Order
		if err := orders.Decode(&o); err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
		debug.SetGCPercent(gcPercent) // which some verbs lower
		os.Clearenv()
		for _, v := range o.Env {
			if name, value, _ := strings.Cut(v, "="); name != "" {
				err = cmp.Or(err, os.Setenv(name, value))
			}
		}
		if err = cmp.Or(err, os.Chdir(o.Dir)); err != nil {
			return err
		}
		var out, errs bytes.Buffer
		result := Result{Code: Run(context.Background(), o.Args, &out, &errs)}
		result.Stdout, result.Stderr = out.String(), errs.String()
		if err := os.Chdir(home); err != nil { // on Windows a folder stays while it is that of a process
			return err
		}
		if err := results.Encode(result); err != nil {
			return err
		}
	}
}

// Execute runs a verb of samestep in a worker, with the folder and the environment of the test, since the cli library has global
// variables. It returns the exit code.
func Execute(args []string, stdout, stderr io.Writer) int {
	dir, err := os.Getwd()
	var result Result
	if err == nil {
		result, err = Order{Args: append([]string{"samestep"}, args...), Dir: dir, Env: os.Environ()}.Run()
	}
	if err != nil {
		fmt.Fprintln(stderr, err)
		return -1
	}
	io.WriteString(stdout, result.Stdout)
	io.WriteString(stderr, result.Stderr)
	return result.Code
}

// Requires is [Execute] with a wanted exit code.
func Requires(t *testing.T, want int, args ...string) (stdout, stderr string) {
	t.Helper()
	var o, e bytes.Buffer
	if code := Execute(args, &o, &e); code != want {
		t.Fatalf("%s: got exit code %d, want %d: %s%s", strings.Join(args, " "), code, want, &o, &e)
	}
	return o.String(), e.String()
}
