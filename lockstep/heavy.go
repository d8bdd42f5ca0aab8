package lockstep

import (
	"bytes"
	"fmt"
	"math/bits"
	"slices"
	"strings"

	"github.com/seed-49bee653/samestep/internal/pack"
)

// Heavy makes a [Follower] compare itself with cold twins. A twin is what a late joiner would have: a new simulation that is restored from
// the follower's canonical bytes, steps the same frames beside it for 1 to 16 ticks, and is dropped. It differs where a result depends
// on something that is not in the state, such as a stale cache. The follower's own state is never touched.
type Heavy struct {
	// Percent is how much time the twins may take of that of the follower's own steps: 1 to 100, 0 for no twins. A match pays in
	// advance and in many ticks, so all matches together stay within the share as well.
	Percent int

	// Clock returns a time in nanoseconds, to measure steps with. Nil counts ticks instead, and a restored state as two.
	Clock func() int64

	// Found is called with the first difference of each section of the state, after the tick.
	Found func(*TwinDifference)
}

// A TwinDifference is where a follower, which is warm, and its cold twin begin to differ.
type TwinDifference struct {
	Tick  Tick // the first that differs
	Since Tick // the twin was restored from the follower's state after it
	Began Tick // the follower itself went on from a state of it: 0 is the beginning of the match

	Section    string // the first section that differs; "" if only the end of the match does, or the twin panicked
	Path       string // the first field in it
	Warm, Cold string // its values; or how the tick ended
	Fields     int    // that differ

	// Unfixed says that another twin, from the same bytes, had a third result: the rules have no fixed result.
	Unfixed bool

	// Canonical bytes: of the state after Since, and of both after Tick. ColdState is nil if the twin panicked.
	Before, WarmState, ColdState []byte
}

func (d *TwinDifference) String() string {
	s := fmt.Sprintf("warm and cold differ at tick %d, restored at tick %d: ", d.Tick, d.Since)
	if d.Unfixed {
		s = fmt.Sprintf("no fixed result at tick %d, restored twice at tick %d: ", d.Tick, d.Since)
	}
	if d.Path != "" {
		s += d.Path + " "
	}
	return s + d.Warm + ", cold " + d.Cold
}

// maxTwinText is the most bytes of a value, or of a panic, in a [TwinDifference].
const maxTwinText = 200

// A heavy starts the twins of a follower.
type heavy struct {
	Heavy
	sim      *Simulation // the follower's
	restores int         // of sim
	credit   int64       // the time that twins may take; below 0 they have taken more
	wait     Tick        // until the first twin, other ticks in other matches
	twins    uint64
	ticks    uint64 // of all twins
	twin     *twin
	off      bool // a twin cannot be made
	found    []string
}

// maxTwin is how many ticks a twin steps at most, as a power of two. Most are new, because what is old has grown stale as the follower has.
const maxTwin = 4

// A twin is a cold copy of a simulation.
type twin struct {
	sim    *Simulation
	since  Tick
	before []byte
	frames []Frame
	left   int   // ticks
	failed error // of the rules, when they got the state
}

// What ticks cost without a clock.
const (
	stepCost    = 100
	restoreCost = 2 * stepCost
)

func (h *heavy) now() int64 {
	if h.Clock == nil {
		return 0
	}
	//samestep:allow unseen a clock that decides which ticks are compared, and never reaches the simulation
	return h.Clock()
}

// spent returns the time since from, or a cost without a clock.
func (h *heavy) spent(from, cost int64) int64 {
	if h.Clock == nil {
		return cost
	}
	return max(0, h.now()-from)
}

// step steps the follower, and its twin if it has one.
func (h *heavy) step(f *Follower, frame *Frame) error {
	h.begin(f)
	from := h.now()
	if err := f.sim.Step(frame); err != nil {
		h.drop()
		return err
	}
	h.credit = min(h.credit+h.spent(from, stepCost)*int64(h.Percent)/100, 1<<40)
	if h.twin != nil {
		from = h.now()
		h.compare(f, frame)
		h.credit -= h.spent(from, stepCost)
	}
	return nil
}

