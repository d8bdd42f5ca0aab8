package replay_test

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/replay"
)

// examplePair returns two replays of one match. The recorder of the second one
// has a dot in another place from tick 33 on.
func examplePair() (game *lockstep.Game, a, b *replay.Reader) {
	game, file := exampleFile()
	rules := dotsRules()
	step := rules.Step
	rules.Step = func(w *dots, t *lockstep.Turn) {
		if step(w, t); t.Tick == 33 {
			w.Dots[2].Pos.X += 1 << 32
		}
	}
	f := lockstep.MustGame(rules).NewFollower(lockstep.FollowerOptions{})
	var other bytes.Buffer
	var enc lockstep.Encoder
	w := replay.NewWriter(&other, replay.WriterOptions{})
	r, err := replay.NewReader(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		panic(err)
	}
	err = replay.Play(r, nil, func(rec *lockstep.Record) error {
		if err := f.Apply(rec); err != nil && !errors.As(err, new(*lockstep.DesyncError)) {
			return err
		}
		if rec.Kind == lockstep.RecordChecksum {
			rec.Root = f.Simulation().Root()
		}
		return w.Append(enc.Record(rec))
	})
	if err = errors.Join(err, w.Close()); err != nil {
		panic(err)
	}
	a, _ = replay.NewReader(bytes.NewReader(file), int64(len(file)))
	b, _ = replay.NewReader(bytes.NewReader(other.Bytes()), int64(other.Len()))
	return game, a, b
}

// Two recorders of one match have different checksums: since when, and why?
func ExampleBisect() {
	game, a, b := examplePair()
	var options replay.BisectOptions
	var found *replay.Bisection
	found, err := replay.Bisect(a, b, game, options)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("equal at tick %d, not at tick %d; wrong: %s, in %s\n", found.Agreed, found.Tick, found.Cause, found.Section)
	for _, line := range found.Fields.Lines(5) {
		fmt.Printf("tick %d: %s\n", found.FieldsTick, line)
	}
	var cause replay.Cause = replay.WrongB
	fmt.Println(found.Cause == cause)
	// Output:
	// equal at tick 20, not at tick 40; wrong: b, in Dots
	// tick 40: Dots[2].Pos.X 0 → 1
	// true
}

// What a player reported is compared with the replay.
func ExampleBisectReports() {
	game, a, b := examplePair()
	reports, err := replay.PlayerReports(b, 0)
	if err != nil {
		fmt.Println(err)
		return
	}
	var first replay.Report = reports[0]
	fmt.Println(len(reports), "reports, the first of tick", first.Tick)
	found, err := replay.BisectReports(a, reports, game, replay.BisectOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("first differs at tick", found.Tick)
	// Output:
	// 5 reports, the first of tick 20
	// first differs at tick 40
}

// A comparison needs no game and simulates nothing.
func ExampleCompare() {
	_, a, b := examplePair()
	var c *replay.Comparison
	c, err := replay.Compare(a, b)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("same:", c.Same())
	var frame *replay.FrameDifference = c.Frame
	fmt.Println("the commands differ:", frame != nil)
	var sum *replay.ChecksumDifference = c.Checksum
	fmt.Printf("%d of %d checksums differ, the first of tick %d\n", c.Differed, c.Compared, sum.Tick)
	var side replay.CompareSide = c.B
	fmt.Println(side.Ticks, "ticks, ended:", side.Reason)
	// Output:
	// same: false
	// the commands differ: false
	// 4 of 6 checksums differ, the first of tick 40
	// 100 ticks, ended: time is up
}

func ExampleStateAt() {
	game, a, _ := examplePair()
	options := replay.SimulateOptions{MaxTicks: 1000}
	var m *replay.Moment
	m, err := replay.StateAt(a, game, 70, options)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(len(m.State), "bytes after tick", m.Tick, "from keyframe", m.Keyframe)

	_, err = replay.StateAt(a, game, 101, options)
	var missing *replay.TickError
	fmt.Println(errors.As(err, &missing), missing)
	// Output:
	// 116 bytes after tick 70 from keyframe 0
	// true replay: tick 101: the replay has ticks 0 to 100
}

// A replay says what the players had, and simulating it who was right.
func ExampleBlame() {
	game, _, b := examplePair()
	verdict, err := replay.Verify(b, game, replay.VerifyOptions{KeepGoing: true})
	fmt.Println(err != nil)
	var first replay.Blame = verdict.Blames[0]
	var who replay.Culprit = first.Who
	fmt.Printf("%s: %d checks, of ticks %d to %d\n", who, first.Checks, first.First, first.Last)
	// Output:
	// true
	// build: 4 checks, of ticks 40 to 100
}
