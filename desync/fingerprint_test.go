package desync_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seed-49bee653/samestep/desync"
	"github.com/seed-49bee653/samestep/desync/triage"
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

// A machine of several desyncs of a match counts once, and votes alone do not accuse one whose own results differ.
func TestTriageCounts(t *testing.T) {
	x := &triage.Triage{}
	for range 3 {
		b := chestAgain()
		again := b.Manifest.Resimulation
		again.Runs[1] = append([]string{"00000000000000ee"}, again.Runs[0][1:]...)
		e, err := desync.Explain(b, desync.Options{})
		if err != nil {
			t.Fatal(err)
		}
		x.Add(e.Case("a.zip", time.Time{}))
	}
	x.Agree(1)
	var text, page strings.Builder
	if err := errors.Join(x.WriteText(&text), x.WriteHTML(&page)); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"rules without a fixed result", "wrong: 3 × unknown", "toaster (1 machine)", "0 not explained; nothing differs in 1 file"} {
		if got := strings.Join(strings.Fields(text.String()), " "); !strings.Contains(got, want) {
			t.Errorf("got %s\nwant %s", got, want)
		}
	}
	if strings.Contains(page.String(), "known to be wrong") {
		t.Errorf("the page knows who was wrong: %s", &page)
	}
}

// A machine counts as wrong only if the verdict accuses it.
func ExampleExplanation_Case() {
	e, err := desync.Explain(chestAgain(), desync.Options{})
	if err != nil {
		panic(err)
	}
	var c desync.Case = e.Case("a.zip", time.Time{})
	var m desync.Machine = c.Machines[0]
	fmt.Println(c.Fingerprint.ID, c.Party, m.Platform, m.Differs)
	// Output:
	// c75e4082 player linux false

}

func TestTriageAccusesNobody(t *testing.T) {
	e, err := desync.Explain(chestAgain(), desync.Options{})
	if err != nil {
		t.Fatal(err)
	}
	wrong := func() (n int) {
		for _, m := range e.Case("", time.Time{}).Machines {
			if m.Differs {
				n++
			}
		}
		return n
	}
	if got := wrong(); got != 1 {
		t.Errorf("got %d wrong machines of a player who is, want 1", got)
	}
	for _, p := range []desync.Party{desync.WrongUnknown, desync.NoFixedResult, desync.TwoBuilds, desync.WrongBuild, desync.WrongKeyframe} {
		if e.Verdict.Party = p; wrong() != 0 {
			t.Errorf("%s: got %d wrong machines, want none", p, wrong())
		}
	}
}
