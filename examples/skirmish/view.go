package skirmish

import (
	"errors"

	"github.com/seed-49bee653/samestep/fixed"
	"github.com/seed-49bee653/samestep/fixed/grid"
	"github.com/seed-49bee653/samestep/lockstep"
)

// A View is what a team, a player or the observers may see.
type View struct {
	Ended     uint32 // tick at which the match was won, 0 before
	Winner    uint8  // 1 + team that has won
	Team      uint8  // that sees this, or [Observers]
	Size      uint16 // cells along a side of the map
	Cap       uint16 // of a player's units
	Teams     uint8  // of the configuration
	Diplomacy bool   // teams can change
	Players   []Seat
	Units     []Seen    // that the team owns or sees
	Crystals  []Deposit // that the team has discovered
	Places    []Place   // zones that the team has discovered

	Samples []Sample // of the match, after its end

	// Cells of the map, a bit for each, by rows.
	Explored []uint64 `feed:"every=4"`
	Visible  []uint64 `feed:"every=2"`
	Rock     []uint64 `feed:"every=4"` // of the explored ones
}

// A Deposit is a crystal that a viewer knows.
type Deposit struct {
	ID     uint16     `feed:"id"`
	Pos    fixed.Vec2 `feed:"quantize=1/16"`
	Amount uint16     `feed:"every=4"` // 0 if nobody of the team sees it now
	Full   uint16
}

// A Place is a zone that a viewer knows.
type Place struct {
	ID     uint8      `feed:"id"`
	Pos    fixed.Vec2 `feed:"quantize=1/16"`
	Radius fixed.Q    `feed:"quantize=1/16"`
	Kind   ZoneKind

	// If somebody of the team sees it now:
	Holder  uint8 // of a spawn zone: 1 + player
	Resting bool  // it does not act on units that enter
}

// A Seat is what a viewer knows of a player. What only the own team knows is 0 for the others.
type Seat struct {
	Team     uint8
	Status   Status
	Crystals uint32
	Units    uint16
	Kills    uint32
	Losses   uint32
	Settled  uint32
	Resigns  bool

	Offers uint16 // to all; of a player of another team, to the own team
	Secret bool   // everybody knows it
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
	Work     uint16 `feed:"every=5"` // of a building: ticks left
	Carrying bool
	Working  bool // mines or builds
	Fights   bool // has a target
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
		Cap: w.Config.Cap, Teams: w.Config.Teams, Diplomacy: w.Config.Diplomacy,
		Players: v.Players[:0], Units: v.Units[:0], Crystals: v.Crystals[:0], Places: v.Places[:0],
		Explored: v.Explored[:0], Visible: v.Visible[:0], Rock: v.Rock[:0], Samples: v.Samples[:0],
	}
	if w.Match.Ended != 0 {
		v.Samples = append(v.Samples, w.Samples...)
	}
	all := team == Observers && w.Open()
	mates := w.mates(team)
	for p := range w.Players {
		player := &w.Players[p]
		seat := Seat{Team: player.Team, Status: player.Status, Secret: player.Secret, Offers: player.Offers & mates}
		if w.shares(team, player.Team) {
			seat.Crystals, seat.Units, seat.Kills, seat.Losses = player.Crystals, player.Units, player.Kills, player.Losses
		}
		if team == player.Team {
			seat.Offers, seat.Settled, seat.Resigns = player.Offers, player.Settled, player.Resigns
		}
		v.Players = append(v.Players, seat)
	}
	for i := range w.Units {
		u := &w.Units[i]
		own := w.shares(team, u.Team)
		if !all && !own && !w.Sees(team, u.Pos) {
			continue
		}
		s := Seen{ID: u.ID, Pos: u.Pos, Health: u.Health, Kind: u.Kind, Owner: u.Owner, Built: u.Built}
		if own {
			s.Task, s.Making, s.Queue, s.Group, s.Carrying, s.Fights = u.Task, u.Making, u.Queue, u.Group, u.Cargo > 0, u.Target != 0
			if u.Kind.Building() {
				s.Work = u.Work
			}
			s.Working = u.Kind == Worker && (u.Task == Gathering && u.Work > 0 || u.Task == Constructing)
		}
		v.Units = append(v.Units, s)
	}
	for f := range w.Fog {
		if !w.shares(team, uint8(f)) {
			continue
		}
		v.Explored, v.Visible = union(v.Explored, w.Fog[f].Explored), union(v.Visible, w.Fog[f].Visible)
	}
	if all {
		for i := range v.Explored {
			v.Explored[i], v.Visible[i] = ^uint64(0), ^uint64(0)
		}
	}
	for i, explored := range v.Explored {
		v.Rock = append(v.Rock, explored&w.Map.Blocked[i])
	}
	for i := range w.Crystals {
		c := &w.Crystals[i]
		if !all && !w.Knows(team, c.Pos) {
			continue
		}
		d := Deposit{ID: uint16(i), Pos: c.Pos, Full: c.Full}
		if all || w.Sees(team, c.Pos) {
			d.Amount = c.Amount
		}
		v.Crystals = append(v.Crystals, d)
	}
	for i := range w.Zones {
		if z := &w.Zones[i]; all || w.Knows(team, z.Pos) {
			p := Place{ID: uint8(i), Pos: z.Pos, Radius: z.Radius, Kind: z.Kind}
			if all || w.Sees(team, z.Pos) {
				p.Holder, p.Resting = z.Holder, z.Ready > w.Match.Tick
			}
			v.Places = append(v.Places, p)
		}
	}
	return nil
}

// mates returns a bit for each player of a team.
func (w *World) mates(team uint8) (set uint16) {
	for p := range w.Players[:min(len(w.Players), MaxPlayers)] {
		if w.Players[p].Team == team {
			set |= 1 << p
		}
	}
	return set
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
