//go:build linux

package memory

import (
	"encoding/binary"
	"os"
	"testing"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/record"
	"github.com/seed-49bee653/samestep/replay"
)

// hostile writes files that claim large sizes.
func hostile(t *testing.T, folder string) (files []string) {
	t.Helper()
	add := func(name string, b []byte, size int64) {
		files = append(files, write(t, folder, name, b, size))
	}
	claim := func(kind byte, length uint64) []byte { return binary.AppendUvarint(append(file(kind), kind), length) }
	add("sparse-batch.ssr", claim(1, 3<<30), 20<<30)
	add("sparse-segment.ssr", claim(2, 250<<20), 20<<30)
	add("sparse-state.ssr", claim(1, 256<<20), 300<<20)
	add("sparse-unknown.ssr", claim(99, 19<<30), 20<<30)

	header, keyframe := beginning(t)
	log := func(more func(e *record.Encoder, add func([]byte))) []byte {
		return match(t, header, keyframe, replay.WriterOptions{}, more)
	}
	add("idle.ssr", log(func(e *record.Encoder, put func([]byte)) {
		for range 4000 {
			put(e.Empty(record.MaxEmptyRun))
		}
	}), 0)
	add("checksums.ssr", log(func(e *record.Encoder, put func([]byte)) {
		for i := range lockstep.Tick(100_000) {
			put(e.Empty(1))
			put(e.Checksum(i+1, uint64(i)))
			put(e.Mismatch(i+1, 0, 1))
		}
	}), 0)
	add("notes.ssr", log(func(e *record.Encoder, put func([]byte)) {
		for range 20_000 {
			put(e.Note(0, "chat", "a line of chat that is not short, and then some more of it"))
		}
	}), 0)
	add("keyframes.ssr", log(func(e *record.Encoder, put func([]byte)) {
		for i := range lockstep.Tick(2000) {
			put(e.Empty(1))
			put(e.Keyframe(keyframe.Tick+i+1, 1, nil, keyframe.Keyframe.State))
		}
	}), 0)
	return files
}

// beginning returns the header and the first keyframe of a match of the example game.
func beginning(t *testing.T) (h *lockstep.Header, keyframe *record.Record) {
	t.Helper()
	f, err := os.Open("../../../testdata/replays/duel.ssr")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	r, err := replay.NewReader(f, info.Size())
	if err != nil {
		t.Fatal(err)
	}
	rec, err := r.Next()
	if err != nil {
		t.Fatal(err)
	}
	h = rec.Header
	if keyframe, err = r.Next(); err != nil {
		t.Fatal(err)
	}
	return h, keyframe
}
