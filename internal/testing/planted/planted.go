// Package planted is the game skirmish with faults that cause desyncs. Commands of a
// match trigger them. A tool that finds such faults must find these.
//
//	game := lockstep.MustGame(planted.Rules("map order"))
package planted

import (
	"fmt"

	"github.com/seed-49bee653/samestep/examples/skirmish"
	"github.com/seed-49bee653/samestep/lockstep"
)

// Faults lists the names of the faults.
var Faults = []string{
	"panic",     // Step panics at a gather after a stop of the same player
	"global",    // a counter outside of the state gives a crystal for each third patrol
	"map order", // assigning group 1 adds up keys in the order of a map
	"hidden",    // a stop depends on the last assigned group, which is kept outside of the state
	"validate",  // Validate takes a crystal for each gather
}

// Rules returns the rules of the game with a fault. Values outside of the state are reset
// with each new simulation.
func Rules(fault string) lockstep.Rules[skirmish.World, skirmish.Config] {
	r := skirmish.Rules()
	r.Build += " with a fault: " + fault
	var f faults
	start, step := r.New, r.Step
	r.New = func(w *skirmish.World, s *lockstep.Settings, c *skirmish.Config) error {
		//samestep:allow captured this is the fault
		f = faults{group: map[*skirmish.World]uint8{}}
		return start(w, s, c)
	}
	run := map[string]func(*faults, *skirmish.World, *lockstep.Command){
		"panic": (*faults).stopped, "global": (*faults).count, "map order": (*faults).shuffle, "hidden": (*faults).remember,
	}[fault]
	switch {
	case run != nil:
		r.Step = func(w *skirmish.World, config *skirmish.Config, t *lockstep.Turn) {
			step(w, config, t)
			for i := range t.Commands {
				if c := &t.Commands[i]; c.Player != lockstep.System {
					run(&f, w, c) //samestep:allow captured this is the fault
				}
			}
		}
	case fault == "validate":
		r.View, r.ViewOf = lockstep.ViewType{}, nil
		r.Validate = func(w *skirmish.World, _ *skirmish.Config, c *lockstep.Command) error {
			err := skirmish.Judge(w, c.Player)(c.Value)
			if _, ok := c.Value.(*skirmish.Gather); ok && err == nil {
				w.Players[c.Player].Crystals-- //samestep:allow readonly this is the fault
			}
			return err
		}
	default:
		panic(fmt.Sprintf("planted: no fault %q", fault))
	}
	return r
}

// faults has the values outside of the state.
type faults struct {
	patrols int
	group   map[*skirmish.World]uint8
}

// stopped keeps its flag in the state, so it panics on all machines.
func (*faults) stopped(w *skirmish.World, c *lockstep.Command) {
	const flag = 1 << 31
	switch p := &w.Players[c.Player]; c.Value.(type) {
	case *skirmish.Stop:
		p.Kills |= flag
	case *skirmish.Gather:
		if p.Kills&flag != 0 {
			panic("gathering after a stop")
		}
	}
}

func (f *faults) count(w *skirmish.World, c *lockstep.Command) {
	if _, ok := c.Value.(*skirmish.Patrol); ok {
		if f.patrols++; f.patrols%3 == 0 {
			w.Players[c.Player].Crystals++
		}
	}
}

func (*faults) shuffle(w *skirmish.World, c *lockstep.Command) {
	if a, ok := c.Value.(*skirmish.Assign); !ok || a.Group != 1 {
		return
	}
	units := map[int]bool{}
	for i := range 64 {
		units[i] = true
	}
	for range 8 { // two runs are then never equal by chance
		for i := range units {
			w.Players[c.Player].Gathered = w.Players[c.Player].Gathered*31 + uint32(i)
		}
	}
}

func (f *faults) remember(w *skirmish.World, c *lockstep.Command) {
	switch v := c.Value.(type) {
	case *skirmish.Assign:
		f.group[w] = v.Group
	case *skirmish.Stop:
		w.Players[c.Player].Gathered += uint32(f.group[w])
	}
}
