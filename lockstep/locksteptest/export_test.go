package locksteptest

import "github.com/seed-49bee653/samestep/lockstep"

// RunPhase is Run with one phase after the match was played.
func RunPhase(g *lockstep.Game, o Options, phase string) error {
	m, err := newMatch(g, o.filled())
	if err == nil {
		err = m.play()
	}
	if err != nil {
		return err
	}
	return map[string]func(lockstep.Tick) error{"restore": m.restore, "late join": m.join, "copy": m.copies}[phase](m.options.Every)
}
