package state

import (
	"bytes"
	"errors"
	"strings"
	"testing"
)

// A type in text has the same schema as the Go type.
func TestParseType(t *testing.T) {
	type point struct{ X, Y int16 }
	type unit struct {
		ID   uint32
		At   [2]point
		Name string
		Path []point
		On   bool
	}
	type world struct {
		Tick  uint32
		Units []unit
		Grid  [3][4]uint8
		Big   []uint64
	}
	want := MustCompile[world]().Schema()
	for _, text := range []string{
		"struct { Tick uint32; Units []struct { ID uint32; At [2]struct { X, Y int16 }; Name string; Path []struct { X, Y int16 }; On bool }; Grid [3][4]byte; Big []uint64 }",
		"struct{Tick uint32\n\tUnits []struct{ID uint32;At[2]struct{X int16;Y int16};Name string\n Path []struct{X,\n Y int16;}\n\n On bool\n}\nGrid[3] [4]uint8;Big\t[]uint64;\n} ",
	} {
		got, err := ParseType(text)
		if err != nil {
			t.Errorf("%q: %v", text, err)
		} else if !bytes.Equal(got.AppendDescription(nil), want.AppendDescription(nil)) {
			t.Errorf("%q: another schema", text)
		}
	}
	s := mustParseType("struct { A float32; B []float64 }")
	if back, err := ParseSchema(s.AppendDescription(nil)); err != nil || !s.Floats() || !back.Floats() || want.Floats() {
		t.Errorf("floats: %v", err)
	}
}

func TestParseTypeRefuses(t *testing.T) {
	deep := strings.Repeat("struct { A ", 40) + "bool" + strings.Repeat(" }", 40)
	wide := "bool"
	for range 6 { // each level has ten times as many fields
		wide = "struct { A, B, C, D, E, F, G, H, I, J " + wide + " }"
	}
	for text, want := range map[string]string{
		"":                             "byte 0: got the end, want a type",
		"int32":                        "the root is a int32",
		"struct":                       `byte 6: got the end, want '{'`,
		"struct {":                     "byte 8: got the end, want the name of a field",
		"struct { A }":                 `got '}', want a type`,
		"struct { A, uint8 }":          "want a type",
		"struct { , A uint8 }":         "byte 9: got ',', want the name of a field",
		"struct { A int }":             "got int, want a type",
		"struct { A *int32 }":          "got '*', want a type",
		"struct { A map[int32]bool }":  "got map, want a type",
		"struct { A int32 `json` }":    "got '`', want \";\" or \"}\"",
		"struct { A int32 B int32 }":   "got 'B', want \";\" or \"}\"",
		"struct { A [0]bool }":         `the length "0"`,
		"struct { A [4294967296]bool}": `the length "4294967296"`,
		"struct { A [x]bool }":         `the length "x"`,
		"struct { A [3 bool }":         "got 'b', want ']'",
		"struct { A bool } B":          "got 'B', want the end",
		"struct { A bool; A bool }":    `a second field named "A"`,
		"struct { A []struct {} }":     "an empty struct",
		"struct { 1A bool }":           "is not an identifier",
		"struct { A \xff }":            "want a type",
		"struct { Été bool }":          `got 'É', want the name of a field`,
		deep:                           "nested deeper than 32",
		wide:                           "more than 4096",
		strings.Repeat(" ", 65<<10):    "at most 65536 are allowed",
	} {
		_, err := ParseType(text)
		var malformed *TypeTextError
		var refused *SchemaError
		if err == nil || !strings.Contains(err.Error(), want) || !errors.As(err, &malformed) && !errors.As(err, &refused) {
			t.Errorf("%.60q: got %v, want %s", text, err, want)
		}
	}
}

func FuzzParseType(f *testing.F) {
	f.Add("struct { Tick uint32; Units []struct { ID uint32; X, Y float32 } }")
	f.Fuzz(func(t *testing.T, text string) {
		s, err := ParseType(text)
		if err != nil {
			return
		}
		if _, err := ParseSchema(s.AppendDescription(nil)); err != nil {
			t.Errorf("its description: %v", err)
		}
	})
}
