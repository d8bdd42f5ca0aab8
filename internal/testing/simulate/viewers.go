package simulate

import (
	"bytes"
	"slices"

	"github.com/cespare/xxhash/v2"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/host"
	"github.com/seed-49bee653/samestep/lockstep/player"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
)

// A ViewsPlan is how a match sends views.
type ViewsPlan struct {
	Only   bool `json:"only,omitempty"`
	Budget int  `json:"budget,omitempty"` // bytes of a view
}

// policy returns the host's policy.
func (p *ViewsPlan) policy() host.ViewPolicy {
	if p == nil {
		return host.ViewPolicy{}
	}
	return host.ViewPolicy{Only: p.Only, Budget: p.Budget}
}

// expandViews makes some clients of some plans viewers.
func expandViews(o *Options, p *Plan, hostile bool) {
	r := stream(p.Seed, "viewers", 0)
	if o.Subject.see == nil || p.Host.Relay || r.IntN(3) > 0 {
		return
	}
	v := &ViewsPlan{Only: r.IntN(3) == 0 && !hostile && p.Host.SpectatorDelay == 0}
	if r.IntN(3) == 0 {
		v.Budget = 150 + r.IntN(850)
	}
	p.Host.Views = v
	for i := range p.Machines {
		m := &p.Machines[i]
		m.Views = (r.IntN(2) == 0 || v.Only) && !m.Liar && (!m.Spectator || p.Host.SpectatorDelay == 0)
	}
}

// stale is how long a budget may delay a change of a view, and sightsKept how long the oracle keeps what a view may show, in ticks.
const (
	stale      = 200
	sightsKept = 2048
)

// sights are what viewers must see, by tick.
type sights struct {
	list []*sight
	as   [][]lockstep.Viewer // of the players
}

// A sight is what one viewer must see.
type sight struct {
	viewer lockstep.Viewer
	hashes []uint64
	rows   [][]byte // the view itself, of the last ticks, if there is a budget
}

// add adds what is to be seen of the oracle's tick.
func (x *sights) add(o *oracle) {
	if o.w.plan.Host.Views == nil {
		return
	}
	as := make([]lockstep.Viewer, o.header.Settings.Players)
	for i := range as {
		as[i] = o.sim.ViewerOf(lockstep.Player(i))
	}
	x.as = append(x.as, as)
	if x.list == nil {
		for _, v := range []lockstep.Viewer{{}, {As: lockstep.AsTeam}, {As: lockstep.AsTeam, Number: 1}} {
			x.list = append(x.list, &sight{viewer: v})
		}
	}
	for _, s := range x.list {
		view := o.subject.see(o.sim, s.viewer)
		s.hashes = append(s.hashes, xxhash.Sum64(view))
		if o.w.plan.Host.Views.Budget == 0 {
			continue
		}
		s.rows = append(s.rows, view)
		if n := len(s.rows) - sightsKept; n > 0 {
			s.rows[n-1] = nil
		}
	}
}

// cut drops what was to be seen after a tick.
func (x *sights) cut(t lockstep.Tick) {
	x.as = x.as[:min(len(x.as), int(t)+1)]
	for _, s := range x.list {
		s.hashes = s.hashes[:min(len(s.hashes), int(t)+1)]
		s.rows = s.rows[:min(len(s.rows), int(t)+1)]
	}
}

// hears gives the client the bytes of a message. A viewer is given one message after the other, and each view that it has then is
// compared.
func (m *machine) hears(wire *wire, b []byte) error {
	if !m.plan.Views {
		return m.client.Receive(m.clock(), b)
	}
	var reader protocol.Reader
	for len(b) > 0 {
		var message protocol.Message
		var rest []byte
		var err error
		if protocol.IsRecord(b) {
			_, rest, err = first(b)
		} else {
			rest, err = reader.Read(&message, b)
		}
		if err == nil {
			err = m.client.Receive(m.clock(), b[:len(b)-len(rest)])
		}
		if err != nil {
			return err
		}
		if message.Kind == protocol.KindViewDelta {
			m.sees(wire)
		}
		b = rest
	}
	return nil
}

