package logbench

import (
	"bytes"
	"fmt"
	"os"
	"runtime"
	"time"

	"github.com/seed-49bee653/samestep/examples/skirmish"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/record"
	"github.com/seed-49bee653/samestep/replay"
)

// A Pace is how fast a match is verified by one worker and by two.
type Pace struct {
	Wall [2]time.Duration // the best of each
	CPU  [2]time.Duration // the best of each, of all threads
}

// Speedup returns how much sooner two workers are done. It says something of
// the program only if the machine has two idle processors.
func (p *Pace) Speedup() float64 { return ratio(p.Wall[0], p.Wall[1]) }

// Overhead returns how much more work two workers do than one.
func (p *Pace) Overhead() float64 { return ratio(p.CPU[1], p.CPU[0]) }

func ratio(a, b time.Duration) float64 { return float64(a) / float64(max(b, 1)) }

// Pace verifies the match with one worker and with two in turns, for about as
// long as d and each at least once.
func (l *Long) Pace(d time.Duration) (*Pace, error) {
	p := &Pace{}
	for from, rounds := time.Now(), 0; rounds == 0 || time.Since(from) < d; rounds++ {
		for i := range p.Wall {
			cpu, wall := processClock(), time.Now()
			if _, err := l.verify(l.game, l.open, i+1); err != nil {
				return nil, err
			}
			took, used := time.Since(wall), processClock()-cpu
			if rounds == 0 {
				p.Wall[i], p.CPU[i] = took, used
			}
			p.Wall[i], p.CPU[i] = min(p.Wall[i], took), min(p.CPU[i], used)
		}
	}
	return p, nil
}

// TimesRealTime returns how many times faster than the match a time is.
func (l *Long) TimesRealTime(took time.Duration) float64 {
	return ratio(time.Duration(l.Minutes)*time.Minute, took)
}

// OutsideStep returns which part of the time of a verification is not the
// game's own: reading, decoding, checksums, comparing keyframes.
func (l *Long) OutsideStep() (float64, error) {
	runtime.LockOSThread() // for clock
	defer runtime.UnlockOSThread()
	var spent time.Duration
	rules := skirmish.Rules()
	step := rules.Step
	rules.Step = func(w *skirmish.World, t *lockstep.Turn) {
		from := clock()
		step(w, t)
		spent += clock() - from //samestep:allow captured it is measured, and not read by the rules
	}
	g, err := lockstep.NewGame(rules)
	if err != nil {
		return 0, err
	}
	from := clock()
	if _, err := l.verify(g, l.open, 1); err != nil {
		return 0, err
	}
	return 1 - ratio(spent, clock()-from), nil
}

// seeks is how many places are sought.
const seeks = 12

// WorstSeek returns the longest time that it takes to go to a tick, of ticks
// right before keyframes all over a sealed file.
func (l *Long) WorstSeek() (time.Duration, error) {
	file, err := l.sealed()
	if err != nil {
		return 0, err
	}
	r, err := replay.NewReader(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		return 0, err
	}
	keyframes := append(r.Index()[1:], l.Ticks()+1)
	runtime.LockOSThread() // for clock
	defer runtime.UnlockOSThread()
	worst := time.Duration(0)
	for i := range min(seeks, len(keyframes)) {
		from := clock()
		if err := l.seek(r, keyframes[i*len(keyframes)/min(seeks, len(keyframes))]-1); err != nil {
			return 0, err
		}
		worst = max(worst, clock()-from)
	}
	return worst, nil
}

// seek makes the state of a tick.
func (l *Long) seek(r *replay.Reader, tick lockstep.Tick) error {
	if _, err := r.Seek(tick); err != nil {
		return err
	}
	f := l.game.NewFollower(lockstep.FollowerOptions{})
	for f.Simulation() == nil || f.Tick() < tick {
		rec, err := r.Next()
		if err == nil {
			err = f.Apply(rec)
		}
		if err != nil {
			return fmt.Errorf("logbench: seek tick %d: %w", tick, err)
		}
	}
	return nil
}

// WriteTick returns what writing the match's records into a file costs a tick,
// and how many allocations that takes in all.
func (l *Long) WriteTick() (time.Duration, uint64, error) {
	r, err := replay.NewReader(bytes.NewReader(l.open), int64(len(l.open)))
	if err != nil {
		return 0, 0, err
	}
	var records [][]byte
	if err := replay.Play(r, nil, func(*record.Record) error {
		records = append(records, bytes.Clone(r.Record()))
		return nil
	}); err != nil {
		return 0, 0, err
	}
	file, err := os.CreateTemp("", "samestep-bench-*.ssr")
	if err != nil {
		return 0, 0, err
	}
	defer file.Close()
	if err := os.Remove(file.Name()); err != nil { // it lives until it is closed
		return 0, 0, err
	}
	w := replay.NewWriter(file, replay.WriterOptions{})
	runtime.LockOSThread() // for clock
	defer runtime.UnlockOSThread()
	const warmUp = 10
	var before, after runtime.MemStats
	from := time.Duration(0)
	for i, record := range records {
		if i == len(records)/warmUp { // by then it has its memory
			runtime.ReadMemStats(&before)
			from = clock()
		}
		if err := w.Append(record); err != nil {
			return 0, 0, err
		}
	}
	took := clock() - from
	runtime.ReadMemStats(&after)
	perTick := took / time.Duration(max(1, l.Ticks()-l.Ticks()/warmUp))
	return perTick, after.Mallocs - before.Mallocs, w.Close()
}
