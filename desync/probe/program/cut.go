package program

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime/debug"
	"runtime/metrics"
	"sync"
	"time"
)

// maxStack is how large the stack of a goroutine may grow, in bytes: on each platform as on those of 32 bits.
const maxStack = 250_000_000

// A cut ends the program in the middle of a tick. Its lock guards what the program writes last.
type cut struct {
	sync.Mutex
	folder    string
	result    Result     // what is known so far
	recording *Recording // of the tick that may be cut; nil if there is none
	timer     *time.Timer
}

// begin writes a result that says that the job is not done: whoever finds it knows that the program has ended in a tick.
func (c *cut) begin(r Result) error {
	c.Lock()
	defer c.Unlock()
	r.Open = true
	c.result = r
	return WriteJSON(filepath.Join(c.folder, ResultFile), &r)
}

// record is begin for a tick that may be cut, after some seconds if they are not 0.
func (c *cut) record(r Result, open *Recording, seconds float64) error {
	run := open.run
	run.Cut = true
	r.Runs = append(r.Runs, run)
	err := c.begin(r)
	c.Lock()
	defer c.Unlock()
	c.recording = open
	if seconds > 0 {
		c.timer = time.AfterFunc(time.Duration(seconds*float64(time.Second)), func() { c.end(seconds) })
	}
	return err
}

// stop notes that the tick has ended.
func (c *cut) stop() {
	c.Lock()
	defer c.Unlock()
	c.recording = nil
	if c.timer != nil {
		c.timer.Stop()
	}
}

// end ends the program, if the tick is under way.
func (c *cut) end(seconds float64) {
	c.Lock()
	if c.recording == nil {
		c.Unlock()
		return
	}
	c.exit(seconds)
}

// exit writes the result, with what was recorded of the tick, and ends the program.
func (c *cut) exit(seconds float64) {
	code := 0
	if c.recording != nil {
		run, err := c.recording.cut()
		run.Seconds = seconds
		c.result.Runs[len(c.result.Runs)-1] = run
		if err != nil {
			c.result.Error = err.Error()
		}
		c.result.Open = false
	}
	if err := WriteJSON(filepath.Join(c.folder, ResultFile), &c.result); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// watchMemory ends the program as soon as it needs more memory than a limit, or than the environment variable GOMEMLIMIT
// says. Below that, the garbage collector does what it can, whatever GOGC is.
func (c *cut) watchMemory(limit int64) {
	if limit == 0 {
		return
	}
	if own := debug.SetMemoryLimit(-1); own != math.MaxInt64 {
		limit = own
	}
	debug.SetMemoryLimit(limit / 4 * 3)
	go func() {
		for range time.Tick(10 * time.Millisecond) {
			if used() > uint64(limit) {
				c.Lock()
				c.result.Memory = limit
				c.exit(0)
			}
		}
	}()
}

// used returns how much memory the Go runtime has from the system, in bytes.
func used() uint64 {
	all := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
	metrics.Read(all)
	return all[0].Value.Uint64() - all[1].Value.Uint64()
}
