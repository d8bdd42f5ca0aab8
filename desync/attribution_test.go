package desync_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seed-49bee653/samestep/checksum"
	"github.com/seed-49bee653/samestep/desync"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/record"
	"github.com/seed-49bee653/samestep/replay"
)

// hashes returns the checksums of a game by tick.
func hashes(tb testing.TB, file []byte, g *lockstep.Game) map[lockstep.Tick]uint64 {
	tb.Helper()
	all := make(map[lockstep.Tick]uint64)
	f := g.NewFollower(lockstep.FollowerOptions{})
	err := replay.Play(openReplay(tb, file), nil, func(r *record.Record) error {
		if err := f.Apply(r); err != nil && !errors.As(err, new(*lockstep.DesyncError)) {
			return err
		}
		if f.Simulation() != nil {
			all[f.Tick()] = f.Simulation().Hash()
		}
		return nil
	})
	if err != nil {
		tb.Fatal(err)
	}
	return all
}

// testify returns a replay with reports of players after each check.
func testify(tb testing.TB, file []byte, say func(t lockstep.Tick) map[lockstep.Player]uint64) []byte {
	tb.Helper()
	return insert(tb, file, func(r *record.Record) []record.Record {
		if r.Kind != record.KindChecksum {
			return nil
		}
		var all []record.Record
		said := say(r.Tick)
		for p := range lockstep.Player(250) {
			if hash, ok := said[p]; ok {
				all = append(all, record.Record{Kind: record.KindMismatch, Tick: r.Tick, Player: p, Hash: hash})
			}
		}
		return all
	})
}

// system returns a replay with a System command about a player, in the first frame with commands from a tick on.
func system(tb testing.TB, file []byte, from lockstep.Tick, kind lockstep.Kind, p lockstep.Player) []byte {
	sequence, done := lockstep.Sequence(1000+from), false
	return rewrite(tb, file, func(r *record.Record) {
		if r.Kind == record.KindFrame && r.Tick >= from && !done {
			r.Frame.Commands = append(r.Frame.Commands, lockstep.Command{
				Tick: r.Tick, Player: lockstep.System, Sequence: sequence, Kind: kind, Payload: []byte{byte(p)},
			})
			done = true
		} else if r.Kind == record.KindKeyframe && done {
			last := r.Keyframe.Last
			if n := len(last); n > 0 && last[n-1].Player == lockstep.System {
				last = last[:n-1]
			}
			r.Keyframe.Last = append(last, record.LastSequence{Player: lockstep.System, Sequence: sequence})
		}
	})
}

// judged verifies a replay and returns the verdict.
func judged(tb testing.TB, file []byte, g *lockstep.Game, o replay.VerifyOptions) (*desync.Verdict, error) {
	tb.Helper()
	r := openReplay(tb, file)
	v, err := replay.Verify(r, g, o)
	return desync.Attribute(r, g, v, replay.SimulateOptions{}), err
}

func blames(v *desync.Verdict) string {
	var all []string
	for _, b := range v.Blames {
		who := string(b.Who)
		if b.Who == desync.WrongPlayer {
			who = fmt.Sprintf("player %d", b.Player)
		}
		how := "to the end"
		if b.Healed > 0 {
			how = fmt.Sprintf("healed %d", b.Healed)
		}
		if b.Gone > 0 {
			how = fmt.Sprintf("gone %d", b.Gone)
		}
		if b.Open {
			how = "open"
		}
		all = append(all, fmt.Sprintf("%s: %d checks, %d to %d, %s", who, b.Checks, b.First, b.Last, how))
	}
	return strings.Join(all, "; ")
}

