package abi_test

import (
	"encoding/binary"
	"fmt"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/abi"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

// A tally is a machine with rules of its own: a number to which players add.
type tally struct{}

// New implements abi.Machine.
func (tally) New() (abi.Caller, error) { return new(sum), nil }

// A sum is an instance of the rules.
type sum struct {
	total, goal uint32
	frame       abi.Frame
}

// Close implements abi.Caller.
func (s *sum) Close() {}

// Call implements abi.Caller.
func (s *sum) Call(f abi.Function, in []byte) ([]byte, error) {
	switch f {
	case abi.Describe:
		return []byte(`{
			"abi": 1, "game": "tally", "build": "1", "words": true,
			"state": "struct { Total uint32 }",
			"config": "struct { Goal uint32 }",
			"result": "struct { Total uint32 }",
			"view": "struct { Total uint32 }",
			"commands": [{"kind": 1, "name": "add", "payload": "struct { N uint32 }"}]
		}`), nil
	case abi.Configure:
		var m abi.Match
		if err := abi.Matches.Decode(in, &m); err != nil {
			return nil, &abi.Fault{Text: err.Error()} // the host sends none
		}
		if s.goal = binary.LittleEndian.Uint32(m.Config); s.goal == 0 {
			return nil, &abi.Refusal{Text: "goal: got 0, want more"}
		}
	case abi.Assets:
		return abi.Lists.Append(nil, &abi.AssetList{}), nil
	case abi.Load:
		var none [0]abi.Content
		return nil, abi.Loads.Decode(in, &abi.Contents{Contents: none[:]})
	case abi.Create:
		s.total = 0
	case abi.Restore:
		var at abi.State
		if err := abi.States.Decode(in, &at); err != nil {
			return nil, err
		}
		s.total = binary.LittleEndian.Uint32(at.Canonical)
	case abi.Step:
		return s.step(in)
	case abi.Word:
		var c abi.Command
		if err := abi.Commands.Decode(in, &c); err != nil {
			return nil, err
		}
		return fmt.Appendf(nil, "add %d", binary.LittleEndian.Uint32(c.Payload)), nil
	case abi.Usual:
		return []byte{10, 0, 0, 0}, nil
	case abi.ViewerOf:
		return []byte("0"), nil
	case abi.Save, abi.View:
		return binary.LittleEndian.AppendUint32(nil, s.total), nil
	}
	return nil, nil
}

func (s *sum) step(in []byte) ([]byte, error) {
	if err := abi.Frames.Decode(in, &s.frame); err != nil {
		return nil, err
	}
	var refusals []abi.CommandRefusal
	o := abi.Outcome{}
	if s.frame.Phases {
		o.Phases = []abi.Phase{{Name: "add"}}
	}
	for _, c := range s.frame.Commands {
		switch n := binary.LittleEndian.Uint32(c.Payload); {
		case c.Player == uint8(lockstep.System):
		case s.total+n > s.goal:
			refusals = append(refusals, abi.CommandRefusal{Player: c.Player, Sequence: c.Sequence, Reason: "that is too much"})
		default:
			s.total += n
		}
	}
	if s.total >= s.goal {
		o.Ended, o.Result = true, binary.LittleEndian.AppendUint32(nil, s.total)
	}
	if len(refusals) > 0 {
		return abi.Answers.Append(nil, &abi.Answer{Outcome: o, Refusals: refusals}), nil
	}
	return abi.Outcomes.Append(nil, &o), nil
}

// Rules that run elsewhere answer calls, and are a game like any other.
func Example() {
	var machine abi.Machine = tally{}
	game, err := lockstep.NewGameElsewhere(machine)
	if err != nil {
		fmt.Println(err)
		return
	}
	config, _ := game.ReadConfig([]byte(`{"Goal": 10}`), nil)
	header, _ := game.NewHeader(lockstep.MatchID{}, lockstep.DefaultSettings(2), config)
	match, err := game.NewSimulation(header)
	if err != nil {
		fmt.Println(err)
		return
	}
	add := &record.Untyped{Kind: 1, Canonical: []byte{7, 0, 0, 0}}
	kind, payload, _ := game.NewPayloads().Encode(add)
	command := lockstep.Command{Tick: 1, Sequence: 1, Kind: kind, Payload: payload, Value: add}
	text, _ := game.Describe(&command)
	fmt.Println(text)
	for tick := lockstep.Tick(1); ; tick++ {
		command.Tick, command.Sequence = tick, lockstep.Sequence(tick)
		if err := match.Step(&lockstep.Frame{Tick: tick, Commands: []lockstep.Command{command}}); err != nil {
			fmt.Println(err)
			return
		}
		if reason, refused := match.Refused(&command); refused {
			fmt.Println("refused at tick", tick, "with", reason)
			add.Canonical[0] = 3
			command.Payload = add.Canonical
		}
		if result, ended := match.Ended(); ended {
			fmt.Println("ended at tick", tick, "with", result)
			return
		}
	}
	// Output:
	// add 7
	// refused at tick 2 with that is too much
	// ended at tick 3 with [10 0 0 0]
}
