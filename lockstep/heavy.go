package lockstep

import (
	"bytes"
	"errors"
	"fmt"
	"math/bits"
	"slices"
	"strings"

	"github.com/seed-49bee653/samestep/internal/pack"
	"github.com/seed-49bee653/samestep/lockstep/abi"
	"github.com/seed-49bee653/samestep/lockstep/twin"
)

// maxTwinText is the most bytes of a value, or of a panic, in a [twin.Difference].
const maxTwinText = 200

// A heavy starts the twins of a follower.
type heavy struct {
	twin.Options
	sim      *Simulation // the follower's
	restores int         // of sim
	credit   int64       // the time that twins may take; below 0 they have taken more
	wait     Tick        // until the first twin, other ticks in other matches
	twins    uint64
	twin     *coldTwin
	found    []string

	before []byte  // the memory of the last twin's, for the next one
	frames []Frame // also
}

// maxTwin is how many ticks a twin steps at most, as a power of two. Most are new, because what is old has grown stale as the follower has.
const maxTwin = 4

// maxKept is the most bytes of a state whose memory waits for the next twin.
const maxKept = 1 << 20

// A coldTwin is a cold copy of a simulation.
type coldTwin struct {
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
	return h.Clock()
}

// charge takes what a twin took since from, or a cost without a clock. The first twin pays twice, because others are paid for only after they
// had the time: all together stay within the share in a short match, too.
func (h *heavy) charge(from, cost int64) {
	cost = h.spent(from, cost)
	if h.twins == 1 {
		cost *= 2
	}
	h.credit -= cost
}

// spent returns the time since from, or a cost without a clock.
func (h *heavy) spent(from, cost int64) int64 {
	if h.Clock == nil {
		return cost
	}
	return max(0, h.now()-from)
}

// step steps the follower, and its twin if it has one.
func (h *heavy) step(sim *Simulation, frame *Frame) error {
	h.begin(sim)
	from := h.now()
	if err := sim.Step(frame); err != nil {
		h.drop()
		return err
	}
	h.credit = min(h.credit+h.spent(from, stepCost)*int64(h.Percent)/100, 1<<40)
	if h.twin != nil {
		from = h.now()
		h.busy(true)
		h.compare(sim, frame)
		h.busy(false)
		h.charge(from, stepCost)
	}
	return nil
}

func (h *heavy) busy(begins bool) {
	if h.Busy != nil {
		h.Busy(begins)
	}
}

// begin makes a twin if there is time for one. A follower whose state was replaced is a new one.
func (h *heavy) begin(sim *Simulation) {
	if h.sim != sim || h.restores != sim.restores {
		h.drop()
		if h.sim == nil {
			h.wait = Tick(sim.header.Match[len(sim.header.Match)-1] % 32)
		}
		h.sim, h.restores = sim, sim.restores
	}
	if h.wait > 0 {
		h.wait--
		return
	}
	if h.twin != nil || h.credit < 0 {
		return
	}
	from := h.now()
	h.busy(true)
	h.twins++
	if h.Count != nil {
		h.Count.Twins++
	}
	h.twin = &coldTwin{since: sim.tick, before: sim.AppendState(h.before[:0]), frames: h.frames[:0], left: 1 << min(bits.TrailingZeros64(h.twins), maxTwin)}
	if h.twin.sim, h.twin.failed = cold(sim, h.twin.since, h.twin.before); h.twin.failed != nil && !isPanic(h.twin.failed) {
		h.drop() // an asset is gone, or a limit is reached: the next one may have more luck
	}
	h.busy(false)
	h.charge(from, restoreCost)
}

// isPanic reports whether the rules panicked, and not for a limit of this machine.
func isPanic(err error) bool {
	p := (*PanicError)(nil)
	if !errors.As(err, &p) {
		return false
	}
	fault, elsewhere := p.Value.(*abi.Fault)
	return !elsewhere || !fault.Limit
}

// cold returns a new simulation with a state, as [Follower.Apply] makes one of the first keyframe in a process that has just begun.
// It gets the contents of the assets from the game's source, as any simulation, which compares their sums: rules that write into what they
// were given, by mistake, would do so in the twin's copy and the follower's if the two shared one. Sources such as a server's keep contents
// in memory, so this costs a sum, which the share pays for.
func cold(of *Simulation, t Tick, state []byte) (*Simulation, error) {
	sim, err := of.game.await(of.header, true)
	if err != nil {
		return nil, err
	}
	sim.scheduleAs(of)
	if err = sim.Restore(t, state); err != nil {
		sim.world.close()
		return nil, err
	}
	return sim, nil
}

func (h *heavy) drop() {
	t := h.twin
	if t == nil {
		return
	}
	if t.sim != nil {
		t.sim.world.close()
	}
	if h.before, h.frames = t.before, t.frames; cap(t.before) > maxKept {
		h.before = nil
	}
	clear(h.frames) // for the garbage collector
	h.twin = nil
}

// compare steps the twin, and compares it with the follower.
func (h *heavy) compare(sim *Simulation, frame *Frame) {
	t := h.twin
	t.frames = append(t.frames, *frame.Clone())
	if h.Count != nil {
		h.Count.Ticks++
	}
	err, same := t.failed, false
	if err == nil {
		err = t.sim.Step(frame)
	}
	if err == nil {
		same = t.sim.Hash() == sim.Hash() && sameEnd(t.sim, sim)
		err = t.sim.broken // rules elsewhere may have failed to save their state
	}
	switch {
	case err != nil && !isPanic(err):
		h.drop()
		return
	case err == nil && same:
		if t.left--; t.left == 0 {
			h.drop()
		}
		return
	}
	if d := h.difference(sim, err); sim.broken == nil && !slices.Contains(h.found, d.Section) {
		h.found = append(h.found, d.Section)
		d.Unfixed = h.unfixed(sim, d, err)
		if h.Found != nil {
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
func (h *heavy) difference(sim *Simulation, failed error) *twin.Difference {
	t := h.twin
	d := &twin.Difference{Tick: sim.tick, Since: t.since, Began: sim.began, Before: slices.Clone(t.before), WarmState: sim.AppendState(nil)}
	if failed != nil {
		d.Warm, d.Cold = "goes on", pack.Clip(failed.Error(), maxTwinText)
		return d
	}
	d.ColdState = t.sim.AppendState(nil)
	fields, err := sim.game.stateSchema.Diff(d.WarmState, d.ColdState, 1)
	if err != nil || len(fields.List) == 0 {
		d.Warm, d.Cold = endText(sim), endText(t.sim)
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

// unfixed reports whether another twin, from the same bytes, has another result than the first.
func (h *heavy) unfixed(of *Simulation, d *twin.Difference, failed error) bool {
	sim, err := cold(of, d.Since, d.Before)
	if err == nil {
		defer sim.world.close()
		for i := range h.twin.frames {
			if err = sim.Step(&h.twin.frames[i]); err != nil {
				break
			}
		}
	}
	switch {
	case err != nil && !isPanic(err):
		return false // not known
	case err != nil || failed != nil:
		return err == nil || failed == nil || err.Error() != failed.Error()
	}
	return !bytes.Equal(sim.AppendState(nil), d.ColdState) || !sameEnd(sim, h.twin.sim)
}
