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
	if got := s.Root().AppendJSON([]byte("> "), goldenBytes(t)); string(got) != "> "+strings.TrimSuffix(goldenJSON, "\n") {
		t.Errorf("AppendJSON: got %s", got)
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

// AppendJSON reads what DumpJSON writes, and changes only the fields that the text names.
func TestAppendJSON(t *testing.T) {
	c := MustCompile[world]()
	golden := goldenBytes(t)
	got, err := c.Schema().AppendJSON([]byte("before"), nil, []byte(goldenJSON), len(golden))
	if err != nil || string(got) != "before"+string(golden) {
		t.Fatalf("got %x, error %v, want %x", got, err, golden)
	}
	got, err = c.Schema().AppendJSON(nil, golden, []byte(` { "Flags" : [{"Off": true}, {}], "Tick": "9", "Units": [{"Turn": 0.25, "Pos": {"Y": 0.1}}] } `), 1000)
	if err != nil {
		t.Fatal(err)
	}
	want := newWorld()
	want.Tick, want.Flags[0].Off = 9, true
	want.Units = []unit{{Turn: 1 << 30, Pos: vec{0, 429496730}}}
	if !bytes.Equal(got, c.Append(nil, want)) {
		t.Errorf("got %x, want %x", got, c.Append(nil, want))
	}
}

// An error names the field and says what was expected.
func TestAppendJSONErrors(t *testing.T) {
	s := MustCompile[world]().Schema()
	for text, want := range map[string]string{
		``:                            "state: JSON: line 1: unexpected end of JSON input",
		"{\n\"Tick\": 1,\n}":          "state: JSON: line 3: invalid character '}' looking for beginning of object key string",
		`{} {}`:                       "state: JSON: line 1: invalid character '{' after top-level value",
		`[]`:                          "state: JSON: got [], want an object with Tick, Units, Scores, Flags, Fog, Winner, Message",
		`null`:                        "state: JSON: got null, want an object",
		`{"tick": 1}`:                 `state: JSON: unknown field "tick", want Tick, Units`,
		`{"Tick": 1, "Tick": 2}`:      `state: JSON: duplicate field "Tick"`,
		`{"Tick": -1}`:                "state: JSON: Tick: got -1, want a whole number from 0 to 4294967295",
		`{"Tick": 4294967296}`:        "state: JSON: Tick: got 4294967296, want a whole number from 0 to 4294967295",
		`{"Tick": 1e3}`:               "state: JSON: Tick: got 1e3, want a whole number",
		`{"Tick": 1.5}`:               "state: JSON: Tick: got 1.5, want a whole number from 0 to 4294967295",
		`{"Tick": null}`:              "state: JSON: Tick: got null, want a whole number",
		`{"Winner": 128}`:             "state: JSON: Winner: got 128, want a whole number from -128 to 127",
		`{"Winner": "-129"}`:          `state: JSON: Winner: got "-129", want a whole number from -128 to 127`,
		`{"Message": 3}`:              "state: JSON: Message: got 3, want a string",
		`{"Flags": [{"On": 1}, {}]}`:  "state: JSON: Flags[0].On: got 1, want true or false",
		`{"Flags": [{}]}`:             "state: JSON: Flags: got 1 elements, want 2",
		`{"Flags": [{}, {}, {}]}`:     "state: JSON: Flags: got more than 2 elements, want 2",
		`{"Units": {}}`:               "state: JSON: Units: got {}, want a list",
		`{"Units": [{}, {"X": 3}]}`:   `state: JSON: Units[1]: unknown field "X", want ID, Pos`,
		`{"Units": [{"Pos": [1,2]}]}`: "state: JSON: Units[0].Pos: got [1,2], want an object with X, Y",
		`{"Units": [{"Turn": "x"}]}`:  `state: JSON: Units[0].Turn: got "x", want a decimal number`,
		`{"Fog": [` + strings.Repeat("1,", 400) + `1]}`: "state: JSON: Fog[",
		`{"Units": [{},{},{},{},{},{},{},{},{},{}]}`:    "the value is too long, want at most 300 bytes in canonical form",
	} {
		got, err := s.AppendJSON([]byte{7}, nil, []byte(text), 300)
		if !errors.As(err, new(*JSONError)) || !strings.Contains(err.Error(), want) {
			t.Errorf("%.60s: got error %v, want %s", text, err, want)
		}
		if string(got) != "\x07" {
			t.Errorf("%.60s: got %x appended", text, got)
		}
	}
	if _, err := s.AppendJSON(nil, []byte{1}, []byte(`{}`), 300); !errors.As(err, new(*DecodeError)) {
		t.Errorf("a cut base: got error %v, want a *DecodeError", err)
	}
	type huge struct{ Lists [1 << 10][1 << 8]uint32 }
	if _, err := MustCompile[struct{ Units []huge }]().Schema().AppendJSON(nil, nil, []byte(`{"Units":[{}]}`), 1<<16); err == nil {
		t.Error("an element of 1 MiB was accepted")
	}
}

// FuzzAppendJSON: accepted text gives canonical bytes, which are read back the same.
func FuzzAppendJSON(f *testing.F) {
	s := MustCompile[world]().Schema()
	f.Add([]byte(goldenJSON))
	f.Add([]byte(`{"Units":[{"Pos":{"X":"0.1"}}],"Fog":[1],"Message":"\ud800"}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		b, err := s.AppendJSON(nil, nil, text, 1<<16)
		if err != nil {
			return
		}
		var dump bytes.Buffer
		if err := s.DumpJSON(&dump, b); err != nil {
			t.Fatalf("%q gives %x, which is not canonical: %v", text, b, err)
		}
		again, err := s.AppendJSON(nil, nil, dump.Bytes(), 1<<16)
		if err != nil || !bytes.Equal(again, b) {
			t.Fatalf("%q gives %x, and read back %x, error %v", text, b, again, err)
		}
	})
}
