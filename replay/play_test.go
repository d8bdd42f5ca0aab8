package replay_test

import (
	"errors"
	"io"
	"testing"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/record"
	"github.com/seed-49bee653/samestep/replay"
)

// Play and ReadInfo report damage and give everything before it.
func TestPlayDamaged(t *testing.T) {
	g, file, _ := recordMatch(t, 100, replay.WriterOptions{FlushTicks: 10})
	f := g.NewFollower(lockstep.FollowerOptions{})
	err := replay.Play(open(t, file[:len(file)-1]), f, nil)
	if !errors.Is(err, io.ErrUnexpectedEOF) || f.Tick() < 90 {
		t.Errorf("Play: got tick %d and error %v, want at least 90 and the cut", f.Tick(), err)
	}
	info, err := replay.ReadInfo(open(t, file[:len(file)-1]))
	if !errors.Is(err, io.ErrUnexpectedEOF) || info.Ticks != f.Tick() || info.Ended {
		t.Errorf("ReadInfo: got %d ticks, ended %v and error %v, want %d, false and the cut", info.Ticks, info.Ended, err, f.Tick())
	}
}

// The visitor can stop Play.
func TestPlayStops(t *testing.T) {
	_, file, _ := recordMatch(t, 100, replay.WriterOptions{})
	enough := errors.New("enough")
	records := 0
	err := replay.Play(open(t, file), nil, func(*record.Record) error {
		if records++; records == 5 {
			return enough
		}
		return nil
	})
	if !errors.Is(err, enough) || records != 5 {
		t.Errorf("got %d records and error %v, want 5 and %v", records, err, enough)
	}
}

// The payload bytes of a player are those of all its commands.
func TestInfoBytes(t *testing.T) {
	_, file, _ := recordMatch(t, 100, replay.WriterOptions{})
	want := map[lockstep.Player]int{}
	if err := replay.Play(open(t, file), nil, func(r *record.Record) error {
		if r.Kind == record.KindFrame {
			for _, c := range r.Frame.Commands {
				want[c.Player] += len(c.Payload)
			}
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	info, err := replay.ReadInfo(open(t, file))
	if err != nil {
		t.Fatal(err)
	}
	if len(info.Players) != len(want) {
		t.Errorf("got %d players, want %d", len(info.Players), len(want))
	}
	for _, p := range info.Players {
		if p.Bytes != want[p.Player] {
			t.Errorf("player %d: got %d bytes, want %d", p.Player, p.Bytes, want[p.Player])
		}
	}
}
