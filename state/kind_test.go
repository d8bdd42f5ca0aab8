package state

import (
	"strconv"
	"testing"
)

func TestKinds(t *testing.T) {
	names := []string{"invalid", "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "string", "array", "slice", "struct", "float32", "float64", "invalid"}
	for i, want := range names {
		k := Kind(i)
		signed := i >= 2 && i <= 5
		integer := i >= 2 && i <= 9
		if k.String() != want || k.Signed() != signed || k.Integer() != integer {
			t.Errorf("kind %d: %v, signed %v, integer %v, want %s, %v, %v", i, k, k.Signed(), k.Integer(), want, signed, integer)
		}
	}
}

func TestLongestCount(t *testing.T) {
	if strconv.IntSize < 64 {
		t.Skip("no slice is that long")
	}
	most := uint64(1<<32 - 1)
	if b := appendCount(nil, int(most)); string(b) != "\xff\xff\xff\xff" {
		t.Errorf("a count of 2^32-1 is %x", b)
	}
	defer func() {
		if recover() == nil {
			t.Error("a count of 2^32 did not panic")
		}
	}()
	appendCount(nil, int(most+1))
}
