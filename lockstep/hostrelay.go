package lockstep

import "github.com/seed-49bee653/samestep/checksum"

// In relay mode there is no referee, so a late joiner's keyframe comes from a
// client: the state after a checked tick, from a client that reported the agreed
// checksum of it, and only if the state has that checksum. One liar cannot give
// a false state, as long as most reports are right.

// A moment is a checked tick from which a joiner could go on.
type moment struct {
	tick     Tick
	position Position // of the first record after its frame
	last     []LastSequence
}

// remember notes the moment of a checked tick that was just sealed.
func (h *Host) remember() {
	t := h.c.Now()
	if t%Tick(h.header.Settings.CheckEvery) != 0 {
		return
	}
	if h.moments == nil {
		h.moments = make([]moment, checkWindow)
	}
	m := h.momentOf(t)
	*m = moment{t, h.ring.Next(), h.c.enc.AppendLast(m.last[:0])}
}

func (h *Host) momentOf(t Tick) *moment {
	return &h.moments[t/Tick(h.header.Settings.CheckEvery)%checkWindow]
}

// seekState asks a client for the latest state that could be verified.
func (h *Host) seekState() {
	if h.inquiry != nil || h.moments == nil {
		return
	}
	every := Tick(h.header.Settings.CheckEvery)
	for t, i := h.c.Now()/every*every, 0; t > 0 && i < checkWindow; t, i = t-every, i+1 {
		k, m := h.c.checkOf(t), h.momentOf(t)
		if k.tick != t || k.verdict != agreed || m.tick != t || !h.ring.Has(m.position) {
			continue
		}
		if p := h.witness(k); p != nil {
			h.joins.asked = p.id
			h.begin(&inquiry{peer: p, exhibits: []Exhibit{{Tick: t}}})
			return
		}
	}
}

// witness returns a live player who reported the agreed checksum of a check,
// another one than was asked last if there is one.
func (h *Host) witness(k *check) *peer {
	var found *peer
	for i := range h.seats {
		p := h.seats[i].peer
		if p == nil || p.state != Live || !k.reports[i].given || k.reports[i].root != k.root {
			continue
		}
		if p.id > h.joins.asked {
			return p
		}
		if found == nil {
			found = p
		}
	}
	return found
}

// adopt makes a client's state the keyframe for joiners, if it is the agreed one.
func (h *Host) adopt(t Tick, state []byte, root uint64) {
	k, m := h.c.checkOf(t), h.momentOf(t)
	if state == nil || k.tick != t || k.verdict != agreed || k.root != root || m.tick != t || !h.ring.Has(m.position) {
		return // waitingTime asks again
	}
	h.shared = &keyframe{
		bytes: h.joins.encode(h.headerRecord, h.header, t, root, m.last, state),
		tick:  t, position: m.position, made: h.now,
	}
	h.stats.Keyframes++
}

// rootOf returns the checksum of a state in canonical bytes.
func (h *Host) rootOf(state []byte) (uint64, bool) {
	var sum checksum.Sum
	err := checksum.OfBytes(&sum, h.game.stateSchema, state)
	return sum.Root, err == nil
}

// blank notes that a player has no state of the match, or has one again: in relay
// mode nobody waits for its checksums meanwhile.
func (h *Host) blank(p *peer, blank bool) {
	if !h.options.Relay || p.seat == System {
		return
	}
	h.c.seats[p.seat].blank = blank
	if blank && h.c.Err() == nil {
		_ = h.c.settleComplete() // an error is the end of the match, which Advance notices
	}
}

// A claim is a checksum that a spectator has reported. In relay mode there may be
// no verdict on its tick yet.
type claim struct {
	tick Tick
	root uint64
}

// judge compares what a spectator has reported with the verdicts that there are
// by now, and returns the first tick at which it differs. There are never more
// claims than checks.
func (h *Host) judge(p *peer) (t Tick, differs bool) {
	left := p.claims[:0]
	for _, c := range p.claims {
		switch k := h.checkSeen(c.tick); {
		case k.tick != c.tick || k.verdict == tied:
		case k.verdict == open:
			left = append(left, c)
		case k.root == c.root:
			p.agreed = max(p.agreed, c.tick)
		default:
			p.claims = p.claims[:0] // what it has said since follows from that
			return c.tick, true
		}
	}
	p.claims = left
	return 0, false
}
