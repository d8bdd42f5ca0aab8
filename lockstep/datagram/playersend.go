package datagram

import (
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
)

const (
	// playerHold is how long a command that datagrams carry waits for the stream.
	playerHold = lockstep.Second / 2

	// playerProbe is the time between two datagrams without anything to say, which find a path that is there again.
	playerProbe = lockstep.Second / 2

	// fewBytes is the size of the unanswered commands up to which the newest ones are sent again at once.
	fewBytes = 300

	// ackTime is the least time between two acknowledgements.
	ackTime = 20 * lockstep.Millisecond
)

// A Pending is a command of the player that has no answer.
type Pending struct {
	Command
	At       lockstep.Time // when it was submitted
	Streamed bool          // the stream of the present connection has carried it
	SentIn   int           // how many datagrams of that connection
}

// A Demand is what a player tells the host.
type Demand struct {
	Position protocol.Position // of the first record that it lacks; 0 while it has no stream
	Tick     lockstep.Tick     // the last one that it has simulated
	Commands []*Pending        // by rising sequence
}

// carried returns the commands that are in a datagram, the first ones: a later one never overtakes an earlier one.
func carried(commands []*Pending) []*Pending {
	room := MaxSize - ToHostSize
	for i, c := range commands {
		if room -= len(c.Payload) + CommandSize; room < 0 {
			return commands[:i]
		}
	}
	return commands
}

// Send appends the next datagram, or nothing.
func (e *PlayerEnd) Send(dst []byte, now lockstep.Time, m *Demand) []byte {
	if now < e.Due(now, m.Commands) {
		return dst
	}
	d := &e.out
	var ok bool
	if d.Head, ok = e.Next(now); !ok {
		return dst
	}
	d.Position, d.Above, d.Tick = m.Position, 0, 0
	if d.Position > 0 {
		d.Tick = m.Tick
		for i := range protocol.Position(Window - 1) {
			if e.held > 0 && len(e.ahead[(d.Position+1+i)%Window]) > 0 {
				d.Above |= 1 << i
			}
		}
	}
	d.Commands = d.Commands[:0]
	for _, c := range carried(m.Commands) {
		c.SentIn++
		d.Commands = append(d.Commands, c.Command)
	}
	e.news, e.ackBy, e.sentAt = 0, 0, max(now, 1)
	return e.writer.ToHost(dst, d)
}

// Due returns when the next datagram is due.
func (e *PlayerEnd) Due(now lockstep.Time, commands []*Pending) lockstep.Time {
	at := e.sentAt + playerProbe
	every, _ := e.AckEvery()
	switch {
	case e.sentAt == 0:
		return 0
	case !e.Alive(now) && e.ackBy == 0:
		return at
	case e.news >= every:
		at = e.sentAt + ackTime
	case e.ackBy > 0:
		at = min(at, max(e.sentAt+ackTime, e.ackBy))
	}
	size := 0
	for _, c := range carried(commands) {
		if c.SentIn == 0 {
			return e.sentAt // at once
		}
		wait := e.Overdue(false)
		if size += len(c.Payload) + CommandSize; size <= fewBytes && c.SentIn <= e.Resends() {
			wait = ResendAfter
		}
		at = min(at, e.sentAt+wait)
	}
	return at
}

// Unheld returns the commands that wait no longer for the stream, whose round trip is given: the first ones.
func (e *PlayerEnd) Unheld(now, stream lockstep.Time, commands []*Pending) []*Pending {
	n := len(commands)
	if e == nil || !e.Flows(now, stream) || len(carried(commands)) < n {
		return commands
	}
	for ; n > 0; n-- {
		if c := commands[n-1]; !c.Streamed && (c.SentIn == 0 || now >= c.At+playerHold) {
			break
		}
	}
	return commands[:n]
}

// Wake returns when time alone makes something to send next, within a second: a datagram, or a command that waits for the stream. The
// owner sends what is due already.
func (e *PlayerEnd) Wake(now lockstep.Time, commands []*Pending) lockstep.Time {
	at := now + lockstep.Second
	if e == nil {
		return at
	}
	for _, c := range commands {
		if !c.Streamed {
			if held := min(c.At+playerHold, e.FlowsTo()+1); held > now {
				at = held
				break
			}
		}
	}
	if due := e.Due(now, commands); due > now {
		at = min(at, due)
	}
	return at
}
