package desync_test

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/seed-49bee653/samestep/desync"
	"github.com/seed-49bee653/samestep/fixed"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/coordinator"
	"github.com/seed-49bee653/samestep/lockstep/host"
	"github.com/seed-49bee653/samestep/lockstep/record"
	"github.com/seed-49bee653/samestep/replay"
	"github.com/seed-49bee653/samestep/state"
)

// The game of the Examples: two players pay into one chest.
type (
	chest struct {
		Gold  uint32
		Gifts [2]uint32
	}
	give  struct{ Gold uint32 }
	rules = lockstep.Rules[chest, struct{}]
)

func pay(w *chest, _ *struct{}, t *lockstep.Turn) {
	for _, c := range t.Commands {
		if m, ok := c.Value.(*give); ok {
			w.Gold += m.Gold
			w.Gifts[c.Player]++
		}
	}
}

// deaf is pay on a machine that misses player 0's command of tick 4.
func deaf(w *chest, _ *struct{}, t *lockstep.Turn) {
	if t.Tick == 4 {
		t.Commands = slices.DeleteFunc(t.Commands, func(c lockstep.Command) bool { return c.Player == 0 })
	}
	pay(w, nil, t)
}

func chestGame(step func(*chest, *struct{}, *lockstep.Turn)) *lockstep.Game {
	return lockstep.MustGame(rules{
		Name: "chest", Build: "1", Commands: []lockstep.CommandType{lockstep.Type[give](1, "give")},
		New: func(*chest, *lockstep.Settings, *struct{}) error { return nil }, Step: step,
	})
}

// A stubborn copy continues after a desync.
type stubborn struct{ *lockstep.Follower }

func (f stubborn) Append(record []byte) error {
	err := f.Follower.Append(record)
	if errors.As(err, new(*lockstep.DesyncError)) {
		return nil
	}
	return err
}

// chestBundle plays a match in which player 1 runs the deaf machine, and returns the bundle of the desync.
func chestBundle() *replay.Bundle {
	archive := chestArchive()
	b, err := replay.OpenBundle(bytes.NewReader(archive), int64(len(archive)))
	if err != nil {
		panic(err)
	}
	return b
}

// chestArchive returns the bytes of the bundle.
func chestArchive() []byte {
	game := chestGame(pay)
	settings := lockstep.DefaultSettings(2)
	settings.CheckEvery = 5
	header, err := game.NewHeader(lockstep.MatchID{1}, settings, &struct{}{})
	if err != nil {
		panic(err)
	}
	kept := lockstep.FollowerOptions{History: lockstep.HistoryOptions{States: true}}
	deafCopy := chestGame(deaf).NewFollower(kept)
	var log, archive bytes.Buffer
	file := replay.NewWriter(&log, replay.WriterOptions{})
	evidence := &host.Evidence{Participants: []host.Participant{{Player: 0, Name: "ada", Build: "1", Platform: "linux"}, {Player: 1, Name: "bob", Build: "1", Platform: "toaster"}}}
	match, err := coordinator.New(game, header, record.Tee(file, stubborn{deafCopy}), coordinator.Options{Referee: kept})
	if err != nil {
		panic(err)
	}
	match.Join(0)
	match.Join(1)
	for t := lockstep.Tick(1); t <= 5; t++ {
		kind, payload, err := game.NewPayloads().Encode(&give{Gold: 10 * uint32(t)})
		if err != nil {
			panic(err)
		}
		match.Submit(0, lockstep.Sequence(t), kind, payload)
		match.Tick()
	}
	sum, _ := deafCopy.Sum(5)
	if err := match.Report(1, 5, sum); err != nil {
		panic(err)
	}
	evidence.Report = *match.Desyncs()[0]
	evidence.Exhibits = []host.Exhibit{{Tick: 5, Referee: match.Referee().State(5), Player: deafCopy.State(5)}}
	if err := file.Flush(); err != nil {
		panic(err)
	}
	if err := replay.WriteBundle(&archive, header, evidence, &log); err != nil {
		panic(err)
	}
	return archive.Bytes()
}

