//go:build !js

package tool

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/console"
	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/scaffold/rules"
	"github.com/seed-49bee653/samestep/internal/testing/testenv"
	"github.com/seed-49bee653/samestep/internal/testing/tooltest"
	"github.com/seed-49bee653/samestep/lockstep"
)

// runner returns the command of a sample bot.
func runner(t *testing.T, language, file string) string {
	t.Helper()
	_, err := exec.LookPath(language)
	testenv.Or(t, language, err)
	path, err := filepath.Abs(filepath.Join("..", "..", "..", "examples", "bots", file))
	if err != nil {
		t.Fatal(err)
	}
	return language + " " + path
}

// programs lets the sample bots play the game of samestep new, and the learner learn it.
func (f *foreign) programs(t *testing.T) {
	f.t = t
	gym := func(bot string, flags ...string) string {
		t.Helper()
		c := exec.CommandContext(t.Context(), f.program, append([]string{"gym", "--json", "--bot-command", bot}, flags...)...)
		c.Dir = f.dir
		out, err := c.Output()
		var sum struct{ Episodes, Steps, Replays int }
		if json.Unmarshal(out, &sum) != nil || err != nil || sum.Episodes != 2 || sum.Steps < 100 {
			t.Errorf("%s: got %+v, %v: %s", bot, sum, err, out)
		}
		return string(out)
	}
	script := runner(t, "node", "bot.js")
	gym(script, "--episodes", "2", "--seats", "all", "--record", "replays")
	f.run(console.ExitOK, "replay verify replays", "2 files", "2 ok")
	f.run(console.ExitOK, "replay dump --commands replays/hold-000002.ssr", "player 1 walks to")
	gym(runner(t, "python3", "bot.py"), "--episodes", "2", "--ticks", "100")

	learner := strings.Fields(runner(t, "python3", "learner.py"))
	learn := func() string {
		c := exec.CommandContext(t.Context(), learner[0], learner[1], f.program, "gym", "--ticks", "2000")
		out, err := c.Output()
		if err != nil || !strings.HasPrefix(string(out), "the best policy has the reward ") || strings.Contains(string(out), "reward 0") {
			t.Errorf("got %s, %v", out, err)
		}
		return string(out)
	}
	if first, second := learn(), learn(); first != second {
		t.Errorf("learned %s and then %s", first, second)
	}
}

// A program in another language plays skirmish, and each episode has a replay that verifies. A foolish one gets a sentence.
func TestGymOfSkirmish(t *testing.T) {
	t.Parallel()
	bot, dir := runner(t, "python3", "bot.py"), t.TempDir()
	var sum struct {
		Episodes, Steps, Ticks, Replays int
		Rate                            float64 `json:"steps_per_second"`
	}
	play := []string{"gym", "skirmish", "--config", `{"Units":20}`, "--ticks", "40", "--bot-command", bot, "--episodes", "2", "--json"}
	for _, name := range []string{"a", "b"} { // the bot draws by the seed
		out, _ := tooltest.Requires(t, console.ExitOK, append(play, "--record", filepath.Join(dir, name))...)
		if err := json.Unmarshal([]byte(out), &sum); err != nil || sum.Episodes != 2 || sum.Replays != 2 || sum.Ticks != 78 || sum.Rate <= 0 {
			t.Errorf("got %+v, %v: %s", sum, err, out)
		}
		tooltest.Requires(t, console.ExitOK, "replay", "verify", filepath.Join(dir, name))
	}
	same := func(a, b string) int {
		return tooltest.Execute([]string{"replay", "bisect", filepath.Join(dir, a), filepath.Join(dir, b)}, new(bytes.Buffer), new(bytes.Buffer))
	}
	if same("a/skirmish-000001.ssr", "b/skirmish-000001.ssr") != console.ExitOK || same("a/skirmish-000001.ssr", "b/skirmish-000002.ssr") == console.ExitOK {
		t.Error("an episode of the same seed is another one, or that of another seed the same")
	}
	for _, c := range []struct {
		code  int
		flags []string
		want  string
	}{
		{console.ExitError, []string{"--bot-command", "echo no such bot >&2; exit 4"}, "it ended after line 0: exit status 4; its last lines:\n  no such bot"},
		{console.ExitError, []string{"--bot-command", "cat", "--bot-time", "5s"}, `line 1: json: unknown field "type": got "{\"type\":\"hello\",`},
		{console.ExitError, []string{"--bot-command", "sleep 60", "--bot-time", "50ms"}, "it hangs: after line 0 it has not answered for 50ms, see --bot-time"},
		{console.ExitError, []string{"--bot-command", bot, "--record", filepath.Join(dir, "a"), "--ticks", "20"}, "--record: " + filepath.Join(dir, "a", "skirmish-000001.ssr") + " exists"},
		{console.ExitUsage, []string{"--bot-command", bot, "--seats", "0,2"}, `--seats: got "0,2", want different seats from 0 to 1, or all`},
		{console.ExitUsage, []string{"--bot-command", bot, "--fields", "Unit"}, `--fields: got "Unit", want some of Ended,Winner,`},
		{console.ExitUsage, []string{"--bot-command", bot, "--observe", "all"}, `--observe: got "all", want view or state`},
		{console.ExitUsage, []string{"--json"}, "--bot-time and --json are for --bot-command"},
	} {
		if _, errs := tooltest.Requires(t, c.code, append([]string{"gym", "skirmish"}, c.flags...)...); !strings.Contains(errs, c.want) {
			t.Errorf("%v: got %s\nwant %s", c.flags, errs, c.want)
		}
	}
}

