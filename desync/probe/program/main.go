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

// ResultFile is the name of the result in the folder of a job.
const ResultFile = "result.json"

// A Maker makes a game of the program.
type Maker func() (*lockstep.Game, error)

// Of returns the Maker of the game of some rules.
func Of[S, C any](rules func() lockstep.Rules[S, C]) Maker {
	return func() (*lockstep.Game, error) { return lockstep.NewGame(rules()) }
}

// Main does the job in the file that the only argument names, and exits.
func Main(makers ...Maker) {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "want the file of a job: samestep desync line runs this program")
		os.Exit(2)
	}
	var j Job
	err := ReadJSON(os.Args[1], &j)
	if err == nil {
		err = WriteJSON(filepath.Join(j.Folder, ResultFile), j.do(makers))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// do does the job. All errors are in the result.
func (j *Job) do(makers []Maker) *Result {
	m, err := j.open(makers)
	r := &Result{Platform: lockstep.Platform()}
	if err == nil {
		r.Build, r.First = m.game.Build(), uint32(m.sim.Tick())
		switch j.Kind {
		case Hashes:
			err = m.hashes(r)
		case Cold:
			err = m.cold(r)
		case Trace:
			err = m.trace(r)
		default:
			err = fmt.Errorf("got a job %q", j.Kind)
		}
		r.Last = uint32(m.sim.Tick())
	}
	if err != nil {
		r.Error = err.Error()
	}
	return r
}

// A match is a match of a job, at a tick.
type match struct {
	job  *Job
	game *lockstep.Game
	head *lockstep.Header
	sim  *lockstep.Simulation
	dec  record.Decoder
	rest []byte         // of the log
	run  *record.Record // whose frames come next
}

// open reads the header and the first keyframe of the log.
func (j *Job) open(makers []Maker) (*match, error) {
	log, err := os.ReadFile(j.Log)
	if err != nil {
		return nil, err
	}
	m := &match{job: j, rest: log}
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
			if m.sim, err = m.game.AwaitState(m.head); err != nil {
				return nil, err
			}
			if err := m.sim.Restore(r.Tick, r.Keyframe.State); err != nil {
				return nil, err
			}
		}
	}
	return m, nil
}

// choose finds the game of a header. The match is then one of the game's own build: the point is to run a log with the
// rules of another one.
func (m *match) choose(h *lockstep.Header, makers []Maker) error {
	var names []string
	for _, make := range makers {
		g, err := make()
		if err != nil {
			return err
		}
		if names = append(names, g.Name()); g.Name() != h.Game {
			continue
		}
		own := *h
		own.Build = g.Build()
		m.game, m.head = g.WithAssets(m.job.asset), &own
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

// frame returns the next frame, or nil at the end of the log.
func (m *match) frame() (*lockstep.Frame, error) {
	for {
		if m.run != nil {
			if f := m.run.FrameAfter(m.sim.Tick()); f != nil {
				return f, nil
			}
		}
		r, err := m.next()
		if r == nil || err != nil {
			return nil, err
		}
		m.run = r
	}
}
