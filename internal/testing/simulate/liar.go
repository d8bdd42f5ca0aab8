package simulate

import (
	"math/rand/v2"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
)

// A liar changes, adds and withholds messages of its client. Faults select what it
// does.
type liar struct {
	m        *machine
	random   *rand.Rand
	reader   protocol.Reader
	writer   protocol.Writer
	msg      protocol.Message
	out      []byte
	until    [tricks]lockstep.Time // end of each trick
	next     lockstep.Time         // when it acts next
	withheld [][]byte              // by trickDelay
	late     []arrival             // delayed acks and pongs
	seq      lockstep.Sequence     // the highest of its client
	old      [][]byte              // messages of earlier connections
}

// A trick is an action of a liar.
type trick int

const (
	trickLie      trick = iota // other checksums than its state has
	trickMute                  // no checksums
	trickOmit                  // some commands are left out
	trickRepeat                // everything twice, and messages of earlier connections
	trickWithhold              // no states
	trickDelay                 // everything is delayed
	trickSecond                // other checksums than its state has at every second check
	trickPace                  // late acks and pongs
	trickForge                 // impossible commands and reports
	trickFlood                 // hundreds of messages a second
	trickGarbage               // malformed bytes
	trickSync                  // requests for keyframes without end
	trickChat                  // chat without end
	trickAck                   // acks of records that it does not have
	trickReady                 // ready and not ready, without end
	tricks
)

var trickNames = [tricks]string{"lie", "mute", "omit", "repeat", "withhold", "delay", "every second check", "pace", "forge", "flood", "garbage", "sync flood", "chat flood", "false ack", "ready flood"}

func newLiar(m *machine) *liar {
	return &liar{m: m, random: stream(m.w.plan.Seed, "liar", m.index), next: never}
}

func (l *liar) on(t trick) bool { return l.until[t] > l.m.w.now }

// begin starts a trick.
func (l *liar) begin(t trick, d lockstep.Time) {
	l.until[t] = l.m.w.now + d
	l.next = l.m.w.now
	l.m.touch()
}

// say sends the messages of the client, or changed ones.
func (l *liar) say(b []byte) {
	l.out = l.out[:0]
	for len(b) > 0 {
		before := b
		rest, err := l.reader.Read(&l.msg, b)
		if err != nil {
			l.m.w.fail("I10", "a client sent bytes that are no message: %v", err)
			return
		}
		b = rest
		l.message(before[:len(before)-len(rest)])
	}
	if len(l.out) == 0 {
		return
	}
	if l.on(trickDelay) {
		l.withheld = append(l.withheld, append([]byte(nil), l.out...))
		l.m.w.count("trick: delay")
		return
	}
	l.send(l.out)
	if l.on(trickRepeat) {
		l.send(l.out)
		l.m.w.count("trick: repeat")
		if len(l.old) > 0 {
			l.send(l.old[l.random.IntN(len(l.old))])
		}
	}
	if len(l.old) < 8 {
		l.old = append(l.old, append([]byte(nil), l.out...))
	}
}

func (l *liar) send(b []byte) {
	if l.m.wire != nil {
		l.m.send(b)
	}
}

// message handles one message of the client.
func (l *liar) message(b []byte) {
	switch l.msg.Kind {
	case protocol.KindChecksum:
		if l.on(trickMute) {
			l.m.w.count("trick: mute")
			return
		}
		if l.on(trickLie) && l.random.IntN(4) > 0 {
			l.msg.Hash ^= 1 << l.random.IntN(64)
			l.out = l.writer.Append(l.out, &l.msg)
			l.m.w.count("trick: lie")
			return
		}
		if l.on(trickSecond) && l.turn() {
			l.msg.Hash ^= 1
			l.out = l.writer.Append(l.out, &l.msg)
			l.m.w.count("trick: every second check")
			return
		}
	case protocol.KindState:
		if l.on(trickWithhold) {
			l.m.w.count("trick: withhold")
			return
		}
		if l.m.w.relay.on && l.on(trickLie) && len(l.msg.Bytes) > 0 {
			l.msg.Bytes[l.random.IntN(len(l.msg.Bytes))] ^= 1 // b is not sent
			l.out = l.writer.Append(l.out, &l.msg)
			l.m.w.count("trick: a false state")
			return
		}
	case protocol.KindFlight:
		if l.on(trickWithhold) {
			l.m.w.count("trick: withhold")
			return
		}
		if l.on(trickLie) && len(l.msg.Bytes) > 0 {
			l.flight(b)
			return
		}
	case protocol.KindResimulated:
		if l.on(trickWithhold) {
			l.m.w.count("trick: withhold")
			return
		}
		if l.on(trickLie) && l.random.IntN(4) == 0 {
			l.msg.Tick, l.msg.Hash = l.msg.Tick+lockstep.Tick(l.random.IntN(8)/7), l.msg.Hash^1<<l.random.IntN(64)
			l.out = l.writer.Append(l.out, &l.msg)
			l.m.w.count("trick: computed again otherwise")
			return
		}
	case protocol.KindAck, protocol.KindPong:
		if l.on(trickPace) {
			l.late = append(l.late, arrival{l.m.w.now + 2500*lockstep.Millisecond, append([]byte(nil), b...)})
			l.next = min(l.next, l.late[0].at)
			l.m.w.count("trick: pace")
			return
		}
	case protocol.KindCommand:
		l.seq = max(l.seq, l.msg.Sequence)
		if l.on(trickOmit) && l.random.IntN(2) == 0 {
			l.m.w.count("trick: omit")
			return
		}
	}
	l.out = append(l.out, b...)
}

