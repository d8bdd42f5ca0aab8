package program

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime/debug"
	"time"

	"github.com/seed-49bee653/samestep/desync/probe"
	"github.com/seed-49bee653/samestep/lockstep"
)

// ResultFile is the name of the result in the folder of a job.
const ResultFile = "result.json"

// Main does the job in the file that the only argument names, and exits.
func Main(makers ...Maker) {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "want the file of a job: the verbs desync line and replay debug run this program")
		os.Exit(2)
	}
	// A tick that waits for ever is one that does not end. Without a timer, the runtime would end the program.
	time.AfterFunc(math.MaxInt64, func() {})
	var j Job
	err := ReadJSON(os.Args[1], &j)
	if err == nil {
		debug.SetMaxStack(maxStack)
		err = WriteJSON(filepath.Join(j.Folder, ResultFile), j.do(makers))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// do does the job. All errors are in the result.
func (j *Job) do(makers []Maker) *Result {
	c := &cut{folder: j.Folder}
	c.watchMemory(j.Memory)
	defer c.Lock() // the job is done: it stays locked
	if j.Kind == Data {
		return &Result{Data: probe.Variables()}
	}
	// Runs again and again are to differ where the order of a map decides.
	probe.InOrder = j.Kind == Trace && j.Runs == 0
	m, err := j.open(makers, c)
	r := &Result{Platform: lockstep.Platform()}
	if err == nil {
		r.Build, r.First = m.game.Build(), uint32(m.sim.Tick())
		if j.Kind == Hashes || j.Kind == Cold { // for a program that ends in a tick
			err = c.begin(*r)
		}
	}
	if err == nil {
		switch j.Kind {
		case Hashes:
			err = m.hashes(r)
		case Cold:
			err = m.cold(r)
		case Trace:
			err = m.trace(r)
		case Stand, Debug:
			err = m.stand(r)
		default:
			err = fmt.Errorf("got a job %q", j.Kind)
		}
		r.Last = uint32(m.sim.Tick())
	}
	if err != nil {
		r.Error = err.Error()
	}
	return r
}