// sees compares what a viewer sees with the oracle's state.
func (m *machine) sees(wire *wire) {
	w := m.w
	o := w.oracle
	s, ok := m.client.Sight()
	if !ok || !o.stands(wire.epoch, s.Tick) || len(w.referee.wrongIn) > 0 {
		return
	}
	if m.truth.epoch = wire.epoch; wire.epoch == len(o.epochs)-1 {
		o.shown = max(o.shown, s.Tick)
	}
	if s.Tick > o.tick() {
		w.fail("I21", "%s sees tick %d, and the log ends at tick %d", m, s.Tick, o.tick())
		return
	}
	var as lockstep.Viewer
	if m.seat != lockstep.System {
		as = o.sights.as[s.Tick][m.seat]
	}
	if s.Viewer != as.String() {
		w.fail("I21", "%s sees tick %d as %s, want as %v", m, s.Tick, s.Viewer, as)
		return
	}
	want := o.sights.list[slices.IndexFunc(o.sights.list, func(s *sight) bool { return s.viewer == as })]
	w.Counts["views compared"]++
	switch {
	case xxhash.Sum64(s.Current) == want.hashes[s.Tick]:
		w.Counts["views equal"]++
	case w.plan.Host.Views.Budget == 0:
		w.fail("I21", "%s sees another view of tick %d than the rules show %v", m, s.Tick, as)
	default:
		want.late(m, s.Tick, s.Current)
	}
}

// late checks a view that a budget has delayed: each element was to be seen so not long ago.
func (s *sight) late(m *machine, t lockstep.Tick, view []byte) {
	w := m.w
	low := t - min(t, stale)
	if s.rows[low] == nil {
		return // the client is far behind
	}
	missing := w.subject.rows(view)
	for at := int64(t); at >= int64(low); at-- {
		now := w.subject.rows(s.rows[at])
		missing = slices.DeleteFunc(missing, func(row []byte) bool {
			_, found := slices.BinarySearchFunc(now, row, bytes.Compare)
			return found
		})
		if len(missing) == 0 {
			w.Counts["views late by a budget"]++
			return
		}
	}
	w.fail("I21", "%s sees %x at tick %d, which the rules show %v at no tick since %d", m, missing[0], t, s.viewer, low)
}

// viewed checks what a viewer is sent: notes, events and the end of the match, but no other record, and no message about a state.
func (o *oracle) viewed(w *wire, b []byte) {
	for len(b) > 0 {
		if protocol.IsRecord(b) {
			record, rest, err := first(b)
			if err != nil {
				o.w.fail("I4", "%s was sent a broken record", w.m)
				return
			}
			if kind := kindOf(record); kind != recordNote && kind != recordEvent && kind != recordEnd {
				o.w.fail("I21", "%s sees views, and was sent a record of kind %d", w.m, kind)
				return
			}
			b = rest
			continue
		}
		rest, err := w.tap.reader.Read(&w.tap.m, b)
		if err != nil {
			o.w.fail("I4", "%s was sent bytes that are no message: %v", w.m, err)
			return
		}
		switch kind := w.tap.m.Kind; kind {
		case protocol.KindStateSync, protocol.KindStateRequest, protocol.KindDesyncReport, protocol.KindResimulate:
			o.w.fail("I21", "%s sees views, and was sent a message of kind %d", w.m, kind)
			return
		}
		b = rest
	}
}

// seenAll checks that the viewers who are there at the end have seen the last tick.
func (w *world) seenAll() {
	for _, m := range w.machines {
		if !m.plan.Views || m.plan.Absent || m.stage != player.StageDone {
			continue
		}
		if s, ok := m.client.Sight(); !ok || s.Tick != w.oracle.tick() {
			w.fail("I21", "the match has ended at tick %d, and %s has seen tick %d", w.oracle.tick(), m, s.Tick)
			return
		}
		w.count("viewer at the end")
	}
}
