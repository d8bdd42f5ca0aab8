package host

import (
	"errors"
	"fmt"

	"github.com/seed-49bee653/samestep/internal/pack"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

// runBots lets the bots and the substitutes look at the state of the last sealed tick and submits their commands. A bot
// that fails leaves the match. The seat of a substitute that fails stays idle.
func (h *Host) runBots() {
	for i := range h.seats {
		p := lockstep.Player(i)
		if !h.seats[p].plays() || h.c.Err() != nil {
			continue
		}
		s, err := &h.seats[p], error(nil)
		bot := s.bot
		if bot == nil {
			bot, err = s.substitution.ask(h.options.Substitute, p)
		}
		if bot != nil && err == nil {
			err = guarded(func() error {
				values := bot(h.c.Referee().Simulation())
				for _, v := range values[:min(len(values), h.options.MaxPerTick)] {
					if _, err := h.Submit(p, v); err != nil {
						return err
					}
				}
				return nil
			})
		}
		switch {
		case err == nil:
		case s.bot != nil:
			s.why = botFailed
			h.vacate(p)
			h.made.event(h.log.now(), Event{Kind: BotFailed, Player: p, Text: clipped(err), Stack: stackOf(err)})
		default:
			s.substitution.bot = nil
			h.made.event(h.log.now(), Event{Kind: SubstituteFailed, Player: p, Text: clipped(err), Stack: stackOf(err)})
		}
	}
}

// botFailed is the reason in the log. Only the event has the error: it can tell what players must not know.
const botFailed = "the bot failed"

func clipped(err error) string { return pack.Clip(err.Error(), record.MaxNote) }

// checkBots refuses bots without a seat, and bots without a state to look at.
func (o *Options) checkBots(s *lockstep.Settings) error {
	switch {
	case len(o.Bots) > int(s.Players):
		return fmt.Errorf("lockstep: host: bots: got %d, want at most %d, the seats", len(o.Bots), s.Players)
	case o.Relay && len(o.Bots) > 0:
		return fmt.Errorf("lockstep: host: bots: got %d in relay mode, want none: they look at the referee's state", len(o.Bots))
	case o.Relay && o.Substitute != nil:
		return errors.New("lockstep: host: substitute: got one in relay mode, want none: it looks at the referee's state")
	}
	return nil
}
