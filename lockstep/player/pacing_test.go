package player_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/seed-49bee653/samestep/internal/testing/testgame"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/coordinator"
	"github.com/seed-49bee653/samestep/lockstep/player"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

// A feed gives a client the records of a match, each at its own time.
type feed struct {
	tb       testing.TB
	c        *coordinator.Coordinator
	client   *player.Client
	now      lockstep.Time
	due      lockstep.Time // when the next tick is sealed
	pending  []byte        // of the tick just sealed
	position protocol.Position
	queue    []arrival
	ran      []lockstep.Time // when each tick was run, by tick
	drawn    func()          // called at least every grain
	grain    lockstep.Time
	out      []byte
}

type arrival struct {
	at    lockstep.Time
	bytes []byte
}

func (f *feed) Append(raw []byte) error {
	if record.KindOf(raw) != record.KindKeyframe {
		f.pending = append(f.pending, raw...)
		f.position++
	}
	return nil
}

const (
	feedPeriod = 50 * lockstep.Millisecond
	feedDelay  = 4 // ticks
)

func newFeed(tb testing.TB, o player.Options) *feed {
	return newFeedOf(tb, lockstep.MustGame(testgame.BankRules()), o)
}

func newFeedOf(tb testing.TB, g *lockstep.Game, o player.Options) *feed {
	f := &feed{tb: tb, now: 5 * lockstep.Second}
	settings := lockstep.DefaultSettings(2)
	settings.CheckEvery, settings.KeyframeEvery = 1<<15, 0
	h, err := g.NewHeader(lockstep.MatchID{1, 2, 3}, settings, &testgame.BankConfig{Start: 100})
	if err != nil {
		tb.Fatal(err)
	}
	if f.c, err = coordinator.New(g, h, f, coordinator.Options{InputDelay: feedDelay}); err != nil {
		tb.Fatal(err)
	}
	for p := range lockstep.Player(2) {
		if _, err := f.c.Join(p); err != nil {
			tb.Fatal(err)
		}
	}
	f.client = player.New(g, o)
	f.client.Advance(f.now)
	f.client.Connected(f.now)
	var w protocol.Writer
	b := w.Append(nil, &protocol.Message{Kind: protocol.KindWelcome, Welcome: &protocol.Welcome{
		Role: protocol.Seated, Position: 1, AckEvery: 10, InputDelay: feedDelay, SpeedPercent: 100,
	}})
	var e record.Encoder
	sim := f.c.Referee().Simulation()
	state := append([]byte{}, e.Header(h)...)
	state = append(state, e.Keyframe(0, sim.Hash(), nil, sim.AppendState(nil))...)
	b = w.Append(b, &protocol.Message{Kind: protocol.KindStateSync, Position: 1, Total: uint32(len(state)), Bytes: state})
	f.pending = nil
	f.give(b)
	f.ran = []lockstep.Time{f.now}
	return f
}

func (f *feed) give(b []byte) {
	if err := f.client.Receive(f.now, b); err != nil {
		f.tb.Fatal(err)
	}
	f.settle()
}

func (f *feed) settle() {
	f.client.Advance(f.now)
	for t := lockstep.Tick(len(f.ran)); t <= f.client.Tick(); t++ {
		f.ran = append(f.ran, f.now)
	}
	for {
		if f.out = f.client.Send(f.out[:0]); len(f.out) == 0 {
			break
		}
	}
	if f.drawn != nil {
		f.drawn()
	}
}

// play seals ticks for a time, one each period, and delivers them in order, each after its own delay.
func (f *feed) play(ticks int, delay func(tick int) lockstep.Time) {
	start := max(f.now, f.due)
	f.due = start + lockstep.Time(ticks)*feedPeriod
	var last lockstep.Time
	for i := range ticks {
		if _, err := f.c.Tick(); err != nil {
			f.tb.Fatal(err)
		}
		at := max(last, start+lockstep.Time(i)*feedPeriod+delay(i))
		last = at
		f.queue = append(f.queue, arrival{at, bytes.Clone(f.pending)})
		f.pending = f.pending[:0]
	}
	for len(f.queue) > 0 {
		next := max(f.client.Ready().Next, f.now+1)
		if f.grain > 0 {
			next = min(next, (f.now/f.grain+1)*f.grain)
		}
		if next < f.queue[0].at {
			f.now = next
			f.settle()
			continue
		}
		f.now = max(f.now, f.queue[0].at)
		b := f.queue[0].bytes
		f.queue = f.queue[1:]
		f.give(b)
	}
}

