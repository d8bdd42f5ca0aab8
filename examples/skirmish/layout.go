package skirmish

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/seed-49bee653/samestep/fixed"
)

// Limits of a map file.
const (
	MaxMapFile     = 512 << 10 // bytes
	MaxMapCrystals = 512
	MaxMapZones    = 64
)

// Free room around a base, in cells: to rock, and to another base.
const (
	baseRoom  = 4
	baseApart = 12
)

// ErrMap is wrapped by the errors of bad map files.
var ErrMap = errors.New("skirmish: bad map")

// A Layout is what the rules need of a map to begin a match: ground, the players' bases, crystals and zones. [Generate]
// makes a random one, [ParseMap] reads one from a file.
type Layout struct {
	Map      Map
	Bases    []fixed.Vec2 // by player
	Crystals []Crystal
	Zones    []Zone
}

// mapTitle is the first line of a map file, with the version of the format.
const mapTitle = "skirmish map 1"

// mapWords begin the lines of zones.
var mapWords = [zoneKinds]string{"teleport", "shrine", "hoard", "spawn"}

// AppendText appends the layout as a map file: a line for each base, crystal and zone, then a line for each row of cells.
func (l *Layout) AppendText(b []byte) ([]byte, error) {
	b = fmt.Appendf(b, "%s\nsize %d\n", mapTitle, l.Map.Size)
	for _, base := range l.Bases {
		b = fmt.Appendf(b, "base %v %v\n", base.X, base.Y)
	}
	for _, c := range l.Crystals {
		b = fmt.Appendf(b, "crystal %v %v %d\n", c.Pos.X, c.Pos.Y, c.Full)
	}
	for _, z := range l.Zones {
		b = fmt.Appendf(b, "%s %v %v %v", mapWords[z.Kind], z.Pos.X, z.Pos.Y, z.Radius)
		if z.Kind == Teleport {
			b = fmt.Appendf(b, " %d", z.Exit)
		}
		b = append(b, '\n')
	}
	b = append(b, "ground\n"...)
	for y := range int(l.Map.Size) {
		for x := range int(l.Map.Size) {
			if l.Map.Rock(x, y) {
				b = append(b, '#')
			} else {
				b = append(b, '.')
			}
		}
		b = append(b, '\n')
	}
	return b, nil
}

// A mapReader reads a map file.
type mapReader struct {
	Layout
	places []mapPlace
}

// A mapPlace is the place of a base, crystal or zone, which units must be able to reach.
type mapPlace struct {
	line string
	at   fixed.Vec2
	near int // cells between the place and the nearest open cell, at most
}

// ParseMap reads a map file. Its first line is "skirmish map 1", empty lines and lines that begin with # mean nothing. Then:
//
//	size N                    cells along a side, even
//	base X Y                  of the next player
//	crystal X Y AMOUNT        a deposit
//	shrine X Y RADIUS         a zone, also: hoard, spawn
//	teleport X Y RADIUS EXIT  a zone that leads to zone EXIT of the file, counted from 0
//	ground                    before N rows of N cells, from Y 0 on: # is rock, . is open
//
// Places are in cells, as decimals. The edge is rock, and all places can be reached from the first base; other open cells
// become rock if they cannot. The error wraps [ErrMap] and names the line or the place.
func ParseMap(file []byte) (*Layout, error) {
	if len(file) > MaxMapFile {
		return nil, fmt.Errorf("%w: got %d bytes, want at most %d", ErrMap, len(file), MaxMapFile)
	}
	lines := strings.Split(strings.ReplaceAll(string(bytes.TrimSpace(file)), "\r\n", "\n"), "\n")
	if lines[0] != mapTitle {
		return nil, fmt.Errorf("%w: the first line is %.40q, want %q", ErrMap, lines[0], mapTitle)
	}
	var r mapReader
	for i := 1; i < len(lines); i++ {
		words := strings.Fields(lines[i])
		if len(words) == 0 || words[0][0] == '#' {
			continue
		}
		if words[0] == "ground" {
			if err := r.ground(lines[i+1:], i+2); err != nil {
				return nil, err
			}
			if err := r.finish(); err != nil {
				return nil, err
			}
			return &r.Layout, nil
		}
		if err := r.line(words); err != nil {
			return nil, fmt.Errorf("%w: line %d: %w", ErrMap, i+1, err)
		}
	}
	return nil, fmt.Errorf("%w: there is no line ground", ErrMap)
}

// mapNumbers is how many numbers follow each word.
var mapNumbers = map[string]int{"size": 1, "base": 2, "crystal": 3, "shrine": 3, "hoard": 3, "spawn": 3, "teleport": 4}

// line reads a line before the ground.
func (r *mapReader) line(words []string) error {
	want, known := mapNumbers[words[0]]
	if !known {
		return fmt.Errorf("got %.20q, want size, base, crystal, a zone or ground", words[0])
	}
	if len(words)-1 != want {
		return fmt.Errorf("got %d numbers after %s, want %d", len(words)-1, words[0], want)
	}
	numbers := make([]fixed.Q, want)
	for i, word := range words[1:] {
		var err error
		if numbers[i], err = fixed.Parse(word); err != nil {
			return err
		}
	}
	if words[0] == "size" {
		return r.size(numbers[0])
	}
	at, side := fixed.Vec2{X: numbers[0], Y: numbers[1]}, fixed.Q(r.Map.Size)*fixed.One
	if at.X < 0 || at.Y < 0 || at.X >= side || at.Y >= side {
		return fmt.Errorf("the place is %v %v, want it on the map of %d cells", at.X, at.Y, r.Map.Size)
	}
	r.places = append(r.places, mapPlace{line: strings.Join(words, " "), at: at})
	switch words[0] {
	case "base":
		return r.base(at)
	case "crystal":
		r.places[len(r.places)-1].near = 1 // workers mine from beside it
		return r.crystal(at, numbers[2])
	}
	return r.zone(ZoneKind(slices.Index(mapWords[:], words[0])), at, numbers[2:])
}

