package simulate

import (
	"encoding/binary"
	"fmt"

	"github.com/seed-49bee653/samestep/lockstep"
)

// A traced is the kind of a moment.
type traced byte

const (
	traceLog traced = iota + 1
	traceUp
	traceDown
	traceFault
	traceEvent
)

// A moment is one event of a run.
type moment struct {
	at   lockstep.Time
	of   traced
	who  int
	size int
	what string
	head [8]byte
}

func (m *moment) String() string {
	s := fmt.Sprintf("%10.6f s  ", float64(m.at)/float64(lockstep.Second))
	switch m.of {
	case traceLog:
		return s + fmt.Sprintf("log        record of %d bytes %x", m.size, m.head[:min(m.size, len(m.head))])
	case traceUp:
		return s + fmt.Sprintf("client %-3d sends %d bytes %x", m.who, m.size, m.head[:min(m.size, len(m.head))])
	case traceDown:
		return s + fmt.Sprintf("client %-3d is sent %d bytes %x", m.who, m.size, m.head[:min(m.size, len(m.head))])
	case traceFault:
		return s + fmt.Sprintf("fault      %s, client %d", m.what, m.who)
	}
	return s + m.what
}

// note adds a message to the trace.
func (w *world) note(of traced, who int, b []byte) {
	s := w.scratch[:]
	binary.LittleEndian.PutUint64(s, uint64(w.now))
	s[8], s[9] = byte(of), byte(who)
	binary.LittleEndian.PutUint32(s[10:], uint32(len(b)))
	w.hash.Write(s[:14])
	w.hash.Write(b)
	m := &w.recent[w.moments%len(w.recent)]
	w.moments++
	*m = moment{at: w.now - w.start, of: of, who: who, size: len(b)}
	copy(m.head[:], b)
}

func (w *world) remember(of traced, who, size int, what string) {
	w.recent[w.moments%len(w.recent)] = moment{at: w.now - w.start, of: of, who: who, size: size, what: what}
	w.moments++
}