// The wrong party in a match of two seats with a check every 10 ticks and a keyframe every 50.
func TestBlame(t *testing.T) {
	g, file, _ := recordMatch(t, 400, replay.WriterOptions{})
	right := hashes(t, file, g)
	change := xor(t, "Dots[1].Pos.X", 3)
	wrong := hashes(t, file, hurt(t, 333, change))
	mistaken := retell(t, file, hurt(t, 333, change)) // by the recorder
	third := hashes(t, file, hurt(t, 333, xor(t, "Dots[2].Pos.X", 3)))
	between := func(tick, from, to lockstep.Tick, p lockstep.Player, hash uint64) map[lockstep.Player]uint64 {
		if tick < from || tick > to {
			return nil
		}
		return map[lockstep.Player]uint64{p: hash}
	}
	keyframe := rewrite(t, file, func(r *record.Record) {
		if r.Kind == record.KindKeyframe && r.Tick == 150 {
			r.Keyframe.Hash++
		}
	})
	for _, test := range []struct {
		name string
		file []byte
		want string // with and without KeepGoing
		stop string // without KeepGoing, if different
	}{
		{"nobody", file, "", ""},
		{"a player, to the end", testify(t, file, func(tick lockstep.Tick) map[lockstep.Player]uint64 {
			return between(tick, 340, 400, 1, wrong[tick])
		}), "player 1: 7 checks, 340 to 400, to the end", ""},
		{"a player, for a while, and another", testify(t, file, func(tick lockstep.Tick) map[lockstep.Player]uint64 {
			if tick == 200 {
				return map[lockstep.Player]uint64{0: 7}
			}
			return between(tick, 340, 370, 1, wrong[tick])
		}), "player 0: 1 checks, 200 to 200, healed 210; player 1: 4 checks, 340 to 370, healed 380", ""},
		{"a player who left", system(t, testify(t, file, func(tick lockstep.Tick) map[lockstep.Player]uint64 {
			return between(tick, 340, 370, 1, wrong[tick])
		}), 371, 2, 1), "player 1: 4 checks, 340 to 370, gone 372", ""},
		{"a player whose connection was lost", system(t, testify(t, file, func(tick lockstep.Tick) map[lockstep.Player]uint64 {
			return between(tick, 340, 370, 1, wrong[tick])
		}), 371, 3, 1), "player 1: 4 checks, 340 to 370, gone 372", ""},
		{"a player who came back", system(t, system(t, testify(t, file, func(tick lockstep.Tick) map[lockstep.Player]uint64 {
			return between(tick, 340, 370, 1, wrong[tick])
		}), 371, 3, 1), 381, 1, 1), "player 1: 4 checks, 340 to 370, healed 390", ""},
		{"a player, and another one left", system(t, testify(t, file, func(tick lockstep.Tick) map[lockstep.Player]uint64 {
			return between(tick, 340, 370, 1, wrong[tick])
		}), 371, 2, 0), "player 1: 4 checks, 340 to 370, healed 380", ""},
		{"the referee", testify(t, mistaken, func(tick lockstep.Tick) map[lockstep.Player]uint64 {
			if tick < 340 {
				return nil
			}
			return map[lockstep.Player]uint64{0: right[tick], 1: right[tick]}
		}), "referee: 7 checks, 340 to 400, to the end", "referee: 1 checks, 340 to 340, open"},
		{"all agreed", mistaken, "build: 7 checks, 340 to 400, to the end", "build: 1 checks, 340 to 340, open"},
		{"half of the players", testify(t, mistaken, func(tick lockstep.Tick) map[lockstep.Player]uint64 {
			return between(tick, 340, 400, 0, right[tick])
		}), "unclear: 7 checks, 340 to 400, to the end", "unclear: 1 checks, 340 to 340, open"},
		{"half of the players, and the referee admits it", insert(t, testify(t, mistaken, func(tick lockstep.Tick) map[lockstep.Player]uint64 {
			return between(tick, 340, 400, 0, right[tick])
		}), func(r *record.Record) []record.Record {
			if r.Kind != record.KindChecksum || r.Tick != 370 {
				return nil
			}
			return []record.Record{{Kind: record.KindEvent, Player: lockstep.System, Event: record.EventReferee, Text: "wrong"}}
		}), "referee: 4 checks, 340 to 370, to the end; unclear: 3 checks, 380 to 400, to the end", "referee: 1 checks, 340 to 340, open"},
		{"all agreed but one, who is wrong, too", testify(t, mistaken, func(tick lockstep.Tick) map[lockstep.Player]uint64 {
			return between(tick, 340, 400, 0, third[tick])
		}), "player 0: 7 checks, 340 to 400, to the end; build: 7 checks, 340 to 400, to the end", "player 0: 1 checks, 340 to 340, open; build: 1 checks, 340 to 340, open"},
		{"one checksum was altered", rewrite(t, file, func(r *record.Record) {
			if r.Kind == record.KindChecksum && r.Tick == 100 {
				r.Hash++
			}
		}), "build: 1 checks, 100 to 100, healed 110", "build: 1 checks, 100 to 100, open"},
		{"one keyframe was altered", keyframe, "keyframe: 1 checks, 150 to 150, healed 160", "keyframe: 1 checks, 150 to 150, open"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if test.stop == "" {
				test.stop = test.want
			}
			for _, workers := range []int{1, 4} {
				for keepGoing, want := range map[bool]string{true: test.want, false: test.stop} {
					v, _ := judged(t, test.file, g, replay.VerifyOptions{KeepGoing: keepGoing, Workers: workers})
					if got := blames(v); got != want {
						t.Errorf("%d workers, keep going %v:\ngot  %s\nwant %s", workers, keepGoing, got, want)
					}
				}
			}
		})
	}
}

