package lockstep

import (
	"fmt"
	"slices"
)

// systemRoom is how many commands of a frame are kept free for System: one for
// each seat, and some for the match.
const systemRoom = MaxPlayers + 64

// A slot holds the commands that wait for one tick, in order of arrival.
type slot struct {
	commands []Command
	counts   [256]uint16 // commands by player
	payloads []byte      // what the commands' payloads point into
}

func (s *slot) clear() {
	s.commands, s.payloads = s.commands[:0], s.payloads[:0]
	clear(s.counts[:])
}

func (c *Coordinator) slot(t Tick) *slot { return &c.slots[int(t)%len(c.slots)] }

// enqueue keeps a copy of cmd until its tick has been sealed.
func (c *Coordinator) enqueue(cmd Command) {
	s := c.slot(cmd.Tick)
	from := len(s.payloads)
	s.payloads = append(s.payloads, cmd.Payload...)
	cmd.Payload = s.payloads[from:len(s.payloads):len(s.payloads)]
	cmd.Value = nil
	s.commands = append(s.commands, cmd)
	s.counts[cmd.Player]++
}

// Tick seals the next frame, advances the referee, and writes the log. It
// returns the sealed frame, valid until the next call, or nil while the match
// is paused. An error is the end of the match: the game's own code panicked, or
// the log failed.
//
// The referee runs a frame before it is logged, so a frame that the game does
// not survive reaches neither the log nor any player.
func (c *Coordinator) Tick() (*Frame, error) {
	if c.err != nil {
		return nil, c.err
	}
	if c.paused {
		return nil, nil
	}
	c.slot(c.sealed).clear() // the caller is done with the frame before
	f := c.seal()
	if c.referee != nil {
		if err := c.referee.Advance(f); err != nil {
			return nil, c.fail(err)
		}
	}
	if err := c.append(c.enc.Frame(f)); err != nil {
		return nil, err
	}
	c.sealed = f.Tick
	if err := c.check(); err != nil {
		return nil, err
	}
	return f, nil
}

// seal puts the next tick's commands into canonical order, for ever.
func (c *Coordinator) seal() *Frame {
	t := c.sealed + 1
	commands := c.slot(t).commands
	slices.SortFunc(commands, func(a, b Command) int { return Compare(&a, &b) })
	for i := range commands {
		cmd := &commands[i]
		if cmd.Player != System {
			c.seats[cmd.Player].sealed = cmd.Sequence
			continue
		}
		c.system++
		cmd.Sequence = c.system
		c.paused = c.paused || cmd.Kind == kindPaused
	}
	c.frame = Frame{Tick: t, Commands: commands}
	return &c.frame
}

// issue puts a command of System into the frame of tick t. Its sequence there
// is its place among those of the tick; seal replaces it by its place in the
// match.
func (c *Coordinator) issue(t Tick, value any) (Tick, error) {
	if c.err != nil {
		return 0, c.err
	}
	n := c.slot(t).counts[System]
	if n == systemRoom {
		return 0, fmt.Errorf("%w: %d system commands in tick %d", ErrBusy, n, t)
	}
	kind, payload := c.payloads.encodeSystem(value)
	c.enqueue(Command{Tick: t, Player: System, Sequence: Sequence(n) + 1, Kind: kind, Payload: payload})
	return t, nil
}