// begin makes a twin if there is time for one. A follower whose state was replaced is a new one.
func (h *heavy) begin(f *Follower) {
	if h.sim != f.sim || h.restores != f.sim.restores {
		h.drop()
		if h.sim == nil {
			h.wait = Tick(f.header.Match[len(f.header.Match)-1] % 32)
		}
		h.sim, h.restores = f.sim, f.sim.restores
	}
	if h.wait > 0 {
		h.wait--
		return
	}
	if h.twin != nil || h.credit < 0 {
		return
	}
	from := h.now()
	h.twins++
	h.twin = &twin{since: f.sim.tick, before: f.sim.AppendState(nil), left: 1 << min(bits.TrailingZeros64(h.twins), maxTwin)}
	if h.twin.sim, h.twin.failed = f.cold(h.twin.since, h.twin.before); h.twin.failed != nil && !isPanic(h.twin.failed) {
		h.off = true // an asset is gone, or a limit is reached
		h.drop()
	}
	h.credit -= h.spent(from, restoreCost)
}

func isPanic(err error) bool {
	_, ok := err.(*PanicError)
	return ok
}

// cold returns a new simulation with a state, as [Follower.Apply] makes one of the first keyframe.
func (f *Follower) cold(t Tick, state []byte) (*Simulation, error) {
	sim, err := f.game.AwaitState(f.header)
	if err != nil {
		return nil, err
	}
	if err = sim.Restore(t, state); err != nil {
		sim.world.close()
		return nil, err
	}
	return sim, nil
}

func (h *heavy) drop() {
	if h.twin != nil && h.twin.sim != nil {
		h.twin.sim.world.close()
	}
	h.twin = nil
}

// compare steps the twin, and compares it with the follower.
func (h *heavy) compare(f *Follower, frame *Frame) {
	t := h.twin
	t.frames = append(t.frames, *frame.Clone())
	h.ticks++
	err := t.failed
	if err == nil {
		err = t.sim.Step(frame)
	}
	if err == nil && t.sim.Hash() == f.sim.Hash() && sameEnd(t.sim, f.sim) {
		if t.left--; t.left == 0 {
			h.drop()
		}
		return
	}
	if d := h.difference(f, err); f.sim.broken == nil && !slices.Contains(h.found, d.Section) {
		h.found = append(h.found, d.Section)
		d.Unfixed = !h.again(f, d, err)
		if h.Found != nil {
			//samestep:allow unseen an observer, from which nothing comes back
			h.Found(d)
		}
	}
	h.drop()
}

func sameEnd(a, b *Simulation) bool {
	x, xEnds := a.Ended()
	y, yEnds := b.Ended()
	return xEnds == yEnds && bytes.Equal(x, y)
}

// difference describes how the twin differs.
func (h *heavy) difference(f *Follower, failed error) *TwinDifference {
	t := h.twin
	d := &TwinDifference{Tick: f.sim.tick, Since: t.since, Began: f.sim.began, Before: t.before, WarmState: f.sim.AppendState(nil)}
	if failed != nil {
		d.Warm, d.Cold = "steps", pack.Clip(failed.Error(), maxTwinText)
		return d
	}
	d.ColdState = t.sim.AppendState(nil)
	fields, err := f.game.stateSchema.Diff(d.WarmState, d.ColdState, 1)
	if err != nil || len(fields.List) == 0 {
		d.Warm, d.Cold = endText(f.sim), endText(t.sim)
		return d
	}
	first := fields.List[0]
	d.Fields, d.Path, d.Warm, d.Cold = fields.Total, first.Path, pack.Clip(first.A, maxTwinText), pack.Clip(first.B, maxTwinText)
	d.Section = first.Path
	if i := strings.IndexAny(first.Path, ".["); i >= 0 {
		d.Section = first.Path[:i]
	}
	return d
}

func endText(s *Simulation) string {
	switch result, ended := s.Ended(); {
	case !ended:
		return "the match goes on"
	case len(result) > 0:
		return fmt.Sprintf("the match ends with the result %x", result[:min(len(result), 16)])
	}
	return "the match ends"
}

// again reports whether another twin, from the same bytes, has the same result as the first.
func (h *heavy) again(f *Follower, d *TwinDifference, failed error) bool {
	sim, err := f.cold(d.Since, d.Before)
	if err == nil {
		defer sim.world.close()
		for i := range h.twin.frames {
			if err = sim.Step(&h.twin.frames[i]); err != nil {
				break
			}
		}
	}
	if err != nil || failed != nil {
		return err != nil && failed != nil && err.Error() == failed.Error()
	}
	return bytes.Equal(sim.AppendState(nil), d.ColdState) && sameEnd(sim, h.twin.sim)
}

// Twins returns how many twins the follower has had, and the ticks that they have stepped. See [Heavy].
func (f *Follower) Twins() (twins, ticks uint64) { return f.heavy.twins, f.heavy.ticks }