// uneven counts the ticks, from a given one on, whose interval deviates from the period by more than a percentage.
func (f *feed) uneven(from int, percent lockstep.Time) (n int) {
	for t := from + 1; t < len(f.ran); t++ {
		off := f.ran[t] - f.ran[t-1] - feedPeriod
		if max(off, -off) > feedPeriod*percent/100 {
			n++
		}
	}
	return n
}

// Ticks that arrive with jitter are run evenly, with no more delay than the jitter requires. Control: without the
// buffer they are uneven.
func TestPacingUnderJitter(t *testing.T) {
	for _, jitter := range []lockstep.Time{0, 10, 40, 120} {
		t.Run(fmt.Sprint(jitter), func(t *testing.T) {
			random := rand.New(rand.NewPCG(1, uint64(jitter)))
			delay := func(int) lockstep.Time {
				return 30*lockstep.Millisecond + lockstep.Time(random.Int64N(int64(jitter*lockstep.Millisecond)+1))
			}
			paced := newFeed(t, player.Options{})
			paced.play(2000, delay)
			plain := newFeed(t, player.Options{Pacing: player.PacingOptions{AsTheyCome: true}})
			plain.play(2000, delay)

			if n := paced.uneven(400, 7); n > 16 {
				t.Errorf("got %d of 1600 ticks that are more than 7 %% off, want at most 16", n)
			}
			if n := plain.uneven(400, 7); jitter >= 10 && n < 500 {
				t.Errorf("control: without a buffer %d of 1600 ticks are off, want many", n)
			}
			s := paced.client.Status()
			if most := (jitter + 60) * lockstep.Millisecond; s.RenderDelay > most {
				t.Errorf("got a delay of %d µs, want at most %d", s.RenderDelay, most)
			}
			if most := lockstep.Tick((jitter+60)*lockstep.Millisecond/feedPeriod) + 2; s.Backlog > most {
				t.Errorf("got a backlog of %d ticks, want at most %d", s.Backlog, most)
			}
			t.Logf("jitter %v: delay %v, mean lateness %v, uneven %d, without buffer %d", jitter, s.RenderDelay, s.Jitter, paced.uneven(400, 7), plain.uneven(400, 7))
		})
	}
}

// The delay decreases when the network improves.
func TestPacingAdapts(t *testing.T) {
	random := rand.New(rand.NewPCG(2, 2))
	f := newFeed(t, player.Options{})
	f.play(600, func(int) lockstep.Time { return lockstep.Time(random.Int64N(int64(150 * lockstep.Millisecond))) })
	rough := f.client.Status().RenderDelay
	f.play(1200, func(int) lockstep.Time { return 0 })
	smooth := f.client.Status().RenderDelay
	if rough < 120*lockstep.Millisecond || smooth > rough/3 {
		t.Errorf("got a delay of %d µs with jitter and %d without", rough, smooth)
	}
}

// After a stall the client runs at most eight times as fast as the match.
func TestPacingAfterStall(t *testing.T) {
	for _, stall := range []lockstep.Time{1, 2, 4} {
		f := newFeed(t, player.Options{})
		f.play(100, func(int) lockstep.Time { return 0 })
		from := len(f.ran)
		until := stall * lockstep.Second
		f.play(400, func(i int) lockstep.Time { return max(0, until-lockstep.Time(i)*feedPeriod) })
		worst := 0
		for t := from; t < len(f.ran); t++ {
			n := 0
			for n < len(f.ran)-t && f.ran[t+n]-f.ran[t] < 100*lockstep.Millisecond {
				n++
			}
			worst = max(worst, n)
		}
		if worst > 17 { // 2 ticks at the match's speed
			t.Errorf("after %d s: got %d ticks in 0.1 s, want at most 17", stall, worst)
		}
		if s := f.client.Status(); s.Backlog > 2 {
			t.Errorf("after %d s: got a backlog of %d ticks at the end", stall, s.Backlog)
		}
		if f.client.Tick() < 495 {
			t.Errorf("after %d s: got to tick %d of 500", stall, f.client.Tick())
		}
	}
}

