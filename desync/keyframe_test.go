package desync_test

import (
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
