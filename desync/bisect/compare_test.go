package bisect_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"reflect"
	"testing"

	"github.com/cespare/xxhash/v2"
	"github.com/google/go-cmp/cmp"

	"github.com/seed-49bee653/samestep/desync"
	"github.com/seed-49bee653/samestep/desync/bisect"
	"github.com/seed-49bee653/samestep/internal/testing/dots"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/record"
	"github.com/seed-49bee653/samestep/replay"
)

func compare(tb testing.TB, a, b []byte) *bisect.Comparison {
	tb.Helper()
	c, err := bisect.Compare(openReplay(tb, a), openReplay(tb, b))
	if err != nil {
		tb.Fatal(err)
	}
	return c
}

func TestCompareHeaders(t *testing.T) {
	_, file, _ := recordMatch(t, 100, replay.WriterOptions{})
	other := rewrite(t, file, func(r *record.Record) {
		if r.Kind == record.KindHeader {
			h := r.Header
			h.Platform, h.Build, h.Settings.Seed = "other", "2", 9
			h.Config = []byte{9, 0}
			h.StateSchema = bytes.Replace(h.StateSchema, []byte("Step"), []byte("Pace"), 1)
			h.Commands[0].Name = "run"
		}
	})
	c := compare(t, file, other)
	want := []string{
		"build: 1 → 2", "platform: test → other", "setting seed: 1 → 9", "configuration Count: 4 → 9",
		"state schema, field Dots[].Pace: Step struct → Pace struct", `command: 1 "walk" → 1 "run"`,
	}
	if len(c.Header) != len(want) {
		t.Fatalf("got %v, want %q", c.Header, want)
	}
	for i, d := range c.Header {
		if d.String() != want[i] {
			t.Errorf("got %q, want %q", d, want[i])
		}
	}
	if c.Same() || c.Frame != nil || c.Checksum != nil {
		t.Errorf("got %+v, want a difference of the headers alone", c)
	}
	platform := rewrite(t, file, func(r *record.Record) {
		if r.Kind == record.KindHeader {
			r.Header.Platform = "other"
		}
	})
	if !compare(t, file, platform).Same() {
		t.Error("another platform makes another match")
	}
}

func TestCompareFrames(t *testing.T) {
	settings := lockstep.DefaultSettings(2)
	settings.KeyframeEvery = 0 // a keyframe knows the sequences
	_, file := recordDots(t, 100, settings)
	drop := func(from lockstep.Tick) ([]byte, lockstep.Tick) {
		var tick lockstep.Tick
		return rewrite(t, file, func(r *record.Record) {
			if r.Kind == record.KindFrame && r.Tick >= from && tick == 0 {
				tick = r.Tick
				r.Frame.Commands = r.Frame.Commands[:0]
			}
		}), tick
	}
	for _, from := range []lockstep.Tick{1, 50, 93} {
		dropped, tick := drop(from)
		c := compare(t, file, dropped)
		if c.Frame == nil || c.Frame.Tick != tick || len(c.Frame.A) == 0 || len(c.Frame.B) != 0 {
			t.Errorf("without the commands of tick %d: got %+v", tick, c.Frame)
		}
		c = compare(t, dropped, file)
		if c.Frame == nil || c.Frame.Tick != tick || len(c.Frame.A) != 0 || len(c.Frame.B) == 0 {
			t.Errorf("the other way around: got %+v", c.Frame)
		}
	}
	other, tick := edited(t, file, 30)
	c := compare(t, file, other)
	if c.Frame == nil || c.Frame.Tick != tick || len(c.Frame.A) != 1 || bytes.Equal(c.Frame.A[0].Payload, c.Frame.B[0].Payload) {
		t.Errorf("with another command in tick %d: got %+v", tick, c.Frame)
	}
}

// A shorter match is the same up to its end.
func TestCompareShorter(t *testing.T) {
	_, file, _ := recordMatch(t, 100, replay.WriterOptions{})
	for tick := range lockstep.Tick(100) {
		var cut bytes.Buffer
		if err := replay.Cut(replay.NewWriter(&cut, replay.WriterOptions{}), openReplay(t, file), tick); err != nil {
			t.Fatal(err)
		}
		for _, pair := range [][2][]byte{{file, cut.Bytes()}, {cut.Bytes(), file}} {
			if c := compare(t, pair[0], pair[1]); !c.Same() || min(c.A.Ticks, c.B.Ticks) != tick || max(c.A.Ticks, c.B.Ticks) != 100 {
				t.Errorf("cut after tick %d: got %+v", tick, c)
			}
		}
	}
}

// The readable part of a torn file is compared, and the error says which file is torn.
func TestCompareDamaged(t *testing.T) {
	_, file, _ := recordMatch(t, 100, replay.WriterOptions{FlushTicks: 10})
	c, err := bisect.Compare(openReplay(t, file), openReplay(t, file[:len(file)-200]))
	if !errors.Is(err, io.ErrUnexpectedEOF) || c == nil || !c.Same() || c.B.Ticks < 50 || c.B.Ended {
		t.Errorf("got %+v, error %v, want the same up to the tear", c, err)
	}
	if want := "second file: "; err == nil || err.Error()[:len(want)] != want {
		t.Errorf("got error %v, want which one it is", err)
	}
}

