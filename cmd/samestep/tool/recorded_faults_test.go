//go:build !js && !wasip1

package tool

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/console"
	"github.com/seed-49bee653/samestep/internal/testing/testenv"
	"github.com/seed-49bee653/samestep/internal/testing/tooltest"
	"github.com/seed-49bee653/samestep/recorder"
)

// A recordedGame is a game on no engine of ours. Its command records a match of player 0 and of player 1, who may have a fault.
type recordedGame struct {
	needs   string // a program
	build   func(t *testing.T, dir string) *exec.Cmd
	command func(dir, fault string) [][]string // the programs that record a.jsonl and b.jsonl in the folder
}

// builtIn builds an example that is a module of its own.
func builtIn(folder string) func(t *testing.T, dir string) *exec.Cmd {
	return func(t *testing.T, dir string) *exec.Cmd {
		c := exec.Command("go", "build", "-o", filepath.Join(dir, "game"), ".")
		c.Dir = filepath.Join("..", "..", "..", "examples", folder)
		return c
	}
}

var recordedGames = map[string]recordedGame{
	"marbles": {"go", builtIn("marbles"), func(dir, fault string) [][]string {
		game := filepath.Join(dir, "game")
		return [][]string{{game, "--out", dir + "/a.jsonl"}, {game, "--out", dir + "/b.jsonl", "--by", "1", "--math", map[string]string{"": "plain"}[fault] + fault}}
	}},
	"rollback": {"go", builtIn("rollback"), func(dir, fault string) [][]string {
		return [][]string{{filepath.Join(dir, "game"), "--dir", dir, "--ticks", "200", "--forget=" + fmt.Sprint(fault != "")}}
	}},
	"C": {"gcc", func(t *testing.T, dir string) *exec.Cmd {
		return exec.Command("gcc", "-std=c99", "-O1", "-Wall", "-Wextra", "-Werror", "-I", "../../../recorder/c", "-o", filepath.Join(dir, "game"), "testdata/recorded/tug.c")
	}, func(dir, fault string) [][]string {
		game := filepath.Join(dir, "game")
		return [][]string{{game, dir + "/a.jsonl", "0", "none"}, {game, dir + "/b.jsonl", "1", fault}}
	}},
	"Python": {"python3", func(t *testing.T, dir string) *exec.Cmd {
		return exec.Command("python3", "-c", "")
	}, func(dir, fault string) [][]string {
		game := []string{"python3", "testdata/recorded/market.py", "../../../recorder/python"}
		return [][]string{append(game[:3:3], dir+"/a.jsonl", "0", "none"), append(game[:3:3], dir+"/b.jsonl", "1", fault)}
	}},
}

// record plays a match on both machines, and compares the recordings.
func (g *recordedGame) record(t *testing.T, dir, fault, dump string, exit int) (text string, found divergence) {
	t.Helper()
	t.Setenv(recorder.Variable, dump)
	for _, words := range g.command(dir, fault) {
		if out, err := exec.Command(words[0], words[1:]...).CombinedOutput(); err != nil {
			t.Fatalf("%v: %v\n%s", words, err, out)
		}
	}
	a, b := filepath.Join(dir, "a.jsonl"), filepath.Join(dir, "b.jsonl")
	for i, name := range []string{a, b} {
		if _, err := os.Stat(name); err != nil { // the players of a duel
			if err := os.Rename(filepath.Join(dir, fmt.Sprintf("player%d.jsonl", i)), name); err != nil {
				t.Fatal(err)
			}
			defer os.Remove(name)
		}
	}
	text = tooltest.Output(t, exit, "replay", "bisect", a, b)
	if err := json.Unmarshal([]byte(tooltest.Output(t, exit, "replay", "bisect", "--json", a, b)), &found); err != nil {
		t.Fatal(err)
	}
	return text, found
}

// A divergence is what bisect --json says of recordings, as far as this test looks at it.
type divergence struct {
	Tick    int
	Same    bool
	Missing *struct{ Dump string }
	Fields  struct {
		List []struct{ Path, ULPs string }
	}
	Traces *struct {
		Phase, Draws *struct {
			Tick int
			Name string
		}
		Ticks int
	}
}

// A desync of a game on another engine is named in two passes: its field, its phase, and draws that differ.
func TestRecordedFaults(t *testing.T) {
	if testing.Short() {
		t.Skip("short: it builds games")
	}
	for _, c := range []struct {
		game, fault  string
		field, ulps  string // ulps matches a number, or is "" for no float
		phase, draws string
	}{
		{"marbles", "fused", `^Marbles\[ID=\d+\]\.V[XY]$`, `^\d$`, "collide", ""},
		{"rollback", "forget", `^Ships\[\d\]\.Cooldown$`, ``, "steer", ""},
		{"C", "pull", `^Pebbles\[5\]\.Speed$`, `^1$`, "pull", ""},
		{"C", "draw", `^Seed$`, ``, "slip", "slips"},
		{"Python", "trade", `^Gold\[\d\]$`, `^\d$`, "trade", ""},
	} {
		t.Run(c.game+" "+c.fault, func(t *testing.T) {
			g, dir := recordedGames[c.game], t.TempDir()
			if g.needs == "go" {
				testenv.Long(t)
			}
			_, err := exec.LookPath(g.needs)
			testenv.Or(t, g.needs, err)
			if out, err := g.build(t, dir).CombinedOutput(); err != nil {
				testenv.Or(t, string(out), err)
			}
			if _, same := g.record(t, dir, map[string]string{"C": "none", "Python": "none"}[c.game], "", console.ExitOK); !same.Same || same.Traces == nil || same.Traces.Ticks < 50 {
				t.Errorf("without the fault: got %+v", same)
			}
			_, first := g.record(t, dir, c.fault, "", console.ExitDesync)
			if first.Missing == nil {
				t.Fatalf("the first pass: got %+v", first)
			}
			text, second := g.record(t, dir, c.fault, first.Missing.Dump, console.ExitDesync)
			if second.Missing != nil || len(second.Fields.List) == 0 || second.Tick != first.Tick {
				t.Fatalf("the second pass: got\n%s", text)
			}
			field, phase, draws := second.Fields.List[0], "", ""
			if p := second.Traces.Phase; p != nil && p.Tick == second.Tick {
				phase = p.Name
			}
			if p := second.Traces.Draws; p != nil && p.Tick == second.Tick {
				draws = p.Name
			}
			if !regexp.MustCompile(c.field).MatchString(field.Path) || !regexp.MustCompile(c.ulps).MatchString(field.ULPs) || c.ulps == "" && field.ULPs != "" || phase != c.phase || draws != c.draws {
				t.Errorf("got field %q, %q ulps, phase %q, draws %q", field.Path, field.ULPs, phase, draws)
			}
			if answer, _, _ := strings.Cut(strings.Join(strings.Fields(text), " "), " verdict "); !strings.Contains(answer, " in phase "+c.phase+", player 0 | player 1") {
				t.Errorf("got the answer %s", answer)
			}
			t.Logf("field %s, %s ulps, phase %s, draws %q at tick %d", field.Path, field.ULPs, phase, draws, second.Tick)
		})
	}
}
