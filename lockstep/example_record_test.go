package lockstep_test

import (
	"errors"
	"fmt"
	"io"

	"github.com/seed-49bee653/samestep/lockstep"
)

// A log is records, one after the other.
func ExampleDecoder() {
	var log []byte
	game, c := newLamps(logFunc(func(record []byte) { log = append(log, record...) }), lockstep.CoordinatorOptions{})
	ticks(c, 1)
	kind, payload, err := game.NewPayloads().Encode(&press{Lamp: 1})
	if err != nil {
		fmt.Println(err)
		return
	}
	c.Submit(0, 1, kind, payload)
	ticks(c, 3)
	c.End("over")

	var dec lockstep.Decoder
	var words *lockstep.Describer
	for len(log) > 0 {
		var r *lockstep.Record
		if r, log, err = dec.Decode(log); err != nil {
			fmt.Println(err)
			return
		}
		switch r.Kind {
		case lockstep.RecordHeader:
			fmt.Println("header:", r.Header.Game, r.Header.Build)
			if words, err = lockstep.NewDescriber(r.Header, nil); err != nil {
				fmt.Println(err)
			}
		case lockstep.RecordKeyframe:
			var k lockstep.Keyframe = r.Keyframe
			var last []lockstep.LastSequence = k.Last
			fmt.Println("keyframe of tick", r.Tick, "after", last)
		case lockstep.RecordFrame:
			for _, cmd := range r.Frame.Commands {
				fmt.Printf("tick %d: %s\n", r.Tick, words.Describe(&cmd))
			}
		default:
			var kind lockstep.RecordKind = r.Kind
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

// The smallest records.
func ExampleEncoder() {
	game := lockstep.MustGame(lampRules)
	header, err := game.NewHeader(lockstep.MatchID{}, lockstep.DefaultSettings(1), &nobody{})
	if err != nil {
		fmt.Println(err)
		return
	}
	var enc lockstep.Encoder
	enc.Header(header)
	enc.Keyframe(0, 0, nil, nil)
	fmt.Printf("% x\n", enc.Empty(1))
	fmt.Printf("% x\n", enc.Frame(&lockstep.Frame{Tick: 2, Commands: []lockstep.Command{
		{Tick: 2, Player: 0, Sequence: 1, Kind: 1, Payload: []byte{0x91, 3}},
	}}))
	// Output:
	// 92 04 01
	// 95 03 00 01 01 c4 02 91 03
}

// Whoever keeps a log may join the ticks in which nothing happened.
func ExampleEmptyRun() {
	var run lockstep.EmptyRun
	for range 300 {
		run.Add([]byte{0x92, 4, 1})
	}
	fmt.Printf("%d ticks: % x\n", run.Ticks(), run.Append(nil))
	// Output: 300 ticks: 92 04 cd 01 2c
}

// Only what Encode makes is decoded, so a payload has one byte string.
func ExamplePayloads() {
	var payloads *lockstep.Payloads = lockstep.MustGame(lampRules).NewPayloads()
	var kind lockstep.Kind
	kind, b, err := payloads.Encode(&press{Lamp: 3})
	fmt.Printf("%d: % x %v\n", kind, b, err)

	c := lockstep.Command{Player: 1, Sequence: lockstep.Sequence(1), Kind: kind, Payload: []byte{0x91, 0xcc, 3}}
	err = payloads.Decode(&c)
	fmt.Println(errors.Is(err, lockstep.ErrMalformed), err)
	// Output:
	// 1: 91 03 <nil>
	// true lockstep: press: field Lamp: malformed: MessagePack at byte 3: got a value in 2 bytes, want the smallest form in 1
}

// A log that is cut ends with io.ErrUnexpectedEOF.
func ExampleDecoder_Decode() {
	var dec lockstep.Decoder
	_, _, err := dec.Decode([]byte{0x9c, 1})
	fmt.Println(errors.Is(err, io.ErrUnexpectedEOF))
	// Output: true
}

// A history keeps the latest moments of a simulation.
func ExampleMoment() {
	_, c := newLamps(lockstep.Tee(), lockstep.CoordinatorOptions{})
	ticks(c, 4)
	sum, ok := c.Referee().Sum(4)
	m := lockstep.Moment{Tick: 4, Sum: *sum}
	fmt.Println(ok, m.Tick, m.Sum.Root == c.Referee().Simulation().Root())
	// Output: true 4 true
}
