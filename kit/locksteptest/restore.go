package locksteptest

import (
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

// restore restores saved states into a simulation that has gone on, and simulates from there.
func (r *trial) restore() {
	sim := r.simulation()
	for t := range r.saved {
		r.restoreTo(sim, t)
		r.goOn(sim, t+r.options.Span, sim.Step)
	}
}

// copies copies states into a simulation that has gone on, and simulates both from there.
func (r *trial) copies() {
	live, sim := r.simulation(), r.simulation()
	for t := range r.saved {
		r.copyTo(sim, live)
		r.goOn(sim, t+r.options.Span, sim.Step)
		r.same(live)
		r.stepTo(live, t)
	}
}

// redo predicts some ticks on a copy, as a client does before it has the commands of other players, and then computes them
// again with all commands.
func (r *trial) redo() {
	confirmed, predicted := r.simulation(), r.simulation()
	for t := range r.saved {
		end := min(t+r.options.Redo, r.options.Ticks)
		r.copyTo(predicted, confirmed)
		player := lockstep.System // predicts nothing
		if turn := t / r.options.Every; turn%2 == 0 {
			player = lockstep.Player(turn / 2 % lockstep.Tick(r.options.Players))
		}
		for i := t; i < end && r.err == nil; i++ {
			r.ok(i+1, predicted.Step(foreseen(r.frame(i), player)))
		}
		r.same(confirmed)
		r.copyTo(predicted, confirmed)
		r.goOn(predicted, end, predicted.Step)
		r.stepTo(confirmed, t)
	}
}

// foreseen returns the part of a frame that a player knows before it arrives: its own commands.
func foreseen(f *lockstep.Frame, p lockstep.Player) *lockstep.Frame {
	own := &lockstep.Frame{Tick: f.Tick}
	for _, c := range f.Commands {
		if c.Player == p && p != lockstep.System {
			own.Commands = append(own.Commands, c)
		}
	}
	return own
}

// derived switches one simulation between this match and another match of the game, whose derived fields are still set when
// a state is restored. (The phase "late join" restores states where derived fields were never set.)
func (r *trial) derived() {
	sim := r.otherMatch()
	var other []byte
	for t := range r.saved {
		other = sim.AppendState(other[:0])
		r.restoreTo(sim, t)
		r.goOn(sim, t+r.options.Span, sim.Step)
		r.ok(t, sim.Restore(t, other))
		r.stepTo(sim, t)
	}
}

// otherMatch returns a simulation of a match with another seed. If the game refuses eight other seeds, it is one of the same
// match.
func (r *trial) otherMatch() *lockstep.Simulation {
	header := *r.header
	for range 8 {
		header.Settings.Seed++
		if sim, err := r.game.NewSimulation(&header); err == nil {
			return sim
		}
	}
	return r.simulation()
}

// join follows the match on a new machine, from a saved state and the log's records after it.
func (r *trial) join() {
	sums := r.simulation()
	var last []record.LastSequence
	var log record.Encoder // has written the log up to the saved state
	log.Header(r.header)
	log.Keyframe(0, 0, nil, nil)
	done := lockstep.Tick(0)
	for t := range r.saved {
		for ; done < t; done++ {
			log.Frame(r.frame(done))
		}
		last = log.AppendLast(last[:0])
		f := r.game.NewFollower(lockstep.FollowerOptions{})
		var enc record.Encoder
		r.ok(t, f.Append(enc.Header(r.header)))
		r.restoreTo(sums, t)
		if r.err == nil && r.ok(t, f.Append(enc.Keyframe(t, sums.Hash(), last, r.states[t]))) {
			r.goOn(f.Simulation(), t+r.options.Span, func(frame *lockstep.Frame) error { return f.Append(enc.Frame(frame)) })
		}
	}
}
