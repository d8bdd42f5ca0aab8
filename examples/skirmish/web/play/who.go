package play

import (
	"slices"

	"github.com/seed-49bee653/samestep/examples/skirmish"
	"github.com/seed-49bee653/samestep/examples/skirmish/web/scene"
)

// order returns an order for units: as many commands as they need, without those that the rules would reject.
func (p *Player) order(w *skirmish.World, ids []skirmish.UnitID, command func(skirmish.Who) any) []any {
	var commands []any
	for _, who := range p.who(w, ids) {
		commands = append(commands, command(who))
	}
	return p.allowed(w, commands...)
}

// who names units in commands: by their control group if they are exactly that group, or else one by one. More units than
// a command can list are named by the groups that are complete, and the rest in several lists.
func (p *Player) who(w *skirmish.World, ids []skirmish.UnitID) []skirmish.Who {
	whole := p.groupsOf(w, ids)
	switch {
	case len(ids) > 1 && len(whole) == 1 && whole[0].size == len(ids):
		return []skirmish.Who{{Group: whole[0].number}}
	case len(ids) <= skirmish.MaxListed:
		whole = nil
	}
	var all []skirmish.Who
	for _, g := range whole {
		all = append(all, skirmish.Who{Group: g.number})
	}
	rest := slices.DeleteFunc(slices.Clone(ids), func(id skirmish.UnitID) bool {
		number := scene.Find(w, id).Group
		return slices.ContainsFunc(whole, func(g group) bool { return g.number == number })
	})
	for part := range slices.Chunk(rest, skirmish.MaxListed) {
		all = append(all, skirmish.Who{Units: part})
	}
	return all
}

// A group is a control group and the number of its units.
type group struct {
	number uint8
	size   int
}

// groupsOf returns the control groups all of whose units are among these, ascending.
func (p *Player) groupsOf(w *skirmish.World, ids []skirmish.UnitID) (whole []group) {
	var among, all [256]int
	for _, id := range ids {
		among[scene.Find(w, id).Group]++
	}
	for i := range w.Units {
		if u := &w.Units[i]; p.owns(u) {
			all[u.Group]++
		}
	}
	for number := 1; number < len(all); number++ {
		if all[number] > 0 && all[number] == among[number] {
			whole = append(whole, group{uint8(number), all[number]})
		}
	}
	return whole
}
