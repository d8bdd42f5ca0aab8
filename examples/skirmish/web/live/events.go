package live

import (
	"github.com/seed-49bee653/samestep/examples/skirmish"
	"github.com/seed-49bee653/samestep/examples/skirmish/web/play"
	"github.com/seed-49bee653/samestep/examples/skirmish/web/scene"
	"github.com/seed-49bee653/samestep/fixed"
	"github.com/seed-49bee653/samestep/lockstep"
)

const (
	maxEvents  = 64 // that wait for the next status; later ones are dropped
	blockCells = 8  // side of a square of the map: of all attacks on a player in it, one is told
)

// An Event is something that the user should see or hear.
type Event struct {
	Sort     string  `json:"sort"`     // "attacked", "lost", "made", "built", "ping", "won" or "order"
	X        float64 `json:"x"`        // in cells; -1 without a place
	Y        float64 `json:"y"`        //
	Player   int     `json:"player"`   // its owner or author; -1 without one
	Own      bool    `json:"own"`      // it is the user's; for "won", of the user's team
	Kind     string  `json:"kind"`     // of the unit; for "order", the action, as "move" or "attack"
	Building bool    `json:"building"` // the unit is one
}

// events collects what has happened since the last status.
type events struct{ list []Event }

// take returns the waiting events, and forgets them.
func (l *events) take() []Event {
	list := append([]Event{}, l.list...)
	l.list = l.list[:0]
	return list
}

// add adds an event, unless the same was told of a place nearby.
func (l *events) add(e Event) {
	if len(l.list) == maxEvents {
		return
	}
	for i := range l.list {
		o := &l.list[i]
		if e.Sort == "attacked" && o.Sort == e.Sort && o.Player == e.Player && o.Building == e.Building && block(o.X) == block(e.X) && block(o.Y) == block(e.Y) {
			return
		}
	}
	l.list = append(l.list, e)
}

func block(cells float64) int { return int(cells / blockCells) }

// observe adds an event of the game if the user may know of it; w is the state of its tick.
func (l *events) observe(w *skirmish.World, p *play.Player, event any) {
	switch e := event.(type) {
	case skirmish.Shot:
		if u := scene.Find(w, e.At); u != nil {
			l.unit("attacked", w, p, u.Owner, u.Kind, u.Pos)
		}
	case skirmish.Death:
		l.unit("lost", w, p, e.Owner, e.Kind, e.At)
	case skirmish.Trained:
		if u := scene.Find(w, e.Unit); u != nil {
			l.unit("made", w, p, e.Owner, e.Kind, u.Pos)
		}
	case skirmish.BuildingDone:
		l.unit("built", w, p, e.Owner, e.Kind, e.At)
	case skirmish.Pinged:
		if team := p.Team(w); team == scene.Everything || int(e.By) < len(w.Players) && w.Players[e.By].Team == team {
			x, y := cells(e.At)
			l.add(Event{Sort: "ping", X: x, Y: y, Player: int(e.By), Own: lockstep.Player(e.By) == p.Seat})
		}
	case skirmish.MatchWon:
		l.add(Event{Sort: "won", X: -1, Y: -1, Player: -1, Own: p.Team(w) == e.Team})
	}
}

// unit adds an event about a unit of the user's team, or one in sight.
func (l *events) unit(sort string, w *skirmish.World, p *play.Player, owner uint8, kind skirmish.UnitKind, at fixed.Vec2) {
	team := p.Team(w)
	if own := int(owner) < len(w.Players) && w.Players[owner].Team == team; !own && team != scene.Everything && !w.Sees(team, at) {
		return
	}
	x, y := cells(at)
	l.add(Event{sort, x, y, int(owner), lockstep.Player(owner) == p.Seat, kind.String(), kind.Building()})
}

// ordered adds the order that the user has given, so that it can be heard.
func (l *events) ordered(commands []any) {
	for _, c := range commands {
		kind := ""
		switch c.(type) {
		case *skirmish.Attack, *skirmish.AttackMove, *skirmish.Patrol:
			kind = "attack"
		case *skirmish.Gather:
			kind = "gather"
		case *skirmish.Move, *skirmish.Stop:
			kind = "move"
		case *skirmish.Train:
			kind = "train"
		case *skirmish.Build:
			kind = "build"
		default:
			continue
		}
		l.add(Event{Sort: "order", X: -1, Y: -1, Player: -1, Own: true, Kind: kind})
		return
	}
}

// cells returns a place in cells.
func cells(at fixed.Vec2) (x, y float64) { return at.X.Float64(), at.Y.Float64() }
