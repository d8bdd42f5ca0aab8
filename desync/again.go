package desync

import (
	"fmt"
	"slices"

	"github.com/seed-49bee653/samestep/checksum"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
	"github.com/seed-49bee653/samestep/replay"
)

// judge returns the outcome of the runs, as the server finds it. The groups are those of the check.
func (a *Again) judge(m *replay.BundleResimulation, groups []Group) protocol.Outcome {
	var right, first uint64
	for _, g := range groups {
		h, _ := checksum.ParseHash(g.Checksum) // checked already
		if g.Referee {
			right = h
		} else if slices.Contains(g.Players, a.player) {
			first = h
		}
	}
	if right == first {
		return protocol.OutcomeUnknown
	}
	var again []uint64
	for _, run := range m.Runs {
		if !slices.Equal(run, m.Runs[0]) {
			return protocol.ThirdResult
		}
		h, _ := checksum.ParseHash(run[len(run)-1])
		again = append(again, h)
	}
	o := protocol.OutcomeOf(right, first, again...)
	if o == protocol.RightThisTime && a.First > 0 {
		return protocol.ThirdResult // it was wrong in between
	}
	return o
}

// ownParting returns the parting that the machine of the player of a bundle shows, whom or what a verdict accuses: it has computed the same
// ticks again, and has another result than before that no altered memory explains. Nil if it shows none.
func ownParting(m *replay.Manifest, accused Party) *Parting {
	x := m.Resimulation
	if x == nil || CheckAgain(m) != nil {
		return nil
	}
	a := &Again{player: m.Player}
	switch o := a.judge(x, reportedIn(m).Groups); {
	case o == protocol.ThirdResult, o == protocol.RightThisTime && accused == WrongReferee:
	default:
		return nil
	}
	p := &Parting{Tick: x.To, Way: WayMachine}
	for i := range int(x.To - x.From) {
		if slices.ContainsFunc(x.Runs, func(run []string) bool { return run[i] != x.Runs[0][i] }) {
			p.Tick = x.From + 1 + lockstep.Tick(i)
			break
		}
	}
	return p
}

// exact returns the first divergent tick, if it is known. That of another result says nothing about the first one.
func (a *Again) exact() lockstep.Tick {
	if a.outcome != protocol.WrongTheSameWay {
		return 0
	}
	return a.First
}

// Lines says what the machine computed again, and what it means; nil if it was not asked.
func (a *Again) Lines() []string {
	if a == nil {
		return nil
	}
	times := "once"
	if a.Runs > 1 {
		times = fmt.Sprintf("%d times", a.Runs)
	}
	where := ""
	if a.First > 0 {
		where = fmt.Sprintf(", from tick %d on", a.First)
		if a.Section != "" {
			where += " in " + a.Section
		}
		if a.Phase != "" {
			where += ", phase " + a.Phase
		}
	}
	all := []string{fmt.Sprintf("the machine of player %d computed ticks %d to %d again, %s: %s%s", a.player, a.From+1, a.To, times, a.Outcome, where)}
	if a.means != "" {
		all = append(all, a.means)
	}
	return all
}

// takeAgain judges what the player's machine has computed again. It trusts the states that were simulated here more than
// the referee's hashes, unless this build computes otherwise, and these more than the server's verdict.
func (w *work) takeAgain() {
	m := w.manifest.Resimulation
	if m == nil || w.e.Verdict.Party == WrongReferee { // what that machine had agrees with the simulation
		return
	}
	a := &Again{From: m.From, To: m.To, Runs: len(m.Runs), player: w.manifest.Player}
	for i := range int(m.To - m.From) {
		right, known := w.rightHash(m, i)
		if !known {
			break // the referee's hashes end where it differs
		}
		if slices.ContainsFunc(m.Runs, func(run []string) bool { return run[i] != right }) {
			a.First = m.From + 1 + lockstep.Tick(i)
			break
		}
	}
	if a.First == m.First {
		a.Section, a.Phase = m.Section, phaseOf(m)
	} else if m.First > 0 {
		w.note("the server says that the player's machine, computing again, first differed at tick %d, but its checksums do not", m.First)
	}
	if a.outcome = a.judge(m, w.e.Groups); a.outcome == protocol.OutcomeUnknown {
		return
	}
	a.Outcome, w.e.Again = a.outcome.String(), a
	if w.e.Verdict.Party != NoFixedResult {
		a.means = outcomeMeans[a.outcome]
	}
	if t := a.exact(); t > 0 {
		w.good = max(w.good, t-1)
	}
	if a.outcome == protocol.ThirdResult { // that state is of another result, which was not in the match
		w.exhibits = slices.DeleteFunc(w.exhibits, func(x exhibit) bool { return x.tick == m.First && x.tick < m.To })
	}
}

// phaseOf returns the phase of the first tick in which the player's machine began to differ: the last one that began with the
// same state. It is "" without marks, and before the first one.
func phaseOf(m *replay.BundleResimulation) (name string) {
	for i := range min(len(m.RightPhases), len(m.Phases)) {
		if m.RightPhases[i] != m.Phases[i] {
			break
		}
		name = m.Phases[i].Name
	}
	return name
}

// rightHash returns the right state hash of the i-th tick that was computed again.
func (w *work) rightHash(m *replay.BundleResimulation, i int) (hash string, known bool) {
	if b := w.again.state(m.From + 1 + lockstep.Tick(i)); b != nil && !w.e.Verdict.undecided() {
		var sum checksum.Sum
		if err := checksum.OfBytes(&sum, w.log.schema, b); err != nil {
			panic(err) // our own states are canonical
		}
		return checksum.FormatHash(sum.Hash), true
	}
	if i < len(m.Right) {
		return m.Right[i], true
	}
	return "", false
}

// settleAgain lets what the machine computed again decide what the trials cannot: the tick, and that memory was not
// altered if the same ticks went wrong again.
func (w *work) settleAgain() {
	a := w.e.Again
	if a == nil {
		return
	}
	if c := w.e.Cause; c != nil && a.outcome != protocol.RightThisTime {
		w.e.Cause = c.without(AlteredField)
		if c.Kind == AlteredField {
			w.note("%s set to %s after tick %d would have had the same effect, but the machine went wrong again: not its memory", c.Path, c.Wrong, c.When.To)
		}
	}
	if t := a.exact(); t > 0 {
		w.e.First = Span{t, t}
	}
}

func (c *Cause) without(k CauseKind) *Cause {
	all := slices.DeleteFunc(append([]*Cause{c}, c.Others...), func(c *Cause) bool { return c.Kind == k })
	if len(all) == 0 {
		return nil
	}
	first := *all[0]
	first.Others, first.More = all[1:], c.More
	return &first
}
