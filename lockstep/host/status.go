package host

import "github.com/seed-49bee653/samestep/lockstep"

// A Status says how a match stands.
type Status struct {
	InLobby bool   // it waits for its players to begin
	Paused  bool   // by a player
	Held    string // the reason of [Admin.Hold], or ""
	Wait    Wait   // why it stands still or runs slower, as the peers know it
	Lingers bool   // the rules have ended it, and players may still connect to see its end

	// LogEnded says that the log has its last record. A log that failed, or that a shutdown left, has none: the match may
	// continue from it, and hides what its [disclosure.Policy] hides.
	LogEnded bool

	Grace     lockstep.Time // for which the seat of a lost player is kept, see Options.Grace
	EndReason string        // why it has ended; "" while it goes on
}

// Status returns how the match stands.
func (h *Host) Status() Status {
	s := Status{
		InLobby: h.lobby.Open() && !h.ending.Over(), Paused: h.c.Paused(), Held: h.pace.Held(), Wait: h.pace.Told(),
		Lingers: h.ending.Lingers(h.now, h.seats.seen()), LogEnded: h.log.ended(), Grace: h.options.Grace,
	}
	if err := h.c.Err(); err != nil {
		_, byRules := h.c.Result()
		s.EndReason = h.ending.Reason(err, byRules)
	}
	return s
}
