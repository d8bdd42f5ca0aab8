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
	"github.com/seed-49bee653/samestep/internal/testing/dots"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/replay"
)

// exampleFiles writes a match of dots (a.ssr), the same recorded by a wrong machine (b.ssr), and a bundle of the game
// chest (chest.zip) into a folder.
func exampleFiles() (game *lockstep.Game, dir string) {
	game, a := dots.Short()
	dir, err := os.MkdirTemp("", "samestep-example-*")
	for name, content := range map[string][]byte{"a.ssr": a, "b.ssr": dots.Other(a), "chest.zip": chestArchive()} {
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

// examplePair returns two replays of one match. The recorder of the second replay has a dot in another place from tick
// 33 on.
func examplePair() (game *lockstep.Game, a, b *replay.Reader) {
	game, file := dots.Short()
	other := dots.Other(file)
	a, _ = replay.NewReader(bytes.NewReader(file), int64(len(file)))
	b, _ = replay.NewReader(bytes.NewReader(other), int64(len(other)))
	return game, a, b
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
