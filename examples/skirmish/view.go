package skirmish

import (
	"errors"

	"github.com/seed-49bee653/samestep/fixed"
	"github.com/seed-49bee653/samestep/fixed/grid"
	"github.com/seed-49bee653/samestep/lockstep"
)

// A View is what a team, a player or the observers may see.
type View struct {
	Ended    uint32 // tick at which the match was won, 0 before
	Winner   uint8  // 1 + team that has won
	Team     uint8  // that sees this, or [Observers]
	Size     uint16 // cells along a side of the map
	Players  []Seat
	Units    []Seen    // that the team owns or sees
	Crystals []Deposit // that the team has discovered
	Places   []Place   // zones that the team has discovered

	// Cells of the map, a bit for each, by rows.
	Explored []uint64 `feed:"every=4"`
	Visible  []uint64 `feed:"every=2"`
	Rock     []uint64 `feed:"every=4"` // of the explored ones
}

// A Deposit is a crystal that a viewer knows.
type Deposit struct {
	ID     uint16 `feed:"id"`
	At     grid.Cell
	Amount uint16 `feed:"every=4"` // 0 if nobody of the team sees it now
}

// A Place is a zone that a viewer knows.
type Place struct {
	ID     uint8      `feed:"id"`
	Pos    fixed.Vec2 `feed:"quantize=1/16"`
	Radius fixed.Q    `feed:"quantize=1/16"`
	Kind   ZoneKind
}

// A Seat is what a viewer knows of a player. What only the own team knows is 0 for the others.
type Seat struct {
	Team     uint8
	Status   Status
	Crystals uint32
	Units    uint16
	Kills    uint32
	Losses   uint32
}

// A Seen is a unit that a viewer sees. Fields of the tasks are those of the own team's units only.
type Seen struct {
	ID       UnitID     `feed:"id"`
	Pos      fixed.Vec2 `feed:"quantize=1/16,priority=4"`
	Health   uint16     `feed:"priority=2"`
	Kind     UnitKind
	Owner    uint8
	Task     Task
	Making   UnitKind
	Queue    uint8
	Group    uint8
	Carrying bool
	Built    bool
}

// viewOf returns the viewer of a player: its team, which shares all sight.
func viewOf(w *World, p lockstep.Player) lockstep.Viewer {
	return lockstep.Viewer{As: lockstep.AsTeam, Number: w.player(uint8(p)).Team}
}

var errNoTeam = errors.New("no such player or team")

// see fills the view of a viewer.
func see(w *World, _ *Config, viewer lockstep.Viewer, v *View) error {
	team := viewer.Number
	switch {
	case viewer.As == lockstep.AsSpectator:
		team = Observers
	case viewer.As == lockstep.AsPlayer && int(viewer.Number) < len(w.Players):
		team = w.Players[viewer.Number].Team
	case viewer.As != lockstep.AsTeam || int(team) >= len(w.Fog):
		return errNoTeam
	}
	*v = View{
		Ended: w.Match.Ended, Winner: w.Match.Winner, Team: team, Size: w.Map.Size,
		Players: v.Players[:0], Units: v.Units[:0], Crystals: v.Crystals[:0], Places: v.Places[:0],
		Explored: v.Explored[:0], Visible: v.Visible[:0], Rock: v.Rock[:0],
	}
	for p := range w.Players {
		player := &w.Players[p]
		seat := Seat{Team: player.Team, Status: player.Status}
		if w.shares(team, player.Team) {
			seat.Crystals, seat.Units, seat.Kills, seat.Losses = player.Crystals, player.Units, player.Kills, player.Losses
		}
		v.Players = append(v.Players, seat)
	}
	for i := range w.Units {
		u := &w.Units[i]
		own := w.shares(team, u.Team)
		if !own && !w.Sees(team, u.Pos) {
			continue
		}
		s := Seen{ID: u.ID, Pos: u.Pos, Health: u.Health, Kind: u.Kind, Owner: u.Owner, Built: u.Built}
		if own {
			s.Task, s.Making, s.Queue, s.Group, s.Carrying = u.Task, u.Making, u.Queue, u.Group, u.Cargo > 0
		}
		v.Units = append(v.Units, s)
	}
	for f := range w.Fog {
		if !w.shares(team, uint8(f)) {
			continue
		}
		v.Explored, v.Visible = union(v.Explored, w.Fog[f].Explored), union(v.Visible, w.Fog[f].Visible)
	}
	for i, explored := range v.Explored {
		v.Rock = append(v.Rock, explored&w.Map.Blocked[i])
	}
	for i := range w.Crystals {
		c := &w.Crystals[i]
		if !w.Knows(team, c.Pos) {
			continue
		}
		d := Deposit{ID: uint16(i), At: w.Map.shape().At(c.Pos)}
		if w.Sees(team, c.Pos) {
			d.Amount = c.Amount
		}
		v.Crystals = append(v.Crystals, d)
	}
	for i := range w.Zones {
		if z := &w.Zones[i]; w.Knows(team, z.Pos) {
			v.Places = append(v.Places, Place{ID: uint8(i), Pos: z.Pos, Radius: z.Radius, Kind: z.Kind})
		}
	}
	return nil
}

// shares reports whether a viewer of one team sees what another team does.
func (w *World) shares(viewer, team uint8) bool {
	return viewer == team || viewer == Observers && w.Shows(team)
}

// union sets the bits of more, too.
func union(bits []uint64, more grid.Bits) []uint64 {
	for i, b := range more {
		if i == len(bits) {
			bits = append(bits, 0)
		}
		bits[i] |= b
	}
	return bits
}
