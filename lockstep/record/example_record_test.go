package record_test

import (
	"errors"
	"fmt"
	"io"

	"github.com/seed-49bee653/samestep/internal/testing/testgame"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/coordinator"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

// A log is a sequence of records.
func ExampleDecoder() {
	var log []byte
	game, c := testgame.NewLamps(testgame.LogFunc(func(record []byte) { log = append(log, record...) }), coordinator.Options{})
	testgame.Ticks(c, 1)
	kind, payload, err := game.NewPayloads().Encode(&testgame.Press{Lamp: 1})
	if err != nil {
		fmt.Println(err)
		return
	}
	c.Submit(0, 1, kind, payload)
	testgame.Ticks(c, 3)
	c.End("over")

	var dec record.Decoder
	var words *lockstep.Describer
	for len(log) > 0 {
		var r *record.Record
		if r, log, err = dec.Decode(log); err != nil {
			fmt.Println(err)
			return
		}
		switch r.Kind {
		case record.KindHeader:
			fmt.Println("header:", r.Header.Game, r.Header.Build)
			if words, err = lockstep.NewDescriber(r.Header, nil); err != nil {
				fmt.Println(err)
			}
		case record.KindKeyframe:
			var k record.Keyframe = r.Keyframe
			var last []record.LastSequence = k.Last
			fmt.Println("keyframe of tick", r.Tick, "after", last)
		case record.KindFrame:
			for _, cmd := range r.Frame.Commands {
				fmt.Printf("tick %d: %s\n", r.Tick, words.Describe(&cmd))
			}
		default:
			var kind record.Kind = r.Kind
			fmt.Println("record", kind, "of tick", r.Tick)
		}
	}
	// Output:
	// header: lamps 1
	// keyframe of tick 0 after []
	// tick 1: system: joined {"Player":0}
	// tick 1: system: joined {"Player":1}
	// tick 2: player 0: press {"Lamp":1}
	// record 5 of tick 2
	// record 4 of tick 3
	// record 4 of tick 4
	// record 5 of tick 4
	// keyframe of tick 4 after [{0 1} {255 2}]
	// record 7 of tick 4
}

// A simulation reads a log tick by tick. A caller that only counts does not need to.
func ExampleAll() {
	var log []byte
	_, c := testgame.NewLamps(testgame.LogFunc(func(record []byte) { log = append(log, record...) }), coordinator.Options{})
	testgame.Ticks(c, 3)
	var dec record.Decoder
	next := func() (*record.Record, error) {
		if len(log) == 0 {
			return nil, io.EOF
		}
		r, rest, err := dec.Decode(log)
		log = rest
		return r, err
	}
	var counted record.Tick
	for r, err := range record.All(next) {
		if err != nil {
			fmt.Println(err)
			return
		}
		counted += r.Ticks()
		for f := range r.Frames() {
			fmt.Println("tick", f.Tick, "has", len(f.Commands), "commands")
		}
	}
	fmt.Println(counted, "ticks")
	// Output:
	// tick 1 has 2 commands
	// tick 2 has 0 commands
	// tick 3 has 0 commands
	// 3 ticks
}

// A caller that stops inside a run of empty ticks continues at its next tick.
func ExampleRecord_FrameAfter() {
	run := record.Record{Kind: record.KindEmpty, Tick: 100, Empty: 90}
	for f := run.FrameAfter(97); f != nil; f = run.FrameAfter(f.Tick) {
		fmt.Println(f.Tick)
	}
	// Output:
	// 98
	// 99
	// 100
}

// The smallest records.
func ExampleEncoder() {
	game := lockstep.MustGame(testgame.LampRules)
	header, err := game.NewHeader(record.MatchID{}, record.DefaultSettings(1), &testgame.Nobody{})
	if err != nil {
		fmt.Println(err)
		return
	}
	var enc record.Encoder
	enc.Header(header)
	enc.Keyframe(0, 0, nil, nil)
	fmt.Printf("% x\n", enc.Empty(1))
	fmt.Printf("% x\n", enc.Frame(&record.Frame{Tick: 2, Commands: []record.Command{
		{Tick: 2, Player: 0, Sequence: 1, Kind: 1, Payload: []byte{3}},
	}}))
	// Output:
	// 92 04 01
	// 95 03 00 01 01 c4 01 03
}

// Only the bytes that Encode writes are decoded, so a payload has one encoding.
func ExamplePayloads() {
	var payloads *record.Payloads = lockstep.MustGame(testgame.LampRules).NewPayloads()
	var kind record.CommandKind
	kind, b, err := payloads.Encode(&testgame.Press{Lamp: 3})
	fmt.Printf("%d: % x %v\n", kind, b, err)

	c := record.Command{Player: 1, Sequence: record.Sequence(1), Kind: kind, Payload: []byte{3, 0}}
	err = payloads.Decode(&c)
	fmt.Println(errors.Is(err, record.ErrMalformed), err)
	// Output:
	// 1: 03 <nil>
	// true lockstep: press: state: malformed at byte 1: bytes after the end of the value: 1 of them
}

// A log that is cut ends with io.ErrUnexpectedEOF.
func ExampleDecoder_Decode() {
	var dec record.Decoder
	_, _, err := dec.Decode([]byte{0x9c, 1})
	fmt.Println(errors.Is(err, io.ErrUnexpectedEOF))
	// Output: true
}

// A history keeps the latest moments of a simulation.
func ExampleMoment() {
	_, c := testgame.NewLamps(record.Tee(), coordinator.Options{})
	testgame.Ticks(c, 4)
	sum, ok := c.Referee().Sum(4)
	m := lockstep.Moment{Tick: 4, Sum: *sum}
	fmt.Println(ok, m.Tick, m.Sum.Hash == c.Referee().Simulation().Hash())
	// Output: true 4 true
}

// The kinds of a game are compiled once. They describe themselves in the same form as in a header.
func ExampleKinds() {
	var press record.CommandType = record.Type[testgame.Press](7, "press")
	var kinds *record.Kinds
	kinds, err := record.CompileKinds([]record.CommandType{press})
	if err != nil {
		panic(err)
	}
	fmt.Println(kinds.Has(7), kinds.Has(8), kinds.Descriptions()[0].Name)
	// Output: true false press
}

// A kind of command can have a limit: a player presses at most twice a second.
// The events about seats that peers get.
func ExampleEventTypes() {
	for _, e := range record.EventTypes() {
		var t record.EventType = e
		if t.Seat && !t.LogOnly {
			fmt.Print(t.Name, " ")
		}
	}
	// Output: presence reason inactive pace vote substitute
}

func ExampleCommandType_Limit() {
	rules := testgame.LampRules
	rules.Commands = []lockstep.CommandType{lockstep.Type[testgame.Press](1, "press").Limit(2, lockstep.Second)}
	game := lockstep.MustGame(rules)
	header, err := game.NewHeader(lockstep.MatchID{1}, lockstep.DefaultSettings(2), &testgame.Nobody{})
	if err != nil {
		fmt.Println(err)
		return
	}
	c, err := coordinator.New(game, header, &testgame.Records{}, coordinator.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	c.Join(0)
	kind, payload, _ := game.NewPayloads().Encode(&testgame.Press{Lamp: 1})
	for seq := range lockstep.Sequence(3) {
		testgame.Ticks(c, 5)
		fmt.Println(c.Submit(0, seq+1, kind, payload))
	}
	r, _ := c.Receipt(0, 3)
	testgame.Ticks(c, int(r.Wait))
	fmt.Println(c.Submit(0, 4, kind, payload))

	var l record.CommandLimit = game.CommandLimit(kind)
	fmt.Println("limit:", l.N, "in", l.Per.Milliseconds(), "ms")
	// Output:
	// accepted for tick 6
	// accepted for tick 11
	// rejected: too many commands of this kind: wait 10 ticks: at most 2 in 20 ticks
	// accepted for tick 26
	// limit: 2 in 1000 ms
}
