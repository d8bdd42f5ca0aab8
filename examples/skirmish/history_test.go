package skirmish

import "testing"

// The history begins at tick 0, has equal intervals that double, is bounded, and ends with the match.
func TestHistory(t *testing.T) {
	w := newWorld(t, 3, 2, Defaults(2, 60))
	if got := w.History(0); len(got) != 1 || got[0].Tick != 0 || got[0].Army == 0 || got[0].Workers == 0 {
		t.Fatalf("at tick 0: got %+v", got)
	}
	if w.History(2) != nil {
		t.Error("there is a history of a player without a seat")
	}
	most := 0
	for tick := uint32(1); tick <= 40000; tick++ {
		w.Match.Tick = tick
		w.Players[1].Kills = tick
		w.sample()
		most = max(most, len(w.History(0)))
	}
	got := w.History(1)
	if most != maxSamples || len(got) < maxSamples/2 {
		t.Errorf("got up to %d samples, and %d at the end, want at most %d and at least half of that", most, len(got), maxSamples)
	}
	for k, s := range got {
		if want := uint32(k) * sampleTicks * 4; s.Tick != want || s.Kills != want {
			t.Fatalf("sample %d: got %+v, want tick %d", k, s, want)
		}
	}
	w.Match.Ended, w.Match.Tick = 40123, 40123
	w.sample()
	for range 1000 {
		w.Match.Tick++
		w.sample()
	}
	if after := w.History(1); len(after) != len(got)+1 || after[len(got)].Tick != 40123 {
		t.Errorf("got %d samples, the last of tick %d, want %d up to the tick of the victory", len(after), after[len(after)-1].Tick, len(got)+1)
	}
}

// A full history keeps its bound at the end of the match.
func TestHistoryIsBoundedAtTheEnd(t *testing.T) {
	w := newWorld(t, 3, 3, Defaults(3, 60))
	for w.Match.Tick = 1; len(w.Samples) < 3*maxSamples; w.Match.Tick++ {
		w.sample()
	}
	w.Match.Ended = w.Match.Tick
	w.sample()
	if got := w.History(2); len(got) != maxSamples/2+1 || got[len(got)-1].Tick != w.Match.Ended {
		t.Errorf("got %d samples, want %d", len(got), maxSamples/2+1)
	}
}
