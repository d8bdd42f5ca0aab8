package line

import (
	"context"

	"github.com/seed-49bee653/samestep/desync/probe/program"
	"github.com/seed-49bee653/samestep/internal/words"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/replay"
)

// panics computes the tick in which the rules panic here, of which done tells, or panicked in the match, if no tick differs.
func (s *search) panics(ctx context.Context, sides [2]*side, done *job) error {
	if done.result.Panic != "" {
		s.Tick = lockstep.Tick(done.result.Last) + 1
		return s.trace(ctx, sides, [2]bool{})
	}
	r, err := s.file.Reader()
	if err != nil {
		return err
	}
	p, err := replay.FindPanic(r)
	if b := s.file.Bundle(); p == nil && b != nil && b.Manifest.Panic != nil { // of a player
		p = &replay.Panic{Tick: b.Manifest.Tick, Where: b.Manifest.Panic.Where, Text: b.Manifest.Panic.Text, Recorded: true}
	}
	if p == nil || s.Last > 0 && p.Tick > s.Last {
		return err
	}
	s.Tick = p.Tick
	if err := s.trace(ctx, sides, [2]bool{}); err != nil || s.result.Finding != nil || s.result.Panicked() {
		return err
	}
	s.Tick, s.result.Tick = 0, 0
	s.result.Notes = append(s.result.Notes, p.Error()+"; these sources do not panic in it")
	return nil
}

// lastProbe finds the last probe before a panic.
func (s *search) lastProbe(one *side, done *job, run *program.Run) error {
	if run.Panic == "" || run.Trace == "" {
		return nil
	}
	events, err := openStream(done, run, one.source.Sites, func(i int) int { return i })
	if err != nil {
		return err
	}
	defer events.close()
	for {
		m, err := events.read()
		if m == nil || err != nil {
			return err
		}
		s.result.At = placeOf(m.own)
	}
}

// Panicked reports whether the rules panic on both sides in the same way.
func (r *Result) Panicked() bool { return r.Panics[0] != "" && r.Panics[0] == r.Panics[1] }

// Stuck reports whether neither side ends the tick, in the same way, and nothing else differs.
func (r *Result) Stuck() bool {
	a, b := r.Endless[0], r.Endless[1]
	return a != nil && b != nil && r.Finding == nil && a.Seconds == b.Seconds && a.Megabytes == b.Megabytes && (a.Ended == "") == (b.Ended == "")
}

// Differs reports whether the two sides differ.
func (r *Result) Differs() bool { return r.Tick > 0 && !r.Panicked() && !r.Stuck() }

// addPanic describes a panic that is the same on both sides.
func (r *Result) addPanic(p *words.Page) {
	p.Line("panic", "%s", r.Panics[0])
	if r.At != nil {
		p.Line("after", "%s:%d  %s", r.At.File, r.At.Line, r.At.Source)
		p.Line("", "in %s: the last probe before the panic", r.At.Func)
	}
	p.Line("verdict", "%s", r.Verdict())
}
