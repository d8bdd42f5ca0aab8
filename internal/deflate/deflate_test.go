//go:build !js

package deflate_test

import (
	"bytes"
	"compress/flate"
	"fmt"
	"io"
	"math/rand/v2"
	"testing"

	"github.com/seed-49bee653/samestep/internal/deflate"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
)

// A piece comes out as it went in, behind what stands there already; one that saves nothing is left as it is.
func TestPack(t *testing.T) {
	dice := rand.New(rand.NewPCG(1, 2))
	for i := range 60 {
		raw := make([]byte, 1+dice.IntN(protocol.MaxPiece))
		for j := range raw {
			if i%3 < 2 {
				raw[j] = byte(dice.UintN(1<<(i%8)) << (i % 3))
			} else {
				raw[j] = byte(dice.Uint32())
			}
		}
		packed := deflate.Pack([]byte("before"), raw)
		if !bytes.HasPrefix(packed, []byte("before")) {
			t.Fatal("what stood there is gone")
		}
		packed = packed[6:]
		if len(packed) > len(raw)-len(raw)/16 {
			t.Errorf("got %d bytes for %d", len(packed), len(raw))
		}
		if len(packed) == 0 {
			if i%3 < 2 && i%8 < 6 && len(raw) > 1000 {
				t.Errorf("%d bytes of %d values were not packed", len(raw), 1<<(i%8))
			}
			continue
		}
		got, err := deflate.Unpack([]byte("before"), packed, len(raw))
		if err != nil || string(got) != "before"+string(raw) {
			t.Fatalf("%d bytes: got %d bytes, %v", len(raw), len(got), err)
		}
		if _, err := deflate.Unpack(nil, packed, len(raw)-1); err == nil {
			t.Errorf("with room for a byte less: %v", err)
		}
	}
}

// A false piece is malformed, and takes no more memory than a piece may have.
func TestUnpackFalsePieces(t *testing.T) {
	pack := func(raw []byte) []byte {
		var b bytes.Buffer
		w, err := flate.NewWriter(&b, flate.BestCompression)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(raw); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		return b.Bytes()
	}
	good := pack(make([]byte, 1000))
	bomb := pack(make([]byte, 40<<20))
	if len(bomb) > protocol.MaxPiece {
		t.Fatalf("the bomb of %d bytes is no message", len(bomb))
	}
	for _, row := range []struct {
		name   string
		packed []byte
		most   int
	}{
		{"none", nil, 1000}, {"nothing in it", pack(nil), 1000}, {"cut", good[:len(good)-1], 1000}, {"more after it", append(bytes.Clone(good), 0), 1000},
		{"other bytes", []byte("\xff\xff\xff\xff"), 1000}, {"too long", good, 999}, {"a bomb", bomb, 1 << 30},
	} {
		dst := make([]byte, 3, 8)
		got, err := deflate.Unpack(dst, row.packed, row.most)
		if err == nil || len(got) != 3 || cap(got) > 4*protocol.MaxPiece {
			t.Errorf("%s: got %d bytes of %d, %v", row.name, len(got), cap(got), err)
		}
	}
	if _, err := deflate.Unpack(nil, good, 1000); err != nil {
		t.Errorf("the piece itself: %v", err)
	}
	if _, err := io.ReadAll(flate.NewReader(bytes.NewReader(bomb))); err != nil {
		t.Errorf("the bomb is none: %v", err)
	}
}

func ExamplePack() {
	land := make([]byte, 4096) // as most of a map is
	land[100] = 7
	packed := deflate.Pack(nil, land)
	fmt.Println(len(packed) < 64)

	got, err := deflate.Unpack(nil, packed, len(land))
	fmt.Println(bytes.Equal(got, land), err)

	_, err = deflate.Unpack(nil, packed, 1000)
	fmt.Println(err)
	// Output:
	// true
	// true <nil>
	// a packed piece of more than 1000 bytes
}
