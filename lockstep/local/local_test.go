package local_test

import (
	"bytes"
	"errors"
	"fmt"
	"testing"

	"github.com/seed-49bee653/samestep/examples/minimal"
	"github.com/seed-49bee653/samestep/internal/testing/testgame"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/local"
	"github.com/seed-49bee653/samestep/lockstep/player"
	"github.com/seed-49bee653/samestep/replay"
)

var game = lockstep.MustGame(minimal.Rules())

// walker is a bot that sends its dot to another place each second.
func walker(s *lockstep.Simulation) []any {
	if s.Tick()%20 != 1 {
		return nil
	}
	return []any{&minimal.Go{X: uint16(s.Tick() % 13), Y: uint16(s.Tick() % 7)}}
}

// play advances a match by a time, in pictures of 16 ms.
func play(t testing.TB, m *local.Match, from, length lockstep.Time) {
	t.Helper()
	for now := from; now <= from+length; now += 16 * lockstep.Millisecond {
		if err := m.Advance(now); err != nil {
			t.Fatal(err)
		}
	}
}

// A person plays against a bot.
func Example() {
	var file bytes.Buffer
	writer := replay.NewWriter(&file, replay.WriterOptions{})
	var match *local.Match
	match, err := local.New(game, &minimal.Config{Size: 20, Coins: 50}, local.Options{
		Settings: lockstep.Settings{Seed: 1},
		Bots:     []lockstep.Bot{nil, walker}, Log: writer,
	})
	if err != nil {
		panic(err)
	}
	for now := lockstep.Time(0); now < 5*lockstep.Second; now += 16 * lockstep.Millisecond {
		if err := match.Advance(now); err != nil {
			panic(err)
		}
		if match.Client().Tick() == 20 {
			match.Client().Submit(&minimal.Go{X: 20, Y: 5})
		}
	}
	if err := match.Host().Admin().End(5*lockstep.Second, "enough"); err != nil {
		panic(err)
	}
	if err := match.Advance(5 * lockstep.Second); err != nil {
		panic(err)
	}
	if err := writer.Close(); err != nil {
		panic(err)
	}
	dots := lockstep.World[minimal.World](match.Client().Simulation()).Dots
	fmt.Println("the person is at", dots[0].At.X, dots[0].At.Y)
	fmt.Println("the bot has moved:", dots[1].At != dots[1].To || dots[1].Coins > 0)
	r, err := replay.NewReader(bytes.NewReader(file.Bytes()), int64(file.Len()))
	if err != nil {
		panic(err)
	}
	verified, err := replay.Verify(r, game, replay.VerifyOptions{})
	fmt.Println("the replay is right:", verified.Checked > 3, err)
	// Output:
	// the person is at 18.9177787593 4.7294446896
	// the bot has moved: true
	// the replay is right: true <nil>
}

// With a bot in each seat, the person watches.
func TestOnlyBots(t *testing.T) {
	watching := false
	m, err := local.New(game, &minimal.Config{Size: 9}, local.Options{
		Bots:   []lockstep.Bot{walker, walker},
		Handle: func(e any) { w, ok := e.(player.Welcomed); watching = watching || ok && w.Seat == lockstep.System },
	})
	if err != nil {
		t.Fatal(err)
	}
	play(t, m, 0, 4*lockstep.Second)
	if !watching || m.Host().Now() < 70 || m.Client().Tick()+20 < m.Host().Now() {
		t.Errorf("got watching %v, tick %d of %d, want to see a match of bots", watching, m.Client().Tick(), m.Host().Now())
	}
}

// The state of the person is that of the referee, with prediction too, and it does not desync.
func TestPredicts(t *testing.T) {
	m, err := local.New(game, &minimal.Config{Size: 30, Coins: 9}, local.Options{
		Bots: []lockstep.Bot{walker, nil}, Client: player.Options{Predict: 4, Interpolate: true, CheckRender: true},
		Handle: func(e any) {
			if d, ok := e.(player.Desynced); ok {
				t.Errorf("desynced: %+v", d)
			}
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	for i := range lockstep.Time(10) {
		play(t, m, i*lockstep.Second, lockstep.Second)
		if _, err := m.Client().Submit(&minimal.Go{X: uint16(i), Y: 3}); err != nil {
			t.Fatal(err)
		}
	}
	if n := m.Host().Stats(); n.Reports < 5 || n.Desyncs > 0 {
		t.Errorf("got %d checksums and %d desyncs, want some and none", n.Reports, n.Desyncs)
	}
}

type fullDisk struct{}

func (fullDisk) Append([]byte) error { return testgame.ErrDisk }

// A log that fails ends the match with its error. A wrong configuration gives no match.
func TestErrors(t *testing.T) {
	m, err := local.New(game, &minimal.Config{Size: 9}, local.Options{Log: fullDisk{}})
	if err != nil {
		t.Fatal(err)
	}
	if err := m.Advance(0); !errors.Is(err, testgame.ErrDisk) {
		t.Errorf("got %v, want %v", err, testgame.ErrDisk)
	}
	if err := m.Advance(lockstep.Second); err == nil {
		t.Error("the match goes on without its log")
	}
	if _, err := local.New(game, &minimal.Config{}, local.Options{}); err == nil {
		t.Error("a map without a size was accepted")
	}
	if _, err := local.New(game, &minimal.Config{Size: 9}, local.Options{Settings: lockstep.DefaultSettings(1), Bots: []lockstep.Bot{nil, walker}}); err == nil {
		t.Error("two seats of one were accepted")
	}
}
