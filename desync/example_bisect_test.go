package desync_test

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"github.com/seed-49bee653/samestep/desync"
	"github.com/seed-49bee653/samestep/internal/testing/dots"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/coordinator"
	"github.com/seed-49bee653/samestep/lockstep/record"
	"github.com/seed-49bee653/samestep/replay"
)

// exampleFile returns the replay of a match of dots, with one command.
func exampleFile() (*lockstep.Game, []byte) {
	game := lockstep.MustGame(dots.Rules())
	settings := lockstep.DefaultSettings(2)
	settings.Seed = 1
	header, err := game.NewHeader(lockstep.MatchID{1}, settings, &dots.Config{Count: 3})
	if err != nil {
		panic(err)
	}
	var file bytes.Buffer
	w := replay.NewWriter(&file, replay.WriterOptions{})
	match, err := coordinator.New(game, header, w, coordinator.Options{})
	if err != nil {
		panic(err)
	}
	match.Join(0)
	kind, payload, _ := game.NewPayloads().Encode(&dots.Walk{Dot: 1, X: 2, Y: 3})
	for t := range 100 {
		if t == 50 {
			match.Submit(0, 1, kind, payload)
		}
		match.Tick()
	}
	match.End("time is up")
	if err := w.Close(); err != nil {
		panic(err)
	}
	return game, file.Bytes()
}

// examplePair returns two replays of one match. The recorder of the second replay has a dot in another place from tick
// 33 on.
func examplePair() (game *lockstep.Game, a, b *replay.Reader) {
	game, file := exampleFile()
	other := exampleOther(file)
	a, _ = replay.NewReader(bytes.NewReader(file), int64(len(file)))
	b, _ = replay.NewReader(bytes.NewReader(other), int64(len(other)))
	return game, a, b
}

// exampleOther returns the second replay for the first one.
func exampleOther(file []byte) []byte {
	rules := dots.Rules()
	step := rules.Step
	rules.Step = func(w *dots.State, config *dots.Config, t *lockstep.Turn) {
		if step(w, config, t); t.Tick == 33 {
			w.Dots[2].Pos.X += 1 << 32
		}
	}
	f := lockstep.MustGame(rules).NewFollower(lockstep.FollowerOptions{})
	var other bytes.Buffer
	var enc record.Encoder
	w := replay.NewWriter(&other, replay.WriterOptions{})
	r, err := replay.NewReader(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		panic(err)
	}
	err = replay.Play(r, nil, func(rec *record.Record) error {
		if err := f.Apply(rec); err != nil && !errors.As(err, new(*lockstep.DesyncError)) {
			return err
		}
		if rec.Kind == record.KindChecksum {
			rec.Hash = f.Simulation().Hash()
		}
		return w.Append(enc.Record(rec))
	})
	if err = errors.Join(err, w.Close()); err != nil {
		panic(err)
	}
	return other.Bytes()
}

// Two recorders of one match have different checksums. Bisect finds the first wrong tick and its field.
func ExampleBisect() {
	game, a, b := examplePair()
	var options desync.BisectOptions
	var found *desync.Bisection
	found, err := desync.Bisect(a, b, game, options)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("equal at tick %d, not at tick %d; wrong: %s, in %s\n", found.Agreed, found.Tick, found.Cause, found.Section)
	for _, line := range found.Fields.Lines(5) {
		fmt.Printf("tick %d: %s\n", found.FieldsTick, line)
	}
	var origin desync.Origin = desync.OriginB
	fmt.Println(found.Cause == origin)
	// Output:
	// equal at tick 20, not at tick 40; wrong: b, in Dots
	// tick 40: Dots[2].Pos.X 0 → 1
	// true
}

// Two states are compared in the order of cause, if it is known how the match came to them.
func ExamplePast() {
	game, a, b := examplePair()
	x, err := replay.StateAt(a, game, 33, replay.SimulateOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}
	wrong := bytes.Clone(x.State)
	v, err := game.StateSchema().Lookup(wrong, "Dots[2].Pos.X")
	if err != nil || !v.Flip() {
		fmt.Println("no such field", err)
		return
	}
	past := desync.Past{Replay: b, Game: game, Agreed: 20, Tick: 33}
	_, places, err := past.DiffStates(x.State, wrong, desync.Options{})
	fmt.Println(places.Lines(5), err)
	// Output:
	// [Dots[2].Pos.X 0 → 0.0000000002] <nil>
}

// BisectReports compares a player's reports with the replay.
func ExampleBisectReports() {
	game, a, b := examplePair()
	reports, err := desync.PlayerReports(b, 0)
	if err != nil {
		fmt.Println(err)
		return
	}
	var first desync.Report = reports[0]
	fmt.Println(len(reports), "reports, the first of tick", first.Tick)
	found, err := desync.BisectReports(a, reports, game, desync.BisectOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("first differs at tick", found.Tick)
	// Output:
	// 5 reports, the first of tick 20
	// first differs at tick 40
}

// Compare needs no game and simulates nothing.
func ExampleCompare() {
	_, a, b := examplePair()
	var c *desync.Comparison
	c, err := desync.Compare(a, b)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("same:", c.Same())
	var frame *desync.FrameDifference = c.Frame
	fmt.Println("the commands differ:", frame != nil)
	var sum *desync.ChecksumDifference = c.Checksum
	fmt.Printf("%d of %d checksums differ, the first of tick %d\n", c.Differed, c.Compared, sum.Tick)
	var side desync.CompareSide = c.B
	fmt.Println(side.Ticks, "ticks, ended:", side.Reason)
	// Output:
	// same: false
	// the commands differ: false
	// 4 of 6 checksums differ, the first of tick 40
	// 100 ticks, ended: time is up
}

// A replay has the players' checksums. Simulating it shows which are right.
func ExampleAttribute() {
	game, _, b := examplePair()
	facts, err := replay.Verify(b, game, replay.VerifyOptions{KeepGoing: true})
	fmt.Println(err != nil)
	var verdict *desync.Verdict = desync.Attribute(b, game, facts, replay.SimulateOptions{})
	var who desync.Party = verdict.Party
	text, _, _ := strings.Cut(verdict.Text, " (on ") // this machine
	fmt.Println(who, "is wrong:", text)
	var first desync.Blame = verdict.Blames[0]
	fmt.Printf("%s: %d checks, of ticks %d to %d\n", first.Who, first.Checks, first.First, first.Last)
	// Output:
	// true
	// build is wrong: this build
	// build: 4 checks, of ticks 40 to 100
}

// An imported match cannot be simulated, so its reports are compared with each other.
func ExampleCompareReports() {
	_, a, _ := examplePair()
	var m *desync.Imported
	m, err := desync.CompareReports(a)
	var differ []*desync.Differing = m.Differ
	fmt.Println(m.Checks, "checks,", len(differ), "players differ:", err)
	// Output:
	// 5 checks, 0 players differ: <nil>
}
