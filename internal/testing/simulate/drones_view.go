package simulate

import (
	"bytes"
	"cmp"
	"slices"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/state"
)

// A dronesView is what a viewer may see of the drones.
type dronesView struct {
	Fired  uint32
	Count  uint16 // of all drones
	Drones []droneSeen
}

type droneSeen struct {
	ID    uint16 `feed:"id"`
	X     int32  `feed:"quantize=4"`
	Y     int32  `feed:"quantize=4"`
	Hits  uint16 `feed:"priority=4"`
	Owner uint8
}

// seeDrones shows a team its own drones, and those of the others in its half of the map.
func seeDrones(w *drones, _ *dronesConfig, viewer lockstep.Viewer, v *dronesView) error {
	v.Fired, v.Count = w.Fired, uint16(len(w.Units))
	for i := range w.Units {
		u := &w.Units[i]
		if viewer.As == lockstep.AsSpectator || u.Owner&1 == viewer.Number || uint8(u.X>>11) == viewer.Number {
			v.Drones = append(v.Drones, droneSeen{uint16(i), u.X, u.Y, u.Hits, u.Owner})
		}
	}
	return nil
}

// refuseDrones refuses orders to drones that are not there, or that the player's team sees with another owner.
func refuseDrones(v *dronesView, c *lockstep.Command) error {
	s, ok := c.Value.(*steer)
	if !ok {
		return nil
	}
	if s.Unit >= v.Count {
		return errNoDrone
	}
	i, seen := slices.BinarySearchFunc(v.Drones, s.Unit, func(d droneSeen, id uint16) int { return cmp.Compare(d.ID, id) })
	if seen && s.Count == 1 && v.Drones[i].Owner != uint8(c.Player) {
		return errNotYours
	}
	return nil
}

// teamOf lets the players change teams with every 32nd shot.
func teamOf(w *drones, p lockstep.Player) lockstep.Viewer {
	return lockstep.Viewer{As: lockstep.AsTeam, Number: uint8((uint32(p) + w.Fired>>5) & 1)}
}

var dronesViews = state.MustCompile[dronesView]()

// seenDrones returns what a viewer must see, with the numbers rounded by code of its own.
func seenDrones(s *lockstep.Simulation, viewer lockstep.Viewer) []byte {
	var v dronesView
	if err := seeDrones(lockstep.World[drones](s), nil, viewer, &v); err != nil {
		panic(err) // it returns none
	}
	for i := range v.Drones {
		d := &v.Drones[i]
		d.X, d.Y = (d.X+2)/4*4, (d.Y+2)/4*4 // they are not negative
	}
	return dronesViews.Append(nil, &v)
}

// rowsOfDrones returns the bytes of each drone of a view, in order.
func rowsOfDrones(view []byte) (rows [][]byte) {
	var v dronesView
	if err := dronesViews.Decode(view, &v); err != nil {
		return [][]byte{view}
	}
	for i := range v.Drones {
		rows = append(rows, dronesViews.Append(nil, &dronesView{Drones: v.Drones[i : i+1]}))
	}
	slices.SortFunc(rows, bytes.Compare)
	return rows
}
