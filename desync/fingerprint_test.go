package desync_test

import (
	"slices"
	"testing"
	"time"

	"github.com/seed-49bee653/samestep/desync"
	"github.com/seed-49bee653/samestep/internal/testing/testenv"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/replay"
)

// A bug has one fingerprint in matches of other seeds, and at other players. Other bugs have other ones.
func TestFingerprint(t *testing.T) {
	seen := map[string]string{}
	for _, bug := range []struct {
		name  string
		fault fault
		want  string
	}{
		{"health", func(w *world, t *turn, step step) bool {
			step(w, t)
			w.Units[int(t.Tick)%len(w.Units)].Health--
			return true
		},
			"skirmish, unknown, Units[].Health"},
		{"crystals", func(w *world, t *turn, step step) bool { step(w, t); w.Players[1].Crystals += 1000; return true },
			"skirmish, unknown, Players[].Crystals"},
		{"a lost command", func(w *world, t *turn, step step) bool {
			i := slices.IndexFunc(t.Commands, func(c lockstep.Command) bool { return c.Player != lockstep.System })
			if i >= 0 {
				t.Commands = slices.Delete(t.Commands, i, i+1)
			}
			step(w, t)
			return i >= 0
		}, ""},
		{"a unit too few", func(w *world, t *turn, step step) bool { step(w, t); w.Units = w.Units[:len(w.Units)-1]; return true },
			"skirmish, unknown, Units[]"},
	} {
		t.Run(bug.name, func(t *testing.T) {
			if bug.name == "crystals" || bug.name == "a unit too few" { // the others show the same
				testenv.Long(t)
			}
			var first desync.Fingerprint
			for i, other := range []struct {
				player lockstep.Player
				seed   uint64
			}{{2, 1}, {0, 5}} {
				x := newTableOf(t, bug.fault, false, other.player, other.seed, 100)
				x.play(t, 400)
				e, err := desync.Explain(open(t, x.bundle(t)), desync.Options{Game: findGame, Budget: 100 * time.Millisecond})
				if err != nil {
					t.Fatal(err)
				}
				got := e.Fingerprint
				if bug.want == "" { // the field is that of the command
					if got.Class != desync.ClassCommands {
						t.Errorf("got %v, want class %s", got, desync.ClassCommands)
					}
					continue
				}
				if i == 0 {
					first = got
				}
				if got != first || got.String() != "fingerprint "+got.ID+": "+bug.want {
					t.Errorf("player %d, seed %d: got %v, want %v: %s", other.player, other.seed, got, first.ID, bug.want)
				}
			}
			if seen[first.ID] != "" && bug.want != "" {
				t.Errorf("%v is also that of %s", first, seen[first.ID])
			}
			seen[first.ID] = bug.name
		})
	}
}

// Names, builds, platforms and ticks are in no fingerprint. What the machine computes again is.
func TestFingerprintOfBundle(t *testing.T) {
	of := func(b *replay.Bundle, change func(m *replay.Manifest)) string {
		t.Helper()
		change(&b.Manifest)
		e, err := desync.Explain(b, desync.Options{})
		if err != nil {
			t.Fatal(err)
		}
		return e.Fingerprint.String()
	}
	plain := of(chestBundle(), func(*replay.Manifest) {})
	other := of(chestBundle(), func(m *replay.Manifest) {
		m.Build, m.Match, m.Section = "other", "other", "Gifts"
		for i := range m.Participants {
			m.Participants[i].Name, m.Participants[i].Build, m.Participants[i].Platform = "other", "other", "other"
		}
	})
	if plain != other || plain != "fingerprint 2eb4c510: chest, unknown, Gold" {
		t.Errorf("got %q, and of another build %q", plain, other)
	}
	if again := of(chestAgain(), func(*replay.Manifest) {}); again != "fingerprint c75e4082: chest, rules, build or platform, Gold" {
		t.Errorf("got %q", again)
	}
}
