package replay_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/coordinator"
	"github.com/seed-49bee653/samestep/lockstep/record"
	"github.com/seed-49bee653/samestep/replay"
)

// play plays 100 ticks of the game dots, with one command, into a log.
func play(log lockstep.Log) *lockstep.Game {
	game := lockstep.MustGame(dotsRules())
	settings := lockstep.DefaultSettings(2)
	settings.Seed = 1
	header, err := game.NewHeader(lockstep.MatchID{1}, settings, &dotsConfig{Count: 3})
	if err != nil {
		panic(err)
	}
	header.Platform, header.Sources = "example", ""
	match, err := coordinator.New(game, header, log, coordinator.Options{})
	if err != nil {
		panic(err)
	}
	match.Join(0)
	match.Note(0, record.TopicName, "ada")
	kind, payload, _ := game.NewPayloads().Encode(&walk{Dot: 1, X: 2, Y: 3})
	for t := range 100 {
		if t == 50 {
			match.Submit(0, 1, kind, payload)
		}
		match.Tick()
	}
	match.End("time is up")
	return game
}

// exampleFile returns the replay of play.
func exampleFile() (*lockstep.Game, []byte) {
	var file bytes.Buffer
	w := replay.NewWriter(&file, replay.WriterOptions{})
	game := play(w)
	if err := w.Close(); err != nil {
		panic(err)
	}
	return game, file.Bytes()
}

func ExampleWriter() {
	var file bytes.Buffer // or an *os.File
	w := replay.NewWriter(&file, replay.WriterOptions{FlushTicks: 20})
	play(w) // a Writer is a Log
	if err := w.Close(); err != nil {
		fmt.Println(err)
	}
	fmt.Println(w.Size() == int64(file.Len()))
	fmt.Printf("%q\n", file.Bytes()[:8])
	// Output:
	// true
	// "\x89SSR\r\n\x1a\n"
}

func ExampleReader() {
	_, file := exampleFile()
	r, err := replay.NewReader(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		fmt.Println(err)
		return
	}
	for raw, err := range r.All() {
		if err != nil {
			fmt.Println(err)
			return
		}
		for _, c := range raw.Frame.Commands {
			fmt.Printf("tick %d: a command of player %d\n", raw.Tick, c.Player)
		}
		if raw.Kind == record.KindEnd {
			fmt.Printf("tick %d: %s\n", raw.Tick, raw.Text)
		}
	}
	// Output:
	// tick 1: a command of player 255
	// tick 51: a command of player 0
	// tick 100: time is up
}

// A visitor sees every record after the follower has applied it.
func ExamplePlay() {
	game, file := exampleFile()
	r, err := replay.NewReader(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		fmt.Println(err)
		return
	}
	f := game.NewFollower(lockstep.FollowerOptions{})
	err = replay.Play(r, f, func(raw *record.Record) error {
		if raw.Kind == record.KindFrame {
			fmt.Printf("tick %d: dot 1 walks by %v\n", f.Tick(), lockstep.World[dots](f.Simulation()).Dots[1].Step)
		}
		return nil
	})
	fmt.Println(f.Tick(), f.Ended(), err)
	// Output:
	// tick 1: dot 1 walks by {0 0}
	// tick 51: dot 1 walks by {2 3}
	// 100 true <nil>
}

func ExampleVerify() {
	game, file := exampleFile()
	r, err := replay.NewReader(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		fmt.Println(err)
		return
	}
	var verdict *replay.Verification
	verdict, err = replay.Verify(r, game, replay.VerifyOptions{KeepGoing: true})
	fmt.Println(verdict.Ticks, "ticks,", verdict.Checked, "checked,", verdict.Differed, "differ:", err)
	// Output: 100 ticks, 6 checked, 0 differ: <nil>
}