// A wrong keyframe between two checks is blamed according to those checks.
func TestBlameKeyframe(t *testing.T) {
	s := lockstep.DefaultSettings(2)
	s.CheckEvery, s.KeyframeEvery = 20, 50
	g, file := recordDots(t, 200, s)
	for _, test := range []struct {
		name string
		file []byte
		want string
	}{
		{"the state was wrong", retell(t, file, hurt(t, 45, xor(t, "Dots[1].Pos.X", 3))), "build: 8 checks, 50 to 200, to the end"},
		{"the keyframe alone", rewrite(t, file, func(r *record.Record) {
			if r.Kind == record.KindKeyframe && r.Tick == 50 {
				r.Keyframe.Hash++
			}
		}), "keyframe: 1 checks, 50 to 50, healed 60"},
		{"there are no checks", copyRecords(t, retell(t, file, hurt(t, 45, xor(t, "Dots[1].Pos.X", 3))), func(r *record.Record, emit func(*record.Record) error) error {
			if r.Kind == record.KindChecksum {
				return nil
			}
			return emit(r)
		}), "build: 1 checks, 50 to 50, to the end"},
	} {
		v, _ := judged(t, test.file, g, replay.VerifyOptions{KeepGoing: true})
		if got := blames(v); got != test.want {
			t.Errorf("%s:\ngot  %s\nwant %s", test.name, got, test.want)
		}
	}
}

