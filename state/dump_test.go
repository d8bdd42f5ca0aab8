package state

import (
	"bytes"
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const goldenDump = `Tick: 7
Units: 2 elements
  [ID=1]:
    ID: 1
    Pos: {X: 12.5, Y: -1}
    Turn: 0.5
    Alive: true
    Name: "a\"b"
    Path: 1 element
      [0]: {X: 1, Y: 2}
  [ID=2]:
    ID: 2
    Pos: {X: 0.0000000002, Y: -0.0000000002}
    Turn: 0
    Alive: false
    Name: ""
    Path: 0 elements
Scores: [1, -2, 3]
Flags: [{On: true, Off: false}, {On: false, Off: true}]
Fog: 3 elements
  [0]: 0 1 255
Winner: -1
Message: "gg"
`

const goldenJSON = `{"Tick":7,"Units":[{"ID":1,"Pos":{"X":"12.5","Y":"-1"},"Turn":0.5,"Alive":true,"Name":"a\"b","Path":[{"X":"1","Y":"2"}]},` +
	`{"ID":2,"Pos":{"X":"0.0000000002","Y":"-0.0000000002"},"Turn":0,"Alive":false,"Name":"","Path":[]}],"Scores":[1,-2,3],` +
	`"Flags":[{"On":true,"Off":false},{"On":false,"Off":true}],"Fog":[0,1,255],"Winner":-1,"Message":"gg"}` + "\n"

func TestGoldenDump(t *testing.T) {
	s := MustCompile[world]().Schema()
	var text, object strings.Builder
	if err := s.Dump(&text, goldenBytes(t)); err != nil || text.String() != goldenDump {
		t.Errorf("dump:\n%s\nerror %v, want:\n%s", &text, err, goldenDump)
	}
	if err := s.DumpJSON(&object, goldenBytes(t)); err != nil || object.String() != goldenJSON {
		t.Errorf("JSON:\n%s\nerror %v, want:\n%s", &object, err, goldenJSON)
	}
	if err := s.Dump(&text, nil); !errors.As(err, new(*DecodeError)) {
		t.Errorf("no bytes: error %v, want a *DecodeError", err)
	}
	if err := s.DumpJSON(&text, nil); !errors.As(err, new(*DecodeError)) {
		t.Errorf("no bytes: error %v, want a *DecodeError", err)
	}
}

func TestTableOfScalars(t *testing.T) {
	type grid struct{ Cells []int8 }
	c := MustCompile[grid]()
	w := grid{Cells: make([]int8, 33)}
	w.Cells[16], w.Cells[32] = -1, 5
	var text strings.Builder
	if err := c.Schema().Dump(&text, c.Append(nil, &w)); err != nil {
		t.Fatal(err)
	}
	want := "Cells: 33 elements\n  [0]:" + strings.Repeat(" 0", 16) + "\n  [16]: -1" + strings.Repeat(" 0", 15) + "\n  [32]: 5\n"
	if text.String() != want {
		t.Errorf("dump:\n%s\nwant:\n%s", &text, want)
	}
}

// TestJSONOfRandomStates reads the JSON back with encoding/json and compares it with the Go value.
func TestJSONOfRandomStates(t *testing.T) {
	for seed := range uint64(200) {
		_, s, v := randomState(t, seed, 6)
		var text bytes.Buffer
		if err := s.DumpJSON(&text, naive(v)); err != nil {
			t.Fatal(err)
		}
		d := json.NewDecoder(&text)
		d.UseNumber()
		var got any
		if err := d.Decode(&got); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		if diff := cmp.Diff(naiveJSON(v), got); diff != "" {
			t.Errorf("seed %d (-want +got):\n%s", seed, diff)
		}
	}
}

// naiveJSON returns what encoding/json makes of v, with fixed-point numbers as decimals, and numbers of 64 bits as text.
func naiveJSON(v reflect.Value) any {
	switch v.Kind() {
	case reflect.Struct:
		object := map[string]any{}
		for i := range v.NumField() {
			if f := v.Type().Field(i); f.Tag.Get("state") != "derived" {
				object[f.Name] = naiveJSON(v.Field(i))
			}
		}
		return object
	case reflect.Slice, reflect.Array:
		list := []any{}
		for i := range v.Len() {
			list = append(list, naiveJSON(v.Index(i)))
		}
		return list
	case reflect.String:
		return v.String()
	case reflect.Bool:
		return v.Bool()
	}
	if v.Type().Bits() == 64 {
		return fixedText(v)
	}
	return json.Number(fixedText(v))
}

func TestJSONStrings(t *testing.T) {
	type text struct{ S string }
	c := MustCompile[text]()
	for _, s := range []string{"", "plain", "quote\" back\\slash", "line\nfeed\ttab\x00nul\x7fdel", "é€𝄞", "bad\xffbyte", "<&>\u2028"} {
		var got text
		var buf bytes.Buffer
		if err := c.Schema().DumpJSON(&buf, c.Append(nil, &text{s})); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(buf.Bytes(), &got); err != nil || got.S != strings.ToValidUTF8(s, "\ufffd") {
			t.Errorf("%q came back as %q, error %v", s, got.S, err)
		}
	}
}

// failing is a writer that takes a number of bytes and then fails.
type failing struct{ left int }

var errFull = errors.New("full")

func (f *failing) Write(b []byte) (int, error) {
	if f.left -= len(b); f.left < 0 {
		return 0, errFull
	}
	return len(b), nil
}

func TestDumpKeepsWriterError(t *testing.T) {
	c := MustCompile[benchWorld[flatUnit]]()
	b := c.Append(nil, newFlatWorld())
	for _, room := range []int{0, dumpBytes + 100, 1 << 20} {
		if err := c.Schema().Dump(&failing{room}, b); !errors.Is(err, errFull) {
			t.Errorf("room for %d bytes: error %v, want %v", room, err, errFull)
		}
		if err := c.Schema().DumpJSON(&failing{room}, b); !errors.Is(err, errFull) {
			t.Errorf("room for %d bytes: error %v, want %v", room, err, errFull)
		}
	}
}
