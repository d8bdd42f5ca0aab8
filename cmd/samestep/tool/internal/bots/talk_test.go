//go:build !js

package bots

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/gameset"
	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/scaffold/rules"
	"github.com/seed-49bee653/samestep/lockstep"
)

// conversation returns a talk with a program that gives these answers, one a line, and the lines that it gets.
func conversation(t *testing.T, o Options, seats []lockstep.Player, answers ...string) (*Talk, <-chan string) {
	t.Helper()
	g, err := gameset.New(rules.Rules())
	if err != nil {
		t.Fatal(err)
	}
	talk, err := New(g, o)
	if err != nil {
		t.Fatal(err)
	}
	in, theirOut := io.Pipe()
	theirs, out := io.Pipe()
	got := make(chan string, len(answers)+1)
	go func() {
		lines := bufio.NewScanner(theirs)
		lines.Buffer(nil, maxLine)
		for _, a := range answers {
			if !lines.Scan() {
				break
			}
			got <- lines.Text()
			io.WriteString(theirOut, a+"\n")
		}
		theirOut.Close()
	}()
	p := Own(in, out)
	t.Cleanup(func() { p.Close(true) })
	talk.With(p, seats)
	return talk, got
}

func TestHello(t *testing.T) {
	talk, got := conversation(t, Options{Fields: "To,Diggers"}, []lockstep.Player{1}, `{"reset": {"seed": "18446744073709551615", "config": {"Gold": 3}}}`)
	reset, err := talk.Greet(t.Context(), "gym", 2, 50_000, 1)
	if err != nil || *reset.Seed != 1<<64-1 || string(reset.Config) != `{"Gold": 3}` {
		t.Fatalf("got %+v, %v", reset, err)
	}
	const q = `{"fixed":"int64","fraction":32}`
	const want = `{"type":"hello","protocol":1,"verb":"gym","game":"goldrush","build":"1","players":2,"seats":[1],"tick_micros":50000,"every":1,"observes":"view","observation":{"fields":{"To":{"fields":{"X":` + q + `,"Y":` + q + `}},"Diggers":{"list":{"fields":{"Owner":"uint8","At":{"fields":{"X":` + q + `,"Y":` + q + `}},"Found":"uint32"}}}}},"commands":[{"name":"walk","value":{"fields":{"X":"uint8","Y":"uint8"}}}],"scored":false}`
	if line := <-got; line != want {
		t.Errorf("got  %s\nwant %s", line, want)
	}
	talk, _ = conversation(t, Options{}, []lockstep.Player{1}, `{"reset": {"seed": null, "config": null}, "commands": null}`)
	if reset, err := talk.Greet(t.Context(), "gym", 2, 50_000, 1); err != nil || reset.Seed != nil || reset.Config != nil {
		t.Fatalf("null: got %+v, %v", reset, err)
	}
}

