package player

import (
	"testing"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

// While a match stands, notes say who goes and why. The command of the next tick says it again, and nobody is told twice.
func TestReasonOfANote(t *testing.T) {
	var changes []SeatChanged
	r := roster{seats: []Seat{{Presence: Here}}, reasons: make([]string, 1), tell: func(e any) {
		if e, ok := e.(SeatChanged); ok {
			changes = append(changes, e)
		}
	}}
	r.note(Note{0, record.TopicReason, "left: supper"})
	r.note(Note{0, record.TopicPresence, record.PresenceVacant})
	r.note(Note{0, record.TopicPresence, record.PresenceHere})
	r.note(Note{0, record.TopicPresence, record.PresenceAway})
	r.command(&lockstep.Lost{Player: 0})
	want := []string{"left: supper", "", ""}
	for i, e := range changes {
		if i >= len(want) || e.Reason != want[i] {
			t.Errorf("change %d: got %+v, want the reasons %q", i, e, want)
		}
	}
	if len(changes) != len(want) {
		t.Errorf("got %d changes, want %d", len(changes), len(want))
	}
}
