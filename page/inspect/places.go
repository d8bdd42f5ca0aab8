package inspect

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/seed-49bee653/samestep/internal/decimal"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/state"
)

const maxPlaces = 20_000

// PlaceWords is the number of numbers of a place.
const PlaceWords = 6

// A Layer is a field of the schema that is a place: a struct of two integers X and Y, such as a fixed.Vec2.
type Layer struct {
	Path string `json:"path"` // such as "Units[].Pos"
	Role string `json:"role"` // "place"; "target", to which something goes; or "vector", such as a velocity
}

// Layers returns the fields of the state that are places, in their order.
func (s *Snapshot) Layers() []Layer {
	if s.layers == nil {
		return []Layer{}
	}
	return s.layers.list
}

// Places appends the places of the state to dst. Each is six little-endian float64: the number of its layer, X, Y, its player or -1, the id
// of its element or the element's index, and a number that all places of an element share. Its player is the one that the field Owner,
// Player, Team, Seat or Side of its element names; without one, that of its index, in a list with an element for each of the players.
func (s *Snapshot) Places(dst []byte, players int) []byte {
	if s.layers == nil {
		return dst
	}
	p := &placer{layers: s.layers, players: players, dst: dst}
	p.look(s.schema.Root(), s.now, belongs{player: -1, id: -1})
	return p.dst
}

// ElementAt returns the path of the element, or else of the place, that [Snapshot.Places] returned at an index, or "".
func (s *Snapshot) ElementAt(index int) string {
	if s.layers == nil || index < 0 {
		return ""
	}
	p := &placer{layers: s.layers}
	p.look(s.schema.Root(), s.now, belongs{})
	leaves, err := s.schema.Leaves(s.now)
	if index >= len(p.left) || err != nil {
		return ""
	}
	for v := range leaves {
		if v.Offset == len(s.now)-p.left[index] {
			end := cmp.Or(strings.LastIndexByte(v.Path, ']')+1, strings.LastIndexByte(v.Path, '.'))
			return v.Path[:max(end, 0)] // the whole state may be a place
		}
	}
	return ""
}

type layers struct {
	list   []Layer
	number map[state.Node]int  // of the places
	inside map[state.Node]bool // there is a place in it
}

func layersOf(schema *state.Schema) *layers {
	l := &layers{list: []Layer{}, number: make(map[state.Node]int), inside: make(map[state.Node]bool)}
	l.look(schema.Root())
	return l
}

func (l *layers) look(n state.Node) bool {
	switch n.Kind() {
	case state.Struct:
		if isPlace(n) {
			l.number[n] = len(l.list)
			l.list = append(l.list, Layer{n.Path(), role(n.Path())})
			l.inside[n] = true
			return true
		}
		for i := range n.NumFields() {
			if l.look(n.Field(i)) {
				l.inside[n] = true
			}
		}
	case state.Array, state.Slice:
		l.inside[n] = l.look(n.Elem())
	}
	return l.inside[n]
}

func isPlace(n state.Node) bool {
	if n.NumFields() != 2 {
		return false
	}
	x, y := n.Field(0), n.Field(1)
	return x.Name() == "X" && y.Name() == "Y" && x.Kind().Integer() && x.Kind() == y.Kind() && x.FractionBits() == y.FractionBits()
}

var (
	targets = []string{"to", "target", "goal", "dest", "destination", "aim", "rally", "next", "then", "home"}
	vectors = []string{"vel", "velocity", "speed", "dir", "direction", "facing", "heading", "force", "accel", "acceleration", "delta", "offset", "step", "size", "half", "extent", "push", "norm", "normal"}
)

func role(path string) string {
	name := strings.ToLower(strings.TrimRight(path[strings.LastIndexByte(path, '.')+1:], "[]"))
	switch {
	case slices.Contains(vectors, name):
		return "vector"
	case slices.Contains(targets, name):
		return "target"
	}
	return "place"
}

type belongs struct {
	player  float64
	id      float64
	element float64
}

type placer struct {
	layers   *layers
	players  int
	dst      []byte
	elements float64 // so far
	left     []int   // bytes of the state from each place on
}

