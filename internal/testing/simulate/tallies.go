package simulate

import (
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/host"
	"github.com/seed-49bee653/samestep/lockstep/player"
)

// Tallies count events of runs.
type Tallies struct {
	Injected    map[string]int // faults, by kind
	Counts      map[string]int // other things, by name
	Rejected    [lockstep.TooOften + 1]int
	ClientEdges [player.StageDone + 1][player.StageDone + 1]int
	PeerEdges   [host.Closed + 1][host.Closed + 1]int
	Crashes     int // of the server, clients and recoveries
	Compared    int // states of clients, with the oracle's
	Checks      int // checksums of logs, with the oracle's
	Accepted    int // commands
	Ticks       uint64
	Unaffected  int // honest players on good links without faults
}

// tally returns the tallies of a run.
func (w *world) tally() Tallies {
	for _, m := range w.machines {
		if m.unaffected {
			w.Unaffected++
		}
	}
	w.Ticks = uint64(w.oracle.tick())
	return w.Tallies
}

// Add adds the tallies of another run.
func (t *Tallies) Add(o *Tallies) {
	if t.Injected == nil {
		t.Injected, t.Counts = map[string]int{}, map[string]int{}
	}
	for k, n := range o.Injected {
		t.Injected[k] += n
	}
	for k, n := range o.Counts {
		t.Counts[k] += n
	}
	for i, n := range o.Rejected {
		t.Rejected[i] += n
	}
	for i := range o.ClientEdges {
		for k, n := range o.ClientEdges[i] {
			t.ClientEdges[i][k] += n
		}
	}
	for i := range o.PeerEdges {
		for k, n := range o.PeerEdges[i] {
			t.PeerEdges[i][k] += n
		}
	}
	t.Crashes += o.Crashes
	t.Compared += o.Compared
	t.Checks += o.Checks
	t.Accepted += o.Accepted
	t.Ticks += o.Ticks
	t.Unaffected += o.Unaffected
}
