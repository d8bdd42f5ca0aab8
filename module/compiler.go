//go:build !js

package module

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"runtime/metrics"
	"syscall"
	"time"
)

// CompileFor is what the process of [Options.Process] does: it reads a module from in, compiles it into a cache, and writes to out what
// came of it. It ends the process when that takes too much memory, or when in ends: the other process has loaded the code, or has ended. So it returns only
// with an error.
func CompileFor(in io.Reader, out io.Writer) error {
	r := bufio.NewReader(in)
	head, err := r.ReadBytes('\n')
	if err != nil {
		return err
	}
	var o task
	if err := json.Unmarshal(head, &o); err != nil {
		return err
	}
	if o.Size < 0 || o.Size > MaxBytes {
		return fmt.Errorf("%w: got a module of %d bytes, want at most %d", ErrLimit, o.Size, MaxBytes)
	}
	module := make([]byte, o.Size)
	if _, err := io.ReadFull(r, module); err != nil {
		return err
	}
	signal.Ignore(os.Interrupt, syscall.SIGHUP, syscall.SIGTERM) // the other process ends this one
	go func() {
		r.ReadByte()
		for tries := 0; o.Temporary && tries < 3 && os.RemoveAll(o.Cache) != nil; tries++ { // while a file may be written into it
		}
		os.Exit(0)
	}()
	debug.SetMemoryLimit(o.Memory * 3 / 4)
	go watchMemory(o.Memory, out)
	answer := compiledFor(module, Options{Cache: o.Cache, traced: o.Traced})
	debug.FreeOSMemory() // the other process needs its own now
	if err := json.NewEncoder(out).Encode(answer); err != nil {
		return err
	}
	select {} // until the input ends
}

func compiledFor(module []byte, o Options) compilation {
	compile := Compile
	if o.traced {
		compile = func(module []byte, o Options) (*Rules, error) {
			t, err := CompileTraced(module, o)
			return t.Rules, err
		}
	}
	rules, err := compile(module, o)
	if err == nil {
		err = rules.Close()
	}
	answer := compilation{Malformed: errors.Is(err, ErrMalformed), Limit: errors.Is(err, ErrLimit)}
	if err != nil {
		answer.Text = err.Error()
	}
	return answer
}

// watchMemory ends the process when the runtime of Go has more than some bytes from the system.
func watchMemory(most int64, out io.Writer) {
	of := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
	for {
		metrics.Read(of)
		if int64(of[0].Value.Uint64()-of[1].Value.Uint64()) > most {
			json.NewEncoder(out).Encode(compilation{Limit: true, Text: tooLargeText})
			os.Exit(0)
		}
		time.Sleep(5 * time.Millisecond)
	}
}
