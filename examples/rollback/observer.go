package main

import (
	"fmt"
	"hash/fnv"
	"runtime"

	"github.com/seed-49bee653/samestep/recorder"
)

// An observer records the ticks that are confirmed.
type observer struct {
	r      *recorder.Recorder
	schema *recorder.Schema
	player uint8
	bytes  []byte
	sums   []uint64
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
	o.state(after)
}

// state records the sums of a state, and the state itself if it is wanted.
func (o *observer) state(d *Duel) {
	all := fnv.New64a()
	o.sums = o.sums[:0]
	for i := range o.schema.Fields() {
		o.bytes = o.schema.AppendField(o.bytes[:0], d, i)
		section := fnv.New64a()
		section.Write(o.bytes)
		all.Write(o.bytes)
		o.sums = append(o.sums, section.Sum64())
	}
	o.r.Sum(d.Tick, o.player, all.Sum64(), o.sums...)
	if o.r.Wanted(d.Tick) {
		o.r.State(d.Tick, o.player, o.schema.Append(o.bytes[:0], d))
	}
}

func (o *observer) end(d *Duel) error {
	o.r.End(d.Tick)
	return o.r.Close()
}
