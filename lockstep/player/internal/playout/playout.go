// Package playout decides when a tick that has arrived runs: late enough that most later ones have arrived in time, and not later.
//
// A [Playout] has no clock and runs nothing. It knows how many ticks there are to run, their level, only when it is asked.
//
// # The plan
//
// From arrivals it estimates when ticks would arrive without jitter, its base. A tick is due [Playout.Delay] after that: as long as the
// second worst of recent bursts was late, and a quarter of a tick, at most 25 ms. Time passes at the speed of the match, and up to 5 % faster or slower, so
// that the level stays at the plan. Behind it by more than Options.Behind it is at Options.CatchUp percent, until it is less than a
// tick behind.
//
//	unknown ──Came──> filling ──(the plan's time has come)──> steady
//	   ^                 |                                       |
//	   └──Interrupted, or Came in a pause────────────────────────┘
//
// Nothing runs while the buffer fills. [Playout.Steady] says when it is clear when the next tick is due.
//
// # Ticks that do not come
//
// A tick that was due and is not here is owed ([Playout.Owed]), up to a number that the owner names, over which its prediction goes on. Time
// beyond that does not accumulate: [Playout.Ran] returns it as time for which the picture stood still.
//
// # Who calls what
//
//	a state was taken      Begin
//	ticks have come        Arriving, Came
//	time passes            FarBehind: then Skip, and all run; otherwise Pass says how many. Then Ran
//	a tick has run         Playing
//	wake up                at Next
//
//samestep:deterministic
package playout

import "github.com/seed-49bee653/samestep/lockstep"

// Options say when ticks run.
type Options struct {
	AsTheyCome bool          // at once, without a buffer
	MaxDelay   lockstep.Time // bounds how long a tick waits so that later ones arrive before they are due
	Behind     lockstep.Time // how late a client may be before it catches up …
	CatchUp    int           // … at so many percent of the match's speed
	FarBehind  lockstep.Time // how late it may be before it runs as fast as it can
	Budget     int           // ticks that run at once
}

// Paces, per mille of the match's speed.
const (
	pacePlain = 1000
	paceLean  = 50 // how much faster or slower holds the buffer's depth

	maxStep   = 250 * lockstep.Millisecond // of time, however late Advance is called; a longer tick passes whole
	maxMargin = 25 * lockstep.Millisecond  // by which a tick waits beyond the jitter; a quarter of a tick, if that is less

	baseWindow = 32 // arrivals

	fractionBits = 16
)

// A Playout decides when the next tick runs. From arrivals it estimates when ticks would arrive without jitter, and
// delays them so that most late ones have arrived in time.
type Playout struct {
	options  Options
	each     int64 // microseconds of a tick at 100 percent
	arriving int64 // percent of it, at the end of what has arrived
	Speed    int64 // percent of it, at the tick that was run
	pace     int64 // per mille of that

	units   int64         // of the next tick that have passed, and of those before it that are late
	speed   int64         // at which the last of them passed, per microsecond
	Owed    int64         // ticks that were due and have not come: the prediction goes on over them
	passed  lockstep.Time // until when they were counted
	base    lockstep.Time // when the last tick would have arrived without jitter
	noBase  bool          // base is not known: the match was paused, or has just begun
	waiting bool          // for the buffer to fill, after base was unknown; not if the match is paused behind it
	wait    lockstep.Time // how long, then
	seen    int           // arrivals since base was looked at
	least   lockstep.Time // how late they were at least
	jitter  jitter
}

// New returns a Playout that knows nothing of a match.
func New(o Options) Playout { return Playout{options: o, noBase: true, pace: pacePlain} }

// Begin starts anew at a match's period, and at the speed at which ticks arrive.
func (p *Playout) Begin(s *lockstep.Settings) {
	*p = Playout{options: p.options, each: s.Micros(1), arriving: p.arriving, Speed: p.arriving, pace: pacePlain, noBase: true, passed: p.passed, jitter: p.jitter}
}

// Arriving sets the speed at the end of what has arrived, in percent.
func (p *Playout) Arriving(percent int64) { p.arriving = percent }

// Playing sets the speed at the tick that was run.
func (p *Playout) Playing(percent int64) { p.Speed = percent }

// Interrupted says that nobody knows when the next tick comes: the connection is another one.
func (p *Playout) Interrupted() { p.noBase = true }

// Steady reports whether it is known when the next tick is due, and the buffer is filled.
func (p *Playout) Steady() bool { return !p.noBase && !p.waiting }

// Jitter returns how late ticks arrive in the mean.
func (p *Playout) Jitter() lockstep.Time { return p.jitter.mean }

// Tick returns how long a tick takes that is run now, 0 if nobody knows.
func (p *Playout) Tick() lockstep.Time { return p.duration(1, p.Speed) }

// Arrival returns how long it takes from one tick that arrives to the next, 0 if nobody knows.
func (p *Playout) Arrival() lockstep.Time { return p.duration(1, p.arriving) }

// Full returns how long a tick takes at full speed.
func (p *Playout) Full() lockstep.Time { return p.duration(1, 100) }

// FarBehind reports whether a client with level ticks left to run runs them all at once.
func (p *Playout) FarBehind(level int64) bool {
	return !p.options.AsTheyCome && p.duration(level, p.Speed) > p.options.FarBehind
}

// Elapsed returns the time since the last call of Pass or Skip that counts.
func (p *Playout) Elapsed(now lockstep.Time) lockstep.Time {
	return min(now-p.passed, max(maxStep, p.Tick()))
}

// Skip lets the time pass to now without a plan: all ticks run at once.
func (p *Playout) Skip(now lockstep.Time) { p.passed = now }

