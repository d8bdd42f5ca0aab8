package lockstep

import "slices"

// Evidence is what a Host collects about a desync.
type Evidence struct {
	Report       DesyncReport
	Participants []Participant

	// Exhibits are the states of the last checked tick at which the player
	// agreed, if there is one, and of the first one at which it differed.
	Exhibits []Exhibit

	// Commands are those of the ticks after the agreed one up to the one
	// reported, as far back as the ring reaches, in canonical order.
	Commands []Command
}

// An Exhibit is both sides' state of one tick, in canonical bytes.
type Exhibit struct {
	Tick    Tick
	Referee []byte // nil if it is not kept any more, or there is no referee
	Player  []byte // nil if the player did not send it; it may be anything

	// Root is the checksum of the player's state, if the bytes are canonical.
	Root uint64
}

// A Participant is who takes part in a match, as it says of itself.
type Participant struct {
	Player   Player // System for a spectator
	Name     string
	Build    string
	Platform string
}

func (h *Host) participants() []Participant {
	var all []Participant
	for i := range h.seats {
		if p := h.seats[i].peer; p != nil {
			all = append(all, Participant{Player(i), p.name, p.build, p.platform})
		}
	}
	return all
}

func (h *Host) deliver(e *Evidence) {
	if h.options.Evidence != nil {
		//samestep:allow unseen an observer, from which nothing comes back
		h.options.Evidence(e)
	}
}

// An inquiry asks one client for states, and collects them.
type inquiry struct {
	peer     *peer
	exhibits []Exhibit // what was asked for
	at       int       // the one that is coming
	buf      []byte
	deadline Time
	evidence *Evidence // nil if a joiner in relay mode waits for the state
	remove   bool      // the peer is removed afterwards
}

// inquire collects evidence about a desync. Only one is collected at a time;
// what happens meanwhile is delivered without the player's states.
func (h *Host) inquire(r *DesyncReport, p *peer) {
	e := &Evidence{Report: *r, Participants: h.participants(), Commands: h.commands(r.Agreed, r.Tick)}
	e.Report.Groups = slices.Clone(r.Groups)
	for _, t := range []Tick{r.Agreed, r.Tick} {
		if t > 0 {
			e.Exhibits = append(e.Exhibits, h.exhibit(t))
		}
	}
	if p == nil || h.inquiry != nil || h.options.Evidence == nil {
		h.deliver(e)
		return
	}
	h.begin(&inquiry{peer: p, exhibits: e.Exhibits, evidence: e})
}

// exhibit returns the referee's side.
func (h *Host) exhibit(t Tick) Exhibit {
	e := Exhibit{Tick: t}
	if h.c.referee != nil {
		if m := h.c.referee.history.find(t); m != nil {
			e.Referee = slices.Clone(m.State)
		}
	}
	return e
}

// begin sends the requests of an inquiry.
func (h *Host) begin(q *inquiry) {
	h.inquiry = q
	q.deadline = h.now + inquiryTimeout
	q.peer.asked = true
	h.wakeAt(q.deadline)
	for i := range q.exhibits {
		h.message = Message{Kind: MessageStateRequest, Tick: q.exhibits[i].Tick}
		h.private(q.peer, &h.message)
	}
}

// inquiryTimeout is how long all states of an inquiry may take to come.
const inquiryTimeout = 10 * Second

// state takes a chunk of a state that was asked for.
func (h *Host) state(p *peer, m *Message) {
	q := h.inquiry
	if q == nil || q.peer != p || m.Tick != q.exhibits[q.at].Tick {
		h.offend(p, 0, "") // too late, or not asked for
		return
	}
	size := uint32(len(q.buf))
	switch {
	case m.Total == 0 || m.Total > uint32(h.options.MaxEvidence):
		h.next(q)
		return
	case m.Offset != size || len(m.Bytes) == 0:
		h.malformed(p, "a chunk of a state out of order")
		return
	}
	q.buf = append(q.buf, m.Bytes...)
	if m.Offset+uint32(len(m.Bytes)) == m.Total {
		e := &q.exhibits[q.at]
		e.Player, q.buf = q.buf, nil
		e.Root, _ = h.rootOf(e.Player)
		h.next(q)
	}
}

// next goes on with the next state, or ends the inquiry.
func (h *Host) next(q *inquiry) {
	q.buf = nil
	if q.at++; q.at == len(q.exhibits) {
		h.conclude(q)
	}
}

// conclude ends an inquiry with what has come.
func (h *Host) conclude(q *inquiry) {
	h.inquiry, q.peer.asked = nil, false
	if q.remove {
		h.close(q.peer, CloseKicked, differs)
	}
	if q.evidence != nil {
		h.deliver(q.evidence)
		return
	}
	h.adopt(q.exhibits[0].Tick, q.exhibits[0].Player, q.exhibits[0].Root)
}

// inquiryTime ends an inquiry that takes too long.
func (h *Host) inquiryTime() {
	q := h.inquiry
	if q == nil {
		return
	}
	if q.peer.state == Closed || h.now >= q.deadline {
		h.conclude(q)
		return
	}
	h.wakeAt(q.deadline)
}

// commands returns the commands of the ticks after one up to another, as far
// back as the ring reaches.
func (h *Host) commands(from, to Tick) []Command {
	all, _ := h.commandsSince(from, to)
	return all
}

// frames returns the frames of the ticks after one up to another, or nil if the
// ring has not all of them any more.
func (h *Host) frames(from, to Tick) []Frame {
	commands, reached := h.commandsSince(from, to)
	if reached > from {
		return nil
	}
	all := make([]Frame, 0, to-from)
	for t := from + 1; t <= to; t++ {
		n := 0
		for n < len(commands) && commands[n].Tick == t {
			n++
		}
		all = append(all, Frame{Tick: t, Commands: commands[:n]})
		commands = commands[n:]
	}
	return all
}

// commandsSince returns the commands of the ticks after one up to another, and
// after which tick the ring has them.
//
// Sequences in the log are relative to the ones before, of which the ring may
// have lost some. But they add up to the present ones, which are known.
func (h *Host) commandsSince(from, to Tick) (all []Command, reached Tick) {
	enc := &h.c.enc.stream
	at, tick := h.ring.Next(), enc.tick
	for ; at > h.ring.First() && tick > from; at-- {
		if kind := KindOf(h.ring.Record(at - 1)); kind == RecordFrame || kind == RecordEmpty {
			tick--
		}
	}
	dec := Decoder{stream: stream{stage: running, tick: tick}}
	for ; at < h.ring.Next(); at++ {
		r, _, err := dec.Decode(slices.Clone(h.ring.Record(at)))
		if err != nil {
			panic(err) // our own record
		}
		if r.Kind == RecordFrame && r.Tick <= to {
			all = append(all, r.Frame.Commands...)
		}
	}
	for i := range all {
		c := &all[i]
		c.Sequence += enc.last[c.Player] - dec.last[c.Player]
	}
	return all, tick
}
