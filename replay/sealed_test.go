package replay_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"testing"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/record"
	"github.com/seed-49bee653/samestep/replay"
)

// sealed returns a file as segments of N ticks.
func sealed(tb testing.TB, file []byte, o replay.WriterOptions) []byte {
	tb.Helper()
	var out bytes.Buffer
	if err := replay.Cut(replay.NewWriter(&out, o), open(tb, file), replay.WholeMatch); err != nil {
		tb.Fatal(err)
	}
	return out.Bytes()
}

// Sealing the same match gives the same bytes and the same verdict, however it was written before.
func TestSeal(t *testing.T) {
	g, file, hash := recordMatch(t, 205, replay.WriterOptions{})
	_, other, _ := recordMatch(t, 205, replay.WriterOptions{FlushTicks: 1})
	for _, ticks := range []uint32{1, 60, 1000} {
		o := replay.WriterOptions{SegmentTicks: ticks}
		out := sealed(t, file, o)
		if !bytes.Equal(out, sealed(t, other, o)) || !bytes.Equal(out, sealed(t, out, o)) {
			t.Errorf("segments of %d ticks: other bytes of the same match", ticks)
		}
		f := g.NewFollower(lockstep.FollowerOptions{})
		if err := replay.Play(open(t, out), f, nil); err != nil || f.Simulation().Hash() != hash {
			t.Errorf("segments of %d ticks: played to another state, %v", ticks, err)
		}
		v, err := replay.Verify(open(t, out), g, replay.VerifyOptions{})
		if err != nil || v.Ticks != 205 || v.Checked != 25 || v.Commands != 32 || !v.Ended {
			t.Errorf("segments of %d ticks: %+v, %v", ticks, v, err)
		}
		t.Logf("segments of %d ticks: %d bytes of %d", ticks, len(out), len(file))
	}
}

// Every tick is reached from the keyframe before it, in files with and without an index.
func TestSeek(t *testing.T) {
	g, file, _ := recordMatch(t, 205, replay.WriterOptions{})
	whole := g.NewFollower(lockstep.FollowerOptions{History: lockstep.HistoryOptions{EveryTick: true, Length: 300}})
	if err := replay.Play(open(t, file), whole, nil); err != nil {
		t.Fatal(err)
	}
	out := sealed(t, file, replay.WriterOptions{SegmentTicks: 60})
	broken := bytes.Clone(out)
	broken[len(broken)-12]++ // its offset in the index
	for name, b := range map[string][]byte{"open": file, "sealed": out, "without index": broken} {
		r := open(t, b)
		if got := fmt.Sprint(r.Index()); got != "[0 50 100 150 200]" {
			t.Errorf("%s: index %s", name, got)
		}
		for tick := lockstep.Tick(205); tick < 1<<31; tick-- { // backwards, with one reader
			at, err := r.Seek(tick)
			if err != nil || at > tick || at+50 <= tick {
				t.Fatalf("%s: tick %d: keyframe %d, %v", name, tick, at, err)
			}
			f := g.NewFollower(lockstep.FollowerOptions{History: lockstep.HistoryOptions{EveryTick: true, Length: 300}})
			for f.Simulation() == nil || f.Tick() < tick {
				rec, err := r.Next()
				if err == nil {
					err = f.Apply(rec)
				}
				if err != nil {
					t.Fatal(err)
				}
			}
			got, _ := f.Sum(tick)
			if want, _ := whole.Sum(tick); got == nil || got.Hash != want.Hash {
				t.Fatalf("%s: another state at tick %d", name, tick)
			}
		}
	}
}

