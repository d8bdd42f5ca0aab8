package skirmish

import "github.com/seed-49bee653/samestep/fixed"

// A generator makes a layout. The ground is symmetric under quarter turns, and so are the players' bases as far as their
// number allows, so that the map is fair.
type generator struct {
	*Layout
	config *Config
	rand   *fixed.Rand
	size   int
	middle fixed.Vec2
	keep   []clearing // of rock
}

type clearing struct {
	at     fixed.Vec2
	radius fixed.Q
}

// Generate returns a random layout for a match with this number of players. c must be valid for it.
func Generate(rand *fixed.Rand, players uint8, c *Config) *Layout {
	size := int(c.Size)
	half := fixed.Q(size/2) * fixed.One
	g := &generator{Layout: &Layout{Map: newMap(c.Size)}, config: c, rand: rand, size: size, middle: fixed.Vec2{X: half, Y: half}}
	g.clear(g.middle, 5*fixed.One)
	g.placeBases(int(players))
	g.placeCrystals()
	if c.Zones {
		g.placeZones()
	}
	g.placeRock()
	for _, base := range g.Bases {
		g.carve(base)
	}
	g.Map.fillPockets(size/2, size/2)
	return g.Layout
}

// turned rotates a place around the middle by a number of quarter turns.
func (g *generator) turned(p fixed.Vec2, quarters int) fixed.Vec2 {
	for range quarters {
		p = fixed.Vec2{X: fixed.Q(g.size)*fixed.One - p.Y, Y: p.X}
	}
	return p
}

func (g *generator) clear(at fixed.Vec2, radius fixed.Q) {
	g.keep = append(g.keep, clearing{at, radius})
}

// snap rounds a place down to whole cells.
func snap(p fixed.Vec2) fixed.Vec2 { return fixed.Vec2{X: p.X.Floor(), Y: p.Y.Floor()} }

// placeBases puts the bases on a circle. Where the number of players has a factor 4 or 2, they are exact rotations of
// each other.
func (g *generator) placeBases(n int) {
	alike := 1
	for alike < 4 && n%(alike*2) == 0 {
		alike *= 2
	}
	radius := fixed.Q(g.size) * fixed.One * 2 / 5
	for p := range n {
		if first := p % (n / alike); first < p { // the same place, turned
			g.Bases = append(g.Bases, g.turned(g.Bases[first], p/(n/alike)*4/alike))
		} else {
			turn := fixed.QuarterTurn/2 + fixed.Turn(uint64(p)<<32/uint64(n))
			g.Bases = append(g.Bases, snap(g.middle.Add(fixed.Polar(turn, radius))))
		}
		g.clear(g.Bases[p], 8*fixed.One)
	}
}

// placeCrystals puts four crystals behind every base, and groups of three on the map.
func (g *generator) placeCrystals() {
	for _, base := range g.Bases {
		out := base.Sub(g.middle).Heading()
		for _, degrees := range []int64{-75, -25, 25, 75} {
			at := base.Add(fixed.Polar(out+fixed.Degrees(fixed.FromInt(degrees)), 6*fixed.One))
			g.crystal(at, 1500)
		}
	}
	for range g.size / 32 {
		at := g.somewhere(6)
		for quarters := range 4 {
			center := g.turned(at, quarters)
			for k := range fixed.Turn(3) {
				g.crystal(center.Add(fixed.Polar(k*(1<<32/3), 2*fixed.One)), 1000)
			}
		}
	}
}

func (g *generator) crystal(at fixed.Vec2, amount uint16) {
	g.clear(at, 2*fixed.One)
	g.Crystals = append(g.Crystals, Crystal{Pos: PointAt(at).Vec2(), Amount: amount, Full: amount})
}

