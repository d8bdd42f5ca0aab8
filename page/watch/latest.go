package watch

import "github.com/seed-49bee653/samestep/lockstep"

// Latest returns the latest state of the match that is known without simulating: that of the present tick or of the file's last
// keyframe. It is for reading until the next call of a method, and nil if it is not of a later tick than the given one, or damaged.
func (v *Viewer) Latest(after lockstep.Tick) *lockstep.Simulation {
	if v.recorded != nil {
		return nil
	}
	last := v.keyframes[len(v.keyframes)-1]
	switch {
	case v.Tick() > after && v.Tick() >= last:
		return v.now
	case last <= after:
		return nil
	}
	k, err := v.keyframe(last)
	if err != nil {
		return nil
	}
	s, err := v.game.NewSimulation(v.header)
	if err != nil || s.Restore(last, k.State) != nil {
		return nil
	}
	return s
}
