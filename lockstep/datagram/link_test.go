package datagram_test

import (
	"bytes"
	"math/rand/v2"
	"slices"

	"github.com/seed-49bee653/samestep/lockstep"
)

const ms = lockstep.Millisecond

// A link is one direction of a connection, in virtual time.
type link struct {
	rand   *rand.Rand
	delay  lockstep.Time
	jitter lockstep.Time
	loss   float64
	burst  int     // datagrams that are lost together; 0 or 1: each alone
	stream bool    // keeps the order, and sends what is lost again after a while, like TCP
	double float64 // the part that comes twice
	mtu    int     // larger ones are lost; 0: none is
	hole   bool    // all are lost
	queue  []flight
	last   lockstep.Time
	sizes  int // bytes of all, with the headers of packets
	n      int
	lost   int
	losing int // datagrams of the present burst that are still to be lost
}

type flight struct {
	at lockstep.Time
	b  []byte
}

func (l *link) send(now lockstep.Time, b []byte) {
	l.sizes += len(b) + 60
	l.n++
	if l.stream {
		at := now + l.delay
		for wait := 200 * ms; l.rand.Float64() < l.loss; wait *= 2 {
			at += wait
		}
		l.last = max(l.last, at)
		l.queue = append(l.queue, flight{l.last, bytes.Clone(b)})
		return
	}
	for again := true; again; again = l.rand.Float64() < l.double {
		if l.hole || l.mtu > 0 && len(b) > l.mtu || l.loses() {
			l.lost++
			continue
		}
		at := now + l.delay
		if l.jitter > 0 {
			at += lockstep.Time(l.rand.Int64N(int64(l.jitter)))
		}
		l.queue = append(l.queue, flight{at, bytes.Clone(b)})
	}
}

// loses reports whether the link loses the next datagram.
func (l *link) loses() bool {
	if l.losing > 0 {
		l.losing--
		return true
	}
	burst := max(l.burst, 1)
	lost := l.rand.Float64() < l.loss/float64(burst)
	if lost {
		l.losing = burst - 1
	}
	return lost
}

// take returns what arrives by now, or nil.
func (l *link) take(now lockstep.Time) []byte {
	first := -1
	for i := range l.queue {
		if l.queue[i].at <= now && (first < 0 || l.queue[i].at < l.queue[first].at) {
			first = i
		}
	}
	if first < 0 {
		return nil
	}
	b := l.queue[first].b
	l.queue = slices.Delete(l.queue, first, first+1)
	return b
}