func ExampleReadInfo() {
	_, file := exampleFile()
	r, err := replay.NewReader(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		fmt.Println(err)
		return
	}
	var info *replay.Info
	if info, err = replay.ReadInfo(r); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%s on %s: %d ticks, ended: %s\n", info.Header.Game, info.Header.Platform, info.Ticks, info.Reason)
	var first replay.Keyframe = info.Keyframes[0]
	fmt.Printf("keyframe of tick %d: %d bytes\n", first.Tick, first.SizeBytes)
	var player replay.PlayerInfo = info.Players[0]
	fmt.Printf("%s: %d command of %d bytes\n", info.Names[player.Player], player.Commands, player.Bytes)
	// Output:
	// dots on example: 100 ticks, ended: time is up
	// keyframe of tick 0: 116 bytes
	// ada: 1 command of 3 bytes
}

// A program of your own describes a file like samestep replay info.
func ExampleOpen() {
	_, bytes := exampleFile()
	path := filepath.Join(os.TempDir(), "samestep-example.ssr")
	os.WriteFile(path, bytes, 0o600)
	defer os.Remove(path)

	var f *replay.File
	f, err := replay.Open(path)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer f.Close()
	info, err := f.Info()
	if err != nil {
		fmt.Println(err)
		return
	}
	info.WriteText(os.Stdout)
	// Output:
	// game              "dots", build "1"
	// match             01000000000000000000000000000000, recorded on "example"
	// settings          seed 1, 2 seats, 20 ticks/s, a checksum every 20 ticks, a keyframe every 1,200 ticks
	// length            100 ticks, 5.0 s
	// commands          2 commands in 2 frames
	//   player 0 "ada"  1 command, 3 B of payload
	//   system          1 command, 1 B of payload
	// checksums         5 agreed, 0 mismatching ones of players
	// keyframes         1, 116 B
	// size              651 B, 5.35 bytes per tick without keyframes
	// content           1525178bbedbdff1e9500ddde8709c98344efa497b99669af55d60df89c56898
	// end               "time is up"
}

// A program can have several games, or builds of one.
func ExampleGames() {
	game, file := exampleFile()
	r, err := replay.NewReader(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		fmt.Println(err)
		return
	}
	first, err := r.Next()
	if err != nil {
		fmt.Println(err)
		return
	}
	found, err := replay.Games{game}.Of(first.Header)
	fmt.Println(found.Name(), err)
	_, err = replay.Games{}.Of(first.Header)
	fmt.Println(err)
	fmt.Println("imported:", first.Header.Engine == replay.ForeignEngine)
	if r, err = r.Reopen(); err != nil {
		fmt.Println(err)
		return
	}
	info, err := replay.ReadInfo(r)
	var recording *replay.RecordingInfo = info.Recording
	fmt.Println("a recording:", recording != nil, err)
	// Output:
	// dots <nil>
	// lockstep: other game: got dots, want none; use a program with game "dots", build "1", state schema 79f36dd0a2cfb5bd: its own, or a module of its rules
	// imported: false
	// a recording: false <nil>
}

func ExamplePartHash() {
	_, file := exampleFile()
	r, err := replay.NewReader(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		fmt.Println(err)
		return
	}
	hash, tick, err := replay.HashContent(r, 60)
	var part replay.PartHash = replay.PartHash{Tick: tick, ContentHash: hash}
	fmt.Println(part.Tick, part.ContentHash.String()[:16], err)
	// Output: 60 1460e47d25cbde71 <nil>
}

func ExampleDamageError() {
	game, file := exampleFile()
	file = file[:len(file)-1] // cut short
	r, err := replay.NewReader(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		fmt.Println(err)
		return
	}
	verdict, err := replay.Verify(r, game, replay.VerifyOptions{})
	var damage *replay.DamageError
	if errors.As(err, &damage) {
		fmt.Println("true up to tick", verdict.Ticks)
		fmt.Println(damage.Tick, damage.Next, damage.Err)
	}
	// Output:
	// true up to tick 100
	// 100 0 the file ends inside a block: unexpected EOF
}

