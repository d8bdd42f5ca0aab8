//go:build !js

package module

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"runtime/metrics"
	"time"
)

// CompileFor is what the process of [Options.Process] does: it reads a module from in, compiles it into a cache, and writes to out what
// came of it. It ends the process when that takes too much memory, or when in ends, because then the other process has ended.
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
	go func() {
		r.ReadByte()
		os.Exit(1)
	}()
	debug.SetMemoryLimit(o.Memory * 3 / 4)
	go watchMemory(o.Memory, out)
	rules, err := Compile(module, Options{Cache: o.Cache})
	if err == nil {
		err = rules.Close()
	}
	answer := compilation{Malformed: errors.Is(err, ErrMalformed), Limit: errors.Is(err, ErrLimit)}
	if err != nil {
		answer.Text = err.Error()
	}
	return json.NewEncoder(out).Encode(answer)
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
