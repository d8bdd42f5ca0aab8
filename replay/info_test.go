package replay

import (
	"bytes"
	"errors"
	"testing"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

// ReadInfo reports a keyframe whose hash is not that of its state, and still counts the whole file. It needs no game.
func TestInfoComparesHashes(t *testing.T) {
	keyframe := func(tick lockstep.Tick, wrong uint64) func(*record.Encoder, func([]byte)) {
		return func(e *record.Encoder, add func([]byte)) {
			add(e.Empty(2))
			own := hashOfBag(nil)
			add(e.Keyframe(tick, own^wrong, nil, bagOf(nil)))
			add(e.Checksum(2, 1))
		}
	}
	for _, c := range []struct {
		name  string
		tick  lockstep.Tick
		wrong uint64
		want  error
	}{
		{"its own", 2, 0, nil},
		{"another", 2, 1, ErrCorrupt},
		{"its own, of an earlier tick", 1, 0, nil},
		{"another, of an earlier tick", 1, 1, ErrCorrupt},
	} {
		file := seal(blockBatch, bytes.Join(logOf(1, keyframe(c.tick, c.wrong)), nil))
		r, err := NewReader(bytes.NewReader(file), int64(len(file)))
		if err != nil {
			t.Fatal(err)
		}
		if info, err := ReadInfo(r); !errors.Is(err, c.want) || !info.Ended || len(info.Keyframes) != 2 || info.Checksums != 1 {
			t.Errorf("%s: got %+v and %v, want the whole file and %v", c.name, info, err, c.want)
		}
	}
}
