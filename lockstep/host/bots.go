package host

import (
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"

	"github.com/seed-49bee653/samestep/internal/pack"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/coordinator"
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

// guarded runs code of a bot, and turns a panic into an error.
func guarded(f func() error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			//samestep:allow runtime for people: no simulation reads it
			err = &botPanic{v, string(debug.Stack())}
		}
	}()
	return f()
}

// A botPanic is a panic of a bot, or of what makes it.
type botPanic struct {
	value any
	stack string
}

func (e *botPanic) Error() string { return fmt.Sprintf("the bot panicked: %v", e.value) }

// stackOf returns the stack of a botPanic, or "".
func stackOf(err error) string {
	if fault := (*botPanic)(nil); errors.As(err, &fault) {
		return fault.stack
	}
	return ""
}

// Beginnings of the texts of record.EventSubstitute: which commands are those of a bot. A recovery needs these events, so they do not
// count as Options.MaxNoteBytes: like the commands of System about the seat, they are limited by the grace time and the rate of returns.
const (
	fromCommand = "from command "
	toCommand   = "to command "
)

// A substitution is the bot for a seat that is taken over, and the sequences that the Host itself has used for its seat.
type substitution struct {
	asked bool         // Options.Substitute, since the seat was taken over
	bot   lockstep.Bot // nil for nobody, or after a failure
	lent  []span
	open  bool // the last span goes on
}

// A span is a range of sequences.
type span struct{ first, last lockstep.Sequence }

// maxSpans bounds the spans of a seat. Older sequences are stale: a client that connects again has at most a window of
// unanswered commands.
const maxSpans = 64

// has reports whether the Host itself has used a sequence. high is the last decided one.
func (s *substitution) has(seq, high lockstep.Sequence) bool {
	for i, lent := range s.lent {
		if s.open && i == len(s.lent)-1 {
			lent.last = high
		}
		if lent.first <= seq && seq <= lent.last {
			return true
		}
	}
	return false
}

func (s *substitution) begin(first lockstep.Sequence) {
	s.open = true
	s.lent = append(s.lent, span{first: first})
	if len(s.lent) > maxSpans {
		s.lent = slices.Delete(s.lent, 0, 1)
	}
}

func (s *substitution) end(last lockstep.Sequence) {
	if s.open {
		s.lent[len(s.lent)-1].last = last
	}
	s.open, s.asked, s.bot = false, false, nil
}

// recorded takes an event of a log.
func (s *substitution) recorded(text string) {
	if n, ok := strings.CutPrefix(text, fromCommand); ok {
		s.begin(sequenceOf(n))
	} else if n, ok := strings.CutPrefix(text, toCommand); ok {
		s.end(sequenceOf(n))
	}
}

// sequenceOf returns the sequence that a text names; 0 if it names none.
func sequenceOf(text string) lockstep.Sequence {
	n, _ := strconv.ParseUint(text, 10, 32)
	return lockstep.Sequence(n)
}

// recovered forgets the sequences after the last one in the log: they are free again. takenOver says that the span that
// is open goes on.
func (s *substitution) recovered(high lockstep.Sequence, takenOver bool) {
	if !takenOver {
		s.end(high)
	}
	for i := range s.lent {
		s.lent[i].last = min(s.lent[i].last, high)
	}
}

// ask returns the bot of a player whose seat was taken over, or nil. It asks once for each time.
func (s *substitution) ask(of func(lockstep.Player) lockstep.Bot, p lockstep.Player) (_ lockstep.Bot, err error) {
	if !s.asked && of != nil {
		s.asked = true
		err = guarded(func() error {
			s.bot = of(p)
			return nil
		})
	}
	return s.bot, err
}

// Submit gives a command for a seat that the Host itself plays: that of a bot, or one that is taken over. The value is a
// pointer to a registered type. The command is numbered after the seat's last sequence, and is in the log like any
// other. The receipt says why a command is rejected. The error is that the value is no command, or wraps
// [coordinator.ErrSeat] for any other seat: the commands of a connected player are its own.
func (h *Host) Submit(p lockstep.Player, value any) (lockstep.Receipt, error) {
	if int(p) >= len(h.seats) || !h.seats[p].plays() {
		return lockstep.Receipt{}, fmt.Errorf("%w: player %d is not the host's to command", coordinator.ErrSeat, p)
	}
	kind, payload, err := h.botPayloads.Encode(value)
	if err != nil {
		return lockstep.Receipt{}, err
	}
	s := &h.seats[p].substitution
	seq := h.c.LastDecided(p) + 1
	if h.seats[p].bot == nil && !s.open && h.c.Err() == nil {
		s.begin(seq)
		_ = h.c.Event(p, record.EventSubstitute, fmt.Sprint(fromCommand, seq)) // an error ends the match; Advance handles that
	}
	r := h.c.Submit(p, seq, kind, payload)
	h.stats.Rejected[r.Reason]++
	return r, nil
}
