package replay_test

import (
	"bytes"
	"errors"
	"slices"
	"testing"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/replay"
)

// A fault is what a reader says of a file first.
type fault struct {
	class  replay.Class
	offset int64 // of the damage
	tick   lockstep.Tick
}

func faultOf(err error) fault {
	f := fault{class: replay.ClassOf(err)}
	if d := (*lockstep.DesyncError)(nil); errors.As(err, &d) {
		f.tick = d.Tick
	} else if d := (*replay.DamageError)(nil); errors.As(err, &d) {
		f.offset, f.tick = d.Offset, d.Tick
	}
	return f
}

// firstFaults returns what Verify says of a file, with one worker, with three, and going on after a difference, and what ReadInfo says.
func firstFaults(file []byte, g *lockstep.Game) [4]fault {
	read := func(f func(r *replay.Reader) error) fault {
		r, err := replay.NewReader(bytes.NewReader(file), int64(len(file)))
		if err == nil {
			err = f(r)
		}
		return faultOf(err)
	}
	verify := func(o replay.VerifyOptions) fault {
		return read(func(r *replay.Reader) error {
			_, err := replay.Verify(r, g, o)
			return err
		})
	}
	return [4]fault{verify(replay.VerifyOptions{Workers: 1}), verify(replay.VerifyOptions{Workers: 3}), verify(replay.VerifyOptions{Workers: 1, KeepGoing: true}), read(func(r *replay.Reader) error { _, err := replay.ReadInfo(r); return err })}
}

// The block of a flipped byte is the first fault, and the first block for the match's id, with which the chain of checks begins.
func TestFlippedBytes(t *testing.T) {
	g, file, _ := recordMatch(t, 60, replay.WriterOptions{FlushTicks: 20})
	_, sealed, _ := recordMatch(t, 60, replay.WriterOptions{SegmentTicks: 20})
	for _, file := range [][]byte{file, sealed} {
		blocks := replay.Blocks(file)
		for at := range file {
			want := int64(0)
			if at >= 16 {
				want = blocks[0].Offset
			}
			for _, b := range blocks {
				if int64(at) >= b.Offset {
					want = b.Offset
				}
			}
			flipped := bytes.Clone(file)
			flipped[at] ^= 1 << (at % 8)
			for i, got := range firstFaults(flipped, g) {
				if got.class == replay.ClassOK || got.offset != want {
					t.Fatalf("byte %d, reader %d: got %+v, want a fault at byte %d", at, i, got, want)
				}
			}
		}
	}
}

// What follows the first fault does not change the verdict. Each byte of the records is flipped, with right checks, and faults of other classes
// follow the match.
func TestFirstFaultIsReported(t *testing.T) {
	g, file, _ := recordMatch(t, 60, replay.WriterOptions{FlushTicks: 20})
	blocks := replay.Blocks(file)
	later := map[string]replay.Block{
		"invalid":     {Kind: 64},
		"limit":       {Kind: 65, Body: append([]byte{9}, make([]byte, 64<<10)...)},
		"unsupported": {Kind: 9},
	}
	classes, end := map[replay.Class]int{}, int64(len(file))
	for i, b := range blocks {
		for at := range b.Body {
			changed := slices.Clone(blocks)
			changed[i].Body = bytes.Clone(b.Body)
			changed[i].Body[at] ^= 1 << (at % 8)
			alone := firstFaults(replay.Chained(file, changed), g)
			for name, tail := range later {
				both := firstFaults(replay.Chained(file, append(changed, tail)), g)
				for k, want := range alone {
					classes[want.class]++
					if got := both[k]; want.class != replay.ClassOK && want.class != replay.ClassTorn && got != want {
						t.Errorf("byte %d of block %d, reader %d, then %s: got %+v, want %+v", at, i, k, name, got, want)
					} else if want.class == replay.ClassOK && got.offset != end {
						t.Errorf("byte %d of block %d, reader %d, only %s: got %+v", at, i, k, name, got)
					}
				}
			}
		}
	}
	for _, c := range []replay.Class{replay.ClassOK, replay.ClassCorrupt, replay.ClassInvalid, replay.ClassDesync, replay.ClassIdentity} {
		if classes[c] == 0 {
			t.Errorf("no flipped byte has the class %s: %v", c, classes)
		}
	}
}
