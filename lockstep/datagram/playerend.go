package datagram

import (
	"bytes"
	"fmt"

	"github.com/cespare/xxhash/v2"

	"github.com/seed-49bee653/samestep/checksum"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

const (
	// repeatWait is how long the acknowledgement of a datagram waits that only repeats others.
	repeatWait = 100 * lockstep.Millisecond

	// maxEarly is how many records may be here before the stream has brought them. Beyond that the player takes no more
	// from datagrams, and the stream goes on alone.
	maxEarly = 1024
)

// A PlayerEnd is a player's end of the datagrams of one connection.
type PlayerEnd struct {
	Path // read only: Receive and Send keep it

	reader Reader
	writer Writer
	in     ToPlayer
	out    ToHost

	// ahead has the records above the first that is missing, the one at position p at p % Window. Their memory is used again.
	ahead [Window][]byte
	held  int // how many there are

	early int               // records that are here and that the stream has not brought
	from  protocol.Position // sums has the records from here on
	sums  [maxEarly]recordSum

	newest  bool          // the datagram that is being taken is
	fresh   bool          // and has had something new
	news    int           // datagrams with something new that are not acknowledged
	ackBy   lockstep.Time // when what has come is acknowledged at the latest; 0: nothing has
	sentAt  lockstep.Time
	heard   lockstep.Time // when a datagram came last
	repeats uint64        // records that came again
}

// NewPlayerEnd returns the end of a connection whose stream goes on at a position.
func NewPlayerEnd(at protocol.Position) *PlayerEnd { return &PlayerEnd{from: at} }

// A recordSum identifies the bytes of a record, the one at position p at p % maxEarly.
type recordSum struct {
	size uint32
	hash uint64
}

//samestep:allow unseen xxHash64 is the same function in assembly and in Go
func sumOf(b []byte) recordSum { return recordSum{uint32(len(b)), xxhash.Sum64(b)} }

func (s recordSum) String() string {
	return fmt.Sprintf("%d bytes (%s)", s.size, checksum.FormatHash(s.hash))
}

// Begin forgets what belongs to another stream: the present one goes on at a position.
func (e *PlayerEnd) Begin(at protocol.Position) {
	if e == nil {
		return
	}
	for i := range e.ahead {
		e.ahead[i] = e.ahead[i][:0]
	}
	e.held, e.early, e.from = 0, 0, at
}

// PlayerMemory is the size of a PlayerEnd besides the records that wait, in bytes.
const PlayerMemory = 16*maxEarly + 8<<10

// Memory returns how many bytes the end keeps. A nil PlayerEnd keeps none.
func (e *PlayerEnd) Memory() (n int) {
	if e == nil {
		return 0
	}
	for i := range e.ahead {
		n += cap(e.ahead[i])
	}
	return n + PlayerMemory
}

// Receive takes a datagram. It is valid until the next one. Its receipts are the player's; each of its records goes to
// [PlayerEnd.Offer].
func (e *PlayerEnd) Receive(now lockstep.Time, b []byte) (*ToPlayer, error) {
	d := &e.in
	if err := e.reader.ToPlayer(d, b); err != nil {
		return nil, err
	}
	newest, err := e.Take(now, &d.Head)
	if err != nil {
		return nil, err
	}
	e.heard, e.newest, e.fresh = now, newest, false
	if len(d.Receipts) > 0 {
		e.arrived(true)
	} else if len(d.Records) > 0 {
		e.arrived(false)
	}
	return d, nil
}

// arrived notes that a datagram is to be acknowledged. One that only repeats others is not urgent.
func (e *PlayerEnd) arrived(news bool) {
	if !e.newest || e.fresh {
		return
	}
	_, wait := e.ackEvery()
	if news {
		e.fresh = true
		e.news++
	} else {
		wait = max(wait, repeatWait)
	}
	if by := e.heard + wait; e.ackBy == 0 || by < e.ackBy {
		e.ackBy = by
	}
}

// Offer takes a record of the datagram, while the player lacks the one at a position. It reports whether that is it: then the player
// takes it now. One that is further ahead waits for [PlayerEnd.Waiting]. One that is here already must be the same.
func (e *PlayerEnd) Offer(r *Record, at protocol.Position) (next bool, err error) {
	switch {
	case r.Position < at:
		e.repeats++
		if r.Position >= e.from && at-r.Position <= maxEarly {
			return false, e.same(r.Position, sumOf(r.Bytes), "a datagram", "before")
		}
	case r.Position == at:
		if e.early == maxEarly {
			return false, nil
		}
		e.early++
		e.arrived(true)
		return true, nil
	case r.Position-at < Window:
		slot := &e.ahead[r.Position%Window]
		if len(*slot) > 0 && !bytes.Equal(*slot, r.Bytes) {
			return false, differs(r.Position, sumOf(r.Bytes), "a datagram", sumOf(*slot), "by another one")
		} else if len(*slot) == 0 {
			*slot = append(*slot, r.Bytes...)
			e.held++
			e.arrived(true)
		} else {
			e.repeats++
		}
	}
	return false, nil
}

// Waiting returns the record at a position, which has waited for the one before and which the player takes now, or nil.
func (e *PlayerEnd) Waiting(at protocol.Position) []byte {
	slot := &e.ahead[at%Window]
	if e.held == 0 || e.early == maxEarly || len(*slot) == 0 {
		return nil
	}
	b := *slot
	*slot = b[:0]
	e.held--
	e.early++
	return b
}

// Took notes the record at a position, which the player has taken, wherever it came from.
func (e *PlayerEnd) Took(at protocol.Position, b []byte) { e.sums[at%maxEarly] = sumOf(b) }

// Early reports whether the next record of the stream is here already: then it goes to [PlayerEnd.Repeated].
func (e *PlayerEnd) Early() bool { return e != nil && e.early > 0 }

// Repeated returns the size of the record of the stream that b begins with, which a datagram has brought, while the player lacks the
// one at a position.
func (e *PlayerEnd) Repeated(at protocol.Position, b []byte) (size int, err error) {
	at -= protocol.Position(e.early)
	size = min(int(e.sums[at%maxEarly].size), len(b))
	if err := e.same(at, sumOf(b[:size]), "the stream", "by a datagram"); err != nil {
		return 0, err
	}
	e.early--
	return size, nil
}

// same compares a record with the one of the same position that came before.
func (e *PlayerEnd) same(at protocol.Position, got recordSum, by, before string) error {
	if want := e.sums[at%maxEarly]; got != want {
		return differs(at, got, by, want, before)
	}
	return nil
}

func differs(at protocol.Position, got recordSum, by string, want recordSum, before string) error {
	return fmt.Errorf("lockstep: client: %w: record %d: got %v by %s, want %v, which came %s", record.ErrContent, at, got, by, want, before)
}

// Repeats returns how many records came again in a datagram.
func (e *PlayerEnd) Repeats() uint64 {
	if e == nil {
		return 0
	}
	return e.repeats
}

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
	room := MaxSize - toHostSize
	for i, c := range commands {
		if room -= len(c.Payload) + commandSize; room < 0 {
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
	every, _ := e.ackEvery()
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
		wait := e.overdue(false)
		if size += len(c.Payload) + commandSize; size <= fewBytes && c.SentIn <= e.resends() {
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
			if held := min(c.At+playerHold, e.flowsTo()+1); held > now {
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
