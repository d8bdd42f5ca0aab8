package host_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/seed-49bee653/samestep/internal/testing/stale"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/host"
	"github.com/seed-49bee653/samestep/lockstep/record"
	"github.com/seed-49bee653/samestep/lockstep/twin"
)

// played runs a match of a bot in virtual time, and returns its evidence, and the records of its log that are events.
func played(t *testing.T, kind string, percent int, relay bool) (evidence []*host.Evidence, events []record.Record, h *host.Host) {
	t.Helper()
	g := lockstep.MustGame(stale.Rules(kind))
	header, err := g.NewHeader(lockstep.MatchID{}, lockstep.DefaultSettings(1), &struct{}{})
	if err != nil {
		t.Fatal(err)
	}
	o := host.Options{Evidence: true, Relay: relay, Random: func(b []byte) { b[0]++ }, Heavy: twin.Options{Percent: percent}}
	if !relay {
		o.Bots = []lockstep.Bot{func(*lockstep.Simulation) []any { return nil }}
	}
	if h, err = host.New(g, header, o); err != nil {
		t.Fatal(err)
	}
	var dec record.Decoder
	for now := lockstep.Time(0); h.Now() < 1500; now += 50 * lockstep.Millisecond {
		h.Advance(now)
		for {
			r := h.Ready()
			if r.Empty() {
				break
			}
			for _, raw := range r.Records {
				rec, _, err := dec.Decode(raw)
				if err != nil {
					t.Fatal(err)
				}
				if rec.Kind == record.KindEvent {
					events = append(events, *rec)
				}
			}
			for _, e := range r.Events {
				if e.Kind == host.WarmColdDiffer {
					events = append(events, record.Record{Event: e.Kind.String(), Tick: e.Tick})
				}
			}
			evidence = append(evidence, r.Evidence...)
			h.Persisted(now, r.Position)
		}
		if h.Err() != nil {
			t.Fatal(h.Err())
		}
	}
	return evidence, events, h
}

// A stale cache of the referee is an event of the log, and evidence that accuses nobody, and the match goes on.
func TestHeavyReferee(t *testing.T) {
	evidence, events, h := played(t, "derived sum", 10, false)
	if len(evidence) != 1 {
		t.Fatalf("got %d pieces of evidence, want 1", len(evidence))
	}
	e := evidence[0]
	x := e.Exhibits
	if e.Twin == nil || e.Report.Player != lockstep.System || e.Report.Agreed != e.Twin.Since || e.Report.Tick != e.Twin.Tick || len(e.Report.Groups) != 0 ||
		len(x) != 2 || !bytes.Equal(x[0].Referee, e.Twin.Before) || bytes.Equal(x[1].Referee, x[1].Player) {
		t.Errorf("got %+v", e)
	}
	logged, told := 0, 0
	for _, r := range events {
		switch {
		case r.Event == record.EventTwin && strings.HasPrefix(r.Text, "warm and cold differ at tick ") && r.LogOnly():
			logged++
		case r.Event == "warm and cold differ" && r.Tick == e.Twin.Tick:
			told++
		}
	}
	if s := h.Stats(); logged != 1 || told != 1 || s.TwinDifferences != 1 || s.TwinTicks == 0 || s.Desyncs != 0 {
		t.Errorf("got %d events in the log and %d others, %d differences, %d ticks, %d desyncs", logged, told, s.TwinDifferences, s.TwinTicks, s.Desyncs)
	}
}

func TestHeavyFindsNothing(t *testing.T) {
	for _, row := range []struct {
		kind    string
		percent int
		relay   bool
		ticks   bool
	}{{stale.None, 100, false, true}, {"derived sum", 0, false, false}, {"derived sum", 10, true, false}} {
		evidence, events, h := played(t, row.kind, row.percent, row.relay)
		for _, e := range events {
			if e.Event == record.EventTwin {
				t.Errorf("%+v: got %q", row, e.Text)
			}
		}
		if ticks := h.Stats().TwinTicks; len(evidence) > 0 || ticks > 0 != row.ticks {
			t.Errorf("%+v: got %d pieces of evidence, %d ticks", row, len(evidence), ticks)
		}
	}
}
