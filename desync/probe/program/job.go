// Package program is the main of a program that samestep desync line builds: the rules of a game, with or without probes,
// and no more. It does the [Job] in the file that its argument names, and writes the [Result] to a file.
//
// A program has the rules of one or more games, and uses those of the name in the job's log.
package program

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"runtime/debug"
	"runtime/metrics"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/seed-49bee653/samestep/checksum"
	"github.com/seed-49bee653/samestep/desync/probe"
	"github.com/seed-49bee653/samestep/lockstep"
)

// What a job does.
const (
	Hashes = "hashes" // step through the log, and write the state hash of each tick
	Cold   = "cold"   // step, and compare each tick with a copy that was restored from the snapshot before it
	Trace  = "trace"  // step to the tick before Tick, and record Tick
	Stand  = "stand"  // step to the tick before Tick, and tell where a debugger finds Step and the field
	Data   = "data"   // tell the variables of the packages with probes, before any match
	Debug  = "debug"  // the same, and compute Tick under a debugger
)

// A Job is what the program should do. Files are paths.
type Job struct {
	Kind   string
	Log    string // the records of a match: the header, a keyframe, and what follows
	Assets string // folder of the assets by their SHA-256; "" for none
	Folder string // for the files of the result

	Tick   uint32 // Hashes, Cold: the last tick, 0 for all; else the tick
	Path   string // Stand, Debug: of the field to watch; "" for none
	Warm   bool   // Trace: go on with the simulation that came from the keyframe, instead of restoring a snapshot
	Bare   bool   // begin without New, like a program that has just started and has got the first keyframe
	Renew  uint32 // Trace: go on with a simulation that is restored from the state after this tick; 0 for none
	Runs   int    // Trace: repeat the tick at most so often, until a result differs from the first
	Window int    // Trace with Warm: also keep each probe's last assignments from so many ticks before; 0 keeps none
	Yield  bool   // give way to other goroutines now and then

	Backwards bool // Hashes: with the elements of Turn.Each from the last to the first; with Runs of Trace, every second run is

	// Trace: the tick may not end, so that its recording is cut after so many events, or so many seconds; 0 for no end.
	Events  int
	Seconds float64

	Memory int64 // the program ends when it needs more, in bytes; 0 for no end
}

// A Result is what the program found. Names of files are in the folder of the job.
type Result struct {
	Error  string `json:",omitempty"`
	Open   bool   `json:",omitempty"` // the program has ended before it was done, in the tick after the last sum, or in that of the run
	Memory int64  `json:",omitempty"` // it needs more than so many bytes

	Build, Platform string
	First           uint32           // the tick of the keyframe
	Last            uint32           // the last tick that was computed
	Differs         uint32           // Cold: the first tick whose results differ; 0 for none
	Runs            []Run            // Trace: the first one, and the first that differs
	Tried           int              // Trace: runs
	Before          []Latest         `json:",omitempty"` // Trace: of the ticks before
	Equal           []Run            `json:",omitempty"` // of a check: both computations of the tick before, which came out equal; nil if there is none
	Step            Function         // Stand: the rules' Step
	Panic           string           `json:",omitempty"` // Stand: of the rules in the tick; Hashes, Cold: in the tick after Last
	Field           *Field           // Stand: that to watch; nil for none
	Data            []probe.Variable `json:",omitempty"` // Data

	// Of a [CheckJob], whose phase, from and tick can be others than asked for if they are different each time.
	Phase      string `json:",omitempty"`
	From, Tick uint32
	Schema     []byte `json:",omitempty"` // of the states
}

// A Run is one computation of the tick of a job.
type Run struct {
	Hash    uint64 `json:",string"`
	Trace   string // file of its recording; "" of rules that panicked in Derive, before it
	State   string // file of the state after it
	Panic   string `json:",omitempty"`
	Events  int
	Dropped int
	Cut     bool    `json:",omitempty"` // the tick did not end; the run has no state
	Seconds float64 `json:",omitempty"` // of a tick that was cut for its time
	Partial int     `json:",omitempty"` // calls that reach more than their sum has
	Before  string  // file of the state before it
	Phases  []Phase `json:",omitempty"` // that Step marked, in order
	Draws   []Draws `json:",omitempty"` // that the rules reported, in order of the first
}