func ExampleExplain() {
	e, err := desync.Explain(chestBundle(), desync.Options{
		Game: func(h *lockstep.Header) (*lockstep.Game, error) { g := chestGame(pay); return g, g.CheckIdentity(h) },
	})
	if err != nil {
		panic(err)
	}
	for _, line := range e.Lines() {
		if !strings.HasPrefix(line, "match ") { // it names this machine
			fmt.Println(line)
		}
	}
	// Output:
	// answer     Gold 150 → 110 (+1 more field) at tick 5, since one of the ticks 1 to 5, player 1 (bob)
	// verdict    THE PLAYER: the match simulated again agrees with the referee, not with player 1
	//            grade: consistent with; 64 simulations agree with each other, none in a process of its own
	// cause      consistent with: lost command: a command did not run up to tick 5: tick 4, player 0: give {"Gold":40}
	//            shown by trial: the match with this one fault ends in the wrong side's state of tick 5, bit by bit, and so it does with a rule that does the same
	// found      at the check of tick 5: player 1 (bob) differs in Gold
	//            dc2da0ae66cd7357  the referee (as simulated again)
	//            36d5ff2bb90a8df5  player 1 (bob)
	// bug        fingerprint 266ba5a7: chest, commands, Gold
	// first      the first divergent tick is one of 1 to 5
	// fields     at tick 5, right → wrong: 2 fields
	//            Gold 150 → 110
	//            Gifts[0] 5 → 4
	// changed    Gold became 150 instead of 100 in tick 5, by tick 5, player 0: give {"Gold":50}
	//            Gifts[0] became 5 instead of 4 in tick 5, by tick 5, player 0: give {"Gold":50}
	// commands   tick 2, player 0: give {"Gold":10} (changes Gold, Gifts[0])
	//            tick 2, player 0: give {"Gold":20} (changes Gold, Gifts[0])
	//            tick 3, player 0: give {"Gold":30} (changes Gold, Gifts[0])
	//            tick 4, player 0: give {"Gold":40} (changes Gold, Gifts[0])
	//            tick 5, player 0: give {"Gold":50} (changes Gold, Gifts[0])
	// common     build 1, the same as the other player
	//            platform toaster, unlike the other player
	// tried      44 faults of commands, 9 faults of all commands of a tick, 180 altered payloads of commands that change what differs, 30 altered fields, 5 commands of other players
}

// A program that is started for a job reads it, and writes the result. This one does so for the process that explains.
func ExampleComputeApart() {
	find := replay.Games{chestGame(pay)}.Of
	e, err := desync.Explain(chestBundle(), desync.Options{
		Game:  find,
		Now:   time.Now,
		Apart: func(job []byte) (result []byte, err error) { return desync.ComputeApart(job, find), nil },
	})
	if err != nil {
		panic(err)
	}
	fmt.Println(e.Verdict.Grade, e.Verdict.Apart)
	// Output: proven true
}

// An Explanation is plain data.
func ExampleExplanation() {
	var e *desync.Explanation
	e, err := desync.Explain(chestBundle(), desync.Options{}) // without the game's code
	if err != nil {
		panic(err)
	}
	var v desync.Verdict = e.Verdict
	if v.Party == desync.Party("player") {
		fmt.Println("wrong:", v.Players)
	}
	var first desync.Span = e.First
	fmt.Println("first divergent tick between", first.From, "and", first.To)
	fmt.Println("fields:", e.Fields)
	var shown desync.Shown = *e.Shown
	fmt.Println("a viewer shows", shown.Field, "at tick", shown.Tick)
	var who desync.Participant = e.Who[1]
	fmt.Println(who.Name, "differs:", who.Differs)
	for i, c := range e.Columns {
		fmt.Println(desync.Column(c), e.Who[0].Cells[i])
	}
	for _, g := range e.Groups {
		fmt.Println(desync.Group(g))
	}
	for _, t := range e.Traits {
		fmt.Println(desync.Trait(t))
	}
	fmt.Println(e.Notes)
	// Output:
	// wrong: [1]
	// first divergent tick between 1 and 5
	// fields: {[Gold: 150 != 110 Gifts[0]: 5 != 4] 2}
	// a viewer shows Gold at tick 5
	// bob differs: true
	// {{1 5} 1} 0
	// dc2da0ae66cd7357  the referee
	// 36d5ff2bb90a8df5  player 1 (bob)
	// build 1, the same as the other player
	// platform toaster, unlike the other player
	// joined at tick 1, the same as the other player
	// lost its connection never, the same as the other player
	// [no game code: nothing was simulated again, and no command was searched for]
}

// chestAgain returns the bundle with what player 1's machine computed again, twice.
func chestAgain() *replay.Bundle {
	b := chestBundle()
	const one, two, three, four, other = "0000000000000001", "0000000000000002", "0000000000000003", "0000000000000004", "00000000000000ff"
	run := []string{one, two, three, other, "36d5ff2bb90a8df5"}
	b.Manifest.Resimulation = &replay.BundleResimulation{To: 5, First: 4, Section: "Gold", Right: []string{one, two, three, four}, Runs: [][]string{run, run}}
	return b
}

// The machine that was wrong goes wrong again, in the same way.
func ExampleAgain() {
	e, err := desync.Explain(chestAgain(), desync.Options{})
	if err != nil {
		panic(err)
	}
	var a *desync.Again = e.Again
	fmt.Println(a.Outcome, "at tick", e.First.To)
	for _, line := range a.Lines() {
		fmt.Println(line)
	}
	// Output:
	// wrong in the same way at tick 4
	// the machine of player 1 computed ticks 1 to 5 again, 2 times: wrong in the same way, from tick 4 on in Gold
	// so its memory is not the cause: its rules, its build or its platform compute another result
}

