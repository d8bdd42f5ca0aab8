package replay_test

import (
	"bytes"
	"errors"
	"io"
	"syscall"
	"testing"

	"github.com/seed-49bee653/samestep/internal/testing/testenv"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/replay"
)

// stateOf seeks to a tick as a viewer does and returns its state hash.
func stateOf(g *lockstep.Game, r *replay.Reader, tick lockstep.Tick) (uint64, error) {
	if _, err := r.Seek(tick); err != nil {
		return 0, err
	}
	f := g.NewFollower(lockstep.FollowerOptions{})
	for f.Simulation() == nil || f.Tick() < tick {
		rec, err := r.Next()
		if err == nil {
			err = f.Apply(rec)
		}
		if err != nil {
			return 0, err
		}
	}
	return f.Simulation().Hash(), nil
}

// After any bit flip, a seek returns the original state or an error. Each occurs. The small form flips one bit of each byte.
func TestSeekAfterEveryFlip(t *testing.T) {
	g, file, _ := recordMatch(t, 60, replay.WriterOptions{FlushTicks: 8})
	var keyed bytes.Buffer
	if err := replay.Rekey(replay.NewWriter(&keyed, replay.WriterOptions{}), open(t, file), g, 10, replay.SimulateOptions{}); err != nil {
		t.Fatal(err)
	}
	for name, b := range map[string][]byte{"open": file, "sealed": sealed(t, keyed.Bytes(), replay.WriterOptions{SegmentTicks: 10})} {
		const tick = 35
		want, err := stateOf(g, open(t, b), tick)
		if err != nil {
			t.Fatal(err)
		}
		flips, unharmed := 0, 0
		for i := range b {
			for bit := range 8 {
				if testenv.Small(t) && bit != i%8 {
					continue
				}
				flips++
				b[i] ^= 1 << bit
				r, err := replay.NewReader(bytes.NewReader(b), int64(len(b)))
				var got uint64
				if err == nil {
					got, err = stateOf(g, r, tick)
				}
				switch {
				case err == nil && got != want:
					t.Fatalf("%s: bit %d of byte %d flipped: another state, and no error", name, bit, i)
				case err == nil:
					unharmed++
				}
				b[i] ^= 1 << bit
			}
		}
		t.Logf("%s: %d flips, of which %d do not concern the tick", name, flips, unharmed)
		if unharmed == 0 || unharmed == flips {
			t.Errorf("%s: %d of %d flips do not concern the tick", name, unharmed, flips)
		}
	}
}

// A failingReader is a file on a disk that fails one read.
type failingReader struct {
	bytes.Reader
	reads, failAt int
}

func (f *failingReader) ReadAt(p []byte, at int64) (int, error) {
	if f.reads++; f.reads == f.failAt {
		return 0, syscall.EIO
	}
	return f.Reader.ReadAt(p, at)
}

// A failed read is never reported as damage or as the end of the file, and gives no verdict on the unread bytes.
func TestReadsThatFail(t *testing.T) {
	g, file, _ := recordMatch(t, 120, replay.WriterOptions{FlushTicks: 10})
	for _, c := range []struct {
		name string
		do   func(r *replay.Reader) error
	}{
		{"verify", func(r *replay.Reader) error {
			_, err := replay.Verify(r, g, replay.VerifyOptions{Workers: 1})
			return err
		}},
		{"info", func(r *replay.Reader) error { _, err := replay.ReadInfo(r); return err }},
		{"recover", func(r *replay.Reader) error {
			_, err := replay.Recover(replay.NewWriter(io.Discard, replay.WriterOptions{}), r)
			return err
		}},
		{"seal", func(r *replay.Reader) error {
			return replay.Cut(replay.NewWriter(io.Discard, replay.WriterOptions{SegmentTicks: 20}), r, replay.WholeMatch)
		}},
		{"content hash", func(r *replay.Reader) error { _, _, err := replay.HashContent(r, replay.WholeMatch); return err }},
	} {
		failed := 0
		for at := 1; ; at++ {
			f := &failingReader{Reader: *bytes.NewReader(file), failAt: at}
			r, err := replay.NewReader(f, int64(len(file)))
			if err == nil {
				err = c.do(r)
			}
			if f.reads < at {
				if err != nil {
					t.Errorf("%s: %v without a fault", c.name, err)
				}
				break
			}
			failed++
			var damage *replay.DamageError
			if !errors.Is(err, syscall.EIO) || errors.As(err, &damage) || errors.Is(err, io.ErrUnexpectedEOF) {
				t.Fatalf("%s: read %d failed: got %v, want the error of the disk alone", c.name, at, err)
			}
		}
		if failed < 5 {
			t.Errorf("%s: only %d reads", c.name, failed)
		}
	}
}

// A read that fails during the search for readable blocks after damage does not make the file torn.
func TestReadsThatFailBehindDamage(t *testing.T) {
	_, file, _ := recordMatch(t, 120, replay.WriterOptions{FlushTicks: 10})
	r := open(t, file)
	for r.Offset() < int64(len(file)/2) {
		if _, err := r.Next(); err != nil {
			t.Fatal(err)
		}
	}
	file[r.Offset()+2] |= 0x40 // its length reaches beyond the end
	failed := 0
	for at := 1; ; at++ {
		f := &failingReader{Reader: *bytes.NewReader(file), failAt: at}
		r, err := replay.NewReader(f, int64(len(file)))
		for err == nil {
			_, err = r.Next()
		}
		if f.reads < at {
			if !errors.Is(err, replay.ErrCorrupt) {
				t.Errorf("got %v without a fault", err)
			}
			break
		}
		if failed++; !errors.Is(err, syscall.EIO) || errors.Is(err, io.ErrUnexpectedEOF) {
			t.Fatalf("read %d failed: got %v", at, err)
		}
	}
	if failed < 10 {
		t.Errorf("only %d reads", failed)
	}
}
