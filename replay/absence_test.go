package replay_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/coordinator"
	"github.com/seed-49bee653/samestep/lockstep/record"
	"github.com/seed-49bee653/samestep/replay"
)

// A replay says for how long a seat was taken over, and how often its player gave no command for a long time.
func TestInfoAbsences(t *testing.T) {
	settings := lockstep.DefaultSettings(4)
	settings.Seed = 1
	game, header := newDots(t, settings)
	var file bytes.Buffer
	w := replay.NewWriter(&file, replay.WriterOptions{})
	c, err := coordinator.New(game, header, w, coordinator.Options{})
	if err != nil {
		t.Fatal(err)
	}
	at := map[int]func(){
		0:  func() { c.Join(0); c.Join(1); c.Join(2); c.Join(3) },
		5:  func() { c.Leave(3) }, // without a command
		10: func() { c.TakeOver(0); c.TakeOver(1) },
		15: func() { c.Return(0) },
		20: func() { c.TakeOver(0) },
		22: func() { c.Leave(0) },
		30: func() { c.Event(2, record.EventInactive, "x") },
		40: func() { c.Event(2, record.EventInactive, "x") },
	}
	for tick := range 50 {
		if do := at[tick]; do != nil {
			do()
		}
		if _, err := c.Tick(); err != nil {
			t.Fatal(err)
		}
	}
	finish(t, c, w, "over")
	info, err := replay.ReadInfo(open(t, file.Bytes()))
	if err != nil {
		t.Fatal(err)
	}
	for p, want := range []replay.PlayerInfo{{TakenOver: 5 + 2}, {TakenOver: 40}, {Inactive: 2}} {
		got := info.Player(lockstep.Player(p))
		if got.TakenOver != want.TakenOver || got.Inactive != want.Inactive {
			t.Errorf("player %d: got %+v, want %d ticks and %d times", p, got, want.TakenOver, want.Inactive)
		}
	}
	var text strings.Builder
	if err := info.WriteText(&text); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"taken over for 40 ticks", "inactive 2 times", "player 3  0 commands"} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("got %s, want %q in it", text.String(), want)
		}
	}
}
