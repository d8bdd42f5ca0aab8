package simulate

import (
	"slices"

	"github.com/cespare/xxhash/v2"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/player"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
)

// expandViews lets some machines of some plans see views.
func expandViews(s *Subject, p *Plan) {
	r := stream(p.Seed, "views", 0)
	if r.IntN(3) > 0 || s.Game.ViewSchema() == nil || p.Host.Relay {
		return
	}
	for i := range p.Machines {
		m := &p.Machines[i]
		m.Views = r.IntN(2) == 0 && !m.Liar && !(m.Spectator && p.Host.SpectatorDelay > 0)
	}
}

// viewed reports whether a machine of the plan sees views.
func (p *Plan) viewed() bool {
	return slices.ContainsFunc(p.Machines, func(m MachinePlan) bool { return m.Views })
}

// look notes the views of the present tick: those of all players, and that of spectators.
func (o *oracle) look() {
	if !o.w.plan.viewed() {
		return
	}
	if o.views == nil {
		o.views = map[string][]uint64{}
	}
	now := len(o.hashes) - 1
	note := func(viewer lockstep.Viewer) {
		list := o.views[viewer.String()]
		list = list[:min(len(list), now)]
		b, err := o.sim.AppendView(o.view[:0], viewer)
		if err != nil {
			o.w.fail("I21", "the rules make no view for %v: %v", viewer, err)
		}
		o.view = b
		for len(list) < now {
			list = append(list, 0) // the viewer was another then
		}
		o.views[viewer.String()] = append(list, xxhash.Sum64(b))
	}
	note(lockstep.Viewer{})
	var noted []lockstep.Viewer
	for p := range lockstep.Player(o.header.Settings.Players) {
		if v := o.sim.ViewerOf(p); !slices.Contains(noted, v) {
			noted = append(noted, v)
			note(v)
		}
	}
}

// looks compares a view that has just come with the log's.
func (m *machine) looks(wire *wire) {
	s, ok := m.client.Sight()
	w := m.w
	if !ok || m.liar != nil || s.Tick == m.looked || m.client.Stage() != player.StageLive {
		return
	}
	m.looked = s.Tick
	if !w.oracle.stands(wire.epoch, s.Tick) || !w.referee.right(s.Tick) {
		return
	}
	viewer := lockstep.Viewer{}
	if m.seat != lockstep.System {
		viewer = w.oracle.sim.ViewerOf(m.seat)
	}
	if viewer.String() != s.Viewer {
		w.fail("I21", "%s sees as %s, want as %v", m, s.Viewer, viewer)
		return
	}
	want := w.oracle.views[s.Viewer]
	if int(s.Tick) >= len(want) || xxhash.Sum64(s.Current) != want[s.Tick] {
		w.fail("I21", "%s sees as %s another view of tick %d than the match has%s", m, s.Viewer, s.Tick, m.w.oracle.overlooked(&s))
		return
	}
	w.Counts["views compared"]++
}

// overlooked names the first field in which a view of the present tick differs.
func (o *oracle) overlooked(s *player.Sight) string {
	viewer, err := lockstep.ParseViewer(s.Viewer)
	if err != nil || s.Tick != o.tick() {
		return ""
	}
	b, err := o.sim.AppendView(nil, viewer)
	if err != nil {
		return ""
	}
	d, err := o.subject.Game.ViewSchema().Diff(s.Current, b, 1)
	if err != nil || len(d.List) == 0 {
		return ""
	}
	return ": " + d.List[0].Path + ": got " + d.List[0].A + ", want " + d.List[0].B
}

// secret are the messages of which a viewer must get none: they tell of the state, or of the commands of others.
var secret = []protocol.Kind{protocol.KindStateSync, protocol.KindStateRequest, protocol.KindDesyncReport, protocol.KindResimulate}

// receivedView checks a message that arrives at a client of views.
func (o *oracle) receivedView(w *wire, b []byte) {
	for len(b) > 0 {
		if protocol.IsRecord(b) {
			record, rest, err := first(b)
			if err != nil {
				o.w.fail("I4", "%s was sent a broken record", w.m)
				return
			}
			if kind := kindOf(record); kind != recordNote && kind != recordEnd {
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
		b = rest
		if kind := w.tap.m.Kind; slices.Contains(secret, kind) {
			o.w.fail("I21", "%s sees views, and was sent a message of kind %d", w.m, kind)
			return
		}
		if m := &w.tap.m; m.Kind == protocol.KindViewDelta && w.epoch == len(o.epochs)-1 {
			o.shown = max(o.shown, m.Tick)
		}
	}
}
