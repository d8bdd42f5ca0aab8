package buffer_test

import (
	"bytes"
	"errors"
	"io"
	"testing"
	"testing/iotest"

	"github.com/seed-49bee653/samestep/internal/buffer"
)

func TestFill(t *testing.T) {
	b := new(buffer.Pool).Get()
	for _, n := range []int{0, 1, 511, 512, 513, 100_000, 3} {
		want := bytes.Repeat([]byte{byte(n)}, n)
		for name, r := range map[string]io.Reader{
			"whole":       bytes.NewReader(want),
			"by bytes":    iotest.OneByteReader(bytes.NewReader(want)),
			"end at once": iotest.DataErrReader(bytes.NewReader(want)),
		} {
			if err := b.Fill(r); err != nil || !bytes.Equal(b.Bytes, want) {
				t.Errorf("%s: got %d bytes, %v, want %d", name, len(b.Bytes), err, n)
			}
		}
	}
	fault := errors.New("fault")
	if err := b.Fill(io.MultiReader(bytes.NewReader([]byte("half")), iotest.ErrReader(fault))); err != fault {
		t.Errorf("got %v, want the reader's error", err)
	}
}

// The buffer of a large message is not kept for small ones.
func TestKeep(t *testing.T) {
	p := buffer.Pool{Keep: 1000}
	for range 100 {
		b := p.Get()
		if cap(b.Bytes) > 1000 {
			t.Fatalf("got a buffer of %d bytes, want at most 1000", cap(b.Bytes))
		}
		if err := b.Fill(bytes.NewReader(make([]byte, 2000))); err != nil {
			t.Fatal(err)
		}
		p.Put(b)
	}
}
