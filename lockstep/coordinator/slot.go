package coordinator

import (
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

// systemRoom is the number of a frame's commands that are reserved for System: one for each seat, and some for the
// match.
const systemRoom = lockstep.MaxPlayers + 64

// Memory that a slot keeps for its next tick. A slot releases larger buffers after a burst, so a player cannot make the
// match hold them for ever.
const (
	keepCommands = 1 << 10
	keepPayloads = 64 << 10
)

// A slot holds the commands that wait for one tick, in order of arrival.
type slot struct {
	commands []lockstep.Command
	payloads []byte  // the memory of the commands' payloads
	shares   []share // by seat
	system   int     // commands of System
}

// A share is one player's use of a tick.
type share struct {
	commands  uint16
	sizeBytes uint32 // of the payloads
}

// add keeps a copy of c.
func (s *slot) add(c lockstep.Command) {
	from := len(s.payloads)
	s.payloads = append(s.payloads, c.Payload...)
	c.Payload = s.payloads[from:len(s.payloads):len(s.payloads)]
	c.Value = nil
	s.commands = append(s.commands, c)
	if c.Player == lockstep.System {
		s.system++
		return
	}
	s.shares[c.Player].commands++
	s.shares[c.Player].sizeBytes += uint32(len(c.Payload))
}

func (s *slot) clear() {
	s.commands, s.payloads, s.system = s.commands[:0], s.payloads[:0], 0
	if cap(s.commands) > keepCommands {
		s.commands = nil
	}
	if cap(s.payloads) > keepPayloads {
		s.payloads = nil
	}
	clear(s.shares)
}

// slots holds the slots of the last sealed tick and of later ticks. Only ticks with commands have one; released slots
// are used again.
type slots struct {
	ring [record.MaxInputDelay + 2]*slot // tick t is at t % len
	free []*slot
}

// of returns the slot of tick t.
func (s *slots) of(t lockstep.Tick, players uint8) *slot {
	at := &s.ring[int(t)%len(s.ring)]
	if *at == nil {
		if n := len(s.free); n > 0 {
			*at, s.free = s.free[n-1], s.free[:n-1]
		} else {
			*at = &slot{shares: make([]share, players)}
		}
	}
	return *at
}

// release frees the slot of tick t.
func (s *slots) release(t lockstep.Tick) {
	at := &s.ring[int(t)%len(s.ring)]
	if *at != nil {
		(*at).clear()
		s.free, *at = append(s.free, *at), nil
	}
}
