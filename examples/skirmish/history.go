package skirmish

import (
	"slices"

	"github.com/seed-49bee653/samestep/lockstep"
)

const (
	sampleTicks = 100 // between two samples at the beginning of a match
	maxSamples  = 128 // of a player: beyond that, every second one goes, and the interval doubles
)

// History returns the samples of a player, oldest first: at equal intervals, and at last of the tick at which the match was
// won. There are at most 128.
func (w *World) History(p lockstep.Player) []Sample {
	n := len(w.Players)
	if int(p) >= n {
		return nil
	}
	samples := make([]Sample, 0, len(w.Samples)/n)
	for k := int(p); k < len(w.Samples); k += n {
		samples = append(samples, w.Samples[k])
	}
	return samples
}

// sample adds a sample of every player when one is due. The samples of one tick are adjacent, by player. The interval
// depends on the tick alone, so that all machines thin out at the same tick.
func (w *World) sample() {
	tick, interval := w.Match.Tick, uint32(sampleTicks)
	for tick/interval >= maxSamples {
		interval *= 2
	}
	n := len(w.Players)
	switch won := w.Match.Ended; {
	case n == 0 || won != 0 && won != tick || won == 0 && tick%interval != 0:
		return
	case len(w.Samples) >= maxSamples*n:
		w.thin(n)
	}
	w.Samples = slices.Grow(w.Samples, maxSamples*n-len(w.Samples)) // once, not again and again during the match
	first := len(w.Samples)
	for p := range w.Players {
		player := &w.Players[p]
		w.Samples = append(w.Samples, Sample{Tick: tick, Gathered: player.Gathered, Kills: player.Kills, Losses: player.Losses})
	}
	for i := range w.Units {
		u := &w.Units[i]
		if int(u.Owner) >= n {
			continue
		}
		switch s := &w.Samples[first+int(u.Owner)]; u.Kind {
		case Worker:
			s.Workers++
		case Soldier, Archer:
			s.Army++
		}
	}
}

// thin drops every second tick of the samples of n players.
func (w *World) thin(n int) {
	kept := w.Samples[:0]
	for from := 0; from < len(w.Samples); from += 2 * n {
		kept = append(kept, w.Samples[from:min(from+n, len(w.Samples))]...)
	}
	w.Samples = kept
}
