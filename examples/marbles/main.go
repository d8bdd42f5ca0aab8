// Command marbles is a game with floating-point numbers on no engine of ours: marbles on a table, which two players shoot.
// It records what one machine sees with package recorder, so that the recordings of two machines can be compared.
//
//	go run . --out a.jsonl --by 0
//	go run . --out b.jsonl --by 1 --math fused
//	samestep replay bisect a.jsonl b.jsonl
//
// The second machine adds products with one rounding, as compilers for some processors do. The states differ from the first
// collision on whose result that changes. bisect finds the tick by the sums, and the phase of the step, and says which states it needs. Run both machines
// again, and compare the new recordings to find the field:
//
//	SAMESTEP_DUMP=77,78 go run . --out a.jsonl --by 0
//	SAMESTEP_DUMP=77,78 go run . --out b.jsonl --by 1 --math fused
//	samestep replay bisect a.jsonl b.jsonl
package main

import (
	"errors"
	"flag"
	"fmt"
	"hash/fnv"
	"io"
	"os"
	"runtime"

	"github.com/seed-49bee653/samestep/recorder"
)

const players = 2

func main() {
	if err := run(os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "marbles:", err)
		os.Exit(1)
	}
}

// run plays a match, and records it.
func run(args []string, out io.Writer) error {
	flags := flag.NewFlagSet("marbles", flag.ContinueOnError)
	path := flags.String("out", "marbles.jsonl", "the recording")
	by := flags.Int("by", 0, "the player whose machine this is, 0 or 1")
	math := flags.String("math", "plain", "how the machine adds products: plain or fused")
	ticks := flags.Int("ticks", 600, "the length of the match, 60 a second")
	seed := flags.Uint("seed", 7, "of the marbles and of the players' shots, above 0")
	if err := flags.Parse(args); errors.Is(err, flag.ErrHelp) {
		return nil // Parse has printed it
	} else if err != nil {
		return err
	}
	a, err := arithmeticOf(*math)
	if err != nil {
		return err
	}
	schema, err := recorder.SchemaOf(World{})
	if err != nil {
		return err
	}
	r, err := recorder.Create(*path, recorder.Header{
		Title: "Marbles", TickRate: tickRate, Players: players, By: *by, Match: fmt.Sprint("marbles ", *seed),
		Build: "math " + *math, Platform: runtime.GOOS + "/" + runtime.GOARCH,
		Sections: schema.Fields(), State: schema.String(),
	})
	if err != nil {
		return err
	}
	world := newWorld(players, 24, uint32(*seed), a)
	r.Observe(world.Tick, uint8(*by), schema, world)
	var state []byte
	world.after = func(phase string) {
		state = schema.Append(state[:0], world)
		h := fnv.New64a()
		h.Write(state)
		r.Phase(world.Tick, phase, h.Sum64())
	}
	for range *ticks {
		shots := shotsOf(world.Tick, uint32(*seed))
		for p, s := range shots {
			if s != nil {
				r.Command(world.Tick, uint8(p), kindShot, s.bytes())
			}
		}
		world.step(shots)
		r.Draws(world.Tick, "place", world.draws)
		r.Observe(world.Tick, uint8(*by), schema, world)
	}
	r.End(world.Tick)
	fmt.Fprintf(out, "%d ticks, scores %d and %d\n", world.Tick, world.Players[0].Score, world.Players[1].Score)
	return r.Close()
}

// shotsOf returns the shots of a tick: each player shoots every second after the first, in directions that depend on the seed alone.
func shotsOf(tick, seed uint32) []*Shot {
	shots := make([]*Shot, players)
	for p := range shots {
		if tick >= tickRate && tick%tickRate == uint32(20*p) {
			n := (tick/tickRate+1)*2654435761 ^ (seed+uint32(p))*40503
			shots[p] = &Shot{Angle: float32(n%6283) / 1000, Power: 0.2 + float32(n>>16%256)/1024}
		}
	}
	return shots
}
