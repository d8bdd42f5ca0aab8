package desync

import (
	"errors"
	"strings"
	"testing"
)

// Two recordings of which nothing could be compared are an error, which names what each has. One state, or commands that
// differ, are a comparison.
func TestUncompared(t *testing.T) {
	d := &Divergence{A: RecordedSide{Recording: &Recording{Ticks: 60}}, B: RecordedSide{Recording: &Recording{First: 100, Ticks: 160}}, Cause: CauseNone}
	if err := d.Uncompared(); !errors.Is(err, ErrNothingCompared) || !strings.Contains(err.Error(), "A has ticks 0 to 59, and B has ticks 100 to 159") {
		t.Errorf("got %v", err)
	}
	for _, d := range []*Divergence{{Known: true, Cause: CauseNone}, {Cause: CauseCommands}} {
		if err := d.Uncompared(); err != nil {
			t.Errorf("%+v: got %v", d, err)
		}
	}
}

// Nothing sets players apart where all differ, as in a tie.
func TestTraitsOfAll(t *testing.T) {
	a, b := Participant{Build: "7", Differs: true}, Participant{Player: 1, Build: "7", Differs: true}
	if got := traitsOf([]Participant{a, b}); got == nil || len(got) > 0 {
		t.Errorf("got %v", got)
	}
	b.Differs = false
	if got := traitsOf([]Participant{a, b}); len(got) == 0 || got[0].All != 1 {
		t.Errorf("control: got %v", got)
	}
}

// Two desyncs of which nothing is known have no fingerprint: they may be two bugs.
func TestNothingKnownHasNoFingerprint(t *testing.T) {
	for f, want := range map[Fingerprint]bool{
		{Game: "G", Class: ClassUnknown}:             false,
		{Game: "G", Class: ClassUnknown, Field: "X"}: true,
		{Game: "G", Class: ClassPanic}:               true,
	} {
		if f.seal(); (f.ID != "") != want {
			t.Errorf("got %+v", f)
		}
	}
}
