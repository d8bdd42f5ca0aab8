package desync_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/seed-49bee653/samestep/desync"
	"github.com/seed-49bee653/samestep/desync/bisect"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/coordinator"
	"github.com/seed-49bee653/samestep/lockstep/host"
	"github.com/seed-49bee653/samestep/replay"
)

type laurels struct{ Winner uint8 }

// laurelGame returns a game whose rules end the match after a tick, which 0 prevents.
func laurelGame(end lockstep.Tick, winner uint8) *lockstep.Game {
	return lockstep.MustGame(lockstep.Rules[chest, struct{}]{
		Name: "laurels", Build: "1", Result: lockstep.Result[laurels](),
		New: func(*chest, *lockstep.Settings, *struct{}) error { return nil },
		Step: func(w *chest, _ *struct{}, t *lockstep.Turn) {
			if w.Gold++; t.Tick == end {
				t.End(&laurels{winner})
			}
		},
	})
}

// laurelBundle plays five ticks of a game, at whose end player 1 has another checksum.
func laurelBundle(t *testing.T, game *lockstep.Game) *replay.Bundle {
	t.Helper()
	settings := lockstep.DefaultSettings(2)
	settings.Seed, settings.CheckEvery = 1, 5
	header, err := game.NewHeader(lockstep.MatchID{1}, settings, &struct{}{})
	if err != nil {
		t.Fatal(err)
	}
	var log, archive bytes.Buffer
	file := replay.NewWriter(&log, replay.WriterOptions{})
	match, err := coordinator.New(game, header, file, coordinator.Options{})
	if err != nil {
		t.Fatal(err)
	}
	match.Join(0)
	match.Join(1)
	for range 5 {
		if _, err := match.Tick(); err != nil {
			t.Fatal(err)
		}
	}
	sum := match.Referee().Simulation().Hash()
	evidence := &host.Evidence{Report: coordinator.DesyncReport{Tick: 5, Player: 1, Groups: []coordinator.Reporters{
		{Hash: sum, Players: []lockstep.Player{0}, Referee: true}, {Hash: sum + 1, Players: []lockstep.Player{1}},
	}}}
	if _, byRules := match.Result(); !byRules {
		if err := match.End("over"); err != nil {
			t.Fatal(err)
		}
	}
	if err := file.Flush(); err != nil {
		t.Fatal(err)
	}
	if err := replay.WriteBundle(&archive, header, evidence, &log); err != nil {
		t.Fatal(err)
	}
	return open(t, archive.Bytes())
}

// Rules that end the match in another way than the log does are said in words, with both results.
func TestExplainEnding(t *testing.T) {
	for name, c := range map[string]struct {
		log, ours *lockstep.Game
		text      []string
		json      string
	}{
		"same":         {laurelGame(5, 1), laurelGame(5, 1), nil, `null`},
		"other result": {laurelGame(5, 1), laurelGame(5, 0), []string{"at tick 5, by the rules of this build: the result differs: Winner: got 0, want 1", `the result of this build: {"Winner":0}`, `the result of the log: {"Winner":1}`}, `"log":{"Winner":1}`},
		"no end":       {laurelGame(5, 1), laurelGame(0, 1), []string{"at tick 5, by the rules of this build: in the log the rules end the match, ours do not", `the result of the log: {"Winner":1}`}, `"log":{"Winner":1}`},
		"earlier":      {laurelGame(5, 1), laurelGame(3, 1), []string{"at tick 3, by the rules of this build: our rules end the match, the log goes on", `the result of this build: {"Winner":1}`}, `"ours":{"Winner":1}`},
		"by an admin":  {laurelGame(0, 1), laurelGame(5, 1), []string{"at tick 5, by the rules of this build: our rules end the match, in the log its server did", `the result of this build: {"Winner":1}`}, `"ours":{"Winner":1}`},
	} {
		t.Run(name, func(t *testing.T) {
			e, err := desync.Explain(laurelBundle(t, c.log), desync.Options{Game: replay.Games{c.ours}.Of})
			if err != nil {
				t.Fatal(err)
			}
			text := strings.Join(e.Lines(), "\n")
			if strings.Contains(text, "\nend ") != (c.text != nil) {
				t.Errorf("got a line on the end, or none:\n%s", text)
			}
			for _, want := range c.text {
				if !strings.Contains(text, want) {
					t.Errorf("got %s\nwant %s", text, want)
				}
			}
			if got, err := json.Marshal(e.Ending); err != nil || !strings.Contains(string(got), c.json) {
				t.Errorf("got %s, %v, want %s", got, err, c.json)
			}
			if strings.Contains(text, "computes") {
				t.Errorf("an end is no checksum:\n%s", text)
			}
		})
	}
}

// Two files that differ only in the end by the rules differ.
func TestCompareEnding(t *testing.T) {
	reader := func(g *lockstep.Game) *replay.Reader {
		file, err := laurelBundle(t, g).Replay(1 << 20)
		if err != nil {
			t.Fatal(err)
		}
		r, err := replay.NewReader(bytes.NewReader(file), int64(len(file)))
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	one := laurelGame(5, 1)
	for name, c := range map[string]struct {
		other *lockstep.Game
		end   string
	}{
		"same":         {one, ""},
		"other result": {laurelGame(5, 0), `"the rules ended the match" with {"Winner":0}`},
		"by an admin":  {laurelGame(0, 0), `"over"`},
	} {
		x, err := bisect.Compare(reader(one), reader(c.other))
		if err != nil {
			t.Fatal(err)
		}
		if x.Same() != (c.end == "") || x.End == x.Same() || x.End && x.B.EndText() != c.end {
			t.Errorf("%s: got same %v, end %v, %s, want %s", name, x.Same(), x.End, x.B.EndText(), c.end)
		}
	}
}
