package server

import (
	"bytes"
	"testing"
	"testing/synctest"
)

// The cost of frames does not depend on how their bytes are split.
func TestFramesInPieces(t *testing.T) {
	masked := func(first byte, header []byte, payload int) []byte {
		b := append([]byte{first, header[0] | 0x80}, header[1:]...)
		return append(b, bytes.Repeat([]byte{0x89}, 4+payload)...) // pings, if it were read as frames
	}
	for _, x := range []struct {
		name  string
		bytes []byte
		cost  int
	}{
		{"a message", masked(0x82, []byte{100}, 100), 0},
		{"a message of 65,536 bytes", masked(0x82, []byte{127, 0, 0, 0, 0, 0, 1, 0, 0}, 1<<16), 0},
		{"a ping", masked(0x89, []byte{0}, 0), 1},
		{"a ping with text", masked(0x89, []byte{125}, 125), 1},
		{"a pong", masked(0x8a, []byte{3}, 3), 1},
		{"the beginning of a message", masked(0x02, []byte{0}, 0), 0},
		{"an empty fragment", masked(0x00, []byte{0}, 0), 1},
		{"a fragment of 1,023 bytes", masked(0x00, []byte{126, 3, 255}, 1023), 1},
		{"a fragment of 1,024 bytes", masked(0x00, []byte{126, 4, 0}, 1024), 0},
		{"the end of a message", masked(0x80, []byte{0}, 0), 0},
		{"a frame without a mask", []byte{0x89, 2, 0x89, 0x89}, 1},
	} {
		for _, piece := range []int{1, 2, 3, 7, 1000, 1 << 20} {
			synctest.Test(t, func(t *testing.T) { // no time passes
				f := newFrameConn(nil, extraFramesAtOnce)
				for b := bytes.Repeat(x.bytes, 7); len(b) > 0; {
					n := min(piece, len(b))
					f.count(b[:n])
					b = b[n:]
				}
				if got := extraFramesAtOnce - int(f.extra.Tokens()); got != 7*x.cost || f.failed {
					t.Errorf("%s, seven times in pieces of %d: got a cost of %d, want %d", x.name, piece, got, 7*x.cost)
				}
			})
		}
	}
}
