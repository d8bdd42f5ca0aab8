package scene

import (
	"encoding/binary"

	"github.com/seed-49bee653/samestep/examples/skirmish"
	"github.com/seed-49bee653/samestep/fixed"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/player"
)

// Everything stands for a team that sees the whole map, for spectators and replays.
const Everything = 255

// PlaceBits is the number of fractional bits in the places of a frame.
const PlaceBits = 10

// The words of a frame's header.
const (
	HeadTick     = iota
	HeadZones    // number of them
	HeadCrystals // number of them
	HeadUnits    // number of them
	HeadEffects  // number of them
	HeadDots     // number of them
	HeadFog      // the tick of the fog
	HeadMiddleX  // of the screen
	HeadMiddleY
	HeadZoom // 1/256 of a pixel for a cell
	HeadSize // cells along a side of the map
	HeadGhost
	HeadGhostX
	HeadGhostY
	HeadTeam // whose vision is drawn
	HeadPlayer
	HeadFriends // a bit for each player of the team of a user with a seat; 0 without one
	HeadWords
)

// The flags of a unit's look.
const (
	Selected = 1 << iota // by the player
	Unbuilt              // under construction
	Loaded               // carries crystals
	Walking              // moved in this tick
	Fighting             // has a target
	Hurt                 // was hit recently
	Working              // mines or builds
)

// teleported is the distance in a tick from which on a move is drawn as a jump.
const teleported = 2 * fixed.One

// A View selects the content of a frame.
type View struct {
	Left, Top, Right, Bottom int32 // of the screen, in 1/1024 of a cell
	MiddleX, MiddleY, Zoom   int32 // of the camera, for the page

	Team     uint8             // whose vision, or Everything
	Player   uint8             // whose units are selected
	Seated   bool              // the user is the player
	Selected []skirmish.UnitID // ascending

	Dots bool // for the minimap too

	Ghost          int32 // kind of the building to be placed, + 256 if it does not fit; or 0
	GhostX, GhostY int32

	Marks []Mark // of units that differ from another state

	Ways    bool     // draw the ways of selected units
	Effects *Effects // nil disables them
	Now     uint32   // tick of the effects, if the states are predicted; 0 for that of the state

	margin           int32
	seen, discovered func(fixed.Vec2) bool
}

// A Painter writes frames. It keeps the heading of units that stand still.
type Painter struct {
	facing []facing // of the last tick, by ID
	before []facing
	tick   lockstep.Tick
	turned bool // facing is of tick
}

type facing struct {
	id      skirmish.UnitID
	heading uint8
}

// Frame appends a frame between two states, at a fraction of the way. Both may be the same.
func (p *Painter) Frame(dst []byte, previous, current *skirmish.World, f player.Fraction, v *View) []byte {
	p.face(previous, current)
	v.margin = 3 << PlaceBits
	v.seen, v.discovered = func(fixed.Vec2) bool { return true }, func(fixed.Vec2) bool { return true }
	if v.Team != Everything {
		v.seen = func(at fixed.Vec2) bool { return current.Sees(v.Team, at) }
		v.discovered = func(at fixed.Vec2) bool { return current.Knows(v.Team, at) }
	}
	start := len(dst)
	dst = append(dst, make([]byte, 4*HeadWords)...)
	var counts [HeadWords]uint32
	dst, counts[HeadZones] = zones(dst, current, v)
	dst, counts[HeadCrystals] = crystals(dst, current, v)
	dst, counts[HeadUnits] = p.units(dst, previous, current, f, v)
	dst, counts[HeadEffects] = effects(dst, current, f, v)
	var marked uint32
	dst, marked = marks(dst, v)
	counts[HeadEffects] += marked
	if v.Dots {
		dst, counts[HeadDots] = dots(dst, current, v)
	}
	counts[HeadTick], counts[HeadSize], counts[HeadTeam] = current.Match.Tick, uint32(Side(current)), uint32(v.Team)
	counts[HeadFog], counts[HeadPlayer] = fogTick(current, v.Team), uint32(v.Player)
	counts[HeadMiddleX], counts[HeadMiddleY], counts[HeadZoom] = uint32(v.MiddleX), uint32(v.MiddleY), uint32(v.Zoom)
	if v.Seated {
		counts[HeadFriends] = friends(current, v.Player)
	}
	counts[HeadGhost], counts[HeadGhostX], counts[HeadGhostY] = uint32(v.Ghost), uint32(v.GhostX), uint32(v.GhostY)
	for i, c := range counts {
		binary.LittleEndian.PutUint32(dst[start+4*i:], c)
	}
	return dst
}

