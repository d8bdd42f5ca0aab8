package pack_test

import (
	"fmt"

	"github.com/seed-49bee653/samestep/internal/pack"
)

func ExampleReader() {
	var w pack.Writer
	w.Begin(nil)
	w.Array(2)
	w.Uint(300)
	w.String("hi")
	b := w.Bytes()
	fmt.Printf("% x\n", b)

	var r pack.Reader
	r.Reset(b)
	r.Array(2, 2)
	fmt.Println(r.Uint(65535), r.String(16), r.End())

	r.Reset(b)
	r.Array(2, 2)
	r.Uint(255)
	fmt.Println(r.Err())
	// Output:
	// 92 cd 01 2c a2 68 69
	// 300 hi <nil>
	// MessagePack at byte 4: got 300, want at most 255
}
