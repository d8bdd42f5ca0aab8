//go:build !js

package module

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os/exec"
	"runtime/debug"
	"time"
)

// A task is what a process is told that compiles a module. The module follows it.
type task struct {
	Cache     string // the folder of compiled modules
	Temporary bool   // the process removes it with its end
	Traced    bool
	Size      int   // of the module, in bytes
	Memory    int64 // that the process may take, in bytes
}

// A compilation is what it answers.
type compilation struct {
	Malformed, Limit bool   // why the module is refused
	Text             string // the error; "" if the module is compiled
}

// compileElsewhere compiles a module into the cache by the process of the options, and loads what that has compiled before it ends.
func compileElsewhere(ctx context.Context, module []byte, o Options, load func() error) error {
	left, memory := o.Budget.compileTime(), o.Budget.compileMemory()
	if b := o.Budget; b != nil && b.Context != nil {
		ctx = b.Context
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	d := deadline{passing: patience * min(left, never/patience), work: left, end: cancel}
	debug.FreeOSMemory() // the other process needs more
	var loading error
	answer, err := d.ask(o.Process(ctx), task{o.Cache, o.temporary, o.traced, len(module), memory}, module, func() { loading = load() })
	if o.Budget != nil {
		o.Budget.spend(d.took)
	}
	switch {
	case d.late:
		return fmt.Errorf("%w: compiling takes longer than %s", ErrLimit, advised(left.Round(time.Millisecond).String(), o.Budget.timeAdvice()))
	case ctx.Err() != nil:
		return fmt.Errorf("module: compiling: %w", ctx.Err())
	case err != nil:
		return fmt.Errorf("module: the process that compiles: %w", err)
	case answer.Limit && answer.Text == tooLargeText:
		return fmt.Errorf("%w: %s", ErrLimit, advised(fmt.Sprintf("compiling takes more than %d MiB", memory>>20), o.Budget.memoryAdvice()))
	case answer.Text != "":
		return answer.err()
	case loading != nil:
		return fmt.Errorf("module: what another process has compiled: %v", loading) // it is not malformed
	}
	return nil
}

// err returns the error of a module that was refused.
func (o *compilation) err() error {
	switch {
	case o.Malformed:
		return fmt.Errorf("%w: %s", ErrMalformed, o.Text)
	case o.Limit:
		return fmt.Errorf("%w: %s", ErrLimit, o.Text)
	}
	return fmt.Errorf("module: the process that compiles: %s", o.Text)
}

// ask runs a process with a task and a module as its input, and calls compiled if it has compiled the module. The input stays open until
// then: its end would say that this process has ended. The deadline ends the process.
func (d *deadline) ask(c *exec.Cmd, o task, module []byte, compiled func()) (answer compilation, err error) {
	c.WaitDelay = time.Second
	in, err := c.StdinPipe()
	if err != nil {
		return answer, err
	}
	defer in.Close()
	out, err := c.StdoutPipe()
	if err != nil {
		return answer, err
	}
	var text bytes.Buffer
	c.Stderr = &text
	if err := c.Start(); err != nil {
		return answer, err
	}
	d.clock = processClock(c.Process.Pid)
	d.begin()
	go func() {
		head, _ := json.Marshal(o) // of numbers and a text
		in.Write(append(append(head, '\n'), module...))
	}()
	bad := json.NewDecoder(io.LimitReader(out, maxCompilation)).Decode(&answer)
	d.stop()
	if bad == nil && answer.Text == "" {
		compiled()
	}
	in.Close()
	err = c.Wait()
	d.took = c.ProcessState.UserTime() + c.ProcessState.SystemTime() // its clock is gone
	if err != nil || bad != nil {
		return answer, fmt.Errorf("%w: %.200s", cmp.Or(err, bad), bytes.TrimSpace(text.Bytes()))
	}
	return answer, nil
}

// maxCompilation is the size of the longest answer of a process, in bytes.
const maxCompilation = 1 << 20

// patience is how many times the time that a process may work may pass until it is ended: others may have the processors.
const patience = 4

// tooLargeText is the answer of a process that would take too much memory.
const tooLargeText = "memory"