func (r *mapReader) size(cells fixed.Q) error {
	if r.Map.Size != 0 {
		return errors.New("want one size")
	}
	n, err := whole(cells, MinSize, MaxSize)
	switch {
	case err != nil:
		return err
	case n%2 != 0:
		return fmt.Errorf("got %d, want an even number", n)
	}
	r.Map = newMap(n)
	return nil
}

// whole returns a number that must be a whole one within limits.
func whole(q fixed.Q, low, high int64) (uint16, error) {
	if n := q.Int(); q.Floor() == q && n >= low && n <= high {
		return uint16(n), nil
	}
	return 0, fmt.Errorf("got %v, want a whole number from %d to %d", q, low, high)
}

func (r *mapReader) base(at fixed.Vec2) error {
	if len(r.Bases) == MaxPlayers {
		return fmt.Errorf("want at most %d bases", MaxPlayers)
	}
	for p, other := range r.Bases {
		if at.InRange(other, baseApart*fixed.One) {
			return fmt.Errorf("the base is at most %d cells from base %d", baseApart, p)
		}
	}
	r.Bases = append(r.Bases, at)
	return nil
}

func (r *mapReader) crystal(at fixed.Vec2, amount fixed.Q) error {
	if len(r.Crystals) == MaxMapCrystals {
		return fmt.Errorf("want at most %d crystals", MaxMapCrystals)
	}
	n, err := whole(amount, 1, 1<<16-1)
	r.Crystals = append(r.Crystals, Crystal{Pos: at, Amount: n, Full: n})
	return err
}

// zone reads the radius of a zone, and the exit of a teleport.
func (r *mapReader) zone(kind ZoneKind, at fixed.Vec2, numbers []fixed.Q) error {
	if len(r.Zones) == MaxMapZones {
		return fmt.Errorf("want at most %d zones", MaxMapZones)
	}
	z := Zone{Pos: at, Radius: numbers[0], Kind: kind}
	if z.Radius < fixed.Half || z.Radius > 8*fixed.One {
		return fmt.Errorf("the radius is %v, want 0.5 to 8", z.Radius)
	}
	if kind == Teleport {
		exit, err := whole(numbers[1], 0, MaxMapZones-1)
		if err != nil {
			return err
		}
		z.Exit = uint8(exit)
	}
	r.Zones = append(r.Zones, z)
	return nil
}

// ground reads the rows of cells. first is the number of the first line.
func (r *mapReader) ground(rows []string, first int) error {
	if size := int(r.Map.Size); size == 0 || len(rows) != size {
		return fmt.Errorf("%w: line %d: got %d rows, want %d, the size", ErrMap, first, len(rows), size)
	}
	for y, row := range rows {
		if len(row) != len(rows) {
			return fmt.Errorf("%w: line %d: got %d cells, want %d", ErrMap, first+y, len(row), len(rows))
		}
		for x, c := range []byte(row) {
			if c != '#' && c != '.' {
				return fmt.Errorf("%w: line %d: column %d is %q, want '#' or '.'", ErrMap, first+y, x+1, c)
			}
			edge := x == 0 || y == 0 || x == len(rows)-1 || y == len(rows)-1
			if edge && c != '#' {
				return fmt.Errorf("%w: line %d: column %d is on the edge, want #", ErrMap, first+y, x+1)
			}
			r.Map.set(x, y, c == '#')
		}
	}
	return nil
}

// finish checks what needs the whole file.
func (r *mapReader) finish() error {
	if len(r.Bases) == 0 {
		return fmt.Errorf("%w: there is no base", ErrMap)
	}
	for i, z := range r.Zones {
		if z.Kind == Teleport && (int(z.Exit) >= len(r.Zones) || int(z.Exit) == i) {
			return fmt.Errorf("%w: the teleport that is zone %d leads to zone %d of %d, want another zone", ErrMap, i, z.Exit, len(r.Zones))
		}
	}
	for p, base := range r.Bases {
		x, y := int(base.X.Int()), int(base.Y.Int())
		for dy := -baseRoom; dy <= baseRoom; dy++ {
			for dx := -baseRoom; dx <= baseRoom; dx++ {
				if r.Map.Rock(x+dx, y+dy) {
					return fmt.Errorf("%w: base %d has rock in cell %d %d, want none within %d cells", ErrMap, p, x+dx, y+dy, baseRoom)
				}
			}
		}
	}
	r.Map.fillPockets(int(r.Bases[0].X.Int()), int(r.Bases[0].Y.Int()))
	for _, p := range r.places {
		if r.rockAround(p.at, p.near) {
			return fmt.Errorf("%w: %q is on rock or cannot be reached from the first base", ErrMap, p.line)
		}
	}
	return nil
}

// rockAround reports whether all cells are rock that are at most so many cells from a place.
func (r *mapReader) rockAround(at fixed.Vec2, cells int) bool {
	for dy := -cells; dy <= cells; dy++ {
		for dx := -cells; dx <= cells; dx++ {
			if !r.Map.Rock(int(at.X.Int())+dx, int(at.Y.Int())+dy) {
				return false
			}
		}
	}
	return true
}
