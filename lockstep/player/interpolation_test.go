package player_test

import (
	"errors"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/seed-49bee653/samestep/internal/testing/testgame"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/player"
)

// lerp is Lerp with integers of any size.
func lerp(a, b int64, f player.Fraction) int64 {
	way := new(big.Int).Sub(big.NewInt(b), big.NewInt(a))
	way.Mul(way, big.NewInt(int64(f)))
	way.Quo(way, big.NewInt(int64(player.One))) // towards zero, that is towards a
	way.Add(way, big.NewInt(a))
	return int64(way.And(way, new(big.Int).SetUint64(math.MaxUint64)).Uint64()) // wraps around
}

func TestLerp(t *testing.T) {
	values := []int64{0, 1, -1, 5, -7, 1 << 16, math.MaxInt64, math.MinInt64, math.MaxInt64 - 1, math.MinInt64 + 1, 1 << 62, -1 << 62}
	fractions := []player.Fraction{0, 1, player.One / 3, player.One / 2, player.One - 1, player.One, player.One + 1, 3 * player.One, math.MaxUint32}
	random := rand.New(rand.NewPCG(1, 1))
	for range 200 {
		values = append(values, int64(random.Uint64())>>random.IntN(64))
	}
	for _, a := range values {
		for _, b := range values {
			f := fractions[random.IntN(len(fractions))]
			if got, want := player.Lerp(a, b, f), lerp(a, b, f); got != want {
				t.Fatalf("Lerp(%d, %d, %d): got %d, want %d", a, b, f, got, want)
			}
			x, y := int8(a), int8(b)
			if got, want := player.Lerp(x, y, f), int8(lerp(int64(x), int64(y), f)); got != want {
				t.Fatalf("Lerp(%d, %d, %d): got %d, want %d", x, y, f, got, want)
			}
		}
	}
	if got := player.Lerp(int64(0), 10, 5*player.One); got != 50 {
		t.Errorf("beyond the end: got %d, want 50", got)
	}
}

func TestLerpTurn(t *testing.T) {
	half := player.One / 2
	for _, tt := range []struct {
		name string
		a, b uint8
		f    player.Fraction
		want uint8
	}{
		{"forward", 10, 20, half, 15},
		{"backward", 20, 10, half, 15},
		{"forward over the end", 250, 4, half, 255},
		{"backward over the end", 4, 250, half, 255},
		{"a little less than half a turn", 0, 127, player.One, 127},
		{"half a turn", 0, 128, half, 192},
		{"none of it", 77, 99, 0, 77},
		{"all of it", 77, 99, player.One, 99},
	} {
		if got := player.LerpTurn(tt.a, tt.b, tt.f); got != tt.want {
			t.Errorf("%s: got %d, want %d", tt.name, got, tt.want)
		}
	}
	if got := player.LerpTurn(uint32(math.MaxUint32), 1, half); got != 0 {
		t.Errorf("32 bits: got %d, want 0", got)
	}
}

// The drawn state moves as evenly as time passes although the ticks arrive with jitter. Control: without interpolation
// it jumps.
func TestViewMovesEvenly(t *testing.T) {
	for _, row := range [][2]lockstep.Tick{{0, 0}, {8, 0}, {0, 8}, {8, 8}} {
		predict, late := row[0], row[1]
		worst := func(interpolate bool) (worst lockstep.Time) {
			random := rand.New(rand.NewPCG(5, 5))
			f := newFeed(t, player.Options{Interpolate: interpolate, Predict: predict, PredictLate: late})
			delay := func(int) lockstep.Time { return lockstep.Time(random.Int64N(int64(30 * lockstep.Millisecond))) }
			f.play(400, delay)
			const frame = 10 * lockstep.Millisecond // of the renderer
			var before, next int64
			f.drawn = func() {
				if next == 0 {
					next = int64(f.now)
				}
				for ; int64(f.now) >= next; next += int64(frame) {
					v, ok := f.client.Interpolation()
					if !ok {
						t.Fatal("nothing to draw")
					}
					if predict > 0 != v.Predicted && late == 0 {
						t.Fatalf("predict %d: the picture is predicted %t", predict, v.Predicted)
					}
					a, b := lockstep.World[testgame.Bank](v.Previous).Tick, lockstep.World[testgame.Bank](v.Current).Tick
					at := player.Lerp(int64(a)*int64(feedPeriod), int64(b)*int64(feedPeriod), v.Fraction)
					if before > 0 {
						off := lockstep.Time(at-before) - frame
						worst = max(worst, off, -off)
					}
					before = at
				}
			}
			f.grain = frame
			f.play(400, delay)
			return worst
		}
		if got := worst(true); got > 3*lockstep.Millisecond {
			t.Errorf("predict %d, late %d: what is drawn is up to %d µs off in 10 ms, want at most 3000", predict, late, got)
		}
		if got := worst(false); predict+late == 0 && got < 30*lockstep.Millisecond {
			t.Errorf("control: without interpolation it is at most %d µs off", got)
		}
	}
}

func TestRenderCannotWrite(t *testing.T) {
	f := newFeed(t, player.Options{CheckRender: true, Interpolate: true})
	f.play(20, func(int) lockstep.Time { return 0 })
	if err := f.client.Render(func(v player.Interpolation) { _ = lockstep.World[testgame.Bank](v.Current).Tick }); err != nil {
		t.Errorf("reading: %v", err)
	}
	err := f.client.Render(func(v player.Interpolation) { lockstep.World[testgame.Bank](v.Current).Piles[0].Coins++ })
	if !errors.Is(err, player.ErrWritten) {
		t.Errorf("writing: got %v, want %v", err, player.ErrWritten)
	}
	err = f.client.Render(func(v player.Interpolation) { lockstep.World[testgame.Bank](v.Previous).Piles[0].Coins++ })
	if !errors.Is(err, player.ErrWritten) {
		t.Errorf("writing to the past: got %v, want %v", err, player.ErrWritten)
	}
}
