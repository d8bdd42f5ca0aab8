package locksteptest

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/seed-49bee653/samestep/desync/probe/program"
	"github.com/seed-49bee653/samestep/lockstep"
)

// An outsideResult is what another process has found. Its match is that of Check, if all states are.
type outsideResult struct {
	Error  string   // why it found nothing
	States []uint64 // sums, by tick from 0
	Failed *sent    // the failure of the phase
}

// sent is what is sent of a [Failure].
type sent struct {
	Tick             lockstep.Tick
	Field, Got, Want string
	More             int
	Under, Text      string // Text is that of Err
}

// checkOutside does the job of a process that [runOutside] has started.
func checkOutside(g *lockstep.Game, o Options) *outsideResult {
	o.Skip = allBut(outsidePhase)
	o, err := o.measured(g, longest, nil)
	m := (*match)(nil)
	if err == nil {
		m, err = newMatch(g, o)
	}
	if err != nil {
		return &outsideResult{Error: oneLine(err.Error())}
	}
	m.alone = true
	err = m.compute()
	r := &outsideResult{States: m.sums()}
	f := (*Failure)(nil)
	if errors.As(err, &f) && f.Phase == outsidePhase {
		r.Failed = &sent{f.Tick, f.Field, f.Got, f.Want, f.More, f.Under, ""}
		if f.Err != nil {
			r.Failed.Text = f.Err.Error()
		}
	} else if err != nil {
		r.Error = oneLine(err.Error())
	}
	return r
}

// sums returns sums of all states.
func (m *match) sums() (list []uint64) {
	for _, s := range m.states {
		h := fnv.New64a()
		h.Write(s)
		list = append(list, h.Sum64())
	}
	return list
}

// ranOutside has the checks for which another process has run. It takes as long as the test, so one of a hundred seeds is enough, and a
// test has at most mostOutside.
var ranOutside struct {
	sync.Mutex
	done   map[outsideKey]bool
	byTest map[string]int
}

const mostOutside = 4

type outsideKey struct {
	test, game, config string
	players            uint8
}

// goesOutside reports whether a check of a test is to run in another process.
func (m *match) goesOutside(test string) bool {
	key := outsideKey{test, m.game.Name(), string(m.header.Config), m.header.Settings.Players}
	r := &ranOutside
	r.Lock()
	defer r.Unlock()
	if r.done == nil {
		r.done, r.byTest = map[outsideKey]bool{}, map[string]int{}
	}
	if r.done[key] || r.byTest[test] == mostOutside {
		return false
	}
	r.done[key] = true
	r.byTest[test]++
	return true
}

// runOutside lets another process of the same test play the match, and compute it under other surroundings. It returns a [*Failure], and
// whether it was done or why not. Only a test of the testing package can run in a process of its own.
func (m *match) runOutside(t testing.TB, check program.CheckJob) (done bool, why, failure error) {
	if _, ok := t.(*testing.T); !ok || fuzzing() {
		return false, nil, nil
	}
	if !m.goesOutside(t.Name()) {
		return false, nil, nil
	}
	check.Seed, check.Phase = m.options.Seed, outsidePhase
	r, err := startOutside(t, check)
	switch {
	case err != nil:
		return false, err, nil
	case r.Error != "":
		return false, errors.New(r.Error), nil
	}
	own := m.sums()
	for tick := range min(len(own), len(r.States)) {
		if own[tick] != r.States[tick] {
			return true, nil, m.fail(outsidePhase, 0, lockstep.Tick(tick), errors.New("the same match has another state in another process on this machine"))
		}
	}
	if len(own) != len(r.States) {
		return true, nil, m.fail(outsidePhase, 0, lockstep.Tick(min(len(own), len(r.States))), errors.New("the same match has another length in another process on this machine"))
	}
	s := r.Failed
	if s == nil {
		return true, nil, nil
	}
	f := &Failure{Phase: outsidePhase, Tick: s.Tick, Field: s.Field, Got: s.Got, Want: s.Want, More: s.More, Under: s.Under}
	if s.Text != "" {
		f.Err = errors.New(s.Text)
	}
	f.Options, f.game, f.played = m.options, m.game, m.played
	return true, nil, f
}

const outsideTime = time.Minute // more than any match of a test takes

// startOutside runs the test in another process.
func startOutside(t testing.TB, check program.CheckJob) (*outsideResult, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	if check.Folder, err = os.MkdirTemp("", "samestep-check-"); err != nil {
		return nil, err
	}
	defer os.RemoveAll(check.Folder)
	path := filepath.Join(check.Folder, "job.json")
	if err := program.WriteJSON(path, &check); err != nil {
		return nil, err
	}
	ctx, stop := context.WithTimeout(context.Background(), outsideTime)
	defer stop()
	c := exec.CommandContext(ctx, self, "-test.run="+testPattern(t.Name()), "-test.count=1", fmt.Sprint("-test.short=", testing.Short()))
	c.Dir, c.Env, c.WaitDelay = packageDir, append(os.Environ(), program.CheckVariable+"="+path), time.Second
	out, err := c.CombinedOutput()
	r := &outsideResult{}
	if read := program.ReadJSON(filepath.Join(check.Folder, program.ResultFile), r); read != nil {
		if err == nil {
			err = errors.New("it does not come to a check with the same options")
		}
		return nil, fmt.Errorf("another process of the test: %w: %s", err, shown(string(out)))
	}
	return r, nil
}
