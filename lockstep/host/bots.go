package host

import (
	"errors"
	"fmt"

	"github.com/seed-49bee653/samestep/internal/pack"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/coordinator"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

// bots play the seats that no connection plays: those of Options.Bots, and with Options.Substitute those that are taken over.
type bots struct {
	seats    *seats
	log      *journal
	out      *outputs
	options  *Options
	stats    *Stats
	payloads *record.Payloads
}

// run lets the bots and the substitutes look at the state of the last sealed tick and submits their commands. A bot
// that fails leaves the match. The seat of a substitute that fails stays idle.
func (b *bots) run() {
	for i := range b.seats.table {
		p, s := lockstep.Player(i), &b.seats.table[i]
		if !s.plays() || b.log.c.Err() != nil {
			continue
		}
		bot, err := s.bot, error(nil)
		if bot == nil {
			bot, err = s.substitution.ask(b.options.Substitute, p)
		}
		if bot != nil && err == nil {
			err = guarded(func() error {
				values := bot(b.log.c.Referee().Simulation())
				for _, v := range values[:min(len(values), b.options.MaxPerTick)] {
					if _, err := b.submit(p, v); err != nil {
						return err
					}
				}
				return nil
			})
		}
		if err == nil {
			continue
		}
		e := Event{Kind: SubstituteFailed, Player: p, Text: pack.Clip(err.Error(), record.MaxNote)}
		if fault := (*botPanic)(nil); errors.As(err, &fault) {
			e.Stack = fault.stack
		}
		if s.bot != nil {
			e.Kind, s.why = BotFailed, botFailed
			b.seats.vacate(p)
		} else {
			s.substitution.bot = nil
		}
		b.out.event(e)
	}
}

// submit is [Host.Submit].
func (b *bots) submit(p lockstep.Player, value any) (lockstep.Receipt, error) {
	if int(p) >= len(b.seats.table) || !b.seats.table[p].plays() {
		return lockstep.Receipt{}, fmt.Errorf("%w: player %d is not played by the host", coordinator.ErrSeat, p)
	}
	kind, payload, err := b.payloads.Encode(value)
	if err != nil {
		return lockstep.Receipt{}, err
	}
	c, s := b.log.c, &b.seats.table[p]
	seq := c.LastDecided(p) + 1
	if s.bot == nil && !s.substitution.open && c.Err() == nil {
		s.substitution.begin(seq)
		_ = c.Event(p, record.EventSubstitute, fmt.Sprint(fromCommand, seq)) // an error ends the match; Advance handles that
	}
	r := c.Submit(p, seq, kind, payload)
	b.stats.Rejected[r.Reason]++
	return r, nil
}

// botFailed is the reason in the log. Only the event has the error: it can tell what players must not know.
const botFailed = "the bot failed"