// Bundles with equal fingerprints have the same cause, as far as can be told.
func ExampleFingerprint() {
	e, err := desync.Explain(chestAgain(), desync.Options{})
	if err != nil {
		panic(err)
	}
	var f desync.Fingerprint = e.Fingerprint
	fmt.Println(f.ID, f.Class == desync.ClassRules, desync.Class(f.Class))
	fmt.Println(f)
	// Output:
	// c75e4082 true rules, build or platform
	// fingerprint c75e4082: chest, rules, build or platform, Gold
}

// A Cause is plain data that needs the game's code.
func ExampleCause() {
	e, err := desync.Explain(chestBundle(), desync.Options{
		Game: func(*lockstep.Header) (*lockstep.Game, error) { return chestGame(pay), nil },
	})
	if err != nil {
		panic(err)
	}
	var cause *desync.Cause = e.Cause
	if cause.Kind == desync.CauseKind("lost command") {
		var command *desync.Command = cause.Command
		fmt.Printf("tick %d: player %d, number %d\n", command.Tick, command.Player, command.Sequence)
	}
	var tried desync.Tried = e.Tried[0]
	fmt.Println("tried", tried)
	for _, c := range e.Changes {
		fmt.Println(desync.Change(c))
	}
	for _, t := range e.Commands {
		fmt.Println(desync.Touch(t))
	}
	fmt.Println(len([]desync.Stream(e.Streams)), "generators,", len([]desync.Draws(e.Draws)), "purposes")
	// Output:
	// tick 4: player 0, number 4
	// tried 44 faults of commands
	// Gold became 150 instead of 100 in tick 5, by tick 5, player 0: give {"Gold":50}
	// Gifts[0] became 5 instead of 4 in tick 5, by tick 5, player 0: give {"Gold":50}
	// tick 2, player 0: give {"Gold":10} (changes Gold, Gifts[0])
	// tick 2, player 0: give {"Gold":20} (changes Gold, Gifts[0])
	// tick 3, player 0: give {"Gold":30} (changes Gold, Gifts[0])
	// tick 4, player 0: give {"Gold":40} (changes Gold, Gifts[0])
	// tick 5, player 0: give {"Gold":50} (changes Gold, Gifts[0])
	// 0 generators, 0 purposes
}

// An Ending has both results, by their schema.
func ExampleEnding() {
	e := desync.Explanation{Ending: &desync.Ending{
		Tick: 5, Text: "the result differs: Winner: got 0, want 1", Ours: []byte(`{"Winner":0}`), Log: []byte(`{"Winner":1}`),
	}}
	for _, line := range e.Lines() {
		if strings.Contains(line, "result") {
			fmt.Println(line)
		}
	}
	// Output:
	// end        at tick 5, by the rules of this build: the result differs: Winner: got 0, want 1
	//            the result of this build: {"Winner":0}
	//            the result of the log: {"Winner":1}
}

// A generator in the state tells how often each side has drawn from it.
func ExampleStreamsOf() {
	type world struct{ Loot fixed.Rand }
	codec, err := state.Compile[world]()
	if err != nil {
		panic(err)
	}
	w := world{fixed.NewStream(1, "loot")}
	good := codec.Append(nil, &w)
	w.Loot.N(6)
	right := codec.Append(nil, &w)
	w.Loot.N(6)
	for _, s := range desync.StreamsOf(codec.Schema(), nil, good, right, codec.Append(nil, &w)) {
		fmt.Println(s)
	}
	// Output: Loot: 1 draw, but 2 on the wrong side
}

// By rules in which the order of a map decides, nobody is accused.
func ExampleRepeat() {
	wrong := chestGame(func(w *chest, _ *struct{}, t *lockstep.Turn) {
		pay(w, nil, t)
		for i := range map[uint32]bool{1: true, 2: true, 3: true, 4: true} { //samestep:allow maprange this is the mistake
			w.Gifts[1] = w.Gifts[1]*5 + i
		}
	})
	file, err := chestBundle().Replay(1 << 20)
	if err != nil {
		panic(err)
	}
	r, err := replay.NewReader(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		panic(err)
	}
	for _, game := range []*lockstep.Game{chestGame(pay), wrong} {
		parting, runs, err := desync.Repeat(desync.Options{}, desync.Past{Replay: r, Game: game, Tick: 5})
		if err != nil {
			panic(err)
		}
		if parting == nil {
			fmt.Println(runs, "simulations agree")
			continue
		}
		var p desync.Parting = *parting
		fmt.Println(p.Field, "differs:", p.Way == desync.Way("again"))
	}
	e, err := desync.Explain(chestBundle(), desync.Options{Game: func(*lockstep.Header) (*lockstep.Game, error) { return wrong, nil }})
	if err != nil {
		panic(err)
	}
	var grade desync.Grade = e.Verdict.Grade
	fmt.Println(grade)
	// Output:
	// 64 simulations agree
	// Gifts[1] differs: true
	// no fixed result
}
