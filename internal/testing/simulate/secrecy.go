package simulate

import (
	"fmt"
	"slices"

	"github.com/cespare/xxhash/v2"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
)

// A secrecy keeps all that machines are sent, in a run in which the team with an odd number does something of its own.
type secrecy struct {
	salt  uint64    // of what that team does
	apart []bool    // by machine: it is of that team
	heard [][]heard // by machine
}

// A heard is a message that a machine was sent.
type heard struct {
	at   lockstep.Time
	hash uint64
	what string
}

// hides reports whether no client of a match has its state.
func (p *Plan) hides() bool { return p.Host.Views != nil && p.Host.Views.Only }

// aparted returns the plan without what lets players notice each other in other ways than by the game. A server's crash loses some
// ticks, and how many depends on the bytes of all. The pace of a match, which may wait for players, and who is inactive, depend on
// when commands come, and everybody is told. So do links that delay what a player says in a lobby because of its commands.
func (p *Plan) aparted() *Plan {
	own := *p
	h := &own.Host
	own.Cluster, h.Inactive, h.Wait, h.MaxDelay, h.Slow = nil, 0, 0, 0, 0
	own.Machines = slices.Clone(p.Machines)
	seats := 0
	apart := make([]bool, len(p.Machines))
	for i := range own.Machines {
		if m := &own.Machines[i]; !m.Spectator {
			apart[i] = seats%burrowTeams == 1
			seats++
		}
		if m := &own.Machines[i]; apart[i] {
			m.Up = Link{Delay: m.Up.Delay}
		}
	}
	own.Faults = slices.DeleteFunc(slices.Clone(p.Faults), func(f Fault) bool {
		group := Group(f.Kind)
		return apart[f.Who] || group != "network" && group != "client"
	})
	return &own
}

// Apart plays a plan in which clients see views only with [Burrows], twice: each time one team does something else. All that the
// other team and spectators are ever sent must be the same, to the byte and the microsecond: views, answers, errors, notes, the
// lobby and the roster.
func Apart(p *Plan) (*Outcome, error) { return apart(Burrows(), p) }

func apart(s *Subject, p *Plan) (*Outcome, error) {
	own := p.aparted()
	var runs [2]*secrecy
	var first *Outcome
	for i := range runs {
		x := &secrecy{salt: uint64(i) + 1, apart: make([]bool, len(p.Machines)), heard: make([][]heard, len(p.Machines))}
		out, err := run(s, own, x)
		if err != nil || out.Violation != nil {
			return out, err
		}
		if runs[i] = x; i == 0 {
			first = out
		} else {
			first.AllRuns += out.AllRuns
		}
	}
	for i := range p.Machines {
		if !p.Machines[i].Views || runs[0].apart[i] {
			continue
		}
		a, b := runs[0].heard[i], runs[1].heard[i]
		first.Counts["messages compared"] += min(len(a), len(b))
		for j := range max(len(a), len(b)) {
			if j >= len(a) || j >= len(b) || a[j] != b[j] {
				first.Violation = &Violation{Invariant: "I23", At: min(told(a, j).at, told(b, j).at), Text: fmt.Sprintf(
					"client %d is told what it does not see: message %d is %v, and %v if others do something else", i, j, told(a, j), told(b, j))}
				return first, nil
			}
		}
	}
	return first, nil
}

// told returns a message, or one that stands for none.
func told(all []heard, i int) *heard {
	if i >= len(all) {
		return &heard{at: never, what: "no message"}
	}
	return &all[i]
}

func (h *heard) String() string {
	return fmt.Sprintf("%s after %.6f s", h.what, float64(h.at)/float64(lockstep.Second))
}

// begin gives a machine of the other team something else to do.
func (x *secrecy) begin(m *machine) {
	if x != nil && m.seat%burrowTeams == 1 {
		x.apart[m.index], m.random = true, stream(m.w.plan.Seed^x.salt, "something else", m.index)
	}
}

// seed returns the seed of a client's own delays, which are the same whatever its player does.
func (x *secrecy) seed(m *machine) uint64 {
	if x != nil {
		return uint64(m.starts)
	}
	return m.random.Uint64()
}

// hears keeps a message.
func (x *secrecy) hears(m *machine, b []byte) {
	if x == nil {
		return
	}
	what := fmt.Sprintf("%d bytes", len(b))
	var reader protocol.Reader
	var message protocol.Message
	if protocol.IsRecord(b) {
		what += " of records"
	} else if _, err := reader.Read(&message, b); err == nil {
		what += fmt.Sprintf(" of a message of kind %d", message.Kind)
	}
	x.heard[m.index] = append(x.heard[m.index], heard{m.w.now - m.w.start, xxhash.Sum64(b), what})
}