// flight sends a part of a record that lies, is torn, of another match, or too large; or it sends the part twice.
func (l *liar) flight(b []byte) {
	switch n := l.random.IntN(20); {
	case n < 6:
		l.msg.Bytes[l.random.IntN(len(l.msg.Bytes))] ^= 1 << l.random.IntN(8) // b is not sent
	case n < 12:
		l.msg.Bytes = l.msg.Bytes[:1+l.random.IntN(len(l.msg.Bytes))]
		l.msg.Total = l.msg.Offset + uint32(len(l.msg.Bytes))
	case n < 16:
		l.msg.Bytes[min(3, len(l.msg.Bytes)-1)]++ // of the match's id, in the first part
	case n < 17: // malformed
		l.msg.Total = protocol.MaxFlight + 1
	default:
		l.out = append(l.out, b...)
	}
	l.out = l.writer.Append(l.out, &l.msg)
	l.m.w.count("trick: a false record")
}

// turn reports whether a liar lies at a check. It tells the truth at one check at
// least before each lie, and several liars take turns.
func (l *liar) turn() bool {
	n := max(2, len(l.m.w.plan.liars()))
	return (int(l.msg.Tick)/int(l.m.w.plan.Settings.CheckEvery)+l.m.index)%n == 0
}

// act does the actions of the liar that are due.
func (l *liar) act() {
	w := l.m.w
	if l.next > w.now {
		return
	}
	l.next = never
	if len(l.withheld) > 0 && !l.on(trickDelay) {
		for _, b := range l.withheld {
			l.send(b)
		}
		l.withheld = nil
	}
	if l.m.wire == nil {
		l.late = nil
	}
	for len(l.late) > 0 && l.late[0].at <= w.now {
		l.send(l.late[0].b)
		l.late = l.late[1:]
	}
	if len(l.late) > 0 {
		l.next = l.late[0].at
	}
	for t := trickForge; t < tricks; t++ {
		if !l.on(t) {
			continue
		}
		l.next = min(l.next, w.now+20*lockstep.Millisecond)
		if l.m.wire == nil || w.now < l.m.startedAt+lockstep.Second {
			continue
		}
		l.out = l.out[:0]
		l.perform(t)
		w.count("trick: " + trickNames[t])
	}
	if len(l.withheld) > 0 {
		l.next = min(l.next, l.until[trickDelay])
	}
}

func (l *liar) add(m protocol.Message) { l.out = l.writer.Append(l.out, &m) }

// perform performs a trick once.
func (l *liar) perform(t trick) {
	r := l.random
	switch t {
	case trickForge:
		l.add(protocol.Message{Kind: protocol.KindCommand, Sequence: l.seq + lockstep.Sequence(r.IntN(600)) - 100, Command: lockstep.Kind(r.IntN(5)), Bytes: noise(r, 40)})
		l.add(protocol.Message{Kind: protocol.KindChecksum, Tick: lockstep.Tick(r.IntN(1 << 14)), Hash: r.Uint64()})
		l.add(protocol.Message{Kind: protocol.KindState, Tick: lockstep.Tick(r.IntN(1 << 14)), Total: uint32(r.IntN(100)), Bytes: noise(r, 50)})
		l.add(protocol.Message{Kind: protocol.KindResimulated, Tick: lockstep.Tick(r.IntN(1 << 14)), Hash: r.Uint64()})
		l.add(protocol.Message{Kind: protocol.KindFlight, Tick: lockstep.Tick(r.IntN(1 << 14)), Total: 100, Bytes: noise(r, 50)})
		l.add(protocol.Message{Kind: protocol.KindPhases, Tick: lockstep.Tick(r.IntN(1 << 14)), Names: []string{string(noise(r, 20))}, Sections: []uint64{r.Uint64()}})
	case trickFlood:
		for range 40 {
			l.add(protocol.Message{Kind: protocol.KindCommand, Sequence: l.seq + lockstep.Sequence(r.IntN(100)), Command: 1, Bytes: noise(r, 600)})
		}
	case trickGarbage:
		if r.IntN(20) == 0 {
			l.out = append(l.out, noise(r, 60)...)
		}
	case trickSync:
		l.add(protocol.Message{Kind: protocol.KindStateSyncRequest})
	case trickChat:
		l.add(protocol.Message{Kind: protocol.KindChat, Text: string([]rune("a\u20ac\U0001f600\x1b[2J")[:r.IntN(7)])})
	case trickAck:
		l.add(protocol.Message{Kind: protocol.KindAck, Position: protocol.Position(r.IntN(3000)), Tick: lockstep.Tick(r.IntN(3000))})
	case trickReady:
		for range 10 {
			l.add(protocol.Message{Kind: protocol.KindReady, Ready: r.IntN(2) == 0})
		}
	}
	if len(l.out) > 0 {
		l.send(l.out)
	}
}

// noise returns up to n random bytes.
func noise(r *rand.Rand, n int) []byte {
	b := make([]byte, r.IntN(n)+1)
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	return b
}
