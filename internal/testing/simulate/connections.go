package simulate

import (
	"github.com/seed-49bee653/samestep/lockstep/host"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
)

// pump sends the host's messages.
func (s *server) pump() {
	s.take()
	for i := 0; i < len(s.ids); i++ { // a message can close a connection
		if wire := s.byID[s.ids[i]]; wire != nil {
			s.pull(wire)
			s.take()
		}
	}
	s.ids = s.ids[:0]
}

// pull sends the host's messages for one connection.
func (s *server) pull(wire *wire) {
	w := s.w
	s.pullDatagrams(wire)
	for wire.down.size < socketRoom {
		wire.full = false
		s.buf = s.host.Send(wire.id, s.buf[:0], protocol.MaxServerMessage)
		s.take()
		if len(s.buf) == 0 {
			s.edge(wire)
			if _, _, closed := s.host.Closed(wire.id); closed {
				s.drop(wire)
			}
			return
		}
		if s.owns() {
			w.barrier.sent(w, wire, s.buf)
		}
		wire.down.send(w.now, s.buf, &w.spare)
		w.budgets.sent(wire, s.buf)
		wire.touch()
	}
	wire.full = true
}

// drop closes a connection. Sent messages still arrive, and then the disconnect.
func (s *server) drop(wire *wire) {
	if wire.hostGone {
		return
	}
	s.host.Disconnect(s.w.now, wire.id)
	s.take()
	s.unplug(wire)
	wire.down.eof = true
	wire.path.end()
	s.w.step(host.Closed, wire)
}

// unplug forgets a connection.
func (s *server) unplug(wire *wire) {
	wire.hostGone = true
	delete(s.byID, wire.id)
	for i := range s.wires {
		if s.wires[i] == wire {
			s.wires = append(s.wires[:i], s.wires[i+1:]...)
			break
		}
	}
	wire.touch()
}

// touch makes the client or attacker compute again when it is due.
func (w *wire) touch() {
	if w.m != nil {
		w.m.touch()
	}
	if w.v != nil {
		w.v.at = 0
	}
}

// connect accepts a connection of a machine, or a stranger, from an address.
func (s *server) connect(m *machine, from string) *wire {
	if !s.ready() {
		return nil
	}
	id, ok := s.host.Connect(s.w.now, from)
	s.pump() // the host may have closed another connection for it
	if !ok {
		s.w.count("turned away")
		return nil
	}
	wire := &wire{id: id, server: s, epoch: s.epoch, m: m, from: from}
	s.byID[id] = wire
	s.wires = append(s.wires, wire)
	s.w.wires = append(s.w.wires, wire)
	return wire
}

// receive reads a message that arrives over a connection.
func (s *server) receive(wire *wire, b []byte) {
	s.w.relay.receive(s.w, wire.m, b)
	s.w.budgets.receive(wire, func() {
		s.host.Receive(s.w.now, wire.id, b)
		s.take()
	})
	s.w.relay.settled(s.w)
	s.edge(wire)
	s.after()
}

// lost handles a disconnect that has arrived.
func (s *server) lost(wire *wire) {
	s.host.Disconnect(s.w.now, wire.id)
	s.take()
	s.unplug(wire)
	wire.down.eof = true
	s.w.step(host.Closed, wire)
	s.after()
}

// edge follows the state of a connection.
func (s *server) edge(wire *wire) {
	if state, ok := s.host.Info().PeerState(wire.id); ok && state != wire.state {
		s.w.step(state, wire)
	}
}