// friends returns a bit for each player of a player's team.
func friends(w *skirmish.World, p uint8) (set uint32) {
	if int(p) >= len(w.Players) {
		return 0
	}
	for i := range w.Players[:min(len(w.Players), skirmish.MaxPlayers)] {
		if w.Players[i].Team == w.Players[p].Team {
			set |= 1 << i
		}
	}
	return set
}

// place returns a coordinate in 1/1024 of a cell.
func place(q fixed.Q) int32 { return int32(q >> (32 - PlaceBits)) }

func (v *View) shows(x, y int32) bool {
	return x >= v.Left-v.margin && x <= v.Right+v.margin && y >= v.Top-v.margin && y <= v.Bottom+v.margin
}

func put(dst []byte, words ...int32) []byte {
	for _, w := range words {
		dst = binary.LittleEndian.AppendUint32(dst, uint32(w))
	}
	return dst
}

func zones(dst []byte, w *skirmish.World, v *View) ([]byte, uint32) {
	n := uint32(0)
	for i := range w.Zones {
		z := &w.Zones[i]
		x, y := place(z.Pos.X), place(z.Pos.Y)
		if !v.shows(x, y) || !v.discovered(z.Pos) {
			continue
		}
		kind := int32(z.Kind)
		if z.Ready > w.Match.Tick {
			kind |= 1 << 8
		}
		if z.Kind == skirmish.Spawn && v.seen(z.Pos) {
			kind |= int32(z.Holder) << 16
		}
		dst = put(dst, x, y, place(z.Radius), kind)
		n++
	}
	return dst, n
}

func crystals(dst []byte, w *skirmish.World, v *View) ([]byte, uint32) {
	n := uint32(0)
	for i := range w.Crystals {
		c := &w.Crystals[i]
		x, y := place(c.Pos.X), place(c.Pos.Y)
		if !v.shows(x, y) || !v.discovered(c.Pos) {
			continue
		}
		dst = put(dst, x, y, share(uint32(c.Amount), uint32(c.Full)))
		n++
	}
	return dst, n
}

// share returns part/whole in 1/1000.
func share(part, whole uint32) int32 {
	if whole == 0 {
		return 0
	}
	return int32(min(uint64(part)*1000/uint64(whole), 1000))
}

// dots writes every visible unit for the minimap.
func dots(dst []byte, w *skirmish.World, v *View) ([]byte, uint32) {
	n, selected := uint32(0), v.Selected
	for i := range w.Units {
		u := &w.Units[i]
		for len(selected) > 0 && selected[0] < u.ID {
			selected = selected[1:]
		}
		if !v.knows(u) {
			continue
		}
		dot := int32(u.Pos.X>>30)&0x7ff | int32(u.Pos.Y>>30)&0x7ff<<11 | int32(u.Owner&0x1f)<<22
		if u.Kind.Building() {
			dot |= 1 << 27
		}
		if len(selected) > 0 && selected[0] == u.ID {
			dot |= 1 << 28
		}
		dst = put(dst, dot)
		n++
	}
	return dst, n
}

// knows reports whether a unit is drawn: the team's own, those that it sees, and buildings at explored places.
func (v *View) knows(u *skirmish.Unit) bool {
	return v.Team == Everything || u.Team == v.Team || v.seen(u.Pos) || u.Kind.Building() && v.discovered(u.Pos)
}
