//go:build !js && !wasip1

package tool

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
)

// programs are the programs of the tests, by name. A test's binary runs as one of them under its name.
var programs = map[string]func() []Game{
	"samestep": func() []Game { return ours }, "faulty": faultyGame, "duel": duelGame, "hasty": hastyGame, "tiles": tilesGame, "toll": tollGame,
}

// A worker is a process that runs command lines one after another, each in its own folder and environment. The scripts have
// hundreds of them, and to start a process for each one takes longer than most of them do.
type worker struct {
	process *exec.Cmd
	in      io.Closer
	orders  *gob.Encoder
	results *gob.Decoder
}

// An order is a command line for a worker.
type order struct {
	Args []string // with the name of the program
	Dir  string
	Env  []string
}

// ordered is what came of an order.
type ordered struct {
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

// runOrder lets a worker run a command line.
func runOrder(o order) (ordered, error) {
	workers.mu.Lock()
	var w *worker
	if last := len(workers.idle) - 1; last >= 0 {
		w, workers.idle = workers.idle[last], workers.idle[:last]
	}
	workers.mu.Unlock()
	if w == nil {
		var err error
		if w, err = newWorker(); err != nil {
			return ordered{}, err
		}
	}
	var result ordered
	err := w.orders.Encode(o)
	if err == nil {
		err = w.results.Decode(&result)
	}
	if err != nil {
		return ordered{}, fmt.Errorf("%s: the worker: %w", strings.Join(o.Args, " "), errors.Join(err, w.close()))
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
		var o order
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
		result := ordered{Code: runAs(o.Args, &out, &errs)}
		result.Stdout, result.Stderr = out.String(), errs.String()
		if err := os.Chdir(home); err != nil { // on Windows a folder stays while it is that of a process
			return err
		}
		if err := results.Encode(result); err != nil {
			return err
		}
	}
}

// runAs runs a command line of one of the programs.
func runAs(args []string, stdout, stderr io.Writer) int {
	name := filepath.Base(args[0])
	if name == "forge" {
		if err := forge(args[1:]); err != nil {
			fmt.Fprintln(stderr, err)
			return 1
		}
		return 0
	}
	games, ok := programs[name]
	if !ok {
		fmt.Fprintf(stderr, "got program %q, want one of the tests\n", name)
		return -1
	}
	return Run(context.Background(), args, stdout, stderr, games()...)
}
