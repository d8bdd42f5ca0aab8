package replay_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/record"
	"github.com/seed-49bee653/samestep/replay"
)

// A crashLog notes, right before and after each record is appended, what a crash of the process or the machine would
// leave.
type crashLog struct {
	w      *replay.Writer
	f      *faultyFile
	points []crashPoint
}

type crashPoint struct {
	tick            lockstep.Tick // latest tick shown to clients
	written, synced int
}

func (l *crashLog) Append(raw []byte) error {
	l.point()
	if err := l.w.Append(raw); err != nil {
		return err
	}
	if k := record.KindOf(raw); k == record.KindFrame || k == record.KindEmpty {
		l.points = append(l.points, crashPoint{l.last() + 1, len(l.f.data), l.f.synced})
	}
	l.point()
	return nil
}

func (l *crashLog) last() lockstep.Tick {
	if n := len(l.points); n > 0 {
		return l.points[n-1].tick
	}
	return 0
}

func (l *crashLog) point() {
	l.points = append(l.points, crashPoint{l.last(), len(l.f.data), l.f.synced})
}

// Scenarios 39 and 41: a kill at any record loses at most the FlushTicks buffered ticks. With a sync for each frame
// nothing is lost, even if the machine crashes. The remaining file is valid up to its end.
func TestCrashPoints(t *testing.T) {
	s := lockstep.DefaultSettings(2)
	s.CheckEvery, s.KeyframeEvery = 10, 20
	g, h := newDots(t, s)
	for _, row := range []struct {
		durability replay.Durability
		flush      uint32
	}{{replay.SyncNone, 1}, {replay.SyncNone, 7}, {replay.SyncFrame, 1}, {replay.SyncFrame, 7}} {
		f := &faultyFile{}
		l := &crashLog{w: replay.NewWriter(f, replay.WriterOptions{Durability: row.durability, FlushTicks: row.flush}), f: f}
		if _, err := playOn(t, g, h, l, 120); err != nil {
			t.Fatal(err)
		}
		lost := lockstep.Tick(0)
		for i, p := range l.points {
			killed := ticksOf(t, g, f.data[:p.written])
			if row.durability == replay.SyncFrame {
				if cut := ticksOf(t, g, f.data[:p.synced]); killed < p.tick || cut < p.tick {
					t.Fatalf("crash point %d: tick %d was shown, a power cut leaves %d and a kill %d", i, p.tick, cut, killed)
				}
			}
			lost = max(lost, p.tick-min(p.tick, killed))
		}
		if len(l.points) < 350 || row.durability == replay.SyncNone && lost != lockstep.Tick(row.flush)-1 {
			t.Errorf("%v, flushed each %d: %d ticks lost in %d crash points", row.durability, row.flush, lost, len(l.points))
		}
	}
}

// ticksOf returns the number of ticks in a file that may be torn.
func ticksOf(t *testing.T, g *lockstep.Game, b []byte) lockstep.Tick {
	t.Helper()
	if len(b) == 0 {
		return 0
	}
	return verifyBytes(t, g, b).Ticks
}

// Scenario 40: a crash during a recovery, and repeated crashes while recovering the result. Each result is a prefix of
// the one before, and a final recovery of the whole file succeeds as it would have at first.
func TestCrashWhileRecovering(t *testing.T) {
	g, file, _ := recordMatch(t, 120, replay.WriterOptions{FlushTicks: 5})
	torn := file[:len(file)*4/5]
	recovered := func(b []byte, o replay.WriterOptions) []byte {
		var out bytes.Buffer
		if _, err := replay.Recover(replay.NewWriter(&out, o), open(t, b)); err != nil {
			t.Fatal(err)
		}
		return out.Bytes()
	}
	want := recovered(torn, replay.WriterOptions{FlushTicks: 5})
	if again := recovered(want, replay.WriterOptions{FlushTicks: 5}); !bytes.Equal(again, want) {
		t.Error("recovering twice is not recovering once")
	}
	crashes := 0
	var from func(b []byte, depth int)
	from = func(b []byte, depth int) {
		whole := recovered(b, replay.WriterOptions{FlushTicks: 5})
		last := ticksOf(t, g, b)
		if v := verifyBytes(t, g, whole); v.Ticks != last || !v.Ended || v.Differed > 0 {
			t.Fatalf("depth %d: of %d ticks %+v is left", depth, last, v)
		}
		if depth == 4 {
			return
		}
		for _, part := range []int{9, 7, 5} { // tenths
			cut := whole[:len(whole)*part/10]
			if info, err := replay.ReadInfo(open(t, cut)); !errors.Is(err, io.ErrUnexpectedEOF) || len(info.Keyframes) == 0 {
				continue // cut before the first state: nothing can be recovered
			}
			crashes++
			from(cut, depth+1)
		}
	}
	from(torn, 1)
	if crashes < 15 {
		t.Errorf("%d crashes", crashes)
	}
}

// Scenario 40, for sealing in place: if any write fails, only the open file remains. Sealing it afterwards gives the
// same file as sealing without the failure.
func TestCrashWhileSealing(t *testing.T) {
	_, file, _ := recordMatch(t, 205, replay.WriterOptions{})
	o := replay.WriterOptions{SegmentTicks: 20}
	path := filepath.Join(t.TempDir(), "match.ssr")
	if err := os.WriteFile(path, file, 0o666); err != nil {
		t.Fatal(err)
	}
	failed := 0
	for at := 1; ; at++ {
		err := replay.SealFile(&failingContext{t.Context(), at}, path, o)
		if err == nil {
			break
		}
		if !errors.Is(err, errFailing) {
			t.Fatal(err)
		}
		failed++
		onlyFile(t, path, file)
	}
	onlyFile(t, path, sealed(t, file, o))
	if failed < 5 {
		t.Errorf("failed %d times", failed)
	}
}

// Scenario 47: a file that overwrites an earlier, longer one block by block is never read beyond its written end. The
// other match's tail is not read as part of it.
func TestStaleTail(t *testing.T) {
	g, old, _ := recordMatch(t, 300, replay.WriterOptions{FlushTicks: 5})
	old = change(t, old, func(r *record.Record) {
		if r.Kind == record.KindHeader {
			r.Header.Match[0]++
		}
	})
	_, file, _ := recordMatch(t, 250, replay.WriterOptions{FlushTicks: 3})
	ghosts := 0
	for size := 40; size < min(len(file), len(old)); size += 7 {
		b := append(bytes.Clone(file[:size]), old[size:]...)
		want := ticksOf(t, g, file[:size])
		r := open(t, b)
		v, err := replay.Verify(r, g, replay.VerifyOptions{Workers: 1})
		if err == nil || v.Ticks != want || v.Differed > 0 || v.Ended {
			t.Fatalf("%d new bytes before %d old ones: got %+v, %v, want %d ticks", size, len(old)-size, v, err, want)
		}
		ghosts++
	}
	if ghosts < 300 {
		t.Errorf("%d stale tails", ghosts)
	}
}

// A failingContext ends after N calls of Err.
type failingContext struct {
	context.Context
	left int
}

var errFailing = errors.New("it failed")

func (c *failingContext) Err() error {
	if c.left--; c.left == 0 {
		return errFailing
	}
	return nil
}
