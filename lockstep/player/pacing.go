package player

import (
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/player/internal/stream"
)

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

// Paces, per mille of the match's speed.
const (
	pacePlain = 1000
	paceLean  = 50 // how much faster or slower holds the buffer's depth

	maxStep = 250 * lockstep.Millisecond // of time, however late Advance is called

	baseWindow = 32 // arrivals
)

// A pacer decides when the next tick runs. From arrivals it estimates when ticks would arrive without jitter, and
// delays them so that most late ones have arrived in time.
type pacer struct {
	options  PacingOptions
	each     int64 // microseconds of a tick at 100 percent
	arriving int64 // percent of it, at the end of what has arrived
	playing  int64 // percent of it, at the tick that was run
	pace     int64 // per mille of that

	units   int64         // of the next tick that have passed, and of those before it that are late
	speed   int64         // at which the last of them passed, per microsecond
	owed    int64         // ticks that were due and have not come: the prediction goes on over them
	passed  lockstep.Time // until when they were counted
	base    lockstep.Time // when the last tick would have arrived without jitter
	noBase  bool          // base is not known: the match was paused, or has just begun
	waiting bool          // for the buffer to fill, after base was unknown; not if the match is paused behind it
	wait    lockstep.Time // how long, then
	seen    int           // arrivals since base was looked at
	least   lockstep.Time // how late they were at least
	jitter  jitter
}

// begin starts anew at a match's period and speed.
func (p *pacer) begin(s *lockstep.Settings, percent int64) {
	*p = pacer{options: p.options, each: s.Micros(1), arriving: percent, playing: percent, pace: pacePlain, noBase: true, passed: p.passed, jitter: p.jitter}
}

// duration returns how long n ticks take.
func (p *pacer) duration(n, percent int64) lockstep.Time {
	if p.each == 0 || percent == 0 {
		return 0
	}
	return lockstep.Time(n * p.each * 100 / percent)
}

// tickUnits returns the units of a tick.
func (p *pacer) tickUnits() int64 { return p.each * 100 * pacePlain }

// came counts the ticks that have come after a tick, and returns how many of them should have run before.
func (p *pacer) came(now lockstep.Time, before lockstep.Tick, in *stream.Stream) (overdue int64) {
	if in.Streaming() && in.Tick() > before {
		overdue = p.arrived(now, int64(in.Tick()-before))
		p.noBase, _ = in.Paused()
	}
	return overdue
}

// arrived counts n ticks that arrived together, and returns how many of them should have run before.
func (p *pacer) arrived(now lockstep.Time, n int64) (overdue int64) {
	p.base += p.duration(n, p.arriving)
	late := now - p.base
	if tick := p.duration(1, p.arriving); !p.noBase && tick > 0 {
		overdue = min(n, max(0, n-int64((p.delay()-late+tick)/tick))) // the last one is the least late
	}
	if p.noBase || late <= 0 {
		p.waiting = p.waiting || p.noBase
		p.noBase, p.base, late = false, now, 0
		p.seen, p.least = 0, 0
	}
	p.jitter.add(now, late, p.options.MaxDelay)
	if p.seen++; p.seen == 1 || late < p.least {
		p.least = late
	}
	if p.seen > baseWindow {
		p.base += p.least // all were late: not jitter, the round trip has become longer
		p.seen = 0
	}
	return overdue
}

// delay returns how long after its undisturbed arrival a tick runs.
func (p *pacer) delay() lockstep.Time {
	return min(p.jitter.peak+p.duration(1, p.playing)/4, p.options.MaxDelay)
}

// late returns how far behind its plan a client with level ticks left to run is, at the match's speed.
func (p *pacer) late(now lockstep.Time, level int64) lockstep.Time {
	over := now - p.base - p.delay()
	if p.noBase {
		over = -p.delay()
	}
	over = min(over, p.duration(1+p.owed, p.playing)) // ticks that have not arrived cannot run
	return p.duration(level, p.playing) - lockstep.Time(p.units/max(1, p.playing*pacePlain)) + over
}

// behind returns how long after the undisturbed arrival of a tick a client with level ticks left to run shows it.
func (p *pacer) behind(now lockstep.Time, level int64) lockstep.Time {
	return max(0, p.delay()+p.late(now, level))
}

// pass advances the time to now, and returns how many of level ticks are due.
func (p *pacer) pass(now lockstep.Time, level int64) int64 {
	elapsed := now - p.passed
	p.passed = now
	if p.options.AsTheyCome {
		return level
	}
	p.speed = p.playing * p.pace
	p.units += int64(min(elapsed, maxStep)) * p.speed
	late, tick := p.late(now, level), p.duration(1, p.playing)
	if p.waiting = p.waiting && !p.noBase && late < 0 && p.owed == 0; p.waiting {
		p.wait = -late // the buffer fills before the first tick
		return 0
	}
	switch catchUp := 10 * int64(p.options.CatchUp); {
	case late > p.options.Behind || p.pace == catchUp && late > tick:
		p.pace = catchUp
	case tick > 0:
		lean := int64(late) * paceLean / int64(tick)
		p.pace = pacePlain + max(-paceLean, min(lean, paceLean))
	}
	return min(p.units/max(1, p.tickUnits()), level)
}

// ran subtracts the units of n ticks. The ticks that could not run are owed, up to a number. Time beyond them does not accumulate:
// ran returns it.
func (p *pacer) ran(n, most int64) (lost lockstep.Time) {
	tick := p.tickUnits()
	p.units = max(0, p.units-n*tick)
	if over := p.units - (1+most)*tick; over > 0 {
		p.units -= over
		lost = lockstep.Time(over / max(1, p.speed))
	}
	p.owed = min(p.units/max(1, tick), most)
	return lost
}

// next returns how long it is until the next of level ticks is due, or of those that are owed if none is here.
func (p *pacer) next(level int64) lockstep.Time {
	if p.waiting && !p.options.AsTheyCome {
		return p.wait
	}
	due := p.tickUnits()
	if level == 0 {
		due += p.owed * p.tickUnits()
	}
	speed := p.playing * p.pace
	if p.options.AsTheyCome || p.units >= due {
		return 0
	}
	return lockstep.Time((due-p.units)/speed) + 1
}

// fraction returns how much of the next tick has passed, which comes after those that are owed.
func (p *pacer) fraction() Fraction {
	if p.options.AsTheyCome {
		return One
	}
	tick := max(1, p.tickUnits())
	return Fraction(min(p.units-p.owed*tick, tick) << fractionBits / tick)
}
