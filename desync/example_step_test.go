package desync_test

import (
	"bytes"
	"fmt"
	"os"

	"github.com/seed-49bee653/samestep/desync/stepper"
	"github.com/seed-49bee653/samestep/replay"
)

var exampleOptions = stepper.Options{Lines: 20, Commands: 20, Fields: 1000}

// chestReplay returns the replay of the match of the Examples.
func chestReplay() *replay.Reader {
	file, err := chestBundle().Replay(1 << 20)
	if err != nil {
		panic(err)
	}
	r, err := replay.NewReader(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		panic(err)
	}
	return r
}

// A Step has each command with what it changed.
func Example_step() {
	var o stepper.Options = exampleOptions
	var s *stepper.Stepper = stepper.New(chestReplay(), chestGame(pay))
	x, err := s.Step(4, o)
	if err != nil {
		panic(err)
	}
	var step *stepper.Step = x
	var c stepper.Command = step.Commands[0]
	fmt.Println(c.Text)
	var did stepper.Changes = c.Did
	for _, field := range did.Fields.List {
		fmt.Println(field.Path, "is", field.B, "and was", field.A)
	}
	var phases []stepper.Phase = x.Phases
	var draws []stepper.Draws = x.Draws
	fmt.Println(len(phases), len(draws), len(x.Before()) == len(x.After()), bytes.Equal(x.Before(), x.After()))
	// Output:
	// player 0: give {"Gold":40}
	// Gold is 100 and was 60
	// Gifts[0] is 4 and was 3
	// 0 0 true false
}

// The states of the player in a bundle are a side of the tick.
func Example_pairSteps() {
	b := chestBundle()
	right, err := stepper.New(chestReplay(), chestGame(pay)).Step(5, exampleOptions)
	if err != nil {
		panic(err)
	}
	wrong, err := right.OfPlayer(b, exampleOptions)
	if err != nil {
		panic(err)
	}
	var pair *stepper.Pair
	pair, err = stepper.PairSteps(right, wrong, [2]string{"referee", "player 1"}, exampleOptions)
	if err != nil {
		panic(err)
	}
	if err := pair.WriteText(os.Stdout); err != nil {
		panic(err)
	}
	// Output:
	// sides      A: referee
	//            B: player 1
	// before     the tick: unknown
	// after      the tick: 2 fields differ in 2 places, A → B
	//              Gold 150 → 110
	//              Gifts[0] 5 → 4
	//
	// side A     referee
	// tick       5  dc2da0ae66cd7357  simulated from the keyframe of tick 0, agrees
	//              with the file at tick 5
	// commands   #5 player 0: give {"Gold":50}
	//              changes 2 fields in 2 places
	//              Gold 100 → 150
	//              Gifts[0] 4 → 5
	// changes    2 fields in 2 places
	//              Gold 100 → 150
	//              Gifts[0] 4 → 5
	//
	// side B     player 1
	// changes    unknown: the state before the tick is not known
}
