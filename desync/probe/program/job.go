package program

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"github.com/seed-49bee653/samestep/desync/probe"
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
	Runs   int    // Trace: repeat the tick at most so often, until a result differs from the first
	Window int    // Trace with Warm: also keep each probe's last assignments from so many ticks before; 0 keeps none
	Yield  bool   // give way to other goroutines now and then

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
