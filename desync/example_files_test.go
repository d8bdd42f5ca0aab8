package desync_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/seed-49bee653/samestep/desync"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/replay"
)

// exampleFiles writes a match of dots (a.ssr), the same recorded by a wrong machine (b.ssr), and a bundle of the game
// chest (chest.zip) into a folder.
func exampleFiles() (dots *lockstep.Game, dir string) {
	game, a := exampleFile()
	dir, err := os.MkdirTemp("", "samestep-example-*")
	for name, content := range map[string][]byte{"a.ssr": a, "b.ssr": exampleOther(a), "chest.zip": chestArchive()} {
		err = errors.Join(err, os.WriteFile(filepath.Join(dir, name), content, 0o600))
	}
	if err != nil {
		panic(err)
	}
	return game, dir
}

// verifyFile is samestep replay verify for one game.
func verifyFile(path string, game *lockstep.Game, w io.Writer) error {
	f, err := replay.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	found, err := desync.Verify(f, replay.Games{game}, replay.VerifyOptions{})
	return errors.Join(err, found.WriteText(w))
}

// A program of your own verifies a replay, or the replay in a bundle, like samestep replay verify.
func ExampleVerify() {
	game, dir := exampleFiles()
	defer os.RemoveAll(dir)
	for _, name := range []string{"a.ssr", "b.ssr"} {
		var text bytes.Buffer
		err := verifyFile(filepath.Join(dir, name), game, &text)
		before, _, _ := strings.Cut(text.String(), "(on ") // this machine
		fmt.Println(strings.TrimSpace(before))
		fmt.Println("error:", err)
	}
	// Output:
	// simulated  100 ticks with 2 commands
	// compared   6 checksums: 6 equal, 0 differ
	// verdict    true: every checksum is that of the simulation
	// error: <nil>
	// simulated  40 ticks with 1 command
	// compared   3 checksums: 2 equal, 1 differ
	// wrong      this build or the file at tick 40; later checks were not verified
	// verdict    DESYNC, first at tick 40: this build
	// error: lockstep: desync at tick 40: got checksum 0c773147946cca14, want 69ab976f85dd6c19
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
	found, err := desync.BisectFiles(a, b, replay.Games{game}, desync.BisectOptions{})
	return errors.Join(err, found.WriteText(w))
}

func ExampleBisectFiles() {
	game, dir := exampleFiles()
	defer os.RemoveAll(dir)
	fmt.Println("error:", bisectFiles(filepath.Join(dir, "a.ssr"), filepath.Join(dir, "b.ssr"), game, os.Stdout))
	// Output:
	// searched   40 ticks simulated
	// diverged   after tick 20, at tick 40 at the latest
	// section    Dots
	// state      tick 40: 1 field differs in 1 place, found by trying values until the
	//              checksum matched
	//            Dots[2].Pos.X 0 → 1
	// verdict    B is wrong: the game gives the same as A
	// error: <nil>
}

// explainFile is samestep desync explain for one game.
func explainFile(path string, game *lockstep.Game, w io.Writer) error {
	f, err := replay.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	found, err := desync.Explain(f.Bundle(), desync.Options{Game: replay.Games{game}.Of})
	if err != nil {
		return err
	}
	return found.WriteText(w)
}

func ExampleExplain_file() {
	_, dir := exampleFiles()
	defer os.RemoveAll(dir)
	var text bytes.Buffer
	fmt.Println("error:", explainFile(filepath.Join(dir, "chest.zip"), chestGame(pay), &text))
	fmt.Println(bytes.Count(text.Bytes(), []byte("\n")), "lines, with the verdict:", bytes.Contains(text.Bytes(), []byte("\nverdict    THE PLAYER: ")))
	// Output:
	// error: <nil>
	// 35 lines, with the verdict: true
}

// A Verification has the facts of package replay and the verdict of this one.
func ExampleVerification() {
	game, dir := exampleFiles()
	defer os.RemoveAll(dir)
	f, err := replay.Open(filepath.Join(dir, "b.ssr"))
	if err != nil {
		panic(err)
	}
	defer f.Close()
	var v *desync.Verification
	v, err = desync.Verify(f, replay.Games{game}, replay.VerifyOptions{KeepGoing: true})
	var who desync.Reported = v.Reported // no player has reported another checksum
	fmt.Println(err != nil, v.Err == err, v.Ticks, v.Checked, v.Differed, v.Verdict.Party, len(who.Groups))
	// Output: true true 100 6 4 build 0
}

// ReadReports reads what a player's machine has written, line by line.
func ExampleReadReports() {
	reports, err := desync.ReadReports(strings.NewReader(`{"t":20,"p":1,"sum":"0123456789abcdef"}`), nil)
	fmt.Println(len(reports), err)
	_, err = desync.ReadReports(strings.NewReader(`{"t":20,"p":1,"sum":"0123"}`), nil)
	var wrong *desync.ReportsError
	fmt.Println(errors.As(err, &wrong), wrong)
	// Output:
	// 1 <nil>
	// true line 1: checksum: want 16 lower-case hexadecimal digits, got 4 bytes
}

// DescribeFrame describes the commands in which two recordings differ.
func ExampleDescribeFrame() {
	game := chestGame(pay)
	header, err := game.NewHeader(lockstep.MatchID{1}, lockstep.DefaultSettings(2), &struct{}{})
	if err != nil {
		panic(err)
	}
	words, err := lockstep.NewDescriber(header, game)
	if err != nil {
		panic(err)
	}
	kind, payload, err := game.NewPayloads().Encode(&give{Gold: 5})
	if err != nil {
		panic(err)
	}
	f := &desync.FrameDifference{Tick: 7, B: []lockstep.Command{{Tick: 7, Player: 1, Sequence: 3, Kind: kind, Payload: payload}}}
	var text *desync.FrameText = desync.DescribeFrame(f, words, words, 10)
	for _, line := range text.Lines() {
		fmt.Println(line)
	}
	// Output:
	// first differ in tick 7
	// A  none
	// B  #3 player 1: give {"Gold":5}
}
