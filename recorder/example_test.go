package recorder_test

import (
	"fmt"
	"os"

	"github.com/seed-49bee653/samestep/recorder"
)

// A World is the state of a game on any engine.
type World struct {
	Tick  uint32
	Balls []Ball
}

type Ball struct{ X, Speed float32 }

func (w *World) step() {
	w.Tick++
	for i := range w.Balls {
		w.Balls[i].X += w.Balls[i].Speed
	}
}

// A game records its commands, and the sums of its state and of the state's fields after each tick. It records a whole state
// where the environment variable SAMESTEP_DUMP wants it.
func Example() {
	schema, err := recorder.SchemaOf(World{})
	if err != nil {
		fmt.Println(err)
		return
	}
	r := recorder.New(os.Stdout, recorder.Header{
		Title: "Balls", TickRate: 60, Players: 2, By: 0, Match: "lobby 7",
		Sections: schema.Fields(), State: schema.String(),
	})
	r.Want("2") // as SAMESTEP_DUMP=2 does
	world := World{Balls: []Ball{{0, 0.5}}}
	for world.Tick < 2 {
		if world.Tick == 1 {
			r.Command(world.Tick, 1, 3, []byte("faster"))
			world.Balls[0].Speed = 0.75
		}
		world.step()
		r.Observe(world.Tick, 0, schema, &world)
	}
	r.End(world.Tick)
	if err := r.Close(); err != nil {
		fmt.Println(err)
	}
	// Output:
	// {"log":1,"title":"Balls","tick_rate_hz":60,"players":2,"match":"lobby 7","by":0,"sections":["Tick","Balls"],"state":"struct { Tick uint32; Balls []struct { X float32; Speed float32 } }"}
	// {"t":1,"p":0,"sum":"70264d1451116285","sections":["ad2aca7747985764","4dc8c1b2d95b5514"]}
	// {"t":1,"p":1,"s":1,"k":3,"d":"ZmFzdGVy"}
	// {"t":2,"p":0,"sum":"7cb9d7b0580c5686","sections":["8d1ace904a398d17","00e856e83d55d6f4"]}
	// {"t":2,"p":0,"state":"AgAAAAEAAAAAAKA/AABAPw=="}
	// {"t":2,"end":true}
}

// A game records a sum after each phase of its step, and its draws of random numbers. On two machines, the first phase that differs is
// where their states part.
func ExampleRecorder_Phase() {
	r := recorder.New(os.Stdout, recorder.Header{Title: "Balls", TickRate: 60, Players: 2, By: 0})
	for tick := range uint32(2) {
		r.Phase(tick+1, "move", 0xbeef+uint64(tick))
		r.Phase(tick+1, "bounce", 0xcafe)
		r.Draws(tick+1, "serve", uint64(tick))
		r.Sum(tick+1, 0, 0xf00d)
	}
	r.End(2)
	if err := r.Close(); err != nil {
		fmt.Println(err)
	}
	// Output:
	// {"log":1,"title":"Balls","tick_rate_hz":60,"players":2,"by":0}
	// {"t":1,"p":0,"note":"phases","text":"move=000000000000beef bounce=000000000000cafe serve#0"}
	// {"t":1,"p":0,"sum":"000000000000f00d"}
	// {"t":2,"p":0,"note":"phases","text":"move=000000000000bef0 bounce=000000000000cafe serve#1"}
	// {"t":2,"p":0,"sum":"000000000000f00d"}
	// {"t":2,"end":true}
}

// The schema of a struct is the text of its type.
func ExampleSchema() {
	schema, err := recorder.SchemaOf(World{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(schema)
	fmt.Println(schema.Fields())
	fmt.Printf("% x\n", schema.Append(nil, &World{Tick: 7, Balls: []Ball{{1, 0.5}}}))
	// Output:
	// struct { Tick uint32; Balls []struct { X float32; Speed float32 } }
	// [Tick Balls]
	// 07 00 00 00 01 00 00 00 00 00 80 3f 00 00 00 3f
}

// The first error of a recorder stays: later calls do nothing.
func ExampleRecorder() {
	r := recorder.New(os.Stdout, recorder.Header{Title: "Balls", TickRate: 7.5, Players: 2, By: recorder.NoPlayer})
	r.Note(0, 0, "name", "ada")
	r.Command(5, 0, 3, []byte{1, 2})
	r.Command(4, 0, 3, nil)
	r.End(9)
	fmt.Println(r.Close())
	// Output:
	// {"log":1,"title":"Balls","tick_rate_hz":7.5,"players":2}
	// {"t":0,"p":0,"note":"name","text":"ada"}
	// {"t":5,"p":0,"s":1,"k":3,"d":"AQI="}
	// recorder: command at tick 4: want at least tick 5
}
