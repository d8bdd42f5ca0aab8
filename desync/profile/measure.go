package profile

import (
	"errors"
	"fmt"
	"runtime"
	"time"

	"github.com/seed-49bee653/samestep/internal/words"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/record"
	"github.com/seed-49bee653/samestep/replay"
)

const (
	maxPhases  = 64 // that have times of their own; those after them are one
	maxName    = 64 // bytes of a phase's name that are kept
	maxRuns    = 20
	progressAt = 256 // ticks from one report of progress to the next
)

// Measure simulates a replay, and measures its ticks. The error is a [*replay.TickError] if the match lacks the tick From or To. A file
// that is cut short or damaged is measured up to there, and a simulation that contradicts the file is measured all the same: see
// [Profile.Err]. The reader is not moved.
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
	if last == first {
		return nil, fmt.Errorf("profile: the match has no tick after %d: %w", first, err)
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

type measuring struct {
	reader   *replay.Reader
	game     *lockstep.Game
	o        Options
	p        *Profile
	now      func() time.Time
	keyframe lockstep.Tick  // at which each run begins
	phases   map[string]int // indexes in p.Phases
	compared bool           // with the file, by the first run
}

// An observer sees the ticks of a run.
type observer interface {
	before(f *lockstep.Frame)
	mark(phase string, over bool) // as in [lockstep.FollowerOptions]
	after(s *lockstep.Simulation)
}

// run simulates the ticks once. A panic of the rules, or damage, ends all runs there.
func (m *measuring) run(x observer) error {
	if _, err := m.reader.Seek(m.keyframe); err != nil {
		return err
	}
	on := false
	f := m.game.NewFollower(lockstep.FollowerOptions{Stepping: func(_ *lockstep.Turn, phase string, over bool) {
		if on {
			x.mark(phase, over)
		}
	}})
	defer func() { m.compared = true }()
	for rec, err := range m.reader.All() {
		if err != nil {
			if f.Tick() < m.p.To {
				return err // ReadInfo has read it
			}
			return nil
		}
		for frame := range rec.Frames() {
			if f.Tick() == m.p.To {
				return nil
			}
			if on = frame.Tick >= m.p.From; on {
				x.before(frame)
			}
			if err := f.Advance(frame); err != nil {
				return m.stopped(f.Tick(), err)
			}
			if on {
				x.after(f.Simulation())
			}
			if done := f.Tick() - m.keyframe; m.o.Progress != nil && done%progressAt == 0 {
				m.o.Progress(done, m.p.To-m.keyframe)
			}
		}
		if rec.Ticks() == 0 {
			if err := m.compare(f, rec); err != nil {
				return err
			}
		}
	}
	return nil
}

// stopped takes the end of a run at a tick. Only a panic of the rules is no error.
func (m *measuring) stopped(at lockstep.Tick, err error) error {
	if !errors.As(err, new(*lockstep.PanicError)) {
		return err
	}
	m.p.To, m.p.Panic, m.p.Damage, m.p.err = at, words.OfError(err), "", err
	return nil
}

// compare applies a record without ticks, and in the first run notes what contradicts the simulation.
func (m *measuring) compare(f *lockstep.Follower, rec *record.Record) error {
	before := f.Checked()
	err := f.Apply(rec)
	switch desync := (*lockstep.DesyncError)(nil); {
	case errors.As(err, &desync):
		if !m.compared && m.p.Desync == "" {
			m.p.Desync = words.OfError(err)
			m.p.err = desync
		}
	case errors.As(err, new(*lockstep.PanicError)) && rec.Kind == record.KindPanic: // the file tells of it
	case err != nil:
		return err
	case !m.compared:
		m.p.Agreed += f.Checked() - before
	}
	return nil
}

// phase returns the index of a phase, in the order of their first marks.
func (m *measuring) phase(name string) int {
	if i, ok := m.phases[name]; ok {
		return i
	}
	n := len(m.p.Phases)
	switch {
	case n == maxPhases:
		return n - 1
	case n == maxPhases-1:
		m.p.Phases = append(m.p.Phases, Phase{Name: "all others"})
	default:
		m.p.Phases = append(m.p.Phases, Phase{Name: words.Clipped(name, maxName)})
		m.phases[m.p.Phases[n].Name] = n
		if len(name) > maxName {
			m.phases[name] = n
		}
	}
	m.p.of = append(m.p.of, nil)
	return n
}

// known returns the index of a phase after the times are taken. A name that they do not have is the last one.
func (m *measuring) known(name string) int {
	if i, ok := m.phases[name]; ok {
		return i
	}
	return max(len(m.p.Phases), 1) - 1
}

// none is the cost of what a tick does not have.
const none = -1

// A timing takes the times of the steps. Of each tick, the quickest run counts.
type timing struct {
	*measuring
	row         []float64 // by phase, in microseconds
	began, last time.Time
	took        float64
	at          int // the present phase, or none outside of a step
}

func (t *timing) before(*lockstep.Frame) {
	for i := range t.row {
		t.row[i] = none
	}
}

func (t *timing) mark(phase string, over bool) {
	now := t.now()
	if t.at == none {
		t.began = now
	} else {
		t.row[t.at] = max(t.row[t.at], 0) + micros(now.Sub(t.last))
	}
	t.last = now
	if over {
		t.took, t.at = micros(now.Sub(t.began)), none
		return
	}
	for t.at = t.phase(phase); len(t.row) <= t.at; {
		t.row = append(t.row, none)
	}
}

func micros(d time.Duration) float64 { return float64(d) / float64(time.Microsecond) }

func (t *timing) after(s *lockstep.Simulation) {
	p, i := t.p, int(s.Tick()-t.p.From)
	switch {
	case i == len(p.total):
		p.total = append(p.total, t.took)
	case t.took < p.total[i]:
		p.total[i] = t.took
	default:
		return
	}
	for n := range p.of {
		for len(p.of[n]) <= i {
			p.of[n] = append(p.of[n], none)
		}
		if p.of[n][i] = none; n < len(t.row) {
			p.of[n][i] = t.row[n]
		}
	}
}