// The verdict does not depend on the number of workers, for valid, desynced and damaged files.
func TestVerifyWorkers(t *testing.T) {
	g, file, _ := recordMatch(t, 1205, replay.WriterOptions{})
	damaged := bytes.Clone(file)
	damaged[len(damaged)*2/3] ^= 1
	for name, b := range map[string][]byte{
		"true": file, "sealed": sealed(t, file, replay.WriterOptions{SegmentTicks: 60}), "cut": file[:len(file)-50], "damaged": damaged,
		"false checksum": change(t, file, func(r *record.Record) { r.Hash += b2i(r.Kind == record.KindChecksum && r.Tick == 700) }),
		"false command": change(t, file, func(r *record.Record) {
			if r.Kind == record.KindFrame && r.Tick > 500 && r.Tick < 508 {
				r.Frame.Commands[0].Payload[2]++
			}
		}),
		"false root of a keyframe": change(t, file, func(r *record.Record) {
			r.Keyframe.Hash += b2i(r.Kind == record.KindKeyframe && r.Tick == 800)
		}),
		"false state of a keyframe": change(t, file, func(r *record.Record) {
			if r.Kind == record.KindKeyframe && r.Tick == 800 {
				r.Keyframe.State[3]++
			}
		}),
	} {
		for _, keepGoing := range []bool{false, true} {
			want, wantErr := replay.Verify(open(t, b), g, replay.VerifyOptions{Workers: 1, KeepGoing: keepGoing})
			if (wantErr == nil) != (name == "true" || name == "sealed") {
				t.Errorf("%s: %v", name, wantErr)
			}
			for _, workers := range []int{2, 3, 16} {
				last := lockstep.Tick(0)
				got, err := replay.Verify(open(t, b), g, replay.VerifyOptions{Workers: workers, KeepGoing: keepGoing, Progress: func(done, all lockstep.Tick) {
					if done < last && wantErr == nil || done > all {
						t.Errorf("%s: progress %d of %d after %d", name, done, all, last)
					}
					last = done
				}})
				if fmt.Sprint(err) != fmt.Sprint(wantErr) || fmt.Sprintf("%+v", short(got)) != fmt.Sprintf("%+v", short(want)) {
					t.Errorf("%s: %d workers: got %+v, %v\nwant %+v, %v", name, workers, got, err, want, wantErr)
				}
			}
		}
	}
}

// short returns a verification without pointers.
func short(v *replay.Verification) replay.Verification {
	s := *v
	s.Header, s.First = nil, nil
	return s
}

func b2i(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}

// No truncation and no flipped bit of a sealed file goes unnoticed. A file cut
// right after its end record lacks only the index.
func TestSealedDamage(t *testing.T) {
	g, file, _ := recordMatch(t, 40, replay.WriterOptions{})
	b := sealed(t, file, replay.WriterOptions{SegmentTicks: 10})
	whole := 0
	for size := range b {
		r, err := replay.NewReader(bytes.NewReader(b[:size]), int64(size))
		if err == nil {
			_, err = replay.Verify(r, g, replay.VerifyOptions{Workers: 1})
		}
		var damage *replay.DamageError
		if err == nil {
			whole++
		} else if !errors.As(err, &damage) || !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Fatalf("cut to %d of %d bytes: got %v", size, len(b), err)
		}
	}
	if whole != 1 {
		t.Errorf("%d cut files are whole, want the one without index", whole)
	}
	for i := range b {
		for bit := range 8 {
			b[i] ^= 1 << bit
			r, err := replay.NewReader(bytes.NewReader(b), int64(len(b)))
			if err == nil {
				_, err = replay.Verify(r, g, replay.VerifyOptions{Workers: 1})
			}
			var damage *replay.DamageError
			if !errors.As(err, &damage) {
				t.Fatalf("bit %d of byte %d flipped: got %v, want a damage error", bit, i, err)
			}
			b[i] ^= 1 << bit
		}
	}
}

// Damage inside a sealed file loses one segment, and the error says which ticks.
func TestSealedDamageInside(t *testing.T) {
	g, file, _ := recordMatch(t, 400, replay.WriterOptions{})
	b := sealed(t, file, replay.WriterOptions{SegmentTicks: 100})
	r := open(t, b)
	if at, err := r.Seek(150); at != 150 || err != nil {
		t.Fatal(at, err)
	}
	b[r.Offset()+40] ^= 8
	v, err := replay.Verify(open(t, b), g, replay.VerifyOptions{})
	var damage *replay.DamageError
	if !errors.As(err, &damage) || !errors.Is(err, replay.ErrCorrupt) || damage.Tick != 100 || damage.NextTick != 200 || v.Ticks != 100 {
		t.Fatalf("got %v after %d ticks, want the ticks 101 to 200 lost", err, v.Ticks)
	}
	at, err := r.Seek(250)
	if err != nil || at != 250 {
		t.Errorf("behind the damage: keyframe %d, %v", at, err)
	}
}
