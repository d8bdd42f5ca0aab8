package desync_test

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/seed-49bee653/samestep/checksum"
	"github.com/seed-49bee653/samestep/desync"
	"github.com/seed-49bee653/samestep/examples/skirmish"
	"github.com/seed-49bee653/samestep/internal/testing/drift"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/host"
	"github.com/seed-49bee653/samestep/lockstep/player"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
	"github.com/seed-49bee653/samestep/replay"
)

// The machine that was wrong is asked to compute the ticks again. That names the exact tick at any check interval, and
// tells altered memory, wrong rules and rules without a fixed result apart.
func TestMachineThatWasWrongIsAsked(t *testing.T) {
	for _, every := range []uint16{20, 100} {
		at := 2*lockstep.Tick(every) + 7 // the tick that goes wrong
		policy := host.LogDesynced
		if every == 20 {
			policy = host.ResyncDesynced // a state of the server's replaces that of the client at once
		}
		times := int32(0)
		for _, row := range []struct {
			name    string
			change  func(*drift.World, *lockstep.Turn)
			flip    bool
			outcome protocol.Outcome
		}{
			{"memory", nil, true, protocol.RightThisTime},
			{"rules", func(w *drift.World, t *lockstep.Turn) {
				if t.Tick == at {
					w.Spots[3].X++
				}
			}, false, protocol.WrongTheSameWay},
			{"chance", func(w *drift.World, t *lockstep.Turn) {
				if t.Tick == at {
					times++
					w.Spots[3].X += times
				}
			}, false, protocol.ThirdResult},
		} {
			t.Run(fmt.Sprintf("%s every %d", row.name, every), func(t *testing.T) {
				times = 0
				m := drift.New(t, every, drift.Rules(row.change), func(o *host.Options) { o.Desync = policy }, nil)
				flipped := false
				m.Until(func() bool { return len(m.Evidence) > 0 }, func() {
					if c := m.Clients[1]; row.flip && !flipped && c.Simulation() != nil && c.Tick() == at-1 {
						m.State().Spots[3].X ^= 1
						flipped = true
					}
				})
				e := m.Evidence[0]
				if e.Report.Agreed != 2*lockstep.Tick(every) || e.Report.Tick != 3*lockstep.Tick(every) || e.Resimulation == nil {
					t.Fatalf("got evidence of tick %d, agreed %d, with %+v", e.Report.Tick, e.Report.Agreed, e.Resimulation)
				}
				r := e.Resimulation
				if r.Outcome != row.outcome || r.From != e.Report.Agreed || r.To != e.Report.Tick || len(r.Runs) != 2 {
					t.Errorf("got %v after tick %d to %d in %d runs, want %v", r.Outcome, r.From, r.To, len(r.Runs), row.outcome)
				}
				first, exhibits := at, 3
				if row.flip {
					first, exhibits = 0, 2
				}
				if r.First != first || row.flip != (r.Section == "") || r.Section != "" && r.Section != "Spots" {
					t.Errorf("computed again: got tick %d in %q, want %d in Spots", r.First, r.Section, first)
				}
				if phases := []int{len(r.RightPhases), len(r.Phases)}; !row.flip && (phases[0] != 4 || phases[1] != 4) || row.flip && phases[0]+phases[1] > 0 {
					t.Errorf("got %v and %v, want four phases of the tick that differs", r.RightPhases, r.Phases)
				}
				if len(e.Exhibits) != exhibits {
					t.Fatalf("got %d exhibits, want %d", len(e.Exhibits), exhibits)
				}
				for i, x := range e.Exhibits {
					if x.Referee == nil || x.Player == nil || i > 0 && x.Tick <= e.Exhibits[i-1].Tick || exhibits == 3 && i == 1 && x.Tick != at {
						t.Errorf("exhibit %d of tick %d: %d and %d bytes", i, x.Tick, len(x.Referee), len(x.Player))
					}
				}
				told := protocol.OutcomeUnknown
				for _, e := range m.Events {
					if e, ok := e.(player.Resimulated); ok {
						told = e.Outcome
					}
				}
				if told != row.outcome {
					t.Errorf("the player is told %v, want %v", told, row.outcome)
				}
				for _, known := range []bool{false, true} {
					explainAgain(t, m, known, at, row.outcome)
				}
			})
		}
	}
}

