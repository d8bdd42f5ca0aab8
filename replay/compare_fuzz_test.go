package replay

import (
	"bytes"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-49bee653/samestep/lockstep"
)

// Whatever stands in two files, they are compared the same both ways, a file is
// the same as itself, and what the records say is found without a game.
func FuzzCompare(f *testing.F) {
	var enc lockstep.Encoder
	h := heapHeader()
	body := bytes.Clone(enc.Header(h))
	body = append(body, enc.Keyframe(0, 1, nil, heapState(1))...)
	body = append(body, enc.Frame(&lockstep.Frame{Tick: 1, Commands: []lockstep.Command{{Tick: 1, Player: 1, Sequence: 1, Kind: 1, Payload: []byte{0x90}}}})...)
	body = append(body, enc.Empty(3)...)
	body = append(body, enc.Checksum(4, 5)...)
	body = append(body, enc.Dissent(4, 1, 6)...)
	body = append(body, enc.Keyframe(4, 5, []lockstep.LastSequence{{Player: 1, Sequence: 1}}, heapState(2))...)
	body = append(body, enc.End("over")...)
	f.Add(body, body)
	f.Add(body, bytes.Replace(body, []byte{1, 0x90}, []byte{2, 0x90}, 1))
	f.Add(body, body[:len(body)-20])
	f.Fuzz(func(t *testing.T, a, b []byte) {
		x, y := seal(blockBatch, a), seal(blockBatch, b)
		one, err := Compare(reader(t, x), reader(t, y))
		if err != nil {
			checkError(t, err)
		}
		two, _ := Compare(reader(t, y), reader(t, x))
		if one.Compared != two.Compared || one.Differed != two.Differed || one.Same() != two.Same() || one.A != two.B ||
			(one.Frame == nil) != (two.Frame == nil) || one.Frame != nil && (one.Frame.Tick != two.Frame.Tick || !cmp.Equal(one.Frame.A, two.Frame.B)) {
			t.Fatalf("one way %+v, the other %+v", one, two)
		}
		if own, _ := Compare(reader(t, x), reader(t, x)); !own.Same() {
			t.Fatalf("a file differs from itself: %+v", own)
		}
		found, err := Bisect(reader(t, x), reader(t, y), nil, BisectOptions{})
		if err == nil && found.Known && found.Agreed >= found.Tick {
			t.Fatalf("got %+v", found)
		}
		reports, err := PlayerReports(reader(t, x), 1)
		if err != nil {
			checkError(t, err)
		}
		if found, err := BisectReports(reader(t, y), reports, nil, BisectOptions{}); err == nil && found.Cause != Unknown {
			t.Fatalf("got %+v without a game", found)
		}
	})
}

func reader(t *testing.T, file []byte) *Reader {
	t.Helper()
	r, err := NewReader(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func checkError(t *testing.T, err error) {
	t.Helper()
	if !errors.As(err, new(*DamageError)) && !errors.Is(err, ErrLimit) {
		t.Fatalf("got error %T: %v", err, err)
	}
}