// Without an agreed checksum, the simulation decides which side was right.
func TestBlameTie(t *testing.T) {
	g, file, _ := recordMatch(t, 200, replay.WriterOptions{})
	right := hashes(t, file, g)
	wrong := hashes(t, file, hurt(t, 104, xor(t, "Dots[1].Pos.X", 3)))
	tied := copyRecords(t, file, func(r *record.Record, emit func(*record.Record) error) error {
		if r.Kind != record.KindChecksum || r.Tick < 110 {
			return emit(r)
		}
		for p, hash := range []uint64{right[r.Tick], wrong[r.Tick]} {
			if err := emit(&record.Record{Kind: record.KindMismatch, Tick: r.Tick, Player: lockstep.Player(p), Hash: hash}); err != nil {
				return err
			}
		}
		return nil
	})
	v, err := judged(t, tied, g, replay.VerifyOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := blames(v), "player 1: 8 checks, 110 to 180, to the end"; got != want {
		t.Errorf("got %s, want %s: the first eight ties are judged", got, want)
	}
}

// Verify says who reported what at the first check at which players differ, each group with its players, also of later verdicts.
func TestVerifyListsAllGroups(t *testing.T) {
	g, file, _ := recordMatch(t, 200, replay.WriterOptions{})
	right := hashes(t, file, g)
	three := testify(t, file, func(tick lockstep.Tick) map[lockstep.Player]uint64 {
		switch tick {
		case 110:
			return map[lockstep.Player]uint64{0: 5, 1: 6}
		case 120:
			return map[lockstep.Player]uint64{1: 7}
		}
		return nil
	})
	v, err := desync.Verify(openFile(t, three), replay.Games{g}, replay.VerifyOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := fmt.Sprint(v.Reported), fmt.Sprintf("{110 [%016x  agreed (as simulated again) %016x  player 0 %016x  player 1]}", right[110], 5, 6); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	var text strings.Builder
	if err := v.WriteText(&text); err != nil || !strings.Contains(text.String(), "groups     at the check of tick 110\n") || !strings.Contains(text.String(), "player 1 in 2 checks, of ticks 110 to 120;") {
		t.Errorf("%v, got %s", err, text.String())
	}
	if v, _ = desync.Verify(openFile(t, file), replay.Games{g}, replay.VerifyOptions{}); len(v.Reported.Groups) > 0 {
		t.Errorf("nobody differs: got %v", v.Reported)
	}
}

// falsified returns an open replay in which the keyframes of some ticks have another state, with its checksum.
func falsified(tb testing.TB, g *lockstep.Game, file []byte, ticks ...lockstep.Tick) []byte {
	tb.Helper()
	altered := 0
	file = rewriteOpen(tb, file, func(r *record.Record) []*record.Record {
		if r.Kind == record.KindKeyframe && slices.Contains(ticks, r.Tick) {
			altered++
			v, err := g.StateSchema().Lookup(r.Keyframe.State, "Players[1].Crystals")
			if err != nil {
				tb.Fatal(err)
			}
			v.Flip()
			var sum checksum.Sum
			if err := checksum.OfBytes(&sum, g.StateSchema(), r.Keyframe.State); err != nil {
				tb.Fatal(err)
			}
			r.Keyframe.Hash = sum.Hash
		}
		return []*record.Record{r}
	})
	if altered != len(ticks) {
		tb.Fatalf("got %d keyframes, want those of ticks %d", altered, ticks)
	}
	return file
}

// Verify and explain come to one verdict on a replay whose recorder wrote a keyframe that is not the simulation's state,
// whether or not its tick has a checksum, and explain finds the fault of the player as if the keyframe were not there.
func TestFalseKeyframe(t *testing.T) {
	hurt := func(w *world, t *turn, step step) bool { step(w, t); w.Units[5].Health--; return true }
	rich := func(w *world, t *turn, step step) bool { step(w, t); w.Players[1].Crystals += 1000; return true }
	for _, c := range []struct {
		name      string
		every     lockstep.Tick // of keyframes; checks are every 20 ticks
		false     []lockstep.Tick
		inReferee bool
		want      desync.Party
		players   []lockstep.Player
		path      string // of the cause
	}{
		{"no false one", 100, nil, false, desync.WrongPlayer, []lockstep.Player{victim}, "Units[ID=6].Health"},
		{"of a checked tick", 100, []lockstep.Tick{100}, false, desync.WrongKeyframe, []lockstep.Player{victim}, "Units[ID=6].Health"},
		{"of a tick without a check", 50, []lockstep.Tick{50}, false, desync.WrongKeyframe, []lockstep.Player{victim}, "Units[ID=6].Health"},
		{"just before the desync, without a check", 150, []lockstep.Tick{150}, false, desync.WrongKeyframe, []lockstep.Player{victim}, "Units[ID=6].Health"},
		{"two, the last without a check", 10, []lockstep.Tick{120, 130}, false, desync.WrongKeyframe, []lockstep.Player{victim}, "Units[ID=6].Health"},
		{"long ago", 20, []lockstep.Tick{20}, false, desync.WrongKeyframe, []lockstep.Player{victim}, "Units[ID=6].Health"},
		{"and a wrong referee later", 50, []lockstep.Tick{50}, true, desync.WrongKeyframe, nil, ""},
		{"a wrong referee alone", 50, nil, true, desync.WrongReferee, nil, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := hurt
			if c.inReferee {
				f = rich
			}
			x := newTableOf(t, f, c.inReferee, victim, 1, c.every)
			x.play(t, 400)
			files := unpacked(t, x.bundle(t))
			file := falsified(t, x.game, files["replay.ssr"], c.false...)
			e, err := explain(packed(t, with(files, "replay.ssr", file), nil), desync.Options{Game: findGame, Budget: 100 * time.Millisecond})
			if err != nil {
				t.Fatal(err)
			}
			if e.Verdict.Party != c.want || !slices.Equal(e.Verdict.Players, c.players) {
				t.Errorf("explain: got %s %v, want %s %v: %s", e.Verdict.Party, e.Verdict.Players, c.want, c.players, e.Verdict.Text)
			}
			if c.path != "" && (e.Cause == nil || e.Cause.Path != c.path) {
				t.Errorf("got the cause %v, want %s", e.Cause, c.path)
			}
			for _, keepGoing := range []bool{false, true} {
				v, _ := judged(t, file, x.game, replay.VerifyOptions{KeepGoing: keepGoing})
				if v.Party != c.want || keepGoing && !slices.Equal(v.Players, c.players) {
					t.Errorf("verify, keep going %v: got %s %v, want %s %v: %s", keepGoing, v.Party, v.Players, c.want, c.players, v.Text)
				}
				if c.want == desync.WrongKeyframe && !(strings.HasPrefix(v.Text, "the keyframe of tick ") && strings.HasPrefix(e.Verdict.Text, v.Text[:70])) {
					t.Errorf("verify says %q, explain says %q", v.Text, e.Verdict.Text)
				}
			}
		})
	}
}