// A step has what the seats see, and only the fields that were asked for.
func TestStep(t *testing.T) {
	g := lockstep.MustGame(rules.Rules())
	settings := lockstep.DefaultSettings(2)
	header, err := g.NewHeader(lockstep.MatchID{}, settings, &rules.Config{Gold: 1, Speed: 1})
	if err != nil {
		t.Fatal(err)
	}
	sim, err := g.NewSimulation(header)
	if err != nil {
		t.Fatal(err)
	}
	view, err := sim.AppendView(nil, sim.ViewerOf(1))
	if err != nil {
		t.Fatal(err)
	}
	both := []lockstep.Player{0, 1}
	for _, c := range []struct {
		name string
		o    Options
		seen [][]byte
		step Step
		want string
	}{
		{"views", Options{Fields: "Gold"}, [][]byte{view, view}, Step{Tick: 7, Rewards: []int{3, -3}}, `{"type":"step","tick":7,"observations":{"0":{"Gold":[]},"1":{"Gold":[]}},"rewards":{"0":3,"1":-3},"terminated":false,"truncated":false,"info":{}}`},
		{"the state", Options{Observe: "state", Fields: "Gold"}, [][]byte{sim.AppendState(nil)}, Step{Truncated: true, Refused: []Refused{{1, "walk", "no"}}}, `{"type":"step","tick":0,"state":{"Gold":[{"X":"255.689421021","Y":"172.083667081"}]},"rewards":{"0":0,"1":0},"terminated":false,"truncated":true,"info":{"refused":[{"seat":1,"name":"walk","reason":"no"}]}}`},
		{"an end", Options{Fields: "To"}, [][]byte{view, view}, Step{Terminated: true, Result: `{"Found":[1,0]}`}, `"terminated":true,"truncated":false,"info":{"result":{"Found":[1,0]}}}`},
		{"a beginning", Options{Fields: "To"}, [][]byte{view, view}, Step{Begins: true, Episode: 2, Seed: new(uint64), Config: []byte(`{"Gold":1}`)}, `"info":{"episode":2,"seed":"0","config":{"Gold":1}}}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			talk, _ := conversation(t, c.o, both)
			line := strings.TrimSuffix(string(talk.Line(&c.step, c.seen...)), "\n")
			if !json.Valid([]byte(line)) || !strings.HasSuffix(line, c.want) {
				t.Errorf("got  %s\nwant %s", line, c.want)
			}
		})
	}
}

// A wrong answer ends the conversation, and the error says which line, and what was expected.
func TestWrongAnswers(t *testing.T) {
	for _, c := range []struct{ answer, want string }{
		{`{"commands": [`, `unexpected EOF: got "{\"commands\": [", want {"commands": [{"name": …`},
		{`hello`, `got "hello", want {"commands"`},
		{strings.Repeat("x", 500), strings.Repeat("x", maxQuoted) + `"…, want`},
		{`{"command": []}`, `json: unknown field "command": got`},
		{`{} {}`, `more than one value`},
		{`[]`, `cannot unmarshal array`},
		{`{"commands": [], "reset": {}}`, `got a reset and commands, want one of them`},
		{`{"commands": [{"seat": 1, "name": "walk"}, {"seat": 2, "name": "walk"}]}`, `commands[1]: got seat 2, want one of [0 1], which this program plays`},
		{`{"commands": [{"seat": -1, "name": "walk"}]}`, `commands[0]: got seat -1, want one of [0 1]`},
		{`{"commands": [{"seat": 256, "name": "walk"}]}`, `commands[0]: got seat 256, want one of [0 1]`},
		{`{"commands": [{"name": "walk"}]}`, `commands[0]: got no seat, want one of [0 1]`},
		{`{"commands": [{"seat": 0, "name": "fly"}]}`, `commands[0]: got the name "fly", want one of walk`},
		{`{"commands": [{"seat": 0, "name": "walk", "value": {"X": 300}}]}`, `X: got 300, want`},
		{`{"commands": [{"seat": 0, "name": "walk", "value": {"Z": 3}}]}`, `unknown field "Z", want X, Y`},
		{`{"reset": {"seed": -1}}`, `got the seed -1, want 0 to 18446744073709551615`},
	} {
		talk, _ := conversation(t, Options{Observe: "state"}, []lockstep.Player{0, 1}, `{}`, c.answer)
		if _, err := talk.Ask(t.Context(), []byte("{}\n"), false); err != nil {
			t.Fatal(err) // control: no commands are right
		}
		if _, err := talk.Ask(t.Context(), []byte("{}\n"), false); err == nil || !strings.HasPrefix(err.Error(), "standard input: line 2: ") || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", c.answer, err, c.want)
		}
	}
	talk, _ := conversation(t, Options{}, []lockstep.Player{0}, `{}`)
	if _, err := talk.Greet(t.Context(), "gym", 1, 1, 1); err == nil || !strings.Contains(err.Error(), `no episode goes on: got "{}", want {"reset": {}}`) {
		t.Errorf("commands before a reset: got %v", err)
	}
}

// Commands are values of the game's types.
func TestCommands(t *testing.T) {
	talk, _ := conversation(t, Options{}, []lockstep.Player{1}, `{"commands": [{"name": "walk", "value": {"X": 3}}, {"seat": 1, "name": "walk", "value": {"X": 4, "Y": "5"}}]}`)
	r, err := talk.Ask(t.Context(), []byte("{}\n"), false)
	if err != nil || len(r.Commands) != 2 {
		t.Fatalf("got %+v, %v", r, err)
	}
	var got []string
	for _, c := range r.Commands {
		got = append(got, fmt.Sprint(c.Player, c.Kind, c.Is))
	}
	if want := "[1 1 &{3 0} 1 1 &{4 5}]"; fmt.Sprint(got) != want {
		t.Errorf("got %v, want %s", got, want)
	}
}
