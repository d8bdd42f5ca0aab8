package program

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

// A match is a match of a job, at a tick.
type match struct {
	job  *Job
	cut  *cut
	game *lockstep.Game
	head *lockstep.Header
	step func() Function
	sim  *lockstep.Simulation
	dec  record.Decoder
	rest []byte         // of the log
	run  *record.Record // whose frames come next

	panicked *lockstep.Frame // on which the rules panicked in the match: the next one, unless the log has another
}

// open reads the header and the first keyframe of the log.
func (j *Job) open(makers []Maker, c *cut) (*match, error) {
	log, err := os.ReadFile(j.Log)
	if err != nil {
		return nil, err
	}
	m := &match{job: j, cut: c, rest: log}
	for m.sim == nil {
		r, err := m.next()
		if err != nil {
			return nil, err
		}
		switch r.Kind {
		case record.KindHeader:
			if err := m.choose(r.Header, makers); err != nil {
				return nil, err
			}
		case record.KindKeyframe:
			if m.sim, err = m.begin(); err != nil {
				return nil, err
			}
			if err := m.sim.Restore(r.Tick, r.Keyframe.State); err != nil && !panicked(err) { // a panic is that of the next tick, too
				return nil, err
			}
		}
	}
	return m, nil
}

// begin returns the simulation that gets the first keyframe. It has what New makes, like that of a machine that has played the match:
// Derive may not make it.
func (m *match) begin() (*lockstep.Simulation, error) {
	if !m.job.Bare {
		if s, err := m.game.NewSimulation(m.head); err == nil {
			return s, nil
		}
	}
	return m.game.AwaitState(m.head) // the New of another version may refuse the match
}

// choose finds the game of a header. The match is then one of the game's own build: the point is to run a log with the
// rules of another one.
func (m *match) choose(h *lockstep.Header, makers []Maker) error {
	var names []string
	for _, make := range makers {
		g, err := make.Game()
		if err != nil {
			return err
		}
		if names = append(names, g.Name()); g.Name() != h.Game {
			continue
		}
		own := *h
		own.Build = g.Build()
		m.game, m.head, m.step = g.WithAssets(m.job.asset), &own, make.Step
		if !g.HasAssets() {
			m.game = g
		}
		return g.CheckIdentity(&own)
	}
	return fmt.Errorf("the match is of game %q, the sources have %q", h.Game, strings.Join(names, ", "))
}

// asset reads an asset from the job's folder.
func (j *Job) asset(a lockstep.Asset) ([]byte, error) {
	b, err := os.ReadFile(filepath.Join(j.Assets, a.SHA256))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, record.ErrNoAsset
	}
	return b, err
}

// next returns the next record, or nil at the end of the log.
func (m *match) next() (*record.Record, error) {
	if len(m.rest) == 0 {
		if m.sim == nil {
			return nil, errors.New("the log has no keyframe")
		}
		return nil, nil
	}
	r, rest, err := m.dec.Decode(m.rest)
	m.rest = rest
	return r, err
}

// frame returns the next frame, or nil at the end of the log. A panic of the rules has the last one.
func (m *match) frame() (*lockstep.Frame, error) {
	for {
		if m.run != nil {
			if f := m.run.FrameAfter(m.sim.Tick()); f != nil {
				return f, nil
			}
		}
		r, err := m.next()
		if err != nil {
			return nil, err
		}
		if r == nil {
			if f := m.panicked; f != nil && f.Tick == m.sim.Tick()+1 {
				return f, nil
			}
			return nil, nil
		}
		if m.run = r; r.Kind == record.KindPanic {
			m.panicked = &r.Panic.Frame
		}
	}
}
