package desync_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"reflect"
	"testing"

	"github.com/cespare/xxhash/v2"
	"github.com/google/go-cmp/cmp"

	"github.com/seed-49bee653/samestep/desync"
	"github.com/seed-49bee653/samestep/internal/testing/dots"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/record"
	"github.com/seed-49bee653/samestep/replay"
)

// Comparing any two files gives the same result both ways, a file equals itself, and the facts of the records are found
// without a game.
func FuzzCompare(f *testing.F) {
	_, file, _ := recordMatch(f, 1, replay.WriterOptions{})
	prefix := file[:32]
	_, h := newDots(f, lockstep.DefaultSettings(2))
	before := dotsCodec.Append(nil, &dots.State{Dots: make([]dots.Dot, 4)})
	after := dotsCodec.Append(nil, &dots.State{Dots: make([]dots.Dot, 5)})
	var enc record.Encoder
	body := bytes.Clone(enc.Header(h))
	body = append(body, enc.Keyframe(0, 1, nil, before)...)
	body = append(body, enc.Frame(&lockstep.Frame{Tick: 1, Commands: []lockstep.Command{{Tick: 1, Player: 1, Sequence: 1, Kind: 1, Payload: []byte{1, 2, 3}}}})...)
	body = append(body, enc.Empty(3)...)
	body = append(body, enc.Checksum(4, 5)...)
	body = append(body, enc.Mismatch(4, 1, 6)...)
	body = append(body, enc.Keyframe(4, 5, []record.LastSequence{{Player: 1, Sequence: 1}}, after)...)
	body = append(body, enc.End("over")...)
	if err := replay.Play(openReplay(f, batch(prefix, body)), nil, nil); err != nil {
		f.Fatal(err)
	}
	f.Add(body, body)
	f.Add(body, bytes.Replace(body, []byte{1, 0xc4, 3, 1}, []byte{2, 0xc4, 3, 1}, 1))
	f.Add(body, body[:len(body)-20])
	f.Fuzz(func(t *testing.T, a, b []byte) {
		x, y := batch(prefix, a), batch(prefix, b)
		one, err := desync.Compare(openReplay(t, x), openReplay(t, y))
		if err != nil {
			checkError(t, err)
		}
		two, _ := desync.Compare(openReplay(t, y), openReplay(t, x))
		if one.Compared != two.Compared || one.Differed != two.Differed || one.Same() != two.Same() || !reflect.DeepEqual(one.A, two.B) ||
			(one.Frame == nil) != (two.Frame == nil) || one.Frame != nil && (one.Frame.Tick != two.Frame.Tick || !cmp.Equal(one.Frame.A, two.Frame.B)) {
			t.Fatalf("one way %+v, the other %+v", one, two)
		}
		if own, _ := desync.Compare(openReplay(t, x), openReplay(t, x)); !own.Same() {
			t.Fatalf("a file differs from itself: %+v", own)
		}
		found, err := desync.Bisect(openReplay(t, x), openReplay(t, y), nil, desync.BisectOptions{})
		if err == nil && found.Known && found.Agreed >= found.Tick {
			t.Fatalf("got %+v", found)
		}
		reports, err := desync.PlayerReports(openReplay(t, x), 1)
		if err != nil {
			checkError(t, err)
		}
		if found, err := desync.BisectReports(openReplay(t, y), reports, nil, desync.BisectOptions{}); err == nil && found.Cause != desync.OriginUnknown {
			t.Fatalf("got %+v without a game", found)
		}
	})
}

// batch returns a file with one block, a batch of the records in body.
func batch(prefix, body []byte) []byte {
	block := append(binary.AppendUvarint([]byte{1}, uint64(len(body))), body...)
	check := xxhash.Sum64(append(binary.LittleEndian.AppendUint64(nil, xxhash.Sum64(prefix)), block...))
	return binary.LittleEndian.AppendUint64(append(bytes.Clone(prefix), block...), check)
}

func checkError(t *testing.T, err error) {
	t.Helper()
	if !errors.As(err, new(*replay.DamageError)) && !errors.Is(err, replay.ErrLimit) {
		t.Fatalf("got error %T: %v", err, err)
	}
}
