package logbench

import (
	"bytes"
	"fmt"
	"runtime"
	"time"

	"github.com/seed-49bee653/samestep/examples/skirmish"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/record"
	"github.com/seed-49bee653/samestep/replay"
)

// A Pace is the time of a verification with one worker and with two.
type Pace struct {
	Wall [2]time.Duration // best times
	CPU  [2]time.Duration // best times, of all threads
}

// Speedup returns how many times faster two workers are. It depends on the program only
// if the machine has two idle processors.
func (p *Pace) Speedup() float64 { return ratio(p.Wall[0], p.Wall[1]) }

// Overhead returns the ratio of the processor times of two workers and of one.
func (p *Pace) Overhead() float64 { return ratio(p.CPU[1], p.CPU[0]) }

func ratio(a, b time.Duration) float64 { return float64(a) / float64(max(b, 1)) }

// Pace alternately verifies the match with one worker and with two, for about d and each
// at least once.
func (l *Long) Pace(d time.Duration) (*Pace, error) {
	p := &Pace{}
	for from, rounds := time.Now(), 0; rounds == 0 || time.Since(from) < d; rounds++ {
		for i := range p.Wall {
			cpu, wall := processClock(), time.Now()
			if _, err := verifyReplay(l.game, l.open, i+1); err != nil {
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

// TimesRealTime returns the length of the match divided by a time.
func (l *Long) TimesRealTime(took time.Duration) float64 {
	return ratio(l.Length, took)
}

// OutsideStep returns the fraction of the time of a verification outside of the game's
// Step: reading, decoding, checksums, and comparing keyframes.
func (l *Long) OutsideStep() (float64, error) {
	defer lockThread()()
	var spent time.Duration
	step := skirmish.Rules().Step
	g := lockstep.MustGame(endless(func(w *skirmish.World, config *skirmish.Config, t *lockstep.Turn) {
		from := clock()
		step(w, config, t)
		spent += clock() - from //samestep:allow captured the rules do not read the measured time
	}))
	from := clock()
	if _, err := verifyReplay(g, l.open, 1); err != nil {
		return 0, err
	}
	return 1 - ratio(spent, clock()-from), nil
}

// seeks is the number of measured seeks.
const seeks = 12

// WorstSeek returns the longest time of a seek, to ticks right before keyframes of a
// sealed file.
func (l *Long) WorstSeek() (time.Duration, error) {
	r, err := l.sealed()
	if err != nil {
		return 0, err
	}
	keyframes := append(r.Index()[1:], l.ticks+1)
	defer lockThread()()
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

// seek computes the state of a tick.
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

// WriteTick returns the time per tick of writing the match's records to a file, and the
// allocations in all.
func (l *Long) WriteTick() (time.Duration, uint64, error) {
	r, err := openReplay(l.open)
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
	file, err := tempFile()
	if err != nil {
		return 0, 0, err
	}
	defer file.Close()
	w := replay.NewWriter(file, replay.WriterOptions{})
	defer lockThread()()
	const warmUp = 10
	var before, after runtime.MemStats
	from := time.Duration(0)
	for i, record := range records {
		if i == len(records)/warmUp { // the writer has allocated its memory
			runtime.ReadMemStats(&before)
			from = clock()
		}
		if err := w.Append(record); err != nil {
			return 0, 0, err
		}
	}
	took := clock() - from
	runtime.ReadMemStats(&after)
	perTick := took / time.Duration(max(1, l.ticks-l.ticks/warmUp))
	return perTick, after.Mallocs - before.Mallocs, w.Close()
}
