//go:build !js

package live

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/bots"
	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/gameset"
	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/scaffold/rules"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/replay"
)

// A seenStep is a step as a program reads it.
type seenStep struct {
	Type         string
	Tick         lockstep.Tick
	Observations map[string]json.RawMessage
	Rewards      map[string]int
	Terminated   bool
	Truncated    bool
	Info         struct {
		Episode int
		Seed    string
		Config  json.RawMessage
		Refused []bots.Refused
		Result  json.RawMessage
	}
}

// digging returns a gymnasium of the game of samestep new, with scores.
func digging(t *testing.T, seats []lockstep.Player, folder string) *gymnasium {
	t.Helper()
	g, err := gameset.New(rules.Rules())
	if err != nil {
		t.Fatal(err)
	}
	g.Maker = rules.NewBot
	g.Usual = func(players uint8) any {
		c := rules.Usual(int(players))
		return &c
	}
	g.Score = func(world, result any, p lockstep.Player) int {
		if r, over := result.(*rules.Score); over {
			return int(r.Found[p]) + 1000
		}
		return int(world.(*rules.World).Diggers[p].Found)
	}
	talk, err := bots.New(g, bots.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return &gymnasium{game: g, talk: talk, players: 2, seats: seats, every: 1, seed: 1, folder: folder, period: 50_000, views: make([][]byte, 2), payloads: g.NewPayloads()}
}

// learn runs a gymnasium with a program that answers with what answer returns, and ends when that is "".
func learn(t *testing.T, e *gymnasium, answer func(*seenStep) string) (lines []string, err error) {
	t.Helper()
	in, theirOut := io.Pipe()
	theirs, out := io.Pipe()
	go func() {
		scanner := bufio.NewScanner(theirs)
		scanner.Buffer(nil, 1<<20)
		for scanner.Scan() {
			lines = append(lines, scanner.Text())
			var s seenStep
			if err := json.Unmarshal(scanner.Bytes(), &s); err != nil {
				t.Errorf("%v in %s", err, scanner.Text())
			}
			a := answer(&s)
			if a == "" {
				break
			}
			io.WriteString(theirOut, a+"\n")
		}
		theirOut.Close()
	}()
	p := bots.Own(in, out)
	defer p.Close(true)
	e.talk.With(p, e.seats)
	return lines, e.run(t.Context())
}

// walks answers with a walk every 40 ticks, and plays so many episodes of the seed 7.
func walks(episodes int) func(*seenStep) string {
	return func(s *seenStep) string {
		switch {
		case s.Type == "hello":
			return `{"reset": {"seed": 7, "config": {"Gold": 6}}}`
		case s.Terminated || s.Truncated:
			if episodes--; episodes == 0 {
				return ""
			}
			return `{"reset": {"seed": 7, "config": {"Gold": 6}}}`
		case s.Tick%40 == 1:
			return fmt.Sprintf(`{"commands": [{"name": "walk", "value": {"X": %d, "Y": %d}}]}`, s.Tick*7%256, s.Tick*3%256)
		}
		return `{}`
	}
}

// The same commands after a reset with the same seed lead to the same episode, whose replay verifies. Its rewards add up to the score.
func TestGymEpisodes(t *testing.T) {
	folder := t.TempDir()
	e := digging(t, []lockstep.Player{1}, folder)
	e.most = 3000
	var steps [][]seenStep
	answer := walks(2)
	_, err := learn(t, e, func(s *seenStep) string {
		if s.Info.Episode > 0 {
			steps = append(steps, nil)
		}
		if s.Type == "step" {
			steps[len(steps)-1] = append(steps[len(steps)-1], *s)
		}
		return answer(s)
	})
	if err != nil || len(steps) != 2 || len(steps[0]) < 100 {
		t.Fatalf("got %d episodes, %v", len(steps), err)
	}
	steps[1][0].Info.Episode = 1
	if !reflect.DeepEqual(steps[0], steps[1]) {
		t.Error("two episodes of the same seed and commands differ")
	}
	first, last, sum := steps[0][0], steps[0][len(steps[0])-1], 0
	for _, s := range steps[0] {
		sum += s.Rewards["1"]
	}
	var result rules.Score
	if err := json.Unmarshal(last.Info.Result, &result); err != nil || !last.Terminated || sum != int(result.Found[1])+1000 || len(last.Rewards) != 1 {
		t.Errorf("the last step is %+v, the rewards add up to %d, %v", last, sum, err)
	}
	if first.Info.Seed != "7" || !bytes.Contains(first.Info.Config, []byte(`"Gold":6`)) || last.Info.Config != nil {
		t.Errorf("the first step has %+v", first.Info)
	}
	var hashes []string
	files, _ := filepath.Glob(filepath.Join(folder, "*"))
	for _, name := range files {
		hashes = append(hashes, fmt.Sprintf("%s %x at %d", filepath.Base(name), verified(t, name, e.game.Game), last.Tick))
	}
	if len(files) != 2 || strings.Fields(hashes[0])[1] != strings.Fields(hashes[1])[1] || !strings.HasPrefix(hashes[1], "goldrush-000002.ssr ") {
		t.Errorf("got replays %v", hashes)
	}
}

// verified plays a replay with all its checksums, and returns the hash of its last state.
func verified(t *testing.T, name string, g *lockstep.Game) uint64 {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	r, err := replay.NewReader(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		t.Fatal(err)
	}
	c, err := replay.NewCursor(r, g, 0)
	if err != nil {
		t.Fatal(err)
	}
	for {
		if err := c.Step(); err == io.EOF {
			return c.Simulation().Hash()
		} else if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
	}
}

// A program gets nothing but the view of its seats, as the replay has it.
func TestGymViews(t *testing.T) {
	folder := t.TempDir()
	e := digging(t, []lockstep.Player{1}, folder)
	e.most, e.every = 400, 4
	answer := walks(1)
	views := map[lockstep.Tick]string{}
	lines, err := learn(t, e, func(s *seenStep) string {
		if s.Type == "step" {
			views[s.Tick] = string(s.Observations["1"])
			if len(s.Observations) != 1 {
				t.Errorf("tick %d: got %d observations", s.Tick, len(s.Observations))
			}
		}
		return answer(s)
	})
	if err != nil || len(views) < 100 {
		t.Fatalf("got %d views, %v", len(views), err)
	}
	b, err := os.ReadFile(filepath.Join(folder, "goldrush-000001.ssr"))
	if err != nil {
		t.Fatal(err)
	}
	r, err := replay.NewReader(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		t.Fatal(err)
	}
	c, err := replay.NewCursor(r, e.game.Game, 1)
	if err != nil {
		t.Fatal(err)
	}
	hidden := 0
	for {
		sim := c.Simulation()
		if got, ok := views[c.Tick()]; ok {
			view, err := sim.AppendView(nil, sim.ViewerOf(1))
			if err != nil {
				t.Fatal(err)
			}
			var want strings.Builder
			if err := e.game.ViewSchema().DumpJSON(&want, view); err != nil {
				t.Fatal(err)
			}
			if got != strings.TrimSpace(want.String()) {
				t.Errorf("tick %d: got  %s\nwant %s", c.Tick(), got, &want)
			}
			for _, gold := range lockstep.World[rules.World](sim).Gold {
				if x := gold.X.String(); !strings.Contains(got, x) {
					if hidden++; strings.Contains(strings.Join(lines[:2], ""), x) {
						t.Errorf("the first lines have the gold at %s, which the view hides", x)
					}
				}
			}
		}
		if c.Step() != nil {
			break
		}
	}
	if hidden == 0 {
		t.Error("control: the views hide nothing")
	}
}

// What a program may do at other times: reset in the middle, play all seats, and get a refusal.
func TestGymSeats(t *testing.T) {
	folder := t.TempDir()
	e := digging(t, []lockstep.Player{0, 1}, folder)
	e.episodes = 2
	e.most = 50
	var refused []bots.Refused
	var seeds []string
	_, err := learn(t, e, func(s *seenStep) string {
		refused = append(refused, s.Info.Refused...)
		if s.Info.Seed != "" {
			seeds = append(seeds, s.Info.Seed)
		}
		switch {
		case s.Type == "hello", s.Tick == 30 && e.summary.Episodes == 1, s.Truncated:
			return `{"reset": {}}`
		case s.Tick == 20:
			return `{"commands": [{"seat": 0, "name": "walk", "value": {"X": 9}}, {"seat": 1, "name": "walk", "value": {"X": 9}}]}`
		case s.Tick == 25:
			return `{"commands": [{"seat": 1, "name": "walk", "value": {"X": 9}}]}`
		}
		return `{}`
	})
	if want := "[{1 walk lockstep: command 2 is refused: the game's rules refuse it: the digger walks there already} "; err != nil || !strings.HasPrefix(fmt.Sprint(refused), "[{1 walk ") || len(refused) != 2 || !strings.Contains(refused[0].Reason, "the digger walks there already") {
		t.Errorf("got %v, refused %v, want %s", err, refused, want)
	}
	if fmt.Sprint(seeds) != "[1 2]" || e.summary.Episodes != 2 || e.summary.Replays != 2 {
		t.Errorf("got seeds %v, %+v", seeds, e.summary)
	}
	files, _ := filepath.Glob(filepath.Join(folder, "*"))
	for _, name := range files {
		verified(t, name, e.game.Game)
	}
	if len(files) != 2 {
		t.Errorf("got %v", files)
	}
}

// A reset that the game refuses, or a function of the game that panics, ends gym with a sentence, and leaves no file that is none.
func TestGymFails(t *testing.T) {
	for _, c := range []struct {
		name, reset, want string
		change            func(*gymnasium)
	}{
		{"a configuration that is none", `{"reset": {"config": {"Gild": 3}}}`, `standard input: line 1: reset: config: `, nil},
		{"one that the game refuses", `{"reset": {"config": {"Gold": 0}}}`, `gold: got 0, want 1 to 1000`, nil},
		{"a score that panics", `{"reset": {}}`, `game goldrush: the function of tool.Score panicked at tick 1: no`, func(e *gymnasium) {
			e.game.Score = func(_, _ any, _ lockstep.Player) int { panic("no") }
		}},
		{"a program that ends at once", ``, `the program has ended before its first reset`, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			folder := t.TempDir()
			e := digging(t, []lockstep.Player{0}, folder)
			if c.change != nil {
				c.change(e)
			}
			if _, err := learn(t, e, func(*seenStep) string { return c.reset }); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %s", err, c.want)
			}
			if left, _ := filepath.Glob(filepath.Join(folder, "*.part")); len(left) > 0 {
				t.Errorf("it leaves %v", left)
			}
		})
	}
}
