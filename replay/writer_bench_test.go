package replay_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/seed-49bee653/samestep/lockstep/record"
	"github.com/seed-49bee653/samestep/replay"
)

// BenchmarkWriterTick measures the cost of a frame of a real match on the tick path, with a file on this disk that is
// synced each second:
//
//	go test ./replay -run xxx -bench WriterTick -benchmem -count 5
func BenchmarkWriterTick(b *testing.B) {
	m := loadRealMatch(b)
	var frames [][]byte
	for _, raw := range m.records {
		if record.KindOf(raw) == record.KindFrame {
			frames = append(frames, raw)
		}
	}
	f, err := os.Create(filepath.Join(b.TempDir(), "match.ssr"))
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	w := replay.NewWriter(f, replay.WriterOptions{})
	for _, record := range m.records[:2] {
		if err := w.Append(record); err != nil {
			b.Fatal(err)
		}
	}
	i := 0
	for b.Loop() {
		if err := w.Append(frames[i%len(frames)]); err != nil {
			b.Fatal(err)
		}
		i++
	}
	if err := w.Close(); err != nil {
		b.Fatal(err)
	}
}
