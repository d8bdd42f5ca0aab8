package desync

import (
	"testing"
)

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
