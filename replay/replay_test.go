package replay_test

import (
	"bytes"
	"errors"
	"io"
	"testing"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/record"
	"github.com/seed-49bee653/samestep/replay"
)

func TestVerify(t *testing.T) {
	for name, o := range map[string]replay.WriterOptions{"by the second": {}, "each tick": {FlushTicks: 1}, "at the end": {FlushTicks: 1 << 30}} {
		t.Run(name, func(t *testing.T) {
			g, file, hash := recordMatch(t, 205, o)
			f := g.NewFollower(lockstep.FollowerOptions{})
			if err := replay.Play(open(t, file), f, nil); err != nil {
				t.Fatal(err)
			}
			if got := f.Simulation().Hash(); got != hash {
				t.Errorf("played to checksum %x, want %x", got, hash)
			}
			v, err := replay.Verify(open(t, file), g, replay.VerifyOptions{})
			if err != nil {
				t.Fatal(err)
			}
			// 30 commands and 2 joins; 20 checks and 5 keyframes.
			if v.Ticks != 205 || v.Commands != 32 || v.Checked != 25 || v.Differed != 0 || !v.Ended || v.Reason != "done" {
				t.Errorf("got verdict %+v", v)
			}
		})
	}
}

func TestReadInfo(t *testing.T) {
	_, file, _ := recordMatch(t, 205, replay.WriterOptions{})
	info, err := replay.ReadInfo(open(t, file))
	if err != nil {
		t.Fatal(err)
	}
	if info.Header.Game != "dots" || info.Ticks != 205 || info.Commands != 32 || info.Checksums != 20 ||
		len(info.Keyframes) != 5 || info.Names[1] != "bob" || len(info.Players) != 3 || info.Players[0].Commands != 15 {
		t.Errorf("got info %+v", info)
	}
	if info.SizeBytes != int64(len(file)) || info.StateBytes == 0 {
		t.Errorf("got %d bytes, of them %d of states, want %d bytes", info.SizeBytes, info.StateBytes, len(file))
	}
}

// A file cut at any byte gives everything up to the last whole batch, and then reports where it was cut.
func TestCutAtEveryByte(t *testing.T) {
	g, file, _ := recordMatch(t, 60, replay.WriterOptions{FlushTicks: 1})
	last := lockstep.Tick(0)
	for size := range file {
		r, err := replay.NewReader(bytes.NewReader(file[:size]), int64(size))
		var v *replay.Verification
		if err == nil {
			v, err = replay.Verify(r, g, replay.VerifyOptions{})
		}
		var damage *replay.DamageError
		if !errors.As(err, &damage) || !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Fatalf("cut to %d bytes: got %v, want a damage error", size, err)
		}
		if v == nil {
			continue
		}
		if v.Ticks < last || v.Ticks > 60 || v.Differed > 0 {
			t.Fatalf("cut to %d bytes: verified %d ticks after %d", size, v.Ticks, last)
		}
		last = v.Ticks
	}
	if last != 60 {
		t.Errorf("cut at the last byte: verified %d ticks, want 60", last)
	}
}

// No flipped bit goes unnoticed, and none makes the reader panic.
func TestFlipEveryBit(t *testing.T) {
	g, file, _ := recordMatch(t, 40, replay.WriterOptions{FlushTicks: 8})
	for i := range file {
		for bit := range 8 {
			file[i] ^= 1 << bit
			r, err := replay.NewReader(bytes.NewReader(file), int64(len(file)))
			if err == nil {
				_, err = replay.Verify(r, g, replay.VerifyOptions{})
			}
			var damage *replay.DamageError
			if !errors.As(err, &damage) {
				t.Fatalf("bit %d of byte %d flipped: got %v, want a damage error", bit, i, err)
			}
			file[i] ^= 1 << bit
		}
	}
}