// look looks at a value, of which only the beginning of b is known.
func (p *placer) look(n state.Node, b []byte, of belongs) {
	if !p.layers.inside[n] || len(p.left) == maxPlaces {
		return
	}
	if layer, ok := p.layers.number[n]; ok {
		p.place(layer, n, b, of)
		return
	}
	if n.Kind() == state.Struct {
		of = ownOf(n, b, of)
		for i := range n.NumFields() {
			f := n.Field(i)
			p.look(f, b, of)
			b = b[f.SizeOf(b):]
		}
		return
	}
	count, at := n.Elements(b)
	b = b[at:]
	for i := range count {
		p.elements++
		inner := belongs{player: of.player, id: float64(i), element: p.elements}
		if inner.player < 0 && count == p.players {
			inner.player = float64(i)
		}
		p.look(n.Elem(), b, inner)
		b = b[n.Elem().SizeOf(b):]
	}
}

// ownOf returns to whom the fields of a struct belong: its own fields say it, or those around it.
func ownOf(n state.Node, b []byte, of belongs) belongs {
	best := len(owners)
	for i := range n.NumFields() {
		f := n.Field(i)
		if f.Kind().Integer() {
			name := strings.ToLower(f.Name())
			if rank := slices.Index(owners, name); rank >= 0 && rank < best {
				best, of.player = rank, number(f, b)
			}
			if name == "id" {
				of.id = number(f, b)
			}
		}
		b = b[f.SizeOf(b):]
	}
	return of
}

// owners are the names of fields that say to whom something belongs, best first.
var owners = []string{"owner", "player", "team", "seat", "side", "faction"}

func (p *placer) place(layer int, n state.Node, b []byte, of belongs) {
	p.left = append(p.left, len(b))
	x, y := n.Field(0), n.Field(1)
	for _, v := range [PlaceWords]float64{float64(layer), number(x, b), number(y, b[x.SizeOf(b):]), of.player, of.id, of.element} {
		p.dst = binary.LittleEndian.AppendUint64(p.dst, math.Float64bits(v))
	}
}

func number(n state.Node, b []byte) float64 {
	size, _ := n.Size()
	x := n.Unscaled(b[:size])
	v := float64(x)
	if n.Kind().Signed() {
		v = float64(int64(x))
	}
	return math.Ldexp(v, -int(n.FractionBits()))
}

// A Form describes a kind of command. The page sends what was entered as JSON, which the ReadJSON of the game's payload codec reads.
type Form struct {
	Kind lockstep.Kind `json:"kind"`
	Name string        `json:"name"`
	Root Field         `json:"root"`
}

// A Field is a part of a form, of a command or of a configuration.
type Field struct {
	Name   string  `json:"name"`
	Type   string  `json:"type"` // "bool", "number", "text", "list" or "struct"
	Whole  bool    `json:"whole"`
	Min    string  `json:"min"` // of a number
	Max    string  `json:"max"`
	Place  bool    `json:"place"` // it has a place on the map: X and Y
	Fixed  int     `json:"fixed"` // number of elements of a list that always has as many, or 0
	Fields []Field `json:"fields"`
	Elem   *Field  `json:"elem"` // of a list
}

// Forms returns the forms of a match's commands. The error is that of a schema in the header.
func Forms(h *lockstep.Header) ([]Form, error) {
	forms := make([]Form, 0, len(h.Commands))
	for _, c := range h.Commands {
		s, err := state.ParseSchema(c.Schema)
		if err != nil {
			return nil, fmt.Errorf("inspect: schema of command %q: %w", c.Name, err)
		}
		forms = append(forms, Form{c.Kind, c.Name, FieldOf(s)})
	}
	return forms, nil
}

// FieldOf returns the form of any values of a schema.
func FieldOf(s *state.Schema) Field { return fieldOf(s.Root()) }

func fieldOf(n state.Node) Field {
	f := Field{Name: n.Name(), Fields: []Field{}}
	switch k := n.Kind(); {
	case k == state.Bool:
		f.Type = "bool"
	case k == state.String:
		f.Type = "text"
	case k.Integer():
		f.Type, f.Whole = "number", n.FractionBits() == 0
		f.Min, f.Max = rangeOf(n)
	case k == state.Struct:
		f.Type, f.Place = "struct", isPlace(n)
		for i := range n.NumFields() {
			f.Fields = append(f.Fields, fieldOf(n.Field(i)))
		}
	default:
		elem := fieldOf(n.Elem())
		f.Type, f.Fixed, f.Elem = "list", n.Len(), &elem
	}
	return f
}

func rangeOf(n state.Node) (least, most string) {
	bytes, _ := n.Size()
	if n.Kind().Signed() {
		return string(decimal.Append(nil, math.MinInt64>>(64-8*bytes), n.FractionBits())), string(decimal.Append(nil, math.MaxInt64>>(64-8*bytes), n.FractionBits()))
	}
	return "0", string(decimal.AppendUint(nil, math.MaxUint64>>(64-8*bytes), n.FractionBits()))
}