// An interrupt ends gym and its program.
func TestGymInterrupted(t *testing.T) {
	t.Parallel()
	ctx, stop := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer stop()
	var out, errs bytes.Buffer
	if code := tooltest.Run(ctx, []string{"samestep", "gym", "minimal", "--bot-command", "sleep 60"}, &out, &errs); code != console.ExitError || errs.String() != "samestep: interrupted\n" {
		t.Errorf("got exit code %d: %s", code, &errs)
	}
}

// A program plays in a live match of views, and gets no more than the view of its seat.
func TestJoinProgram(t *testing.T) {
	testenv.Long(t) // it plays in real time
	t.Parallel()
	bot, dir := runner(t, "python3", "bot.py"), t.TempDir()
	for _, sees := range []string{"views", "all"} {
		s := tooltest.Serve(t, "--players", "2", "--bots", "1", "--config", `{"Units":20}`, "--dir", filepath.Join(dir, sees), "--set", "players-see="+sees)
		log := filepath.Join(dir, sees+".jsonl")
		sum, code := s.Join(t, "player-0", "--bot-command", "tee "+log+" | "+bot, "--time", "2s")
		if code != console.ExitOK || sum.Accepted+sum.Rejected < 5 {
			t.Errorf("%s: exited with %d, %+v", sees, code, sum)
		}
		b, err := os.ReadFile(log)
		if err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(strings.TrimSpace(string(b)), "\n")
		for _, line := range lines[1:] {
			var step struct {
				State        json.RawMessage
				Observations map[string]json.RawMessage
				Info         struct{ Seed, Config json.RawMessage }
			}
			if err := json.Unmarshal([]byte(line), &step); err != nil || step.State != nil || len(step.Observations) != 1 || step.Observations["0"] == nil || step.Info.Seed != nil || step.Info.Config != nil {
				t.Errorf("%s: %v in %.300s", sees, err, line)
			}
		}
		if !strings.Contains(lines[0], `"verb":"join"`) || len(lines) < 5 {
			t.Errorf("%s: got %d lines, first %.300s", sees, len(lines), lines[0])
		}
		for _, c := range []struct{ command, want string }{
			{"exit 3", "exit 3: it ended after line 0: exit status 3"},
			{"read line; echo '{\"reset\": {\"seed\": 3}}'; read line", "line 1: a live match has its own seed and configuration"},
			{"read line; echo '{\"reset\": {}}'; read line; exit 0", "the program of --bot-command has ended before the match"},
		} {
			var out, errs bytes.Buffer
			args := []string{"join", s.URL + "/matches/match-1", "--token", s.Tokens["player-0"], "--time", "5s", "--bot-command", c.command}
			if code := tooltest.Execute(args, &out, &errs); code != console.ExitError || !strings.Contains(errs.String(), c.want) {
				t.Errorf("%s: exited with %d, %s", c.command, code, &errs)
			}
		}
		s.Stop()
	}
}