// lengthen returns a replay with four thousand million more ticks and then a checksum.
func lengthen(tb testing.TB, file []byte, hash uint64) []byte {
	tb.Helper()
	return copyRecords(tb, file, func(r *record.Record, emit func(*record.Record) error) error {
		if r.Kind != record.KindEnd {
			return emit(r)
		}
		for range 61_000 {
			if err := emit(&record.Record{Kind: record.KindEmpty, Empty: record.MaxEmptyRun}); err != nil {
				return err
			}
			r.Tick += record.MaxEmptyRun
		}
		if err := emit(&record.Record{Kind: record.KindChecksum, Tick: r.Tick, Hash: hash}); err != nil {
			return err
		}
		return emit(r)
	})
}

// Comparing billions of empty ticks is cheap, because they are not simulated.
func TestCompareLong(t *testing.T) {
	g, file, _ := recordMatch(t, 100, replay.WriterOptions{})
	const last = 100 + 61_000*record.MaxEmptyRun
	long := lengthen(t, file, 1)
	if c := compare(t, file, long); !c.Same() || c.B.Ticks != last {
		t.Errorf("got %+v, want the same for 100 ticks", c)
	}
	if _, err := replay.StateAt(openReplay(t, long), g, last, replay.SimulateOptions{}); !errors.Is(err, replay.ErrLimit) {
		t.Errorf("StateAt: got error %v, want %v", err, replay.ErrLimit)
	}
	if _, err := replay.StateAt(openReplay(t, long), g, last+1, replay.SimulateOptions{}); !errors.Is(err, replay.ErrLimit) {
		t.Errorf("StateAt after the end: got error %v, want %v", err, replay.ErrLimit)
	}
	_, err := bisect.Reports(openReplay(t, long), []bisect.Report{{Tick: last - 5, Hash: 1}}, g, bisect.Options{})
	if !errors.Is(err, replay.ErrLimit) {
		t.Errorf("BisectReports: got error %v, want %v", err, replay.ErrLimit)
	}
	if _, err = bisect.Replays(openReplay(t, long), openReplay(t, lengthen(t, file, 2)), g, bisect.Options{}); !errors.Is(err, replay.ErrLimit) {
		t.Errorf("Bisect: got error %v, want %v", err, replay.ErrLimit)
	}
	other := retell(t, file, hurt(t, 35, xor(t, "Dots[1].Pos.X", 3)))
	found, err := bisect.Replays(openReplay(t, long), openReplay(t, lengthen(t, other, 2)), g, bisect.Options{})
	if err != nil || found.Tick != 40 {
		t.Errorf("Bisect near the beginning: got %+v, error %v, want tick 40", found, err)
	}
}

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
		one, err := bisect.Compare(openReplay(t, x), openReplay(t, y))
		if err != nil {
			checkError(t, err)
		}
		two, _ := bisect.Compare(openReplay(t, y), openReplay(t, x))
		if one.Compared != two.Compared || one.Differed != two.Differed || one.Same() != two.Same() || !reflect.DeepEqual(one.A, two.B) ||
			(one.Frame == nil) != (two.Frame == nil) || one.Frame != nil && (one.Frame.Tick != two.Frame.Tick || !cmp.Equal(one.Frame.A, two.Frame.B)) {
			t.Fatalf("one way %+v, the other %+v", one, two)
		}
		if own, _ := bisect.Compare(openReplay(t, x), openReplay(t, x)); !own.Same() {
			t.Fatalf("a file differs from itself: %+v", own)
		}
		found, err := bisect.Replays(openReplay(t, x), openReplay(t, y), nil, bisect.Options{})
		if err == nil && found.Known && found.Agreed >= found.Tick {
			t.Fatalf("got %+v", found)
		}
		reports, err := bisect.PlayerReports(openReplay(t, x), 1)
		if err != nil {
			checkError(t, err)
		}
		if found, err := bisect.Reports(openReplay(t, y), reports, nil, bisect.Options{}); err == nil && found.Cause != bisect.OriginUnknown {
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

// A description of a tick's commands can be a thousand times as long as their bytes. Only the printed commands are
// described, and no text is longer than MaxText.
func TestDescribeFrame(t *testing.T) {
	d, err := lockstep.NewDescriber(&lockstep.Header{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	own := make([]lockstep.Command, 100)
	for i := range own {
		own[i] = lockstep.Command{Sequence: lockstep.Sequence(i + 1), Payload: make([]byte, lockstep.MaxPayload)}
	}
	for _, c := range []struct{ others, limit, texts, more int }{
		{0, 20, 20, 80}, {0, 0, 0, 100}, {0, -1, 0, 100}, {0, 1000, 100, 0}, {95, 20, 5, 0}, {100, 20, 0, 0},
	} {
		x := bisect.DescribeFrame(&bisect.FrameDifference{Tick: 7, A: own, B: own[:c.others]}, d, d, c.limit)
		if len(x.A) != c.texts || x.MoreA != c.more || len(x.B) != 0 || x.MoreB != 0 || x.Tick != 7 {
			t.Errorf("%d others, limit %d: got %d and %d more, B %d and %d more, want %d and %d, and none", c.others, c.limit, len(x.A), x.MoreA, len(x.B), x.MoreB, c.texts, c.more)
		}
		for _, text := range x.A {
			if n := len(text); n < desync.MaxText || n > desync.MaxText+8 {
				t.Errorf("got a text of %d bytes, want it cut to %d", n, desync.MaxText)
			}
		}
	}
	if x := bisect.DescribeFrame(&bisect.FrameDifference{A: own}, nil, d, 20); len(x.A) != 0 || x.MoreA != len(own) {
		t.Errorf("without a describer: got %d texts and %d more", len(x.A), x.MoreA)
	}
}
