package simulate

import "github.com/seed-49bee653/samestep/lockstep"

// A kind is a kind of fault.
type kind struct {
	name     string
	group    string
	perHour  int // frequency, if the seed enables it
	low      lockstep.Time
	high     lockstep.Time                   // how long it lasts
	n        int64                           // Fault.N is 0 … n
	liar     bool                            // Fault.Who is a liar
	needs    func(w *world, m *machine) bool // nil: nothing
	inject   func(w *world, m *machine, f *Fault) bool
	restores func(w *world, m *machine, f *Fault) // undoes it at its end, if needs holds; may be nil
}

// connected is what faults of a connection need, and running what faults of the server
// process need.
func connected(_ *world, m *machine) bool { return m.wire != nil }
func running(w *world, _ *machine) bool   { return w.server.up() }

const (
	ms  = lockstep.Millisecond
	sec = lockstep.Second
)
