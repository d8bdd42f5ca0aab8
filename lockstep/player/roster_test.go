package player

import (
	"testing"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

// While a match stands, events say who goes and why. The command of the next tick says it again, and nobody is told twice.
func TestReasonOfAnEvent(t *testing.T) {
	var changes []SeatChanged
	r := roster{seats: []Seat{{Presence: Here}}, reasons: make([]string, 1), ahead: make([]ahead, 1), tell: func(e any) {
		if e, ok := e.(SeatChanged); ok {
			changes = append(changes, e)
		}
	}}
	r.take(&record.Record{Kind: record.KindEvent, Event: record.EventReason, Text: "left: supper"})
	r.take(&record.Record{Kind: record.KindEvent, Event: record.EventPresence, Text: record.PresenceVacant})
	r.take(&record.Record{Kind: record.KindEvent, Event: record.EventPresence, Text: record.PresenceHere})
	r.take(&record.Record{Kind: record.KindEvent, Event: record.EventPresence, Text: record.PresenceAway})
	r.command(&lockstep.Joined{Player: 0})
	r.command(&lockstep.Lost{Player: 0})
	r.ticked()
	want := []string{"left: supper", "", "the connection ended"}
	for i, e := range changes {
		if i >= len(want) || e.Reason != want[i] {
			t.Errorf("change %d: got %+v, want the reasons %q", i, e, want)
		}
	}
	r.command(&lockstep.Joined{Player: 0}) // of a later tick: it is news
	if len(changes) != len(want)+1 {
		t.Errorf("got %d changes, want %d: %+v", len(changes), len(want)+1, changes)
	}
}

// Each loss has a reason, also where the log has none. A name, or a player who comes, has none.
func TestReasonOfLoss(t *testing.T) {
	for _, row := range []struct {
		name   string
		note   string
		value  any
		before Presence
		want   string
	}{
		{"cut", "", &lockstep.Lost{}, Here, "the connection ended"},
		{"silent", "nothing was heard", &lockstep.Lost{}, Here, "nothing was heard"},
		{"left", "", &lockstep.Left{}, Here, "left"},
		{"kicked", "kicked by an admin", &lockstep.Left{}, Away, "kicked by an admin"},
		{"taken over", "did not come back", &lockstep.TakenOver{}, Away, "did not come back"},
		{"back", "", &lockstep.Joined{}, Away, ""},
	} {
		var changes []SeatChanged
		r := roster{seats: []Seat{{Presence: row.before}}, reasons: make([]string, 1), ahead: make([]ahead, 1), tell: func(e any) {
			if e, ok := e.(SeatChanged); ok {
				changes = append(changes, e)
			}
		}}
		if row.note != "" {
			r.take(&record.Record{Kind: record.KindEvent, Event: record.EventReason, Text: row.note})
		}
		r.command(row.value)
		r.take(&record.Record{Kind: record.KindNote, Topic: record.TopicName, Text: "ann"})
		if len(changes) == 0 || changes[0].Reason != row.want || len(changes) > 1 && changes[1].Reason != "" {
			t.Errorf("%s: got %+v, want the reason %q, and none for the name", row.name, changes, row.want)
		}
	}
}
