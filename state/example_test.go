package state_test

import (
	"errors"
	"fmt"
	"os"
	"reflect"

	"github.com/seed-49bee653/samestep/state"
)

// Fixed is a number with eight bits after the binary point.
type Fixed int32

func (Fixed) FractionBits() uint8 { return 8 }

type Vec struct{ X, Y Fixed }

type Unit struct {
	ID    uint32
	Pos   Vec
	Alive bool
}

type World struct {
	Tick  uint32
	Units []Unit
	byID  map[uint32]int `state:"derived"` // rebuilt after a restore
}

var codec = state.MustCompile[World]()

func newWorld() *World {
	return &World{Tick: 120, Units: []Unit{{1, Vec{12<<8 + 128, 3 << 8}, true}, {2, Vec{0, -64}, false}}, byID: map[uint32]int{1: 0, 2: 1}}
}

// A snapshot holds the whole state; decoding it gives the state back.
func ExampleCodec() {
	world := newWorld()
	snapshot := codec.Append(nil, world)
	fmt.Println(len(snapshot), "bytes")

	var restored World
	if err := codec.Decode(snapshot, &restored); err != nil {
		fmt.Println(err)
	}
	fmt.Println(restored.Tick, restored.Units)
	// Output:
	// 34 bytes
	// 120 [{1 {3200 768} true} {2 {0 -64} false}]
}

// A fork shares no memory with its source, and reuses its own.
func ExampleCodec_Copy() {
	world := newWorld()
	var fork World
	codec.Copy(&fork, world)
	fork.Units[0].ID = 99
	fmt.Println(world.Units[0].ID)
	// Output: 1
}

// A schema needs no Go type: its description is stored together with the states.
func ExampleSchema() {
	description := codec.Schema().AppendDescription(nil)
	snapshot := codec.Append(nil, newWorld())

	schema, err := state.ParseSchema(description)
	if err != nil {
		fmt.Println(err)
	}
	if err := schema.Dump(os.Stdout, snapshot); err != nil {
		fmt.Println(err)
	}
	if err := schema.DumpJSON(os.Stdout, snapshot); err != nil {
		fmt.Println(err)
	}
	fmt.Printf("%d bytes, fingerprint %016x\n", len(description), schema.Fingerprint())
	// Output:
	// Tick: 120
	// Units: 2 elements
	//   [ID=1]: {ID: 1, Pos: {X: 12.5, Y: 3}, Alive: true}
	//   [ID=2]: {ID: 2, Pos: {X: 0, Y: -0.25}, Alive: false}
	// {"Tick":120,"Units":[{"ID":1,"Pos":{"X":12.5,"Y":3},"Alive":true},{"ID":2,"Pos":{"X":0,"Y":-0.25},"Alive":false}]}
	// 115 bytes, fingerprint 7eeae6f421bddd5e
}

// Two states that should be equal are compared field by field.
func ExampleDifferences() {
	a := codec.Append(nil, newWorld())
	other := newWorld()
	other.Units[1].Pos.X = 1
	other.Units[1].Alive = true
	b := codec.Append(nil, other)

	differences, err := codec.Schema().Diff(a, b, 1)
	if err != nil {
		fmt.Println(err)
	}
	fmt.Println(differences.Total, "differences, the first:", differences.List[0])
	// Output: 2 differences, the first: Units[1].Pos.X: 0 != 0.004
}

func ExampleDifference() {
	fmt.Println(state.Difference{Path: "Units[17].Pos.X", A: "12.5", B: "12.75"})
	// Output: Units[17].Pos.X: 12.5 != 12.75
}

// Many differences are summarized in a few lines.
func ExamplePlaces() {
	a := codec.Append(nil, newWorld())
	other := newWorld()
	for i := range other.Units {
		other.Units[i].Pos.X += 64
		other.Units[i].Alive = false
	}
	b := codec.Append(nil, other)

	places, err := codec.Schema().DiffPlacesAt("", a, b)
	if err != nil {
		fmt.Println(err)
	}
	fmt.Println(places.Total, "fields differ")
	for _, line := range places.Lines(10) {
		fmt.Println(line)
	}
	// Output:
	// 3 fields differ
	// Units[0].Pos.X 12.5 → 12.75 (+1 more field of this unit, 1 more unit)
}

func ExamplePlace() {
	place := state.Place{
		Path: "Units", Element: "Units[17]", First: state.Difference{Path: "Units[17].Pos.X", A: "12.5", B: "12.75"},
		Fields: 4, Elements: 42, Total: 160,
	}
	fmt.Println(place.String())
	// Output: Units[17].Pos.X 12.5 → 12.75 (+3 more fields of this unit, 41 more units)
}

