package desync_test

import (
	"bytes"
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/seed-49bee653/samestep/desync"
	"github.com/seed-49bee653/samestep/examples/skirmish"
	"github.com/seed-49bee653/samestep/internal/testing/testenv"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/coordinator"
	"github.com/seed-49bee653/samestep/lockstep/host"
	"github.com/seed-49bee653/samestep/lockstep/record"
	"github.com/seed-49bee653/samestep/replay"
)

func TestMain(m *testing.M) {
	testenv.SmallHeaps()
	m.Run()
}

const (
	seats     = 3
	victim    = lockstep.Player(2) // its copy goes wrong
	faultTick = lockstep.Tick(150)
)

// A fault replaces Step in one copy, from faultTick on until it returns true.
type fault func(w *skirmish.World, t *lockstep.Turn, step func(*skirmish.World, *lockstep.Turn)) (done bool)

// rules returns the game's rules with a fault in them.
func (f fault) rules() lockstep.Rules[skirmish.World, skirmish.Config] {
	rules := skirmish.Rules()
	if f == nil {
		return rules
	}
	right, done := rules.Step, false
	rules.Step = func(w *skirmish.World, config *skirmish.Config, t *lockstep.Turn) {
		if done || t.Tick < faultTick {
			right(w, config, t)
			return
		}
		done = f(w, t, func(w *skirmish.World, t *lockstep.Turn) { right(w, config, t) })
	}
	return rules
}

var trueGame = sync.OnceValue(func() *lockstep.Game { return lockstep.MustGame(skirmish.Rules()) })

// findGame is the Options.Game of a program that knows one game.
func findGame(h *lockstep.Header) (*lockstep.Game, error) {
	return trueGame(), trueGame().CheckIdentity(h)
}

// withGame returns options with the game. In the small form, the time is enough to find the faults of these tests, but not to
// try all others that could lead to the same states, which takes five times as long.
func withGame(t testing.TB) desync.Options {
	o := desync.Options{Game: findGame}
	if testenv.Small(t) {
		o.Budget = 120 * time.Millisecond
	}
	return o
}

// A table is a match of bots in which one copy, or the referee, goes wrong.
type table struct {
	game      *lockstep.Game // the referee's and the others'
	header    *lockstep.Header
	log       bytes.Buffer
	writer    *replay.Writer
	match     *coordinator.Coordinator
	copies    []*lockstep.Follower // of the players; those that compute the same are one
	followers []*lockstep.Follower // each copy once
	bots      []*skirmish.Bot
	sequence  []lockstep.Sequence
	report    *coordinator.DesyncReport
	everyTick bool                                                        // the bundle has the states of all ticks, not only of the checks
	orders    func(lockstep.Tick, func(p lockstep.Player, values ...any)) // given in addition to those of the bots
}

// newTable begins a match with a fault in the victim's copy or in the referee.
func newTable(tb testing.TB, f fault, inReferee bool) *table {
	return newTableOf(tb, f, inReferee, victim, 1, 100)
}

// newTableOf begins a match with a seed, and a fault in the copy of a player or in the referee. Its log has a keyframe
// every keyframeEvery ticks.
func newTableOf(tb testing.TB, f fault, inReferee bool, victim lockstep.Player, seed uint64, keyframeEvery lockstep.Tick) *table {
	tb.Helper()
	return newTableWith(tb, lockstep.MustGame(f.rules()), inReferee, victim, seed, keyframeEvery)
}

// newTableWith begins a match in which the victim or the referee has another game.
func newTableWith(tb testing.TB, faulty *lockstep.Game, inReferee bool, victim lockstep.Player, seed uint64, keyframeEvery lockstep.Tick) *table {
	tb.Helper()
	return newTableOfSeats(tb, seats, "", faulty, inReferee, victim, seed, keyframeEvery)
}