// A server that stalls and then continues leaves no lasting delay.
func TestPacingAfterServerStall(t *testing.T) {
	f := newFeed(t, player.Options{})
	f.play(100, func(int) lockstep.Time { return 0 })
	f.play(400, func(int) lockstep.Time { return 5 * lockstep.Second })
	if n := f.uneven(300, 7); n > 0 {
		t.Errorf("got %d uneven ticks, want none", n)
	}
}

// After a pause the ticks are run as evenly as before, from the first one on.
func TestPacingAfterPause(t *testing.T) {
	random := rand.New(rand.NewPCG(8, 8))
	delay := func(int) lockstep.Time { return lockstep.Time(random.Int64N(int64(30 * lockstep.Millisecond))) }
	f := newFeed(t, player.Options{})
	f.play(200, delay)
	if _, err := f.c.Pause(1); err != nil {
		t.Fatal(err)
	}
	f.play(1, delay)
	f.due += 3 * lockstep.Second
	if _, err := f.c.Resume(1); err != nil {
		t.Fatal(err)
	}
	from := len(f.ran)
	f.play(40, delay)
	if n := f.uneven(from+1, 10); n > 2 {
		t.Errorf("got %d of 40 ticks uneven, want at most 2", n)
	}
}

// A pause that is cancelled in its own tick does not affect the pace: the same arrivals run at the same times.
func TestPacingCancelledPause(t *testing.T) {
	random := [2]*rand.Rand{rand.New(rand.NewPCG(1, 7)), rand.New(rand.NewPCG(1, 7))}
	var ran [2][]lockstep.Time
	for i := range ran {
		f := newFeed(t, player.Options{})
		for range 10 {
			if i == 1 {
				testgame.Does(t)(f.c.Pause(1))
				testgame.Does(t)(f.c.Resume(1))
			}
			f.play(50, func(int) lockstep.Time { return lockstep.Time(random[i].Int64N(int64(60 * lockstep.Millisecond))) })
		}
		ran[i] = f.ran
	}
	if !slices.Equal(ran[0], ran[1]) {
		t.Errorf("ticks run at %v, want %v", ran[1], ran[0])
	}
}

// A tick that pauses a match again at once is run although no tick follows it before the next resume.
func TestPacingPausedAgain(t *testing.T) {
	f := newFeed(t, player.Options{})
	late := func(n int) lockstep.Time { return lockstep.Time(n%2) * 40 * lockstep.Millisecond }
	f.play(200, late)
	for range 2 {
		if _, err := f.c.Pause(1); err != nil {
			t.Fatal(err)
		}
		f.play(1, late)
		f.due += 3 * lockstep.Second
		if _, err := f.c.Resume(1); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := f.c.Pause(1); err != nil {
		t.Fatal(err)
	}
	f.play(1, late)
	for range 60 {
		f.now += feedPeriod
		f.settle()
	}
	if got, want := f.client.Tick(), f.c.Now(); got != want {
		t.Errorf("got to tick %d of %d in three seconds", got, want)
	}
}

// A clock that jumps by an hour in either direction causes no burst.
func TestPacingClockJumps(t *testing.T) {
	for _, jump := range []lockstep.Time{3600 * lockstep.Second, -4 * lockstep.Second} {
		f := newFeed(t, player.Options{})
		f.play(100, func(int) lockstep.Time { return 0 })
		before := f.client.Tick()
		f.now += jump
		f.settle()
		if got := f.client.Tick(); got > before+2 {
			t.Errorf("jump of %d s: ran %d ticks", jump/lockstep.Second, got-before)
		}
		f.play(200, func(int) lockstep.Time { return 0 })
		if got := f.client.Tick(); got < 298 || f.client.Stage() != player.StageLive {
			t.Errorf("jump of %d s: got to tick %d of 300, %v", jump/lockstep.Second, got, f.client.Stage())
		}
	}
}
