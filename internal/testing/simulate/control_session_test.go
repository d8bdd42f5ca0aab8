package simulate

import (
	"testing"

	"github.com/seed-49bee653/samestep/lockstep/host"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

// sessionControls break what a match promises beside its ticks.
var sessionControls = []control{
	{"a match that begins without its players", "I16", "and the players who are there do not let it", func(t *testing.T, w *world) {
		if err := w.server.host.Admin().Start(w.now); err != nil {
			t.Fatal(err)
		}
	}},
	{"a match that does not begin", "I16", "the match may begin for", func(t *testing.T, w *world) {
		w.server.host.Admin().Hold(w.now, host.Wait{Reason: "nothing"})
	}},
	{"a countdown that is too short", "I16", "ms after the players let it, want 30000", func(t *testing.T, w *world) {
		w.plan.Host.Lobby.Countdown = 30 * sec
	}},
	{"a player whom the log does not have", "I17", "client 0 sees the seat of player 1 at tick", func(t *testing.T, w *world) {
		w.oracle.seating.note(1, record.EventPresence, record.PresenceAway)
	}},
	{"a name that the log does not have", "I17", "want [{name:nobody presence:here ready:false}]", func(t *testing.T, w *world) {
		w.oracle.seating.note(1, record.TopicName, "nobody")
	}},
	{"a match that stands", "I18", "the match stands for 10 s, and client 0 is not told why", func(t *testing.T, w *world) {
		w.waiting = waiting{tick: w.oracle.tick(), stands: 10}
		w.check()
	}},
	{"a match that runs", "I18", "and client 0 shows that it waits: a player has paused the match", func(t *testing.T, w *world) {
		if w.orders = w.now + 20*sec; w.server.host.Admin().Pause(w.now, 0) != nil {
			t.Fatal("not paused")
		}
		w.server.after()
		w.until(w.now + 5*sec)
		w.waiting.runs = 10
		w.check()
	}},
	{"a silent link", "I18", "nothing has come to client 0 for 2000 ms", func(t *testing.T, w *world) {
		w.machines[0].heard, w.machines[0].called = w.now-2*sec, 0
		w.check()
	}},
}
