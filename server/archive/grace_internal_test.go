//go:build !js

package archive

import (
	"math/rand/v2"
	"testing"
	"time"
)

// Whatever limits starts have had: what is kept allows all that any limit of the last hour has allowed, and after an hour only what the last
// one allows.
func TestLimitsOfTheLastHourHold(t *testing.T) {
	type start struct {
		at   time.Time
		keep Keep
	}
	waited, settled := 0, 0
	for seed := range uint64(2000) {
		r := rand.New(rand.NewPCG(seed, 1))
		now := time.Unix(1e9, 0)
		draw := func() Keep {
			return Keep{Age: time.Duration(r.IntN(3)) * time.Hour, Replays: r.IntN(4), Bytes: r.Int64N(3), Bundles: r.IntN(2), BundleBytes: r.Int64N(2)}
		}
		first := draw()
		l, starts := limits{Settled: first, Wanted: first}, []start{{now, first}}
		for range 12 {
			now = now.Add(time.Duration(r.IntN(90)) * time.Minute)
			if r.IntN(3) > 0 {
				keep := starts[len(starts)-1].keep
				if r.IntN(3) > 0 {
					keep = draw()
				}
				l.change(keep, now, time.Hour)
				starts = append(starts, start{now, keep})
			}
			got := l.now(now)
			for i, s := range starts {
				until := now.Add(time.Second)
				if i+1 < len(starts) {
					until = starts[i+1].at
				}
				if until.After(now.Add(-time.Hour)) && until.After(s.at) && got.looser(s.keep) != got {
					t.Fatalf("seed %d: %v after a limit of %+v it keeps only %+v", seed, now.Sub(until), s.keep, got)
				}
			}
			if last := starts[len(starts)-1]; got != last.keep {
				waited++
			}
			if got := l.now(now.Add(time.Hour)); got != starts[len(starts)-1].keep {
				t.Fatalf("seed %d: after an hour it keeps %+v, want %+v", seed, got, starts[len(starts)-1].keep)
			}
			settled++
		}
	}
	if waited < 1000 || settled < 1000 {
		t.Errorf("got %d limits that wait, and %d that hold", waited, settled)
	}
}

// A clock that was wrong when a limit was lowered does not make it wait for more than an hour.
func TestWaitOfAWrongClock(t *testing.T) {
	now := time.Unix(1e9, 0)
	l := limits{}
	l.change(Keep{Replays: 1}, now.AddDate(30, 0, 0), time.Hour)
	l.change(Keep{Replays: 1}, now, time.Hour)
	if !l.waits(now) || l.waits(now.Add(time.Hour)) {
		t.Errorf("got %+v", l)
	}
}
