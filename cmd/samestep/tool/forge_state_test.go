//go:build !js

package tool

import (
	"errors"

	"github.com/seed-49bee653/samestep/examples/skirmish"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

// hurt returns a follower of a match in which one field changes after a tick: player 1's gathered crystals.
func hurt(at lockstep.Tick) *lockstep.Follower {
	rules := skirmish.Rules()
	step := rules.Step
	rules.Step = func(w *skirmish.World, config *skirmish.Config, t *lockstep.Turn) {
		if step(w, config, t); t.Tick == at {
			w.Players[1].Gathered ^= 1
		}
	}
	return lockstep.MustGame(rules).NewFollower(lockstep.FollowerOptions{})
}

// mistaken writes a record of a match in which one state was changed. It is the recorder's, so that its checksums and
// keyframes differ; the recorder's, while the players reported the right checksums; or player 1's, who reports it.
func (f *forger) mistaken(r *record.Record) error {
	if f.hurt == nil {
		f.hurt = hurt(lockstep.Tick(f.n))
	}
	if r.Kind == record.KindMismatch {
		return nil // of the demo
	}
	if err := f.hurt.Apply(r); err != nil && !errors.As(err, new(*lockstep.DesyncError)) {
		return err
	}
	recorder := f.change != "player"
	if r.Kind == record.KindKeyframe && recorder {
		r.Keyframe.Hash, r.Keyframe.State = f.hurt.Simulation().Hash(), f.hurt.Simulation().AppendState(nil)
	}
	if r.Kind != record.KindChecksum {
		return f.out.Append(f.enc.Record(r))
	}
	right, wrong := r.Hash, f.hurt.Simulation().Hash()
	f.done = f.done || right != wrong
	if recorder {
		r.Hash = wrong
	}
	if err := f.out.Append(f.enc.Record(r)); err != nil || right == wrong {
		return err
	}
	switch f.change {
	case "player":
		return f.out.Append(f.enc.Mismatch(r.Tick, 1, wrong))
	case "referee":
		if err := f.out.Append(f.enc.Mismatch(r.Tick, 0, right)); err != nil {
			return err
		}
		return f.out.Append(f.enc.Mismatch(r.Tick, 1, right))
	}
	return nil
}
