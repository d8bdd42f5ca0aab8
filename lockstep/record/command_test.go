package record_test

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/record"
	"github.com/seed-49bee653/samestep/state"
)

// A command with every kind of field.
type every struct {
	Yes    bool
	I8     int8
	I64    int64
	U16    uint16
	U64    uint64
	Text   string
	Hash   [3]uint8
	Blob   []uint8
	Pair   [2]int16
	Points []struct{ X, Y int32 }
	Names  []string
	Deep   [][]uint32
}

type blob struct{ Data []uint8 }

type everyState struct{ N uint32 }

func newEveryGame(tb testing.TB) *lockstep.Game {
	tb.Helper()
	g, err := lockstep.NewGame(lockstep.Rules[everyState, struct{}]{
		Name: "every", Build: "1",
		Commands: []record.CommandType{record.Type[every](3, "every"), record.Type[struct{}](4, "nothing"), record.Type[every](5, "again"), record.Type[blob](6, "blob")},
		New:      func(*everyState, *record.Settings, *struct{}) error { return nil },
		Step:     func(*everyState, *struct{}, *lockstep.Turn) {},
	})
	if err != nil {
		tb.Fatal(err)
	}
	return g
}

var everyValue = every{
	Yes: true, I8: -128, I64: math.MinInt64, U16: 65535, U64: math.MaxUint64, Text: "zwölf", Hash: [3]uint8{1, 2, 3},
	Blob: []uint8{0, 255}, Pair: [2]int16{-1, 300}, Points: []struct{ X, Y int32 }{{1, -2}}, Names: []string{"", "x"},
	Deep: [][]uint32{{5}, {1, 70000}},
}

// The bytes are handmade.
var everyBytes = []byte("\x01\x80\x00\x00\x00\x00\x00\x00\x00\x80\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff" +
	"\x06\x00\x00\x00zw\xc3\xb6lf\x01\x02\x03\x02\x00\x00\x00\x00\xff\xff\xff\x2c\x01" + "\x01\x00\x00\x00\x01\x00\x00\x00\xfe\xff\xff\xff" +
	"\x02\x00\x00\x00\x00\x00\x00\x00\x01\x00\x00\x00x" + "\x02\x00\x00\x00\x01\x00\x00\x00\x05\x00\x00\x00\x02\x00\x00\x00\x01\x00\x00\x00\x70\x11\x01\x00")

func TestPayload(t *testing.T) {
	p := newEveryGame(t).NewPayloads()
	kind, b, err := p.Encode(&everyValue)
	if err != nil || kind != 3 || !bytes.Equal(b, everyBytes) {
		t.Errorf("got kind %d, % x, %v, want % x", kind, b, err, everyBytes)
	}
	c := record.Command{Kind: 3, Payload: everyBytes}
	if err := p.Decode(&c); err != nil {
		t.Error(err)
	}
	if diff := cmp.Diff(any(&everyValue), c.Value); diff != "" {
		t.Errorf("decoded (-want +got):\n%s", diff)
	}
	if b, err := p.EncodeAs(5, &everyValue); err != nil || !bytes.Equal(b, everyBytes) {
		t.Errorf("as another kind: got % x, %v", b, err)
	}
	if kind, b, err := p.Encode(&struct{}{}); err != nil || kind != 4 || len(b) > 0 {
		t.Errorf("nothing: got kind %d, % x, %v", kind, b, err)
	}
}

// A nil slice and an empty one are the same value and have the same bytes.
func TestPayloadNilSlices(t *testing.T) {
	p := newEveryGame(t).NewPayloads()
	_, a, err := p.Encode(&every{})
	if err != nil {
		t.Fatal(err)
	}
	a = bytes.Clone(a)
	_, b, err := p.Encode(&every{Blob: []uint8{}, Points: []struct{ X, Y int32 }{}, Names: []string{}, Deep: [][]uint32{}})
	if err != nil || !bytes.Equal(a, b) {
		t.Errorf("got % x and % x, %v", a, b, err)
	}
}

