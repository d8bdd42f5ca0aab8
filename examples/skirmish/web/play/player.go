package play

import (
	"slices"
	"strings"

	"github.com/seed-49bee653/samestep/examples/skirmish"
	"github.com/seed-49bee653/samestep/examples/skirmish/web/scene"
	"github.com/seed-49bee653/samestep/lockstep"
)

// A Mode says what the next click on the map means.
type Mode uint8

// The modes.
const (
	Select Mode = iota
	MoveTo
	AttackTo
	PatrolTo
	GatherAt
	BuildAt
)

// modeNames are those of the actions that lead to a mode; see [Player.Do].
var modeNames = [...]string{"", "move", "attack", "patrol", "gather", "build"}

// A Player is a person at the game. Seat is lockstep.System for one who only
// watches.
type Player struct {
	Camera
	Seat     lockstep.Player
	mode     Mode
	building skirmish.UnitKind // in mode BuildAt
	chosen   []skirmish.UnitID // ascending; all the player's own, or one that is not
	problem  string
	placed   bool  // the camera has been at the player's base
	recalled uint8 // the control group of the last key
	idle     int   // where the search for idle workers goes on
	rules    lockstep.Rules[skirmish.World, skirmish.Config]
}

// New returns a player in a seat.
func New(seat lockstep.Player) *Player {
	return &Player{Seat: seat, Camera: Camera{Zoom: startZoom, Width: 1, Height: 1}, rules: skirmish.Rules()}
}

// Look readies the player for a state: what is chosen and dead is not chosen any
// more, and the camera begins above the player's base.
func (p *Player) Look(w *skirmish.World) {
	p.Size = int64(scene.Side(w))
	p.chosen = slices.DeleteFunc(p.chosen, func(id skirmish.UnitID) bool {
		u := scene.Find(w, id)
		return u == nil || !p.owns(u) && !p.sees(w, u)
	})
	if !p.placed && len(w.Units) > 0 {
		p.placed = true
		p.Home(w)
	}
}

// Home moves the camera to the player's first building, or to the middle of the map.
func (p *Player) Home(w *skirmish.World) {
	for i := range w.Units {
		if u := &w.Units[i]; p.owns(u) && u.Kind.Building() {
			p.LookAt(u.Pos)
			return
		}
	}
	p.X, p.Y = p.Size<<(scene.PlaceBits-1), p.Size<<(scene.PlaceBits-1)
	p.bound()
}

func (p *Player) owns(u *skirmish.Unit) bool { return lockstep.Player(u.Owner) == p.Seat }

// Team returns the team whose sight the player has.
func (p *Player) Team(w *skirmish.World) uint8 {
	if int(p.Seat) < len(w.Players) {
		return w.Players[p.Seat].Team
	}
	return scene.Everything
}

func (p *Player) sees(w *skirmish.World, u *skirmish.Unit) bool {
	team := p.Team(w)
	return team == scene.Everything || u.Team == team || w.Sees(team, u.Pos) || u.Kind.Building() && w.Knows(team, u.Pos)
}

// Chosen returns the units that are chosen, ascending.
func (p *Player) Chosen() []skirmish.UnitID { return p.chosen }

// Mode returns what the next click on the map means, and of BuildAt, what is built.
func (p *Player) Mode() (Mode, skirmish.UnitKind) { return p.mode, p.building }

// Problem returns why what the player wanted last was not done, in words, and
// forgets it.
func (p *Player) Problem() string {
	text := p.problem
	p.problem = ""
	return text
}

// allowed returns those commands that the rules would accept, and notes why they
// would not accept the others.
func (p *Player) allowed(w *skirmish.World, commands ...any) []any {
	return slices.DeleteFunc(commands, func(c any) bool {
		err := p.rules.Validate(w, &lockstep.Command{Player: p.Seat, Value: c})
		if err != nil {
			p.problem = Words(err.Error())
		}
		return err != nil
	})
}

// Words returns an error of the rules as players read it.
func Words(text string) string {
	return strings.TrimPrefix(text, skirmish.GameName+": ")
}

// own returns the chosen units that are the player's own and of a sort.
func (p *Player) own(w *skirmish.World, fits func(*skirmish.Unit) bool) []skirmish.UnitID {
	var ids []skirmish.UnitID
	for _, id := range p.chosen {
		if u := scene.Find(w, id); u != nil && p.owns(u) && fits(u) {
			ids = append(ids, id)
		}
	}
	return ids
}

func anyUnit(*skirmish.Unit) bool       { return true }
func walker(u *skirmish.Unit) bool      { return !u.Kind.Building() }
func worker(u *skirmish.Unit) bool      { return u.Kind == skirmish.Worker }
func fighter(u *skirmish.Unit) bool     { return walker(u) && !worker(u) }
func gatherer(u *skirmish.Unit) bool    { return worker(u) || u.Kind == skirmish.Base }
func nongatherer(u *skirmish.Unit) bool { return !gatherer(u) }

// who names units in a command: by their control group if they are just that, or
// else one by one.
func (p *Player) who(w *skirmish.World, ids []skirmish.UnitID) skirmish.Who {
	if len(ids) > 1 {
		if group := p.groupOf(w, ids); group != 0 {
			return skirmish.Who{Group: group}
		}
	}
	return skirmish.Who{Units: ids}
}

// groupOf returns the control group that has just these units, or 0.
func (p *Player) groupOf(w *skirmish.World, ids []skirmish.UnitID) uint8 {
	group := scene.Find(w, ids[0]).Group
	if group == 0 {
		return 0
	}
	rest := ids
	for i := range w.Units {
		u := &w.Units[i]
		if !p.owns(u) || u.Group != group {
			continue
		}
		if len(rest) == 0 || rest[0] != u.ID {
			return 0
		}
		rest = rest[1:]
	}
	if len(rest) > 0 {
		return 0
	}
	return group
}
