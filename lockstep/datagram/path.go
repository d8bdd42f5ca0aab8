package datagram

import (
	"fmt"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

// A Path is what one side knows of the datagrams of one connection: what it has sent and received, how long an answer
// takes, and how many are lost. The zero Path is ready.
type Path struct {
	sent  uint32                   // the last number
	times [pathTimes]lockstep.Time // of the latest numbers, at number % pathTimes

	got Head   // Seen and Count of what has arrived; Number is not used
	had uint64 // bit i: number got.Seen-i has arrived
	gap uint32 // the last number that arrived after a gap

	acked uint32 // the highest of our numbers that has arrived there
	count uint32 // how many have

	out, in losses // of ours, and of those of the other side

	rtt    lockstep.Time // from a datagram to its acknowledgement, smoothed; 0 if unknown
	jitter lockstep.Time // its mean deviation
}

const (
	pathTimes = 64 // numbers whose time of sending is kept

	// lossSpan is how many datagrams one measurement of the loss covers at least.
	lossSpan = 32

	// cleanRun is how many datagrams arrive one after the other until acknowledgements may wait for a second one, and longRun until
	// they wait for a fourth.
	cleanRun = 16
	longRun  = 128

	// ackWait is how long an acknowledgement may wait for a second datagram, and longAckWait for a fourth. With a round trip that stays
	// below the patience of the sender, so that no path looks dead.
	ackWait     = 100 * lockstep.Millisecond
	longAckWait = 200 * lockstep.Millisecond

	// slowPath is how much longer than twice that of the stream a round trip may be.
	slowPath = 150 * lockstep.Millisecond

	// firstOverdue is what overdue returns until the round trip is known.
	firstOverdue = 250 * lockstep.Millisecond

	// sparePatience is how much later an acknowledgement may come than it should at the latest, and maxPatience the most patience.
	sparePatience = 125 * lockstep.Millisecond
	maxPatience   = 1200 * lockstep.Millisecond

	// deadTime is how long a path acknowledges nothing until it counts as gone.
	deadTime = 2 * lockstep.Second
)

// Next returns the head of a datagram that is sent now, and false if no number is left.
func (p *Path) Next(now lockstep.Time) (Head, bool) {
	if p.sent == 1<<32-1 {
		return Head{}, false
	}
	p.sent++
	p.times[p.sent%pathTimes] = now
	return Head{Number: p.sent, Seen: p.got.Seen, Count: p.got.Count}, true
}

// Take takes the head of a datagram that has arrived. newest says that no later number has arrived before: what an older or
// repeated one says of the present is void. An acknowledgement of what was never sent, or of less than before, is an error.
func (p *Path) Take(now lockstep.Time, h *Head) (newest bool, err error) {
	if h.Seen > p.sent {
		return false, fmt.Errorf("lockstep: datagram: %w: got an acknowledgement of number %d, want at most %d", record.ErrOutOfPlace, h.Seen, p.sent)
	}
	if h.Number <= p.got.Seen {
		if back := p.got.Seen - h.Number; back < 64 && p.had&(1<<back) == 0 {
			p.had |= 1 << back
			p.got.Count++
		}
		return false, nil
	}
	if h.Seen < p.acked || h.Count < p.count || h.Count-p.count > h.Seen-p.acked+64 {
		return false, fmt.Errorf("lockstep: datagram: %w: got an acknowledgement of %d numbers to %d after one of %d to %d",
			record.ErrOutOfPlace, h.Count, h.Seen, p.count, p.acked)
	}
	if h.Number > p.got.Seen+1 {
		p.gap = h.Number
	}
	p.had = p.had<<min(64, h.Number-p.got.Seen) | 1
	p.got.Seen = h.Number
	p.got.Count++
	if h.Seen > p.acked {
		p.ack(now, h.Seen)
	}
	p.count = h.Count
	p.out.measure(p.acked, p.count)
	p.in.measure(p.got.Seen, p.got.Count)
	return true, nil
}

// ack takes an acknowledgement of number n and measures the round trip, as TCP does (RFC 6298).
func (p *Path) ack(now lockstep.Time, n uint32) {
	p.acked = n
	if p.sent-n >= pathTimes {
		return
	}
	rtt := max(now-p.times[n%pathTimes], 1)
	if p.rtt == 0 {
		p.rtt, p.jitter = rtt, rtt/2
		return
	}
	off := rtt - p.rtt
	p.jitter += (max(off, -off) - p.jitter) / 4
	p.rtt = max(p.rtt+off/8, 1)
}

// losses are those of one direction.
type losses struct {
	seen, count uint32 // the highest number and how many had arrived when they were measured last
	loss        uint32 // lost datagrams of a million, smoothed
	lost        uint32 // since the beginning
	bad         uint32 // seen when some were lost last
	worst       uint32 // seen when worstLoss was last
}

// measure updates the losses, after lossSpan numbers.
func (l *losses) measure(seen, count uint32) {
	span := seen - l.seen
	if span < lossSpan {
		return
	}
	lost := span - min(count-l.count, span) // late ones are counted now, and were lost before
	sample := uint32(uint64(lost) * 1_000_000 / uint64(span))
	switch {
	case l.seen == 0:
		l.loss = sample
	case sample >= l.loss:
		l.loss += (sample - l.loss) / 4
	default:
		l.loss -= (l.loss - sample + 3) / 4
	}
	if lost > 0 {
		l.bad = seen
	}
	if l.loss >= worstLoss {
		l.worst = seen
	}
	l.seen, l.count, l.lost = seen, count, l.lost+lost
}

// Flows reports whether the other side acknowledges what it is sent, and not much later than it would answer over the stream,
// whose round trip is given, or 0: what a datagram carries need not hurry over the stream.
func (p *Path) Flows(now, stream lockstep.Time) bool {
	slow := stream > 0 && p.rtt > 2*stream+slowPath
	return p.acked > 0 && now <= p.flowsTo() && !slow
}

// Alive reports whether the path may be only bad, and not gone: datagrams go on as if it flowed.
func (p *Path) Alive(now lockstep.Time) bool { return p.acked > 0 && now <= p.until(deadTime) }

// flowsTo returns until when the path counts as flowing, unless an acknowledgement comes.
func (p *Path) flowsTo() lockstep.Time { return p.until(p.patience()) }

// until returns when the oldest datagram without an acknowledgement is older than a time.
func (p *Path) until(patience lockstep.Time) lockstep.Time {
	switch n := p.sent - p.acked; {
	case n == 0:
		return 1 << 62
	case n >= pathTimes:
		return 0
	}
	return p.times[(p.acked+1)%pathTimes] + patience
}

// patience returns how long an acknowledgement may take.
func (p *Path) patience() lockstep.Time {
	return min(max(2*p.rtt+4*p.jitter, p.rtt+longAckWait+sparePatience), maxPatience)
}

// ResendAfter is the time after which a new record or command is sent again where datagrams are lost: with the next frame it would
// be late by a tick.
const ResendAfter = 8 * lockstep.Millisecond

// Lost datagrams of a million.
const (
	someLoss  = 2000   // from here on resends is 1
	highLoss  = 50_000 // and from here on 2, because one burst of losses can take two copies
	worstLoss = 70_000 // and then 2 for worstRun more datagrams, because between bursts nothing is lost
	worstRun  = 1024
)

// resends returns how often a new record or command is sent again at once, each time after ResendAfter.
func (p *Path) resends() int {
	switch {
	case p.out.loss >= highLoss, p.out.worst > 0 && p.out.seen-p.out.worst < worstRun:
		return 2
	case p.out.loss >= someLoss:
		return 1
	}
	return 0
}

// overdue returns after how long without an acknowledgement a record or command is sent again in any case. waits says that the other
// side lets acknowledgements wait where nothing is lost.
func (p *Path) overdue(waits bool) lockstep.Time {
	switch {
	case p.rtt == 0:
		return firstOverdue
	case waits && p.out.seen-p.out.bad >= longRun/2: // before the other side begins to wait so long
		return p.rtt + 2*p.jitter + longAckWait
	}
	return p.rtt + 2*p.jitter
}

// Lateness returns how long most datagrams take to arrive: half the round trip, and twice its mean deviation. It is 0 if they are
// unknown.
func (p *Path) Lateness() lockstep.Time { return p.rtt/2 + 2*p.jitter }

// ackEvery returns how many datagrams one acknowledgement tells of, and how long it may wait for the others. Just after a loss
// it does not wait: the other side then knows at once what to send again.
func (p *Path) ackEvery() (datagrams int, wait lockstep.Time) {
	switch run := p.got.Seen - p.gap; {
	case run < cleanRun:
		return 1, 0
	case run < longRun:
		return 2, ackWait
	}
	return 4, longAckWait
}

// Loss returns how many datagrams of a million are lost on their way to the other side.
func (p *Path) Loss() uint32 { return p.out.loss }

// LossIn returns how many of a million are lost on their way from there.
func (p *Path) LossIn() uint32 { return p.in.loss }

// Lost returns how many have been lost on their way to the other side, as far as it has said so.
func (p *Path) Lost() uint32 { return p.out.lost }

// The copies of a record, one in each datagram, so that at most one of rareLoss records is in none that arrives.
const (
	minCopies = 2
	maxCopies = 8
	rareLoss  = 10_000
)

// Copies returns in how many datagrams a record or a command is sent without waiting for an acknowledgement. Two are the least: with
// one, a first loss would cost a round trip.
func (p *Path) Copies() int {
	n := minCopies
	loss := uint64(p.out.loss)
	lost := loss * loss / 1_000_000 // of a million, in all of n datagrams
	for ; n < maxCopies && lost > 1_000_000/rareLoss; n++ {
		lost = lost * loss / 1_000_000
	}
	return n
}
