package replay

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

// A Reader rejects segments that a Writer does not write.
func TestReaderLimits(t *testing.T) {
	for name, c := range map[string]struct {
		file []byte
		want error
	}{
		"too many keyframes": {seal(blockBatch, bytes.Join(logOf(1, func(e *record.Encoder, add func([]byte)) {
			for range maxKeyframes {
				add(e.Keyframe(0, 1, nil, bagOf(nil)))
			}
		}), nil)), ErrLimit},
		"a large record": {seal(blockBatch, append(bytes.Join(logOf(1, func(*record.Encoder, func([]byte)) {})[:2], nil),
			append([]byte{0x92, 100, 0xc6, 0, 0x71, 0, 0}, make([]byte, 0x710000)...)...)), ErrLimit},
		"segments that are not too much together": {sealedNotes(4), io.EOF},
		"segments that are too much together":     {sealedNotes(6), ErrLimit},
		"segments with many states":               {sealedStates(20), io.EOF},
	} {
		if n, err := readAll(t, c.file); !errors.Is(err, c.want) {
			t.Errorf("%s: got %d records and %v, want %v", name, n, err, c.want)
		}
	}
}

// sealedNotes returns a file with segments that have almost maxBlock of notes each.
func sealedNotes(segments int) []byte {
	return sealedLog(logOf(1, func(e *record.Encoder, add func([]byte)) {
		for i := range segments {
			var records []byte
			addNotes(e, func(b []byte) { records = append(records, b...) }, uint64(i))
			add(records)
		}
	}))
}

// addNotes adds almost maxBlock of notes. They hold enough noise to stay below maxRatio.
func addNotes(e *record.Encoder, add func([]byte), seed uint64) {
	for i := range uint64(8000) {
		text := strings.Repeat("x", 1000)
		if i%700 == 0 {
			text = string(noise(seed<<16+i, 1000))
		}
		add(e.Note(0, "chat", text))
	}
}

// sealedStates returns a file whose segments have a keyframe each and compress almost as well as maxRatio allows.
// Writers sealed such states before that limit existed.
func sealedStates(segments int) []byte {
	state := bagOf(make([]byte, 4<<20))
	copy(state[1<<10:], noise(1, 6<<10))
	return sealedLog(logOf(1, func(e *record.Encoder, add func([]byte)) {
		for i := range lockstep.Tick(segments) {
			add(e.Keyframe(0, uint64(i), nil, state))
		}
	}))
}

// sealedLog returns a file with a segment for each part of a log.
func sealedLog(log [][]byte) []byte {
	var bodies [][]byte
	for _, records := range log {
		bodies = append(bodies, segmentOf(records, 0))
	}
	return seal(blockSegment, bodies...)
}
