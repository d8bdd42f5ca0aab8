package play

import (
	"errors"
	"slices"
	"strings"

	"github.com/seed-49bee653/samestep/examples/skirmish"
	"github.com/seed-49bee653/samestep/examples/skirmish/web/scene"
	"github.com/seed-49bee653/samestep/lockstep"
)

// A Mode is the meaning of the next left-click on the map.
type Mode uint8

// The modes.
const (
	Select Mode = iota
	MoveTo
	AttackTo
	PatrolTo
	GatherAt
	BuildAt
	PingAt
)

// String returns the action that begins the mode, or "" for Select.
func (m Mode) String() string { return modeNames[m] }

// modeNames are the actions that begin a mode; see [Player.Do].
var modeNames = [...]string{"", "move", "attack", "patrol", "gather", "build", "ping"}

// A Player is the user of the page. Seat is lockstep.System for spectators.
type Player struct {
	Camera
	Seat     lockstep.Player
	Eyes     uint8 // of a spectator: the team whose views it gets, or skirmish.Observers
	mode     Mode
	building skirmish.UnitKind // in mode BuildAt
	menu     bool              // the buttons are those of buildings
	selected []skirmish.UnitID // ascending; own units, or one of somebody else
	whole    []skirmish.UnitID // the selection from which the player has picked a kind
	kind     skirmish.UnitKind // the kind, or NoUnit
	problem  string
	placed   bool  // the camera has moved to the player's base
	recalled uint8 // the control group of the last key
	idle     int   // index of the next unit in the search for idle workers
}

// New returns a player with a seat.
func New(seat lockstep.Player) *Player {
	return &Player{Seat: seat, Eyes: skirmish.Observers, Camera: Camera{Zoom: startZoom, Width: 1, Height: 1}}
}

// Look updates the player for a state: it removes dead and hidden units from the selection. At first it moves the
// camera to the player's base, and zooms in on a screen with very many pixels.
func (p *Player) Look(w *skirmish.World) {
	p.Size = int64(scene.Side(w))
	p.selected = slices.DeleteFunc(p.selected, func(id skirmish.UnitID) bool {
		u := scene.Find(w, id)
		return u == nil || !p.owns(u) && !p.sees(w, u)
	})
	if !p.placed && len(w.Units) > 0 && p.Width > 1 { // the screen is known
		p.placed = true
		p.Zoom = max(p.Zoom, min(p.Height<<8/startCells, NearestZoom))
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

// Team returns the team whose vision the player has. A spectator sees everything, or what observers see while a player
// hides the sight from them.
func (p *Player) Team(w *skirmish.World) uint8 {
	switch {
	case int(p.Seat) < len(w.Players):
		return w.Players[p.Seat].Team
	case p.Eyes != skirmish.Observers:
		return p.Eyes
	case w.Open():
		return scene.Everything
	}
	return skirmish.Observers
}

func (p *Player) sees(w *skirmish.World, u *skirmish.Unit) bool {
	team := p.Team(w)
	return team == scene.Everything || u.Team == team || w.Sees(team, u.Pos) || u.Kind.Building() && w.Knows(team, u.Pos)
}

// Selected returns the selected units, ascending.
func (p *Player) Selected() []skirmish.UnitID { return p.selected }

// Mode returns the mode, and for BuildAt the kind of the building.
func (p *Player) Mode() (Mode, skirmish.UnitKind) { return p.mode, p.building }

// Problem returns and clears the reason why the last action failed.
func (p *Player) Problem() string {
	text := p.problem
	p.problem = ""
	return text
}

// allowed returns the commands that the rules would accept, and notes the reason of a rejection.
func (p *Player) allowed(w *skirmish.World, commands ...any) []any {
	judge := skirmish.Judge(w, p.Seat)
	return slices.DeleteFunc(commands, func(c any) bool {
		err := judge(c)
		switch {
		case errors.Is(err, skirmish.ErrNoRoom): // the pointer shows the place
			p.problem = "the building does not fit there: it needs free ground away from rocks, crystals and buildings"
		case err != nil:
			p.problem = Words(err.Error())
		}
		return err != nil
	})
}

// Words returns the text of an error of the rules for players.
func Words(text string) string {
	return strings.TrimPrefix(text, skirmish.GameName+": ")
}

// own returns the selected units that belong to the player and fit.
func (p *Player) own(w *skirmish.World, fits func(*skirmish.Unit) bool) []skirmish.UnitID {
	var ids []skirmish.UnitID
	for _, id := range p.selected {
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