// explainAgain explains the bundle, with the game's code or without, and checks the text and the page.
func explainAgain(t *testing.T, m *drift.Match, known bool, at lockstep.Tick, want protocol.Outcome) {
	t.Helper()
	o := desync.Options{}
	if known {
		o.Game = func(*lockstep.Header) (*lockstep.Game, error) { return lockstep.MustGame(drift.Rules(nil)), nil }
	}
	e, err := desync.Explain(m.Bundle(), o)
	if err != nil {
		t.Fatal(err)
	}
	if e.Again == nil || e.Again.Outcome != want.String() || e.First != (desync.Span{From: at, To: at}) {
		t.Fatalf("explained as %+v, first %v, want %v at tick %d", e.Again, e.First, want, at)
	}
	if v := e.Verdict; (v.Party == desync.NoFixedResult) != (want == protocol.ThirdResult) || v.Party == desync.NoFixedResult && (len(v.Players) > 0 || v.Parting.Way != desync.WayMachine || v.Parting.Tick != at || v.Simulated != known) {
		t.Errorf("%v, simulated %t: got %+v, parting %+v", want, known, v, v.Parting)
	}
	if phase := map[bool]string{true: "", false: "change"}[want == protocol.RightThisTime]; e.Again.Phase != phase {
		t.Errorf("got phase %q, want %q", e.Again.Phase, phase)
	}
	if e.Cause != nil && want != protocol.RightThisTime && e.Cause.Kind == desync.AlteredField {
		t.Errorf("got the cause %s: %s", e.Cause.Kind, e.Cause.Text)
	}
	var text, page strings.Builder
	if err := errors.Join(e.WriteText(&text), e.WriteHTML(&page)); err != nil {
		t.Fatal(err)
	}
	where := ""
	if want != protocol.RightThisTime {
		where = fmt.Sprintf("from tick %d on in Spots, phase change", at)
	}
	for name, b := range map[string]string{"text": text.String(), "page": page.String()} {
		for _, part := range []string{"2 times: " + want.String(), where, fmt.Sprintf("he first divergent tick is %d", at)} {
			if !strings.Contains(flat(b), part) {
				t.Errorf("the %s lacks %q:\n%s", name, part, b)
			}
		}
	}
}

// The trials say at which tick an alteration of memory fits, and exclude no other.
func TestAlteredMemoryIsDatedByTrial(t *testing.T) {
	for _, every := range []uint16{20, 100} {
		at := 2*lockstep.Tick(every) + 7
		m := drift.New(t, every, drift.Rules(nil), nil, nil)
		flipped := false
		m.Until(func() bool { return len(m.Evidence) > 0 }, func() {
			if c := m.Clients[1]; !flipped && c.Simulation() != nil && c.Tick() == at-1 {
				m.State().Spots[3].X ^= 1
				flipped = true
			}
		})
		m.Evidence[0].Flights = nil // which would date it
		e, err := desync.Explain(m.Bundle(), desync.Options{Game: func(*lockstep.Header) (*lockstep.Game, error) { return lockstep.MustGame(drift.Rules(nil)), nil }})
		if err != nil {
			t.Fatal(err)
		}
		if e.Again == nil || e.Again.Outcome != protocol.RightThisTime.String() || e.Cause == nil || e.Cause.Kind != desync.AlteredField {
			t.Fatalf("every %d: got %+v, cause %+v", every, e.Again, e.Cause)
		}
		if when := e.Cause.When; when != (desync.Span{From: at - 1, To: at}) || e.First.From > at || e.First.To < at { // after the one, or in the other
			t.Errorf("every %d: got %v in %v, want tick %d", every, when, e.First, at)
		}
	}
}