// A bot of views sees the view of its seat, and one of another type is refused.
func TestViewBot(t *testing.T) {
	var seen []rules.View
	game := New(rules.Rules(), ViewBot(func(p lockstep.Player, seed uint64) func(*rules.View) []any {
		return func(v *rules.View) []any {
			seen = append(seen, rules.View{To: v.To})
			return []any{&rules.Walk{X: uint8(p), Y: uint8(seed)}}
		}
	}), Score(rules.Points))
	if game.err != nil {
		t.Fatal(game.err)
	}
	config := rules.Usual(2)
	header, err := game.game.NewHeader(lockstep.MatchID{}, lockstep.DefaultSettings(2), &config)
	if err != nil {
		t.Fatal(err)
	}
	sim, err := game.game.NewSimulation(header)
	if err != nil {
		t.Fatal(err)
	}
	for p := range lockstep.Player(2) {
		view, err := sim.AppendView(nil, sim.ViewerOf(p))
		if err != nil {
			t.Fatal(err)
		}
		want := []any{&rules.Walk{X: uint8(p), Y: 7}}
		if got, other := game.game.Maker(p, 7)(sim), game.game.Looks(p, 7)(view); !reflect.DeepEqual(got, want) || !reflect.DeepEqual(other, want) {
			t.Errorf("player %d: got %v and %v", p, got, other)
		}
	}
	to := lockstep.World[rules.World](sim).Diggers
	if len(seen) != 4 || seen[0].To != to[0].To || seen[2].To != to[1].To || seen[3].To != to[1].To {
		t.Errorf("got %v, want where %v go", seen, to)
	}
	for want, option := range map[string]Option{
		"tool.ViewBot: lockstep: goldrush: want a view of type rules.View": ViewBot(func(lockstep.Player, uint64) func(*rules.World) []any { return nil }),
		"tool.Score: got a function for the state rules.Config":            Score(func(*rules.Config, *rules.Score, lockstep.Player) int { return 0 }),
		"tool.Score: got a function for the result rules.Walk":             Score(func(*rules.World, *rules.Walk, lockstep.Player) int { return 0 }),
	} {
		if g := New(rules.Rules(), option); g.err == nil || !strings.Contains(g.err.Error(), want) {
			t.Errorf("got %v, want %s", g.err, want)
		}
	}
}

// A bot of views plays where a client gets nothing else.
func TestViewBotJoins(t *testing.T) {
	testenv.Long(t) // it plays in real time
	t.Parallel()
	game := New(rules.Rules(), Config(rules.Usual), ViewBot(func(p lockstep.Player, _ uint64) func(*rules.View) []any {
		return func(v *rules.View) []any {
			return []any{&rules.Walk{X: uint8(v.To.X.Floor().Int() + 1), Y: 3}} // always elsewhere
		}
	}))
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	dir := t.TempDir()
	tokens := filepath.Join(dir, "tokens.txt")
	if err := os.WriteFile(tokens, []byte("player 0 ada - ada-ada-ada-ada-ada\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	lines, out := io.Pipe()
	served := make(chan int, 1)
	go func() {
		served <- Run(ctx, []string{"dig", "serve", "--listen", "127.0.0.1:0", "--players", "1", "--set", "web=false", "--dir", dir, "--tokens", tokens, "--set", "players-see=views"}, out, io.Discard, game)
		out.Close()
	}()
	url := ""
	scanner := bufio.NewScanner(lines)
	for url == "" && scanner.Scan() {
		_, url, _ = strings.Cut(scanner.Text(), "listening on ")
	}
	go io.Copy(io.Discard, lines)
	for _, c := range []struct {
		flags []string
		plays bool
	}{{nil, true}, {[]string{"--bot", "none"}, false}} {
		var sum, errs bytes.Buffer
		args := append([]string{"dig", "join", strings.TrimSuffix(url, "/") + "/matches/match-1", "--feed", "--token", "ada-ada-ada-ada-ada", "--time", "1500ms"}, c.flags...)
		if code := Run(ctx, args, &sum, &errs, game); code != console.ExitOK || strings.Contains(sum.String(), "commands   0 accepted") == c.plays {
			t.Errorf("%v: exited with %d: %s%s", c.flags, code, &sum, &errs)
		}
	}
	stop()
	if code := <-served; code != console.ExitOK {
		t.Errorf("serve exited with %d", code)
	}
}
