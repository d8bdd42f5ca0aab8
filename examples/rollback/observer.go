package main

import (
	"fmt"
	"runtime"

	"github.com/seed-49bee653/samestep/recorder"
)

// An observer records the ticks that are confirmed.
type observer struct {
	r      *recorder.Recorder
	schema *recorder.Schema
	player uint8
}

func newObserver(path string, player int, seed uint32) (*observer, error) {
	schema, err := recorder.SchemaOf(Duel{})
	if err != nil {
		return nil, err
	}
	r, err := recorder.Create(path, recorder.Header{
		Title: "Duel", TickRate: tickRate, Players: 2, By: player, Match: fmt.Sprint("duel ", seed),
		Platform: runtime.GOOS + "/" + runtime.GOARCH, Sections: schema.Fields(), State: schema.String(),
	})
	return &observer{r: r, schema: schema, player: uint8(player)}, err
}

// tick records the inputs of a tick, and the state after it.
func (o *observer) tick(after *Duel, inputs [2]uint8) {
	for p, input := range inputs {
		if input != 0 {
			o.r.Command(after.Tick-1, uint8(p), 1, []byte{input})
		}
	}
	for i, name := range phases {
		o.r.Phase(after.Tick, name, after.phases[i])
	}
	o.state(after)
}

// state records the sums of a state, and the state itself if it is wanted.
func (o *observer) state(d *Duel) {
	o.r.Observe(d.Tick, o.player, o.schema, d)
}

func (o *observer) end(d *Duel) error {
	o.r.End(d.Tick)
	return o.r.Close()
}
