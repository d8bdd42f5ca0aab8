package follow

import "github.com/seed-49bee653/samestep/lockstep"

// A tape keeps the commands of the latest ticks, so that they can be run again.
type tape struct {
	after    lockstep.Tick // the commands of all later ticks are here
	commands []taped       // from head on, in canonical order
	head     int
	payloads backlog // of these commands
}

// A taped command is a command without its payload.
type taped struct {
	tick     lockstep.Tick
	sequence lockstep.Sequence
	size     uint32 // of the payload
	kind     lockstep.Kind
	player   lockstep.Player
}

// The sizes of a taped command and of a command, in bytes.
const (
	tapedBytes   = 16
	commandBytes = 64
)

// begin forgets everything. The next frame is that of tick t+1.
func (t *tape) begin(tick lockstep.Tick) {
	t.after, t.head, t.commands = tick, 0, t.commands[:0]
	t.payloads.clear()
}

// add keeps the commands of a frame. With more than max bytes it forgets the oldest ticks.
func (t *tape) add(f *lockstep.Frame, max int) {
	if t.head > 0 && t.head >= len(t.commands)/2 {
		t.commands = t.commands[:copy(t.commands, t.commands[t.head:])]
		t.head = 0
	}
	for i := range f.Commands {
		c := &f.Commands[i]
		t.commands = append(t.commands, taped{c.Tick, c.Sequence, uint32(len(c.Payload)), c.Kind, c.Player})
		t.payloads.push(c.Payload)
	}
	for t.payloads.len()+tapedBytes*(len(t.commands)-t.head) > max {
		t.forget(t.commands[t.head].tick)
	}
}

// forget drops the commands up to a tick.
func (t *tape) forget(tick lockstep.Tick) {
	if tick <= t.after {
		return
	}
	t.after = tick
	size := 0
	for ; t.head < len(t.commands) && t.commands[t.head].tick <= tick; t.head++ {
		size += int(t.commands[t.head].size)
	}
	t.payloads.pop(size)
}

// since returns copies of the commands of the ticks from+1 to to, and false if some of them are forgotten.
func (t *tape) since(from, to lockstep.Tick) ([]lockstep.Command, bool) {
	if from < t.after {
		return nil, false
	}
	payloads := append([]byte(nil), t.payloads.bytes()...)
	var all []lockstep.Command
	for _, c := range t.commands[t.head:] {
		payload := payloads[:c.size:c.size]
		payloads = payloads[c.size:]
		if c.tick > from && c.tick <= to {
			all = append(all, lockstep.Command{Tick: c.tick, Player: c.player, Sequence: c.sequence, Kind: c.kind, Payload: payload})
		}
	}
	return all, true
}

// memory returns the bytes that the tape holds.
func (t *tape) memory() int { return cap(t.payloads.buf) + tapedBytes*cap(t.commands) }

// A backlog is a queue of bytes: the records that have arrived and are yet to be run.
type backlog struct {
	buf  []byte
	head int
}

// keepBacklog is how much memory an empty backlog keeps.
const keepBacklog = 64 << 10

func (q *backlog) len() int { return len(q.buf) - q.head }

// bytes returns the content of the queue. It is valid until the next push.
func (q *backlog) bytes() []byte { return q.buf[q.head:] }

func (q *backlog) push(b []byte) {
	if q.head > 0 && q.head >= len(q.buf)/2 {
		q.buf = q.buf[:copy(q.buf, q.buf[q.head:])]
		q.head = 0
	}
	q.buf = append(q.buf, b...)
}

func (q *backlog) pop(n int) {
	q.head += n
	if q.head == len(q.buf) {
		q.clear()
	}
}

func (q *backlog) clear() {
	q.buf, q.head = q.buf[:0], 0
	if cap(q.buf) > keepBacklog {
		q.buf = nil
	}
}