func TestPayloadErrors(t *testing.T) {
	p := newEveryGame(t).NewPayloads()
	for name, c := range map[string]struct {
		command record.Command
		want    error
		text    string
	}{
		"unknown kind":           {record.Command{Kind: 9, Payload: everyBytes}, record.ErrUnknownKind, "lockstep: unknown command kind 9 of player 0"},
		"unknown kind of System": {record.Command{Player: record.System, Kind: 99}, record.ErrUnknownKind, "lockstep: unknown command kind 99 of system"},
		"too large":              {record.Command{Kind: 3, Payload: make([]byte, record.MaxPayload+1)}, record.ErrMalformed, ""},
		"too large by one":       {record.Command{Kind: 6, Payload: append([]byte("\xfd\x3f\x00\x00"), make([]byte, record.MaxPayload-3)...)}, record.ErrMalformed, "blob: malformed: got 16385 bytes, want at most 16384"},
		"cut in Deep":            {record.Command{Kind: 3, Payload: everyBytes[:len(everyBytes)-1]}, record.ErrMalformed, "lockstep: every: state: malformed Deep[1] at byte 80: unexpected EOF"},
		"left over":              {record.Command{Kind: 4, Payload: []byte{0}}, record.ErrMalformed, "lockstep: nothing: state: malformed at byte 0"},
		"a bool of 2":            {record.Command{Kind: 3, Payload: append([]byte{2}, everyBytes[1:]...)}, record.ErrMalformed, "malformed Yes at byte 0"},
		"a huge slice":           {record.Command{Kind: 6, Payload: []byte("\xff\xff\xff\xff")}, record.ErrMalformed, "malformed Data at byte 0"},
	} {
		err := p.Decode(&c.command)
		if !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.text) {
			t.Errorf("%s: got %v, want %v: %s", name, err, c.want, c.text)
		}
	}
	for name, value := range map[string]any{
		"nil":            nil,
		"not a pointer":  everyValue,
		"not registered": new(int),
		"a nil pointer":  (*every)(nil),
		"too large":      &every{Blob: make([]byte, record.MaxPayload)},
	} {
		if _, b, err := p.Encode(value); err == nil {
			t.Errorf("%s: encoded as % x", name, b)
		}
	}
	if _, err := p.EncodeAs(4, &everyValue); err == nil {
		t.Error("a type is encoded as a kind of another type")
	}
}

// Values stay unchanged until Reset. Large ones are not kept in memory.
func TestPayloadValues(t *testing.T) {
	p := newEveryGame(t).NewPayloads()
	var commands [8]record.Command
	for i := range commands {
		_, b, err := p.Encode(&every{U16: uint16(i), Blob: make([]byte, 5000*(i%2))})
		if err != nil {
			t.Fatal(err)
		}
		commands[i] = record.Command{Kind: 3, Payload: bytes.Clone(b)}
		if err := p.Decode(&commands[i]); err != nil {
			t.Fatal(err)
		}
	}
	for i, c := range commands {
		if got := c.Value.(*every); got.U16 != uint16(i) || len(got.Blob) != 5000*(i%2) {
			t.Errorf("value %d became %d", i, got.U16)
		}
	}
}

// A payload whose Go type is not here is a value of its kind's schema as well, and shares no memory with the log.
func TestUntypedPayload(t *testing.T) {
	schema := state.MustCompile[blob]().Schema()
	kinds, err := record.CompileKinds([]record.CommandType{record.TypeOf(6, "blob", schema)})
	if err != nil {
		t.Fatal(err)
	}
	p := kinds.NewPayloads()
	c := record.Command{Kind: 6, Payload: []byte("\x02\x00\x00\x00ab")}
	if err := p.Decode(&c); err != nil {
		t.Fatal(err)
	}
	if c.Payload[4] = 'x'; string(c.Value.(*record.Untyped).Canonical) != "\x02\x00\x00\x00ab" {
		t.Errorf("got %q", c.Value.(*record.Untyped).Canonical)
	}
	c.Payload = c.Payload[:5]
	if err := p.Decode(&c); !errors.Is(err, record.ErrMalformed) {
		t.Errorf("cut: got %v", err)
	}
}