// newTableOfSeats is newTableWith with another number of players, and sources of the recorder.
func newTableOfSeats(tb testing.TB, seats uint8, sources string, faulty *lockstep.Game, inReferee bool, victim lockstep.Player, seed uint64, keyframeEvery lockstep.Tick) *table {
	tb.Helper()
	x := &table{game: trueGame(), sequence: make([]lockstep.Sequence, seats)}
	settings := lockstep.DefaultSettings(seats)
	settings.Seed, settings.KeyframeEvery = seed, uint32(keyframeEvery)
	config := skirmish.Defaults(seats, 100)
	var err error
	if x.header, err = x.game.NewHeader(lockstep.MatchID{7}, settings, &config); err != nil {
		tb.Fatal(err)
	}
	x.header.Platform, x.header.Sources = "plan9/amd64", sources
	history := lockstep.FollowerOptions{History: lockstep.HistoryOptions{Length: 64, EveryTick: true, States: true}}
	healthy := x.game.NewFollower(history)
	x.followers = append(x.followers, healthy)
	for p := range lockstep.Player(seats) {
		f := healthy
		if p == victim && !inReferee {
			f = faulty.NewFollower(history)
			x.followers = append(x.followers, f)
		}
		x.copies = append(x.copies, f)
		x.bots = append(x.bots, skirmish.NewBot(p, seed+2))
	}
	x.writer = replay.NewWriter(&x.log, replay.WriterOptions{})
	referee := x.game
	if inReferee {
		referee = faulty
	}
	x.match, err = coordinator.New(referee, x.header, record.Tee(x.writer, x), coordinator.Options{InputDelay: 2, Referee: history})
	if err != nil {
		tb.Fatal(err)
	}
	for p := range x.copies {
		if _, err := x.match.Join(lockstep.Player(p)); err != nil {
			tb.Fatal(err)
		}
	}
	return x
}

// Append gives a record to every copy.
func (x *table) Append(record []byte) error {
	for _, f := range x.followers {
		var desync *lockstep.DesyncError
		if err := f.Append(record); err != nil && !errors.As(err, &desync) {
			return err
		}
	}
	return nil
}

// play runs ticks until a desync is reported, or to tick end.
func (x *table) play(tb testing.TB, end lockstep.Tick) {
	tb.Helper()
	for x.report == nil && x.match.Now() < end {
		if _, err := x.match.Tick(); err != nil {
			tb.Fatal(err)
		}
		t := x.match.Now()
		for p, f := range x.copies {
			if t%lockstep.Tick(x.header.Settings.CheckEvery) == 0 {
				sum, _ := f.Sum(t)
				if err := x.match.Report(lockstep.Player(p), t, sum); err != nil {
					tb.Fatal(err)
				}
				if reports := x.match.Desyncs(); x.report == nil && len(reports) > 0 {
					x.report = reports[0]
				}
			}
			for _, o := range x.bots[p].Think(lockstep.World[skirmish.World](f.Simulation())) {
				x.submit(tb, lockstep.Player(p), o.Value)
			}
		}
		if x.orders != nil {
			x.orders(t, func(p lockstep.Player, values ...any) {
				for _, v := range values {
					x.submit(tb, p, v)
				}
			})
		}
	}
}

func (x *table) submit(tb testing.TB, p lockstep.Player, value any) {
	tb.Helper()
	kind, payload, err := x.game.NewPayloads().Encode(value)
	if err != nil {
		tb.Fatal(err)
	}
	x.sequence[p]++
	x.match.Submit(p, x.sequence[p], kind, payload)
}

// bundle returns the bundle of the desync.
func (x *table) bundle(tb testing.TB) []byte {
	tb.Helper()
	if x.report == nil {
		tb.Fatal("there was no desync")
	}
	r := x.report
	e := &host.Evidence{Report: *r}
	for p, platform := range []string{"linux/amd64", "linux/amd64", "js/wasm"}[:len(x.copies)] {
		e.Participants = append(e.Participants, host.Participant{Player: lockstep.Player(p), Name: string(rune('a' + p)), Build: x.header.Build, Platform: platform})
	}
	for t := r.Agreed; t <= r.Tick; t++ {
		if t == r.Agreed || t == r.Tick || x.everyTick {
			e.Exhibits = append(e.Exhibits, host.Exhibit{
				Tick: t, Referee: slices.Clone(x.match.Referee().State(t)), Player: slices.Clone(x.copies[r.Player].State(t)),
			})
		}
	}
	if err := x.writer.Flush(); err != nil {
		tb.Fatal(err)
	}
	var archive bytes.Buffer
	if err := replay.WriteBundle(&archive, x.header, e, bytes.NewReader(x.log.Bytes())); err != nil {
		tb.Fatal(err)
	}
	return archive.Bytes()
}

func open(tb testing.TB, archive []byte) *replay.Bundle {
	tb.Helper()
	b, err := replay.OpenBundle(bytes.NewReader(archive), int64(len(archive)))
	if err != nil {
		tb.Fatal(err)
	}
	return b
}

// explained plays a match with a fault and explains its bundle.
func explained(tb testing.TB, f fault, o desync.Options) *desync.Explanation {
	tb.Helper()
	x := newTable(tb, f, false)
	x.play(tb, 400)
	e, err := desync.Explain(open(tb, x.bundle(tb)), o)
	if err != nil {
		tb.Fatal(err)
	}
	return e
}