// duration returns how long n ticks take.
func (p *Playout) duration(n, percent int64) lockstep.Time {
	if p.each == 0 || percent == 0 {
		return 0
	}
	return lockstep.Time(n * p.each * 100 / percent)
}

// tickUnits returns the units of a tick.
func (p *Playout) tickUnits() int64 { return p.each * 100 * pacePlain }

// Came counts n ticks that came together, after which the match is paused or not, and returns how many of them should have run before.
func (p *Playout) Came(now lockstep.Time, n int64, paused bool) (overdue int64) {
	overdue = p.arrived(now, n)
	p.noBase = paused
	return overdue
}

// arrived counts n ticks that arrived together, and returns how many of them should have run before.
func (p *Playout) arrived(now lockstep.Time, n int64) (overdue int64) {
	p.base += p.duration(n, p.arriving)
	late := now - p.base
	if tick := p.duration(1, p.arriving); !p.noBase && tick > 0 {
		overdue = min(n, max(0, n-int64((p.Delay()-late+tick)/tick))) // the last one is the least late
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

// Delay returns how long after its undisturbed arrival a tick runs.
func (p *Playout) Delay() lockstep.Time {
	return min(p.jitter.peak+min(p.Tick()/4, maxMargin), p.options.MaxDelay)
}

// late returns how far behind its plan a client with level ticks left to run is, at the match's speed.
func (p *Playout) late(now lockstep.Time, level int64) lockstep.Time {
	over := now - p.base - p.Delay()
	if p.noBase {
		over = -p.Delay()
	}
	over = min(over, p.duration(1+p.Owed, p.Speed)) // ticks that have not arrived cannot run
	return p.duration(level, p.Speed) - lockstep.Time(p.units/max(1, p.Speed*pacePlain)) + over
}

// Behind returns how long after the undisturbed arrival of a tick a client with level ticks left to run shows it.
func (p *Playout) Behind(level int64) lockstep.Time {
	return max(0, p.Delay()+p.late(p.passed, level))
}

// Pass advances the time to now, and returns how many of level ticks are due.
func (p *Playout) Pass(now lockstep.Time, level int64) int64 {
	elapsed := p.Elapsed(now)
	p.passed = now
	if p.options.AsTheyCome {
		return level
	}
	p.speed = p.Speed * p.pace
	p.units += int64(elapsed) * p.speed
	late, tick := p.late(now, level), p.duration(1, p.Speed)
	if p.waiting = p.waiting && !p.noBase && late < 0 && p.Owed == 0; p.waiting {
		p.wait = -late // the buffer fills before the first tick
		return 0
	}
	switch catchUp := 10 * int64(p.options.CatchUp); {
	case late > p.options.Behind || p.pace == catchUp && late > tick:
		p.pace = catchUp
	case tick > 0:
		lean := int64(late) * paceLean / int64(min(tick, p.options.Behind))
		p.pace = pacePlain + max(-paceLean, min(lean, paceLean))
	}
	return min(p.units/max(1, p.tickUnits()), level)
}

// Ran subtracts the units of n ticks. The ticks that could not run are owed, up to a number. Time beyond them does not accumulate:
// Ran returns it.
func (p *Playout) Ran(n, most int64) (lost lockstep.Time) {
	tick := p.tickUnits()
	p.units = max(0, p.units-n*tick)
	if over := p.units - (1+most)*tick; over > 0 {
		p.units -= over
		lost = lockstep.Time(over / max(1, p.speed))
	}
	p.Owed = min(p.units/max(1, tick), most)
	return lost
}

// Next returns when the next of level ticks runs, or of those that are owed if none is here.
func (p *Playout) Next(level int64) lockstep.Time { return p.passed + p.next(level) }

func (p *Playout) next(level int64) lockstep.Time {
	if p.waiting && !p.options.AsTheyCome {
		return p.wait
	}
	due := p.tickUnits()
	if level == 0 {
		due += p.Owed * p.tickUnits()
	}
	speed := p.Speed * p.pace
	if p.options.AsTheyCome || p.units >= due {
		return 0
	}
	return lockstep.Time((due-p.units)/speed) + 1
}

// Fraction returns how much, of 1 << 16, of the next tick has passed, which comes after those that are owed.
func (p *Playout) Fraction() uint32 {
	if p.options.AsTheyCome {
		return 1 << fractionBits
	}
	tick := max(1, p.tickUnits())
	return uint32(min(p.units-p.Owed*tick, tick) << fractionBits / tick)
}

// A jitter measures how late recent ticks arrived.
type jitter struct {
	mean lockstep.Time
	peak lockstep.Time // the second worst of the recent bursts: one alone proves nothing

	recent [jitterWindow]lockstep.Time
	next   int
	burst  lockstep.Time // when the present burst began
	worst  lockstep.Time // in it
}

const (
	jitterWindow = 256                      // bursts
	sameBurst    = 2 * lockstep.Millisecond // arrivals within it came together
)

// add counts the lateness of a tick. Ticks that arrive together had one cause and count once. Lateness above stall is
// ignored, because no buffer helps against it.
func (j *jitter) add(now, late, stall lockstep.Time) {
	if late > stall {
		return
	}
	j.mean += (late - j.mean) / 16
	if now-j.burst < sameBurst {
		j.worst = max(j.worst, late)
		return
	}
	oldest, latest := j.recent[j.next], j.worst
	j.recent[j.next] = latest
	j.next = (j.next + 1) % jitterWindow
	j.burst, j.worst = now, late
	if oldest == latest || oldest < j.peak && latest <= j.peak {
		return // the second worst is the same
	}
	var first, second lockstep.Time
	for _, t := range &j.recent {
		if t > first {
			first, second = t, first
		} else {
			second = max(second, t)
		}
	}
	j.peak = second
}
