package protocol_test

import (
	"testing"

	"github.com/seed-49bee653/samestep/lockstep/protocol"
)

// One message of each kind is written and read. What is kept between calls is memory of the reader and the writer; only
// auth and welcome are allocated.
func BenchmarkMessages(b *testing.B) {
	for _, m := range messages() {
		var w protocol.Writer
		var r protocol.Reader
		bytes := w.Append(nil, &m)
		got := new(protocol.Message)
		b.Run("read/"+m.Kind.String(), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := r.Read(got, bytes); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run("write/"+m.Kind.String(), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				bytes = w.Append(bytes[:0], &m)
			}
		})
	}
}
