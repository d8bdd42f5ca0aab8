package state

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"unsafe"
)

type (
	tree   struct{ Kids []tree }
	chain  []chain
	looped struct{ Chain chain }
	hidden struct {
		ID uint32
		//lint:ignore U1000 read by reflection
		secret uint32 // in the simulation's reach, but not in the checksum's
	}
	wrong   int32
	tooMany uint8
)

func (wrong) FractionBits() uint8   { return 33 }
func (tooMany) FractionBits() uint8 { return 9 }

type refusal struct {
	name   string
	typ    reflect.Type
	path   string
	reason string // a part of it
}

// within puts a field of type T where its path is long.
type within[T any] struct {
	Tick  uint32
	Units []struct{ Parts [2]struct{ Bad T } }
}

const longPath = "Units[].Parts[].Bad"

func refuse[T any](reason string) refusal {
	t := reflect.TypeFor[T]()
	return refusal{t.String(), reflect.TypeFor[within[T]](), longPath, reason}
}

func TestRefusedTypes(t *testing.T) {
	deep := reflect.TypeFor[uint8]()
	for range MaxDepth {
		deep = reflect.SliceOf(deep)
	}
	wide := reflect.StructOf(fieldsOfType(1000, reflect.TypeFor[[2]struct{ A, B, C uint8 }]()))
	longName := reflect.StructOf([]reflect.StructField{{Name: strings.Repeat("N", MaxNameBytes+1), Type: reflect.TypeFor[bool]()}})
	for _, test := range []refusal{
		refuse[float32]("floating point"), refuse[float64]("floating point"),
		refuse[complex64]("floating point"), refuse[complex128]("floating point"),
		refuse[int]("size differs"), refuse[uint]("size differs"), refuse[uintptr]("size differs"),
		refuse[*int32]("address"), refuse[unsafe.Pointer]("address"),
		refuse[any]("run time"), refuse[error]("run time"),
		refuse[map[uint32]bool]("order"), refuse[chan bool]("not data"), refuse[func()]("not data"),
		refuse[struct{}]("empty struct"), refuse[[0]uint8]("without elements"),
		refuse[wrong]("33 fraction bits"), refuse[tooMany]("9 fraction bits"),
		{"unexported", reflect.TypeFor[within[hidden]](), longPath + ".secret", "not exported"},
		{"blank", reflect.TypeFor[struct {
			A uint8
			_ uint8
		}](), "_", "not exported"},
		{"embedded unexported", reflect.TypeFor[struct{ hidden }](), "hidden", "not exported"},
		{"unknown tag", reflect.TypeFor[struct {
			A uint8 `state:"Derived"`
		}](), "A", `unknown tag state:"Derived"`},
		{"empty tag", reflect.TypeFor[struct {
			A uint8 `state:""`
		}](), "A", `unknown tag`},
		{"empty but for derived fields", reflect.TypeFor[struct {
			In struct {
				A uint8 `state:"derived"`
			}
		}](), "In", "empty struct"},
		{"elements without size", reflect.TypeFor[struct{ S []struct{} }](), "S[]", "empty struct"},
		{"derived fields that dwarf their element", reflect.TypeFor[struct {
			S []struct {
				ID    uint8
				Cache [256]byte `state:"derived"`
			}
		}](), "S[]", "257 bytes in memory for 1"},
		{"recursive struct", reflect.TypeFor[tree](), "Kids[]", "recursive"},
		{"recursive slice", reflect.TypeFor[looped](), "Chain[]", "recursive"},
		{"not a struct", reflect.TypeFor[[]uint8](), "", "root must be a struct"},
		{"huge array", reflect.TypeFor[struct{ A [MaxFixedSize + 1]uint8 }](), "A", "too long"},
		{"huge arrays", reflect.TypeFor[struct{ A, B [MaxFixedSize/2 + 1]uint8 }](), "", "bytes, at most"},
		{"deep", reflect.StructOf([]reflect.StructField{{Name: "Deep", Type: deep}}), "Deep" + strings.Repeat("[]", MaxDepth-1), "deeper"},
		{"wide", wide, "", "more than 4096"},
		{"another script", reflect.TypeFor[struct{ Été uint8 }](), "Été", "not an identifier"},
		{"long name", longName, strings.Repeat("N", MaxNameBytes+1), "256 bytes"},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, _, err := compile(test.typ)
			var typeErr *TypeError
			if !errors.As(err, &typeErr) {
				t.Fatalf("error %v, want a *TypeError", err)
			}
			if test.name != "wide" && typeErr.Path != test.path {
				t.Errorf("path %q, want %q", typeErr.Path, test.path)
			}
			if !strings.Contains(err.Error(), test.reason) || !strings.Contains(err.Error(), typeErr.Path) {
				t.Errorf("error %q, want %q and the path in it", err, test.reason)
			}
		})
	}
}

func fieldsOfType(n int, t reflect.Type) []reflect.StructField {
	fields := make([]reflect.StructField, n)
	for i := range fields {
		fields[i] = reflect.StructField{Name: fmt.Sprintf("F%d", i), Type: t}
	}
	return fields
}

func TestMustCompilePanics(t *testing.T) {
	defer func() {
		if _, ok := recover().(*TypeError); !ok {
			t.Error("MustCompile of a float did not panic with a *TypeError")
		}
	}()
	MustCompile[struct{ F float64 }]()
}

// TestFractionBits covers where the method counts: on integers, with a value as its receiver.
func TestFractionBits(t *testing.T) {
	c := MustCompile[struct {
		Q ratio
		T angle
		N serial
	}]()
	for i, want := range []uint8{32, 32, 0} {
		if got := c.Schema().Root().Field(i).FractionBits(); got != want {
			t.Errorf("field %d: %d fraction bits, want %d", i, got, want)
		}
	}
}

// TestHiddenField is a negative control: a type whose field is tagged as derived, although the simulation reads it.
// The field is in no snapshot, checksum or copy, so that a restored state visibly lacks it.
func TestHiddenField(t *testing.T) {
	type lie struct {
		Gold   uint32
		Income uint32 `state:"derived"`
	}
	step := func(w *lie) { w.Gold += w.Income; w.Income++ }
	c := MustCompile[lie]()
	live := &lie{Income: 1}
	step(live)
	var restored lie
	if err := c.Decode(c.Append(nil, live), &restored); err != nil {
		t.Fatal(err)
	}
	step(live)
	step(&restored)
	d, err := c.Schema().Diff(c.Append(nil, live), c.Append(nil, &restored), 9)
	if err != nil || d.Total != 1 || d.List[0].String() != "Gold: 3 != 1" {
		t.Errorf("differences after a restore: %v, error %v, want Gold: 3 != 1", d, err)
	}
}