// What a person enters becomes the command, and nothing else does.
func TestReadJSON(t *testing.T) {
	p := newEveryGame(t).NewPayloads()
	const whole = `{"Yes":true,"I8":"-128","I64":"-9223372036854775808","U16":65535,"U64":"18446744073709551615","Text":"zwölf","Hash":["1","2","3"],` +
		`"Blob":[0,255],"Pair":[-1,"300"],"Points":[{"X":1,"Y":"-2"}],"Names":["","x"],"Deep":[[5],[1,70000]]}`
	got, err := p.ReadJSON(3, []byte(whole))
	if diff := cmp.Diff(&everyValue, got); err != nil || diff != "" {
		t.Errorf("%v %s", err, diff)
	}
	if b, err := p.EncodeAs(3, got); err != nil || !bytes.Equal(b, everyBytes) {
		t.Errorf("got payload %x, %v", b, err)
	}
	if got, err := p.ReadJSON(4, []byte("{}")); err != nil || *got.(*struct{}) != struct{}{} {
		t.Errorf("got %+v, %v", got, err)
	}
	for _, row := range []struct{ old, new, says string }{
		{`65535`, `65536`, "every: state: JSON: U16: got 65536, want a whole number from 0 to 65535"},
		{`65535`, `"-1"`, "U16: got"}, {`65535`, `"1.5"`, "U16: got"}, {`65535`, `"0x"`, "U16: got"}, {`65535`, `null`, "U16"}, {`65535`, `[]`, "U16"},
		{`"-128"`, `"-129"`, "I8: got"}, {`["1","2","3"]`, `[1]`, "Hash: got 1 elements, want 3"}, {`255`, `256`, "Blob[1]: got"},
		{`"Yes":true`, `"Yes":1`, "Yes"}, {`"zwölf"`, `5`, "Text"}, {`"Yes"`, `"No"`, `unknown field "No"`},
		{`"zwölf"`, `"` + strings.Repeat("x", record.MaxPayload) + `"`, "want at most"}, {`"x"`, `"` + strings.Repeat("x", 9*record.MaxPayload) + `"`, "too long"},
		{whole, `{`, "every"}, {whole, `7`, "every"},
	} {
		if _, err := p.ReadJSON(3, []byte(strings.Replace(whole, row.old, row.new, 1))); err == nil || !strings.Contains(err.Error(), row.says) {
			t.Errorf("%.40s: got %v, want an error with %q", row.new, err, row.says)
		}
	}
	if _, err := p.ReadJSON(9, []byte("{}")); !errors.Is(err, record.ErrUnknownKind) {
		t.Errorf("an unknown kind: got %v", err)
	}
}

// systemRow is a row of the page's table: kind, name, and the type of the value.
var systemRow = regexp.MustCompile(`(?m)^\| (\d+ \| [a-z ]+) \| \[?\w+ u(\d+)\]? \|`)

// The page of the format has the commands of the system.
func TestSystemCommandsOnPage(t *testing.T) {
	page, err := os.ReadFile("../../docs/spec/replay.md")
	if err != nil {
		t.Fatal(err)
	}
	rows := map[string]string{}
	for _, m := range systemRow.FindAllStringSubmatch(string(page), -1) {
		rows[m[1]] = "uint" + m[2]
	}
	all := record.SystemDescriptions()
	for _, d := range all {
		s, err := state.ParseSchema(d.Schema)
		if err != nil {
			t.Fatal(err)
		}
		name := fmt.Sprintf("%d | %s", d.Kind, d.Name)
		if got, want := rows[name], s.Root().Field(0).Kind().String(); got != want {
			t.Errorf("%s: the page has %q, want %s", name, got, want)
		}
	}
	if len(rows) != len(all) {
		t.Errorf("the page has %d commands, want %d", len(rows), len(all))
	}
}
