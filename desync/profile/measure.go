package profile

import (
	"errors"
	"fmt"
	"runtime"
	"time"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/replay"
)

// maxRuns limits how often the ticks run for their times.
const maxRuns = 20

// Measure simulates a replay, and measures its ticks. The error is a [*replay.TickError] if the match lacks the tick From or To, and
// another one if it has no ticks. A file that is cut short or damaged is measured up to there, and a simulation that contradicts the
// file is measured all the same: see [Profile.Err]. The reader is not moved.
func Measure(r *replay.Reader, g *lockstep.Game, o Options) (*Profile, error) {
	m, err := begin(r, g, o)
	if err != nil {
		return nil, err
	}
	started := m.now()
	for again := true; again; {
		run := m.now()
		if err := m.run(&timing{measuring: m, at: none}); err != nil {
			return nil, err
		}
		m.p.Runs++
		now := m.now()
		again = m.p.Runs < maxRuns && now.Sub(started)+now.Sub(run) <= o.Repeat
	}
	if len(m.p.total) == 0 {
		return nil, fmt.Errorf("profile: no tick was computed: %w", m.p.err)
	}
	m.summarize()
	if err := m.count(); err != nil {
		return nil, err
	}
	return m.p, m.profile()
}

// begin checks what is to be measured.
func begin(r *replay.Reader, g *lockstep.Game, o Options) (*measuring, error) {
	r, err := r.Reopen()
	if err != nil {
		return nil, err
	}
	info, err := replay.ReadInfo(r)
	switch {
	case info.Header == nil || len(info.Keyframes) == 0:
		return nil, err
	case g.CheckIdentity(info.Header) != nil:
		return nil, g.CheckIdentity(info.Header)
	}
	first, last := info.Keyframes[0].Tick, info.Ticks
	switch none := fmt.Sprintf("profile: no ticks to measure: the match ends at tick %d, where it begins", first); {
	case last == first && err != nil:
		return nil, fmt.Errorf("%s: %w", none, err)
	case last == first:
		return nil, errors.New(none)
	}
	p := &Profile{
		Game: info.Header.Game, Build: info.Header.Build, Match: info.Header.Match.String(), From: o.From, To: o.To,
		Platform: runtime.GOOS + "/" + runtime.GOARCH, Go: runtime.Version(), Processors: runtime.GOMAXPROCS(0),
		TickUS: float64(info.Header.Settings.TickMicros), Elsewhere: o.Elsewhere, Phases: []Phase{}, Worst: []Tick{}, Tenths: []Part{},
	}
	if p.From == 0 {
		p.From = first + 1
	}
	if p.To == 0 {
		p.To = last
		p.ends(info)
	}
	for _, t := range []lockstep.Tick{p.From, p.To} {
		if t <= first || t > last {
			return nil, &replay.TickError{Tick: t, First: first + 1, Last: last}
		}
	}
	if p.From > p.To {
		return nil, fmt.Errorf("profile: got the ticks %d to %d", p.From, p.To)
	}
	m := &measuring{reader: r, game: g, o: o, p: p, now: o.Now, phases: make(map[string]int)}
	if m.now == nil {
		m.now = time.Now
	}
	at, err := r.Seek(p.From - 1)
	if err == nil {
		err = r.CheckTicks(p.To-at, o.MaxTicks)
	}
	m.keyframe = at
	return m, err
}

// ends notes how the file ends, if it is measured up to there.
func (p *Profile) ends(info *replay.Info) {
	switch {
	case info.Panic != nil:
		p.Panic, p.err = info.Panic.Error(), info.Panic
	case info.Err != nil:
		p.Damage, p.err = info.Err.Error(), info.Err
	}
}