// Draws are the draws for one purpose in one phase, see lockstep.Turn.Drew.
type Draws struct {
	Purpose, Phase string
	Count          int
}

// A Phase is a part of Step, see lockstep.Turn.Phase.
type Phase struct {
	Name string
	Hash uint64 `json:",string"` // of the state at its beginning

	State string `json:",omitempty"` // file of that state, of the first phases
}

// A Latest is the latest event of a probe before the tick.
type Latest struct {
	Site   int
	Tick   uint32
	Entity string
	Value  string
}

// A Function is a function of the rules, as a debugger finds it.
type Function struct {
	Name string // such as "example.com/game/rules.(*World).Step"
	File string
	Line int
}

// Place returns the function as Delve takes it: by its name, or by its line where it has type parameters.
func (f Function) Place() string {
	if strings.Contains(f.Name, "[") {
		return fmt.Sprintf("%s:%d", f.File, f.Line)
	}
	return f.Name
}

// A Field is a field of the state that a debugger can watch.
type Field struct {
	Path  string // with indexes only, such as "Units[26].Cooldown"
	Value string // before the tick
	Type  string // of the memory at its address, such as "int32"; of a list, that of its length

	FractionBits uint8 // of a fixed-point number
}

// HashFile is the file of a result with the state hashes of the ticks, 8 bytes each, little-endian, from that of the
// keyframe on.
const HashFile = "hashes"

// ReadJSON reads a job or a result from a file.
func ReadJSON(path string, v any) error {
	b, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	return json.Unmarshal(b, v)
}

// WriteJSON writes a job or a result to a file: all of it, or, if the program is ended, nothing.
func WriteJSON(path string, v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return err
	}
	part := path + ".part"
	if err := os.WriteFile(part, b, 0o600); err != nil {
		return err
	}
	return os.Rename(part, path)
}

// LineTime returns how long to look for the line of a failure: what the environment variable SAMESTEP_LINE says, such as 5m, and
// else a minute. It is 0 if the variable is off.
func LineTime() time.Duration {
	switch text := os.Getenv("SAMESTEP_LINE"); text {
	case "off":
		return 0
	default:
		if d, err := time.ParseDuration(text); err == nil {
			return d
		}
		return time.Minute
	}
}

// CheckVariable is the environment variable with the file of a [CheckJob] for the program of a test.
const CheckVariable = "SAMESTEP_LINE_JOB"

// A CheckJob is what the woven program of a test does when it comes to a check of package kit/locksteptest: it plays the
// match of a failure again, and records the tick in both computations.
type CheckJob struct {
	Folder  string // for the files of the result
	Options string // of the check, as Go code; "" for the first check of the test
	Seed    uint64 `json:",string"`
	Phase   string // the way in which the match was computed again
	From    uint32 // the tick of the saved state
	Tick    uint32 // the first that differs
}

// SameWay are the phases of package kit/locksteptest that compute the whole match in the same way again. In the others, a
// restored simulation has no old contents in the buffers that it uses again.
var SameWay = []string{"two runs", "each", "machine", "reading", "refused", "outside"}

// CheckJobOf returns the job of this process, or nil if it has none.
func CheckJobOf() *CheckJob {
	path := os.Getenv(CheckVariable)
	if path == "" {
		return nil
	}
	j := new(CheckJob)
	if ReadJSON(path, j) != nil {
		return nil // an ordinary test then: the variable is not ours
	}
	return j
}

// A TestJob says which failed check of a test to look into.
type TestJob struct {
	Check CheckJob
	Dir   string            // the folder of the test's package
	Run   string            // the pattern of the test
	Tags  string            // build tags
	Env   map[string]string // of the go command, where it was changed for the program that does the job
	Until int64             // Unix time, in seconds, at which to give up

	// Files replace files on the disk, or add some: absolute path to content. Nil for none.
	Files  map[string][]byte
	Folder string // where the test runs; "" means Dir
}

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

// A Recording is the recording of a step that is under way.
type Recording struct {
	folder string
	sim    *lockstep.Simulation
	out    *os.File
	run    Run
	err    error // of the states of phases
}