// Damage with more blocks after it is not reported as the end of the file.
func TestDamageInside(t *testing.T) {
	g, file, _ := recordMatch(t, 400, replay.WriterOptions{FlushTicks: 10})
	file[len(file)/2] ^= 4
	v, err := replay.Verify(open(t, file), g, replay.VerifyOptions{})
	var damage *replay.DamageError
	if !errors.As(err, &damage) || !errors.Is(err, replay.ErrCorrupt) || errors.Is(err, io.ErrUnexpectedEOF) {
		t.Fatalf("got %v, want corruption", err)
	}
	if damage.Next <= damage.Offset || damage.Offset > int64(len(file)/2) || damage.Tick != v.Ticks {
		t.Errorf("got %+v after %d ticks", damage, v.Ticks)
	}
}

// A block from another match's file, or from elsewhere in the same file, is invalid.
func TestSpliced(t *testing.T) {
	g, file, _ := recordMatch(t, 100, replay.WriterOptions{FlushTicks: 10})
	other := bytes.Clone(file)
	other[16] ^= 1 // another match
	for name, spliced := range map[string][]byte{
		"tail of another match": append(bytes.Clone(file[:32]), other[32:]...),
		"its own tail again":    append(bytes.Clone(file), file[len(file)-40:]...),
	} {
		if name == "tail of another match" {
			spliced[16] ^= 1
		}
		_, err := replay.Verify(open(t, spliced), g, replay.VerifyOptions{})
		if !errors.Is(err, replay.ErrCorrupt) {
			t.Errorf("%s: got %v, want corruption", name, err)
		}
	}
}

func TestNotAReplay(t *testing.T) {
	_, file, _ := recordMatch(t, 10, replay.WriterOptions{})
	newer := bytes.Clone(file)
	newer[8] = 2
	flags := bytes.Clone(file)
	flags[12] = 1
	for _, c := range []struct {
		name string
		file []byte
		want error
	}{
		{"empty", nil, replay.ErrFormat},
		{"text", bytes.Repeat([]byte("text "), 10), replay.ErrFormat},
		{"newer", newer, replay.ErrUnsupported},
		{"flags", flags, replay.ErrUnsupported},
		{"newer and short", newer[:12], replay.ErrUnsupported},
		{"flags and short", flags[:16], replay.ErrUnsupported},
		{"short", file[:12], replay.ErrFormat},
	} {
		_, err := replay.NewReader(bytes.NewReader(c.file), int64(len(c.file)))
		if !errors.Is(err, c.want) {
			t.Errorf("%s: got %v, want %v", c.name, err, c.want)
		}
	}
}

// A wrong checksum in the log is found at its tick.
func TestVerifyFindsDesync(t *testing.T) {
	g, file, _ := recordMatch(t, 100, replay.WriterOptions{})
	var out bytes.Buffer
	w := replay.NewWriter(&out, replay.WriterOptions{})
	var enc record.Encoder
	err := replay.Play(open(t, file), nil, func(r *record.Record) error {
		if r.Kind == record.KindChecksum && r.Tick == 30 {
			r.Hash++
		}
		return w.Append(enc.Record(r))
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	v, err := replay.Verify(open(t, out.Bytes()), g, replay.VerifyOptions{})
	var desync *lockstep.DesyncError
	if !errors.As(err, &desync) || desync.Tick != 30 || v.Ticks != 30 {
		t.Fatalf("got %v after %d ticks, want a desync at tick 30", err, v.Ticks)
	}
	v, err = replay.Verify(open(t, out.Bytes()), g, replay.VerifyOptions{KeepGoing: true})
	if err == nil || v.Differed != 1 || v.Ticks != 100 || v.First.Tick != 30 {
		t.Errorf("kept going: got %v, %+v", err, v)
	}
}

// A tick without records takes no byte: a run of empty ticks is one small number. A check, by default each second,
// takes fifteen bytes.
func TestQuietTicks(t *testing.T) {
	s := lockstep.DefaultSettings(2)
	s.CheckEvery, s.KeyframeEvery = 1<<16-1, 0
	if few, many := recordQuiet(t, 100, s), recordQuiet(t, 60_000, s); many-few > 2 {
		t.Errorf("60,000 quiet ticks take %d bytes, 100 take %d", many, few)
	}
	s.CheckEvery = 20
	if few, many := recordQuiet(t, 100, s), recordQuiet(t, 20_100, s); many-few > 1000*15 {
		t.Errorf("1,000 checks take %d bytes, want at most 15,000", many-few)
	}
}
