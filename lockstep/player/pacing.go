package player

import "github.com/seed-49bee653/samestep/lockstep"

// PacingOptions say when a client runs the ticks that have arrived. Zero fields have the defaults in brackets.
type PacingOptions struct {
	// AsTheyCome runs ticks at once, without a buffer, for programs without a display.
	AsTheyCome bool

	// MaxDelay bounds how long a tick waits so that later ones arrive before they are due (500 ms). The delay follows
	// the jitter that is observed.
	MaxDelay lockstep.Time

	// Behind is how late the client may be before it catches up at CatchUp percent of the match's speed (800), instead
	// of at most 5 % faster (250 ms).
	Behind  lockstep.Time
	CatchUp int

	// FarBehind is how late it may be before it runs as fast as it can, as after a late join (10 s).
	FarBehind lockstep.Time

	// Budget is how many ticks one call of Advance runs at most (32).
	Budget int
}

func (o *PacingOptions) defaults() {
	or(&o.MaxDelay, 500*lockstep.Millisecond)
	or(&o.Behind, 250*lockstep.Millisecond)
	if o.CatchUp <= 100 {
		o.CatchUp = 800
	}
	o.CatchUp = min(o.CatchUp, 100_000)
	or(&o.FarBehind, 10*lockstep.Second)
	or(&o.Budget, 32)
}