// A bundle whose resimulation contradicts itself is refused, and one that contradicts the checksums is not believed.
func TestAgainInHostileBundles(t *testing.T) {
	for name, change := range map[string]func(a *replay.BundleResimulation){
		"nothing":     func(a *replay.BundleResimulation) { a.From = a.To },
		"other check": func(a *replay.BundleResimulation) { a.To++ },
		"no runs":     func(a *replay.BundleResimulation) { a.Runs = nil },
		"short run":   func(a *replay.BundleResimulation) { a.Runs[1] = a.Runs[1][:3] },
		"no hash":     func(a *replay.BundleResimulation) { a.Runs[1] = []string{"1", "2", "3", "4", "5"} },
		"no right":    func(a *replay.BundleResimulation) { a.Right = []string{"x"} },
		"late":        func(a *replay.BundleResimulation) { a.First = 6 },
	} {
		b := chestAgain()
		change(b.Manifest.Resimulation)
		if _, err := desync.Explain(b, desync.Options{}); !errors.Is(err, replay.ErrBundle) {
			t.Errorf("%s: got %v", name, err)
		}
	}
	b := chestAgain()
	b.Manifest.Resimulation.First, b.Manifest.Resimulation.Outcome = 2, "right this time"
	e, err := desync.Explain(b, desync.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if e.Again == nil || e.Again.Outcome != protocol.WrongTheSameWay.String() || e.First.To != 4 || !strings.Contains(fmt.Sprint(e.Notes), "first differed at tick 2") {
		t.Errorf("got %+v, first %v, notes %q", e.Again, e.First, e.Notes)
	}
	b = chestAgain()
	b.Manifest.Resimulation.Runs[1] = b.Manifest.Resimulation.Right
	b.Manifest.Resimulation.Runs[1] = append(b.Manifest.Resimulation.Runs[1][:4:4], "dc2da0ae66cd7357")
	if e, err = desync.Explain(b, desync.Options{}); err != nil || e.Again == nil || e.Again.Outcome != protocol.ThirdResult.String() || e.First.To != 5 { // another result says nothing of the first tick
		t.Errorf("got %+v, %v", e.Again, err)
	}
}

// The phase is known if the first wrong tick is the checked one, too. The bundle then has one state of it.
func TestPhaseOfTheCheckedTick(t *testing.T) {
	const at = 60
	m := drift.New(t, 20, drift.Rules(func(w *drift.World, t *lockstep.Turn) {
		if t.Tick == at {
			w.Spots[3].X++
		}
	}), nil, nil)
	m.Until(func() bool { return len(m.Evidence) > 0 }, nil)
	e, err := desync.Explain(m.Bundle(), desync.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if a := e.Again; a == nil || a.First != at || a.Phase != "change" {
		t.Errorf("got %+v, want tick %d, phase change", a, at)
	}
	for i, x := range m.Evidence[0].Exhibits {
		if i > 0 && x.Tick == m.Evidence[0].Exhibits[i-1].Tick {
			t.Errorf("two states of tick %d", x.Tick)
		}
	}
}

// A bundle with phases that no server keeps is refused.
func TestBadPhasesAreRefused(t *testing.T) {
	const hash = "0000000000000001"
	for name, phases := range map[string][]replay.BundlePhase{
		"many":     make([]replay.BundlePhase, protocol.MaxPhases+1),
		"long":     {{Name: strings.Repeat("x", 129), Checksum: hash}},
		"checksum": {{Name: "move", Checksum: "1"}},
		"":         {{Name: "move", Checksum: hash}},
	} {
		for _, right := range []bool{true, false} {
			b := chestAgain()
			if right {
				b.Manifest.Resimulation.RightPhases = phases
			} else {
				b.Manifest.Resimulation.Phases = phases
			}
			if _, err := desync.Explain(b, desync.Options{}); (err == nil) != (name == "") || err != nil && !errors.Is(err, replay.ErrBundle) {
				t.Errorf("%q: got %v", name, err)
			}
		}
	}
}

// Without the game's code, the draws are counted from the last state of which both sides are known to have had the same.
func TestStreamsWithoutCode(t *testing.T) {
	m := drift.New(t, 20, drift.Rules(func(w *drift.World, t *lockstep.Turn) {
		if t.Tick == 47 {
			w.Loot.Uint64()
		}
	}), nil, nil)
	m.Until(func() bool { return len(m.Evidence) > 0 }, nil)
	e, err := desync.Explain(m.Bundle(), desync.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if len(e.Streams) != 1 || e.Streams[0].String() != "Loot: 7 draws, but 8 on the wrong side" || e.Again == nil || e.Again.Phase != "change" {
		t.Errorf("got streams %v and %+v, want the draws after tick 40, and phase change", e.Streams, e.Again)
	}
}

// What the machine computes again excludes causes that do not lead to its states, and confirms none: the cause that is named with
// the true answer is that without an answer, and none is named if one state hash of the answer contradicts it.
func TestAnswerExcludes(t *testing.T) {
	x := newTable(t, inDrill(func(w *world, t *turn, i int, step step) {
		t.Commands[i+1].Value.(*skirmish.Move).To.X ^= 8
		step(w, t)
	}), false)
	x.orders = drill
	x.play(t, 400)
	const from, to, first = 140, 160, 152
	hashes := func(f *lockstep.Follower, end lockstep.Tick) (all []string) {
		for tick := lockstep.Tick(from + 1); tick <= end; tick++ {
			sum, _ := f.Sum(tick)
			all = append(all, checksum.FormatHash(sum.Hash))
		}
		return all
	}
	run := hashes(x.copies[victim], to)
	other := slices.Clone(run)
	other[first-from] = "0000000000000001"
	early := slices.Clone(run)
	early[first-2-from-1], early[first-1-from-1] = "0000000000000001", "0000000000000002"
	for _, c := range []struct {
		name   string
		answer *replay.BundleResimulation
		named  bool
	}{
		{"no answer", nil, true},
		{"wrong in the same way", &replay.BundleResimulation{First: first, Runs: [][]string{run, run}}, true},
		{"wrong in another way between", &replay.BundleResimulation{First: first, Runs: [][]string{other, other}}, false},
		{"wrong before any command that differs", &replay.BundleResimulation{First: first - 2, Runs: [][]string{early, early}}, false},
		{"another result each time", &replay.BundleResimulation{First: first, Runs: [][]string{run, other}}, false},
	} {
		x.everyTick = c.name == "another result each time"
		b := open(t, x.bundle(t))
		if b.Manifest.Resimulation = c.answer; c.answer != nil {
			c.answer.From, c.answer.To, c.answer.Right = from, to, hashes(x.match.Referee(), c.answer.First)
		}
		o := withGame(t)
		o.Budget *= 6
		e, err := desync.Explain(b, o)
		if err != nil {
			t.Fatal(err)
		}
		if named := e.Cause != nil && e.Cause.Kind == desync.AlteredPayload; named != c.named || !named && e.Cause != nil {
			t.Errorf("%s: got %v, %q", c.name, e.Cause, e.Notes)
		}
		if x.everyTick && e.First != (desync.Span{From: first, To: first + 1}) { // its state of the first tick is not of the match
			t.Errorf("%s: got %v", c.name, e.First)
		}
	}
}

// The first divergent tick of a late joiner is after its initial state, even if it never agreed at a check.
func TestLateJoinerBegan(t *testing.T) {
	x := newTable(t, func(w *world, turn *turn, step step) bool {
		step(w, turn)
		if turn.Tick != 155 {
			return false
		}
		w.Units[3].Health++
		return true
	}, false)
	x.play(t, 400)
	r := x.report
	if r == nil || r.Agreed == 0 {
		t.Fatalf("got %+v", r)
	}
	evidence := &host.Evidence{Report: *r, Began: r.Agreed}
	evidence.Report.Agreed = 0
	evidence.Exhibits = []host.Exhibit{{Tick: r.Tick, Referee: x.match.Referee().State(r.Tick), Player: x.copies[r.Player].State(r.Tick)}}
	if err := x.writer.Flush(); err != nil {
		t.Fatal(err)
	}
	for _, began := range []lockstep.Tick{r.Agreed, 0, r.Tick} {
		evidence.Began = began
		var archive bytes.Buffer
		if err := replay.WriteBundle(&archive, x.header, evidence, bytes.NewReader(x.log.Bytes())); err != nil {
			t.Fatal(err)
		}
		e, err := desync.Explain(open(t, archive.Bytes()), desync.Options{})
		if began == r.Tick {
			if err == nil {
				t.Error("a state of the tick itself: accepted")
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		if want := (desync.Span{From: began + 1, To: r.Tick}); e.First != want {
			t.Errorf("began at tick %d: got %+v, want %+v", began, e.First, want)
		}
		if text := strings.Join(e.Lines(), "\n"); strings.Contains(text, ", was sent the state of tick ") != (began > 0) {
			t.Errorf("began at tick %d: got\n%s", began, text)
		}
	}
}
