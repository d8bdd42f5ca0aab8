package hold

import (
	"slices"
	"testing"

	"github.com/seed-49bee653/samestep/lockstep"
)

// The log comes first, then an admin, then players; the wait for players ends once and for all.
func TestWait(t *testing.T) {
	away := []lockstep.Player{1}
	for _, c := range []struct {
		name    string
		do      func(*Hold)
		now     lockstep.Time
		log     string
		awaited []lockstep.Player
		want    string
		again   string // with players awaited, at time 0
	}{
		{"nothing", func(*Hold) {}, 0, "", away, "", ""},
		{"paused while players are awaited", func(h *Hold) { h.Await(5); h.Pause(true) }, 0, "", away, ByAdmin, ByAdmin},
		{"paused on a full disk", func(h *Hold) { h.Pause(true) }, 0, "full", nil, "full", ByAdmin},
		{"awaited", func(h *Hold) { h.Await(5) }, 4, "", away, ForPlayers, ForPlayers},
		{"too late", func(h *Hold) { h.Await(5) }, 5, "", away, "", ""},
		{"all there", func(h *Hold) { h.Await(5) }, 4, "", nil, "", ""},
		{"an admin resumes", func(h *Hold) { h.Await(5); h.Pause(false) }, 4, "", away, "", ""},
		{"an admin has paused and resumed", func(h *Hold) { h.Await(5); h.Pause(true); h.Pause(false) }, 4, "", away, "", ""},
	} {
		var h Hold
		c.do(&h)
		if w := h.Wait(c.now, c.log, c.awaited); w.Reason != c.want || w.Reason == ForPlayers && (w.Until != 5 || !slices.Equal(w.Players, away)) {
			t.Errorf("%s: got %+v, want %q", c.name, w, c.want)
		}
		if w := h.Wait(0, "", away); w.Reason != c.again {
			t.Errorf("%s: got %+v afterwards, want %q", c.name, w, c.again)
		}
		if got, want := h.Wake(9), map[bool]lockstep.Time{true: 5, false: 9}[h.Awaiting()]; got != want {
			t.Errorf("%s: got a wake at %d, want %d", c.name, got, want)
		}
	}
}
