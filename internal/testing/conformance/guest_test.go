package conformance

import (
	"encoding/hex"
	"errors"
	"slices"

	"github.com/seed-49bee653/samestep/checksum"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

// A guest is a scripted client. By default it follows the stream, sends acks, answers pings
// and reports checksums.
type guest struct {
	p      *play
	conn   int
	closed string // the reason; "" while the connection is open

	mute     bool // sends no acks
	silent   bool // reports no checksums
	deaf     bool // answers no pings
	lies     bool // reports wrong checksums
	observer bool // does not simulate
	forgets  bool // cannot compute ticks again
	quiet    bool // sends nothing by itself
	lost     bool // receives nothing
	viewer   bool // gets views

	welcome  protocol.Welcome
	session  []byte
	follower *lockstep.Follower
	sync     []byte
	position uint64
	tick     lockstep.Tick
	acked    lockstep.Tick
	states   map[lockstep.Tick][]byte
	sequence uint64
	reader   protocol.Reader
}

// raw sends messages in one WebSocket message.
func (g *guest) raw(messages ...[]byte) {
	b := slices.Concat(messages...)
	g.p.input("client", Step{Conn: g.conn, Hex: hex.EncodeToString(b), Says: contents(b)})
}

func (g *guest) say(values ...any) { g.raw(recordBytes(values...)) }

func (g *guest) cut() { g.p.input("client", Step{Conn: g.conn, Do: "cut"}); g.closed = "cut" }

// command sends the next command.
func (g *guest) command(kind int, payload []byte) {
	g.sequence++
	g.say(33, g.sequence, kind, payload)
}

func (g *guest) add(coins int) { g.command(kindAdd, addPayload(coins)) }

func (g *guest) ack() {
	g.acked = g.tick
	g.say(40, g.position, uint64(g.tick))
}

// report reports the checksum of a tick.
func (g *guest) report(t lockstep.Tick) {
	sum, ok := g.follower.Sum(t)
	if !ok {
		return
	}
	sections := array{}
	for _, s := range sum.Sections {
		sections = append(sections, s)
	}
	root := sum.Hash
	if g.lies {
		root++
		sections[1] = sum.Sections[1] + 1
	}
	g.say(34, uint64(t), root, sections)
}

// take handles a step of the server.
func (g *guest) take(step *Step) error {
	if step.Do != "" {
		g.closed = step.About
	}
	if step.Do != "" || g.lost {
		return nil
	}
	b, err := hex.DecodeString(step.Hex)
	for err == nil && len(b) > 0 {
		if protocol.IsRecord(b) {
			n, _ := valueSize(b)
			if err = g.recordBytes(b[:n]); err == nil {
				b = b[n:]
			}
			continue
		}
		var m protocol.Message
		if b, err = g.reader.Read(&m, b); err == nil {
			err = g.message(&m)
		}
	}
	if err == nil && !g.mute && !g.quiet && g.follower != nil && g.closed == "" && g.tick >= g.acked+lockstep.Tick(max(1, g.welcome.AckEvery)) {
		g.ack()
	}
	return err
}

func (g *guest) message(m *protocol.Message) error {
	switch m.Kind {
	case protocol.KindWelcome:
		g.welcome = *m.Welcome
		g.session = slices.Clone(m.Welcome.Session[:])
		g.sequence = max(g.sequence, uint64(m.Welcome.LastSequence))
		if m.Welcome.Resumed && !g.mute {
			g.ack()
		}
	case protocol.KindStateSync:
		if m.Offset == 0 {
			g.sync = nil
		}
		if g.sync = append(g.sync, m.Bytes...); len(g.sync) == int(m.Total) {
			return g.begin(m)
		}
	case protocol.KindPing:
		if !g.deaf && !g.quiet {
			g.say(54, m.Nonce, uint64(g.tick))
		}
	case protocol.KindStateRequest:
		if !g.quiet {
			g.answer(m.Tick)
		}
	case protocol.KindViewDelta:
		if !g.mute && int(m.Offset)+len(m.Bytes) == int(m.Total) {
			g.say(45, m.View, uint64(m.Tick))
		}
	case protocol.KindFlightRequest:
		if record := []byte("a record"); !g.quiet {
			g.say(47, uint64(m.Tick), 0, len(record), record[:5])
			g.say(47, uint64(m.Tick), 5, len(record), record[5:])
		}
	case protocol.KindResimulate:
		g.again(m)
	}
	return nil
}

// answer sends the state of a tick.
func (g *guest) answer(t lockstep.Tick) {
	state := g.states[t]
	if g.observer {
		state = nil
	}
	half := len(state) / 2
	if half == 0 {
		g.say(35, uint64(t), 0, 0, []byte{})
		return
	}
	g.say(35, uint64(t), 0, len(state), state[:half])
	g.say(35, uint64(t), half, len(state), state[half:])
}

// again answers a request to compute ticks again with what the guest has kept.
func (g *guest) again(m *protocol.Message) {
	if g.quiet {
		return
	}
	if g.forgets {
		g.say(43, 0, 0, 0, array{})
		return
	}
	if m.State {
		g.answer(m.Tick)
		return
	}
	for t := m.From + 1; t <= m.Tick; t++ {
		var sum checksum.Sum
		if err := checksum.OfBytes(&sum, game().StateSchema(), g.states[t]); err != nil {
			g.say(43, 0, 0, 0, array{})
			return
		}
		sections := array{}
		for _, s := range sum.Sections {
			sections = append(sections, s)
		}
		g.say(43, uint64(t), sum.Hash, sum.Hash, sections)
	}
}

// begin restarts with a complete sync.
func (g *guest) begin(m *protocol.Message) error {
	g.follower = g.p.game().NewFollower(lockstep.FollowerOptions{})
	for b := g.sync; len(b) > 0; {
		n, ok := valueSize(b)
		if !ok {
			return record.ErrMalformed
		}
		if err := g.follower.Append(b[:n]); err != nil {
			return err
		}
		b = b[n:]
	}
	g.position, g.tick = uint64(m.Position), m.Tick
	g.states = map[lockstep.Tick][]byte{}
	if !g.mute && !g.quiet {
		g.ack()
	}
	return nil
}

func (g *guest) recordBytes(b []byte) error {
	if g.viewer {
		return nil
	}
	g.position++
	err := g.follower.Append(b)
	if differs := (*lockstep.DesyncError)(nil); errors.As(err, &differs) {
		err = nil // the log says that the referee was wrong
	}
	kind := record.KindOf(b)
	if err != nil || kind != record.KindFrame && kind != record.KindEmpty {
		return err
	}
	g.tick = g.follower.Tick()
	g.states[g.tick] = g.follower.Simulation().AppendState(nil)
	if g.tick%lockstep.Tick(g.p.t.Match.CheckEvery) != 0 {
		return nil
	}
	if !g.silent && !g.quiet && !g.observer {
		g.report(g.tick)
	}
	return nil
}

// wrongState changes the guest's state of a tick and returns its checksum, as if the guest
// had computed it.
func (g *guest) wrongState(t lockstep.Tick) checksum.Sum {
	state := g.states[t]
	state[4+4]++ // the coins of seat 0
	var sum checksum.Sum
	if err := checksum.OfBytes(&sum, game().StateSchema(), state); err != nil {
		panic(err) // any coins are coins
	}
	return sum
}