func ExampleCut() {
	_, file := exampleFile()
	r, err := replay.NewReader(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		fmt.Println(err)
		return
	}
	var sealed bytes.Buffer
	w := replay.NewWriter(&sealed, replay.WriterOptions{SegmentTicks: 600, Level: replay.LevelBest})
	if err := replay.Cut(w, r, replay.WholeMatch); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(sealed.Len() < len(file))
	// Output: true
}

func ExampleReader_Seek() {
	_, file := exampleFile()
	r, err := replay.NewReader(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		fmt.Println(err)
		return
	}
	at, err := r.Seek(70)
	fmt.Println("keyframe of tick", at, err)
	for range 2 {
		rec, err := r.Next()
		fmt.Println(rec.Kind == record.KindHeader, rec.Kind == record.KindKeyframe, rec.Tick, err)
	}
	// Output:
	// keyframe of tick 0 <nil>
	// true false 0 <nil>
	// false true 0 <nil>
}

// Programs use the class; people read the error.
func ExampleClassOf() {
	_, file := exampleFile()
	newer := bytes.Clone(file)
	newer[8] = 2 // the version
	for _, b := range [][]byte{file, file[:len(file)-1], newer} {
		r, err := replay.NewReader(bytes.NewReader(b), int64(len(b)))
		if err == nil {
			err = replay.Play(r, nil, nil)
		}
		var class replay.Class = replay.ClassOf(err)
		fmt.Println(class, class == replay.ClassOK)
	}
	// Output:
	// ok true
	// torn false
	// unsupported false
}

func ExampleStateAt() {
	game, file := exampleFile()
	a, err := replay.NewReader(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		fmt.Println(err)
		return
	}
	options := replay.SimulateOptions{MaxTicks: 1000}
	var m *replay.Moment
	m, err = replay.StateAt(a, game, 70, options)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(len(m.State), "bytes after tick", m.Tick, "from keyframe", m.Keyframe)
	if err := m.Show(""); err != nil {
		fmt.Println(err)
	}
	var first replay.Field = m.Fields[0]
	fmt.Println(first.Path, first.Value)

	_, err = replay.StateAt(a, game, 101, options)
	var missing *replay.TickError
	fmt.Println(errors.As(err, &missing), missing)
	// Output:
	// 116 bytes after tick 70 from keyframe 0
	// Rand.Hi 2973463680071343696
	// true replay: tick 101: the replay has ticks 0 to 100
}

// A cursor gives the state of each tick, here until the dots stand still.
func ExampleCursor() {
	game, file := exampleFile()
	r, err := replay.NewReader(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		fmt.Println(err)
		return
	}
	var c *replay.Cursor
	c, err = replay.NewCursor(r, game, 49)
	if err != nil {
		panic(err)
	}
	c.Compare()
	frame, err := c.Frame()
	fmt.Println("next is tick", frame.Tick, "with commands:", len(frame.Commands))
	for err == nil {
		before := c.Simulation().Hash()
		if err = c.Step(); err == nil && c.Simulation().Hash() != before && c.Tick() == 52 {
			fmt.Println("the state changes in tick", c.Tick())
			break
		}
	}
	fmt.Println(err, r.CheckTicks(c.Tick(), 10) != nil, c.Agreed())
	// Output:
	// next is tick 1 with commands: 1
	// the state changes in tick 52
	// <nil> true 40
}

// A file whose records end may still be that of a match that a server resumes. A sealed one is not.
func ExampleReader_Finished() {
	for _, options := range []replay.WriterOptions{{}, {SegmentTicks: 40}} {
		var file bytes.Buffer
		w := replay.NewWriter(&file, options)
		play(w)
		if err := w.Close(); err != nil {
			panic(err)
		}
		r, err := replay.NewReader(bytes.NewReader(file.Bytes()), int64(file.Len()))
		for err == nil {
			_, err = r.Next()
		}
		fmt.Println(r.Finished(), err)
	}
	// Output:
	// false EOF
	// true EOF
}
