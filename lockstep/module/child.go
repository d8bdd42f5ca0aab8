//go:build !js

package module

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"time"
)

// A task is what a process is told that compiles a module. The module follows it.
type task struct {
	Cache  string // the folder of compiled modules
	Size   int    // of the module, in bytes
	Memory int64  // that the process may take, in bytes
}

// A compilation is what it answers.
type compilation struct {
	Malformed, Limit bool   // why the module is refused
	Text             string // the error; "" if the module is compiled
}

// compileElsewhere compiles a module into the cache by the process of the options, unless that was done before. safe is what guard has
// made of it.
func compileElsewhere(ctx context.Context, module, safe []byte, o Options) error {
	known := filepath.Join(o.Cache, knownName(safe))
	if _, err := os.Stat(known); err == nil {
		return nil
	}
	left, memory := o.Budget.compileTime(), o.Budget.compileMemory()
	if b := o.Budget; b != nil && b.Context != nil {
		ctx = b.Context
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	d := deadline{passing: patience * min(left, never/patience), work: left, end: cancel}
	answer, err := d.ask(o.Process(ctx), task{o.Cache, len(module), memory}, module)
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
	}
	return os.WriteFile(known, nil, 0o600)
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

// knownName returns the name of the file in the cache that says that it has a module, for this version of the compiler.
func knownName(safe []byte) string {
	version := ""
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, d := range info.Deps {
			if d.Path == "github.com/tetratelabs/wazero" {
				version = d.Version
			}
		}
	}
	sum := sha256.Sum256(safe)
	return fmt.Sprintf("%s-%s-%s.known", hex.EncodeToString(sum[:]), runtime.GOARCH, version)
}

// ask runs a process with a task and a module as its input. The input stays open until the process ends: its end would say that
// this process has ended. The deadline ends it.
func (d *deadline) ask(c *exec.Cmd, o task, module []byte) (answer compilation, err error) {
	c.WaitDelay = time.Second
	in, err := c.StdinPipe()
	if err != nil {
		return answer, err
	}
	defer in.Close()
	var out, text bytes.Buffer
	c.Stdout, c.Stderr = &out, &text
	if err := c.Start(); err != nil {
		return answer, err
	}
	d.clock = processClock(c.Process.Pid)
	d.begin()
	go func() {
		head, _ := json.Marshal(o) // of numbers and a text
		in.Write(append(append(head, '\n'), module...))
	}()
	err = c.Wait()
	d.stop()
	d.took = c.ProcessState.UserTime() + c.ProcessState.SystemTime() // its clock is gone
	if err != nil {
		return answer, fmt.Errorf("%w: %.200s", err, bytes.TrimSpace(text.Bytes()))
	}
	return answer, json.Unmarshal(out.Bytes(), &answer)
}

// patience is how many times the time that a process may work may pass until it is ended: others may have the processors.
const patience = 4

// tooLargeText is the answer of a process that would take too much memory.
const tooLargeText = "memory"