// A single field is damaged in place, to see that the checks notice.
func ExampleValue() {
	snapshot := codec.Append(nil, newWorld())
	value, err := codec.Schema().Lookup(snapshot, "Units[1].Alive")
	if err != nil {
		fmt.Println(err)
	}
	fmt.Println(value.Path, "at byte", value.Offset, "is", value)
	value.Flip()
	fmt.Println("now", value)
	// Output:
	// Units[1].Alive at byte 33 is false
	// now true
}

// The tree of a schema is walked without allocations.
func ExampleNode() {
	unit := codec.Schema().Root().Field(1).Elem()
	for i := range unit.NumFields() {
		field := unit.Field(i)
		size, _ := field.Size()
		fmt.Println(field.Path(), field.Kind(), size)
	}
	// Output:
	// Units[].ID uint32 4
	// Units[].Pos struct 8
	// Units[].Alive bool 1
}

// Elements of a list are named by their IDs.
func ExampleNode_Unscaled() {
	id, at, _ := codec.Schema().Root().Field(1).IDField()
	element := []byte{34, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 1}
	n := id.Unscaled(element[at : at+4])
	fmt.Println(n, id.UnscaledText(n))
	// Output: 34 34
}

func ExampleKind() {
	fmt.Println(state.Uint32, state.Uint32.Integer(), state.Int8.Signed())
	// Output: uint32 true true
}

func ExampleTypeError() {
	type Tank struct{ Speed float64 }
	_, err := state.Compile[struct{ Tanks []Tank }]()
	fmt.Println(err)
	var typeErr *state.TypeError
	fmt.Println(errors.As(err, &typeErr), typeErr.Path)
	// Output:
	// state: field Tanks[].Speed of type float64 is refused: floating point differs between machines
	// true Tanks[].Speed
}

func ExampleDecodeError() {
	snapshot := codec.Append(nil, newWorld())
	snapshot[33] = 7
	var world World
	err := codec.Decode(snapshot, &world)
	fmt.Println(err)
	fmt.Println(errors.Is(err, state.ErrBool))
	// Output:
	// state: malformed Units[1].Alive at byte 33: a bool is neither 0 nor 1: 7
	// true
}

func ExampleSchemaError() {
	description := codec.Schema().AppendDescription(nil)
	description[14] = 77 // the kind of the first field
	_, err := state.ParseSchema(description)
	fmt.Println(err)
	// Output: state: bad schema at node 1: unknown kind 77
}

// A JSON text changes the fields that it names. An error says which one does not fit.
func ExampleSchema_AppendJSON() {
	schema, before := codec.Schema(), codec.Append(nil, newWorld())
	after, err := schema.AppendJSON(nil, before, []byte(`{"Units": [{"ID": 7, "Pos": {"X": 0.5}}]}`), 1000)
	if err != nil {
		panic(err)
	}
	if err := schema.DumpJSON(os.Stdout, after); err != nil {
		panic(err)
	}
	_, err = schema.AppendJSON(nil, before, []byte(`{"Units": [{"Pos": {"Z": 3}}]}`), 1000)
	var wrong *state.JSONError
	fmt.Println(errors.As(err, &wrong), wrong.Path)
	fmt.Println(err)
	// Output:
	// {"Tick":120,"Units":[{"ID":7,"Pos":{"X":0.5,"Y":0},"Alive":false}]}
	// true Units[0].Pos
	// state: JSON: Units[0].Pos: unknown field "Z", want X, Y
}

// ExampleJSONError shows the error of a field that does not fit.
func ExampleJSONError() {
	_, err := codec.Schema().AppendJSON(nil, nil, []byte(`{"Tick": -1}`), 1000)
	fmt.Println(err)
	// Output: state: JSON: Tick: got -1, want a whole number from 0 to 4294967295
}

func ExampleParseType() {
	s, err := state.ParseType("struct { Tick uint32; Speed float32 }")
	if err != nil {
		fmt.Println(err)
		return
	}
	a, b := []byte{7, 0, 0, 0, 0, 0, 0xc0, 0x3f}, []byte{7, 0, 0, 0, 1, 0, 0xc0, 0x3f}
	d, err := s.Diff(a, b, 10)
	fmt.Println(d.List, err)
	fmt.Println(d.List[0].ULPs == state.ULPs(1))
	_, err = state.ParseType("struct { Tick int }")
	var malformed *state.TypeTextError
	fmt.Println(errors.As(err, &malformed), err)
	// Output:
	// [Speed: 1.5 != 1.5000001 (1 ulp)] <nil>
	// true
	// true state: bad type at byte 14: got int, want a type, such as int32, float32, string, [4]bool, []struct { … }
}

func ExampleTags() {
	type view struct {
		Units []struct {
			ID  uint16 `feed:"id"`
			Pos [2]int32
		}
		Fog []uint64 `feed:"every=4"`
	}
	var tags []state.Tag = state.Tags(reflect.TypeFor[view](), "feed")
	for _, t := range tags {
		fmt.Println(t.Path, t.Text)
	}
	// Output:
	// Units[].ID id
	// Fog every=4
}
