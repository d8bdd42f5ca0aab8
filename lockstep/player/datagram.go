package player

import (
	"bytes"
	"fmt"

	"github.com/cespare/xxhash/v2"

	"github.com/seed-49bee653/samestep/checksum"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/datagram"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

const (
	// holdTime is how long a command that datagrams carry waits for the stream.
	holdTime = lockstep.Second / 2

	// probeTime is the time between two datagrams without anything to say, which find a path that is there again.
	probeTime = lockstep.Second / 2

	// fewBytes is the size of the unanswered commands up to which the newest ones are sent again at once.
	fewBytes = 300

	// ackTime is the least time between two acknowledgements.
	ackTime = 20 * lockstep.Millisecond

	// repeatWait is how long the acknowledgement of a datagram waits that only repeats others.
	repeatWait = 100 * lockstep.Millisecond

	// maxEarly is how many records may be here before the stream has brought them. Beyond that the client takes no more
	// from datagrams, and the stream goes on alone.
	maxEarly = 1024
)

// datagramState is the path of datagrams of the present connection.
type datagramState struct {
	path   datagram.Path
	reader datagram.Reader
	writer datagram.Writer
	in     datagram.ToPlayer
	out    datagram.ToHost

	// ahead has the records above the first that is missing, the one at position p at p % Window. Their memory is used again.
	ahead [datagram.Window][]byte
	held  int // how many there are

	early int               // records that are here and that the stream has not brought
	from  protocol.Position // sums has the records from here on
	sums  [maxEarly]recordSum

	news   int           // datagrams with something new that are not acknowledged
	ackBy  lockstep.Time // when what has come is acknowledged at the latest; 0: nothing has
	sentAt lockstep.Time
	heard  lockstep.Time // when a datagram came last
}

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

// begin forgets what belongs to another connection or another stream, which goes on at a position.
func (g *datagramState) begin(at protocol.Position) {
	if g != nil {
		g.forget()
		g.early, g.from = 0, at
	}
}

// forget drops the records that wait for an earlier one.
func (g *datagramState) forget() {
	for i := range g.ahead {
		g.ahead[i] = g.ahead[i][:0]
	}
	g.held = 0
}

// datagramsMemory is the size of a path besides the records that wait, in bytes.
const datagramsMemory = 16*maxEarly + 8<<10

func (g *datagramState) memory() (n int) {
	if g == nil {
		return 0
	}
	for i := range g.ahead {
		n += cap(g.ahead[i])
	}
	return n + datagramsMemory
}

// ReceiveDatagram takes one datagram of the connection. It may come late, twice, or never. An error says why the client hangs
// up because of it.
func (c *Client) ReceiveDatagram(now lockstep.Time, b []byte) error {
	c.tickClock(now)
	if c.link != linkUp || c.datagrams == nil {
		return nil
	}
	c.measure.bytesIn += uint64(len(b))
	before := c.in.dec.Tick()
	err := c.receiveDatagram(b)
	c.arrived(before)
	if err != nil {
		c.hangUp(err)
	}
	return err
}

func (c *Client) receiveDatagram(b []byte) error {
	g := c.datagrams
	if err := g.reader.ToPlayer(&g.in, b); err != nil {
		return err
	}
	newest, err := g.path.Take(c.clock, &g.in.Head)
	if err != nil {
		return err
	}
	g.heard = c.clock
	c.notQuiet()
	at, held := c.in.position, g.held
	for _, r := range g.in.Receipts {
		c.in.message = protocol.Message{Kind: protocol.KindCommandAccepted, Sequence: r.Sequence, Tick: r.Tick}
		c.answered(&c.in.message)
	}
	for i := range g.in.Records {
		if err := c.datagramRecord(&g.in.Records[i]); err != nil {
			c.in.streaming = false // one of the two is wrong
			return err
		}
	}
	if newest && len(g.in.Records)+len(g.in.Receipts) > 0 {
		g.arrived(c.clock, c.in.position != at || g.held != held || len(g.in.Receipts) > 0)
	}
	return nil
}

// arrived notes that a datagram is to be acknowledged. One that only repeats others is not urgent.
func (g *datagramState) arrived(now lockstep.Time, news bool) {
	_, wait := g.path.AckEvery()
	if news {
		g.news++
	} else {
		wait = max(wait, repeatWait)
	}
	by := now + wait
	if g.ackBy == 0 || by < g.ackBy {
		g.ackBy = by
	}
}

// datagramRecord takes a record of a datagram: it is the next one, waits for earlier ones, or is here already.
func (c *Client) datagramRecord(r *datagram.Record) error {
	g := c.datagrams
	if !c.in.streaming {
		return nil
	}
	switch at := c.in.position; {
	case r.Position < at:
		c.measure.repeats++
		if r.Position >= g.from && at-r.Position <= maxEarly {
			return g.same(r.Position, sumOf(r.Bytes), "a datagram", "before")
		}
	case r.Position == at:
		if g.early == maxEarly {
			return nil
		}
		if err := c.takeEarly(r.Bytes); err != nil {
			return err
		}
		return c.takeAhead()
	case r.Position-at < datagram.Window:
		slot := &g.ahead[r.Position%datagram.Window]
		if len(*slot) > 0 && !bytes.Equal(*slot, r.Bytes) {
			return differs(r.Position, sumOf(r.Bytes), "a datagram", sumOf(*slot), "by another one")
		} else if len(*slot) == 0 {
			*slot = append(*slot, r.Bytes...)
			g.held++
		} else {
			c.measure.repeats++
		}
	}
	return nil
}

// takeAhead takes the records that have waited for the one that came last.
func (c *Client) takeAhead() error {
	g := c.datagrams
	for g.held > 0 && g.early < maxEarly {
		slot := &g.ahead[c.in.position%datagram.Window]
		if len(*slot) == 0 {
			return nil
		}
		b := *slot
		*slot = b[:0]
		g.held--
		if err := c.takeEarly(b); err != nil {
			return err
		}
	}
	return nil
}

// takeEarly takes the next record before the stream brings it.
func (c *Client) takeEarly(b []byte) error {
	rest, err := c.take(b)
	if err == nil && len(rest) > 0 {
		c.in.streaming = false // it cannot go on
		err = fmt.Errorf("lockstep: client: %w: %d bytes behind a record in a datagram", record.ErrMalformed, len(rest))
	}
	c.datagrams.early++
	return err
}

// repeated skips the record of the stream that b begins with: a datagram has brought it.
func (c *Client) repeated(b []byte) (rest []byte, err error) {
	g := c.datagrams
	at := c.in.position - protocol.Position(g.early)
	size := min(int(g.sums[at%maxEarly].size), len(b))
	if err := g.same(at, sumOf(b[:size]), "the stream", "by a datagram"); err != nil {
		c.in.streaming = false // it cannot go on
		return b, err
	}
	g.early--
	return b[size:], c.takeAhead()
}

// same compares a record with the one of the same position that came before.
func (g *datagramState) same(at protocol.Position, got recordSum, by, before string) error {
	if want := g.sums[at%maxEarly]; got != want {
		return differs(at, got, by, want, before)
	}
	return nil
}

func differs(at protocol.Position, got recordSum, by string, want recordSum, before string) error {
	return fmt.Errorf("lockstep: client: %w: record %d: got %v by %s, want %v, which came %s", record.ErrContent, at, got, by, want, before)
}