// somewhere returns a random place, away from the bases and at least margin cells from the edge.
func (g *generator) somewhere(margin uint32) fixed.Vec2 {
	for tries := 0; ; tries++ {
		span := uint32(g.size) - 2*margin
		p := fixed.Vec2{
			X: fixed.Q(margin+g.rand.N(span)) * fixed.One,
			Y: fixed.Q(margin+g.rand.N(span)) * fixed.One,
		}
		if tries == 50 || g.nearest(p) > 12*fixed.One {
			return p
		}
	}
}

// nearest returns the least distance of a clearing from the four rotations of a place.
func (g *generator) nearest(p fixed.Vec2) fixed.Q {
	least := fixed.MaxQ
	for quarters := range 4 {
		for _, k := range g.keep {
			least = min(least, g.turned(p, quarters).Sub(k.at).Len())
		}
	}
	return least
}

// placeZones puts a hoard in the middle, shrines around it, two pairs of teleports far apart, and four spawn zones.
func (g *generator) placeZones() {
	g.zone(Zone{Pos: g.middle, Radius: 2 * fixed.One, Kind: Hoard})
	for quarters := range 4 {
		at := g.middle.Add(fixed.Vec2{X: fixed.Q(g.size) * fixed.One / 6})
		g.zone(Zone{Pos: g.turned(at, quarters), Radius: fixed.One * 3 / 2, Kind: Shrine})
	}
	at := g.somewhere(8)
	for quarters := range uint8(4) {
		exit := uint8(len(g.Zones)) - quarters + (quarters+2)%4
		g.zone(Zone{Pos: g.turned(at, int(quarters)), Radius: fixed.One, Kind: Teleport, Exit: exit})
	}
	at = g.somewhere(8)
	for quarters := range 4 {
		g.zone(Zone{Pos: g.turned(at, quarters), Radius: fixed.One * 3 / 2, Kind: Spawn})
	}
}

func (g *generator) zone(z Zone) {
	g.clear(z.Pos, z.Radius+2*fixed.One)
	g.Zones = append(g.Zones, z)
}

// placeRock adds round rocks, four at a time, until the map has enough of them.
func (g *generator) placeRock() {
	wanted := g.size * g.size * int(g.config.Obstacles) / 100
	for tries := 0; wanted > 0 && tries < 4*g.size*g.size; tries++ {
		x, y := int(g.rand.N(uint32(g.size))), int(g.rand.N(uint32(g.size)))
		r := int(1 + g.rand.N(3))
		for dy := -r; dy <= r; dy++ {
			for dx := -r; dx <= r; dx++ {
				if dx*dx+dy*dy <= r*r {
					wanted -= g.rock(x+dx, y+dy)
				}
			}
		}
	}
	for i := range g.size { // the edge
		for _, at := range [][2]int{{i, 0}, {i, g.size - 1}, {0, i}, {g.size - 1, i}} {
			g.Map.set(at[0], at[1], true)
		}
	}
}

// rock makes a cell and its rotations rock, unless one of them is in a clearing, and returns the number of new rocks.
func (g *generator) rock(x, y int) (made int) {
	if g.Map.Rock(x, y) {
		return 0
	}
	center := fixed.Vec2{X: fixed.Q(x)*fixed.One + fixed.Half, Y: fixed.Q(y)*fixed.One + fixed.Half}
	for _, k := range g.keep {
		for quarters := range 4 {
			if g.turned(center, quarters).InRange(k.at, k.radius) {
				return 0
			}
		}
	}
	for range 4 {
		g.Map.set(x, y, true)
		x, y = g.size-1-y, x
		made++
	}
	return made
}

// carve opens a way three cells wide from a base to the middle.
func (g *generator) carve(from fixed.Vec2) {
	for p := from; p != g.middle; p = p.MoveToward(g.middle, fixed.Half) {
		for dy := -1; dy <= 1; dy++ {
			for dx := -1; dx <= 1; dx++ {
				x, y := int(p.X.Int())+dx, int(p.Y.Int())+dy
				for range 4 {
					g.Map.set(x, y, false)
					x, y = g.size-1-y, x
				}
			}
		}
	}
}
