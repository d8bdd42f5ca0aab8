package bisect_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/seed-49bee653/samestep/desync/bisect"
	"github.com/seed-49bee653/samestep/internal/testing/dots"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/replay"
)

// examplePair returns two replays of one match. The recorder of the second replay has a dot in another place from tick
// 33 on.
func examplePair() (game *lockstep.Game, a, b *replay.Reader) {
	game, file := dots.Short()
	other := dots.Other(file)
	a, _ = replay.NewReader(bytes.NewReader(file), int64(len(file)))
	b, _ = replay.NewReader(bytes.NewReader(other), int64(len(other)))
	return game, a, b
}

// Two recorders of one match have different checksums. Replays finds the first wrong tick and its field.
func ExampleReplays() {
	game, a, b := examplePair()
	var options bisect.Options
	var found *bisect.Bisection
	found, err := bisect.Replays(a, b, game, options)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("equal at tick %d, not at tick %d; wrong: %s, in %s\n", found.Agreed, found.Tick, found.Cause, found.Section)
	for _, line := range found.Fields.Lines(5) {
		fmt.Printf("tick %d: %s\n", found.FieldsTick, line)
	}
	var origin bisect.Origin = bisect.OriginB
	fmt.Println(found.Cause == origin)
	// Output:
	// equal at tick 20, not at tick 40; wrong: b, in Dots
	// tick 40: Dots[2].Pos.X 0 → 1
	// true
}

// Reports compares a player's reports with the replay.
func ExampleReports() {
	game, a, b := examplePair()
	reports, err := bisect.PlayerReports(b, 0)
	if err != nil {
		fmt.Println(err)
		return
	}
	var first bisect.Report = reports[0]
	fmt.Println(len(reports), "reports, the first of tick", first.Tick)
	found, err := bisect.Reports(a, reports, game, bisect.Options{})
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
	var c *bisect.Comparison
	c, err := bisect.Compare(a, b)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("same:", c.Same())
	var frame *bisect.FrameDifference = c.Frame
	fmt.Println("the commands differ:", frame != nil)
	var sum *bisect.ChecksumDifference = c.Checksum
	fmt.Printf("%d of %d checksums differ, the first of tick %d\n", c.Differed, c.Compared, sum.Tick)
	var side bisect.Side = c.B
	fmt.Println(side.Ticks, "ticks, ended:", side.Reason)
	// Output:
	// same: false
	// the commands differ: false
	// 4 of 6 checksums differ, the first of tick 40
	// 100 ticks, ended: time is up
}

// bisectFiles is samestep replay bisect for one game.
func bisectFiles(path, other string, game *lockstep.Game, w io.Writer) error {
	a, err := replay.Open(path)
	if err != nil {
		return err
	}
	defer a.Close()
	b, err := replay.Open(other)
	if err != nil {
		return err
	}
	defer b.Close()
	found, err := bisect.Files(a, b, replay.Games{game}, bisect.Options{})
	return errors.Join(err, found.WriteText(w))
}

func ExampleFiles() {
	game, a := dots.Short()
	dir, err := os.MkdirTemp("", "samestep-example-*")
	for name, content := range map[string][]byte{"a.ssr": a, "b.ssr": dots.Other(a)} {
		err = errors.Join(err, os.WriteFile(filepath.Join(dir, name), content, 0o600))
	}
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	fmt.Println("error:", bisectFiles(filepath.Join(dir, "a.ssr"), filepath.Join(dir, "b.ssr"), game, os.Stdout))
	// Output:
	// searched   40 ticks simulated
	// diverged   after tick 20, at tick 40 at the latest
	// section    Dots
	// state      tick 40: 1 field differs in 1 place, found by trying values until the
	//              checksum matched
	//            Dots[2].Pos.X 0 → 1
	// verdict    B is wrong: the game computes the same as A
	// error: <nil>
}

// ReadReports reads what a player's machine has written, line by line.
func ExampleReadReports() {
	reports, err := bisect.ReadReports(strings.NewReader(`{"t":20,"p":1,"sum":"0123456789abcdef"}`), nil)
	fmt.Println(len(reports), err)
	_, err = bisect.ReadReports(strings.NewReader(`{"t":20,"p":1,"sum":"0123"}`), nil)
	var wrong *bisect.ReportsError
	fmt.Println(errors.As(err, &wrong), wrong)
	// Output:
	// 1 <nil>
	// true line 1: checksum: want 16 lower-case hexadecimal digits, got 4 bytes
}

// DescribeFrame describes the commands in which two recordings differ.
func ExampleDescribeFrame() {
	game := lockstep.MustGame(dots.Rules())
	header, err := game.NewHeader(lockstep.MatchID{1}, lockstep.DefaultSettings(2), &dots.Config{Count: 3})
	if err != nil {
		panic(err)
	}
	words, err := lockstep.NewDescriber(header, game)
	if err != nil {
		panic(err)
	}
	kind, payload, err := game.NewPayloads().Encode(&dots.Walk{X: 5})
	if err != nil {
		panic(err)
	}
	f := &bisect.FrameDifference{Tick: 7, B: []lockstep.Command{{Tick: 7, Player: 1, Sequence: 3, Kind: kind, Payload: payload}}}
	var text *bisect.FrameText = bisect.DescribeFrame(f, words, words, 10)
	for _, line := range text.Lines() {
		fmt.Println(line)
	}
	// Output:
	// first differ in tick 7
	// A  none
	// B  #3 player 1: walk {"Dot":0,"X":5,"Y":0}
}
