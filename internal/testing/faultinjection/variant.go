package faultinjection

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"

	"github.com/seed-49bee653/samestep/desync"
	"github.com/seed-49bee653/samestep/lockstep"
)

// A variant is the game with a fault in Step.
type variant struct {
	game *lockstep.Game
	tick lockstep.Tick // the first one whose state differs
	what string        // the fault in words

	// damage says that the fault is in the memory: no rules give such a state.
	damage bool

	// lasting says that the fault happens in many ticks. A single altered field may lead to
	// the same state, from a later tick on.
	lasting bool

	path    string            // of the damaged field
	command *lockstep.Command // the one to which something happened; nil if it happened to several
	kind    desync.CauseKind  // of a fault of commands
}

// A planter makes a variant of a match. It returns nil if this draw gives none, and an
// error that wraps errNoPlace if none does.
type planter func(m *match, dice *rand.Rand) (*variant, error)

// tries limits the draws for the place of a fault. It is enough to find one command of
// hundreds.
const tries = 2000

// errNoPlace reports a fault that has no place in a match, or none with a consequence.
var errNoPlace = errors.New("faultinjection: no place for the fault")

// plant draws until it has a noticeable variant.
func plant(m *match, dice *rand.Rand, p planter) (*variant, error) {
	for range tries {
		v, err := p(m, dice)
		if err != nil {
			return nil, err
		}
		if v != nil && m.noticeable(v.game, v.tick) {
			return v, nil
		}
	}
	return nil, fmt.Errorf("%w: none of %d changes the match up to the next check", errNoPlace, tries)
}

// anyTick returns a random tick after the first check and some checks before the end.
func (s *Subject) anyTick(dice *rand.Rand) lockstep.Tick {
	return s.checks() + 1 + lockstep.Tick(dice.IntN(int(s.ticks-3*s.checks())))
}

// command draws a tick and one of its players' commands.
func (m *match) command(dice *rand.Rand) (t lockstep.Tick, at int, ok bool) {
	t = m.subject.anyTick(dice)
	commands := m.frames[t].Commands
	if len(commands) == 0 {
		return 0, 0, false
	}
	at = dice.IntN(len(commands))
	return t, at, commands[at].Player != lockstep.System
}

// otherCommands changes the commands of a tick.
func (m *match) otherCommands(t lockstep.Tick, change func([]lockstep.Command) []lockstep.Command) *lockstep.Game {
	return m.subject.Faulty(&Change{tick: t, commands: func(_ lockstep.Tick, c []lockstep.Command) []lockstep.Command { return change(c) }})
}

func (m *match) naming(t lockstep.Tick, at int) string {
	c := &m.frames[t].Commands[at]
	return fmt.Sprintf("command %d of player %d in tick %d", c.Sequence, c.Player, t)
}

// changedRule inverts the lowest bit of a field in each tick that changes it, in the whole
// match, as a wrong constant in the rules does.
func changedRule(m *match, dice *rand.Rand) (*variant, error) {
	t := lockstep.Tick(1 + dice.IntN(int(2*m.subject.checks())))
	path := m.draw(dice, t, flippable)
	game := m.subject.Faulty(&Change{after: func(_ lockstep.Tick, before, b []byte) []byte {
		old, err := m.game.StateSchema().Lookup(before, path)
		now, err2 := m.game.StateSchema().Lookup(b, path)
		if err == nil && err2 == nil && !bytes.Equal(old.Bytes, now.Bytes) {
			now.Flip()
		}
		return b
	}})
	states, err := m.rerun(game, 0, m.subject.ticks)
	if err != nil {
		return nil, nil // these rules end with an error
	}
	first, err := firstDiffering(m.states, states, 1)
	if err != nil || first > m.subject.ticks-3*m.subject.checks() || bytes.Equal(m.states[m.subject.nextCheck(first)], states[m.subject.nextCheck(first)]) {
		return nil, nil
	}
	return &variant{tick: first, what: "of " + path, lasting: true, game: game}, nil
}