// Record begins to record the next step of a simulation in files of a folder. n is the number of the run. yield is as in
// [probe.Start].
func Record(folder string, n int, sim *lockstep.Simulation, yield func()) (*Recording, error) {
	r := &Recording{folder: folder, sim: sim, run: Run{Trace: fmt.Sprintf("trace-%d", n), State: fmt.Sprintf("state-%d", n)}}
	var err error
	if r.out, err = os.Create(filepath.Join(folder, r.run.Trace)); err != nil {
		return nil, err
	}
	if r.run.Before, err = r.writeState("before"); err != nil {
		r.out.Close()
		return nil, err
	}
	sim.ObservePhases(func(_ lockstep.Tick, phase string, sum *checksum.Sum) {
		p := Phase{Name: phase, Hash: sum.Hash}
		if len(r.run.Phases) < maxPhaseStates && r.err == nil {
			p.State, r.err = r.writeState(fmt.Sprintf("phase-%d", len(r.run.Phases)))
		}
		r.run.Phases = append(r.run.Phases, p)
	})
	sim.ObserveDraws(func(_ lockstep.Tick, d lockstep.Draw) { r.run.draw(d.Purpose, d.Phase) })
	probe.Start(r.out, sim.AnyWorld(), yield)
	return r, nil
}

// Backwards is an order for the Schedule of a simulation: from the last element to the first, on one worker. A recording has the elements in
// their own order nevertheless.
func Backwards(k, n int) int {
	i := n - 1 - k
	switch {
	case !probe.On:
	case k == n:
		probe.Join()
	default:
		probe.Element(i, n)
	}
	return i
}

// maxPhaseStates is how many phases of a tick have their state in a file. Rules may mark phases in a loop.
const maxPhaseStates = 64

// writeState writes the present state to a file, and returns its name.
func (r *Recording) writeState(name string) (string, error) {
	name = fmt.Sprintf("%s-of-%s", name, r.run.State)
	return name, os.WriteFile(filepath.Join(r.folder, name), r.sim.AppendState(nil), 0o600)
}

// draw counts a draw.
func (r *Run) draw(purpose, phase string) {
	for i := range r.Draws {
		if d := &r.Draws[i]; d.Purpose == purpose && d.Phase == phase {
			d.Count++
			return
		}
	}
	r.Draws = append(r.Draws, Draws{purpose, phase, 1})
}

func (r *Recording) cut() (Run, error) {
	count, err := probe.Stop()
	r.run.Events, r.run.Dropped, r.run.Partial, r.run.Cut = count.Events, count.Dropped, count.Partial, true
	return r.run, errors.Join(err, r.err, r.out.Close())
}

// End ends the recording. stepped is the error of the step: a panic of the rules is a result.
func (r *Recording) End(stepped error) (Run, error) {
	count, err := probe.Stop()
	r.run.Events, r.run.Dropped, r.run.Partial = count.Events, count.Dropped, count.Partial
	r.sim.ObservePhases(nil)
	r.sim.ObserveDraws(nil)
	if err = errors.Join(err, r.err, r.out.Close()); err != nil {
		return r.run, err
	}
	if stepped != nil {
		if !panicked(stepped) {
			return r.run, stepped
		}
		r.run.Panic = stepped.Error()
		return r.run, nil
	}
	r.run.Hash = r.sim.Hash()
	return r.run, os.WriteFile(filepath.Join(r.folder, r.run.State), r.sim.AppendState(nil), 0o600)
}

// panicked reports whether the rules panicked.
func panicked(err error) bool { return errors.As(err, new(*lockstep.PanicError)) }

// A History has the latest event of each probe.
type History map[int]Latest

// Step records a step of a tick, and notes its events.
func (h History) Step(tick uint32, step func() error) error {
	in, out := io.Pipe()
	done := make(chan error)
	go func() { done <- h.Add(tick, in) }()
	probe.Start(out, nil, nil)
	stepped := step()
	_, err := probe.Stop()
	out.Close()
	return errors.Join(stepped, err, <-done)
}

// Add notes the events of a recording of a tick.
func (h History) Add(tick uint32, in io.Reader) error {
	for r := probe.NewReader(in); ; {
		e, err := r.Next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		h[e.Site] = Latest{e.Site, tick, e.Entity, e.Value}
	}
}

// List returns the events by tick, and those of one tick in the order of the probes.
func (h History) List() (all []Latest) {
	for _, one := range h {
		all = append(all, one)
	}
	slices.SortFunc(all, func(a, b Latest) int { return cmp.Or(cmp.Compare(a.Tick, b.Tick), cmp.Compare(a.Site, b.Site)) })
	return all
}
