package state

import (
	"bytes"
	"testing"
)

type vec struct{ X, Y int32 }

type unit struct {
	ID    uint32
	Pos   vec
	Alive bool
	Name  string
	Path  []vec
}

type world struct {
	Tick  uint32
	Units []unit
	Fog   [40]uint8
	Tail  []uint16
}

func TestRoundTrip(t *testing.T) {
	c := MustCompile[world]()
	w := world{Tick: 9, Units: []unit{{ID: 1, Alive: true, Name: "a", Path: []vec{{1, 2}}}, {ID: 2}}, Tail: make([]uint16, 33)}
	b := c.Append(nil, &w)
	var v, u world
	if err := c.Decode(b, &v); err != nil {
		t.Fatal(err)
	}
	c.Copy(&u, &v)
	if got := c.Append(nil, &u); !bytes.Equal(got, b) || c.Size(&u) != len(b) {
		t.Errorf("after Decode and Copy: %x, want %x", got, b)
	}
	for n := range b {
		if err := c.Decode(b[:n], &v); err == nil {
			t.Errorf("the first %d bytes are accepted", n)
		}
	}
}
