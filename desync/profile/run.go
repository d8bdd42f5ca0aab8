package profile

import (
	"errors"
	"time"

	"github.com/seed-49bee653/samestep/internal/words"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/record"
	"github.com/seed-49bee653/samestep/replay"
)

const (
	maxPhases  = 64  // that have times of their own; those after them are one
	maxName    = 64  // bytes of a phase's name that are kept
	progressAt = 256 // ticks from one report of progress to the next
)

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
