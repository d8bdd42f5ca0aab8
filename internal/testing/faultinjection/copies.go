package faultinjection

import (
	"errors"
	"fmt"
	"math"
	"math/bits"

	"github.com/seed-49bee653/samestep/desync"
	"github.com/seed-49bee653/samestep/desync/bisect"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/coordinator"
	"github.com/seed-49bee653/samestep/lockstep/record"
	"github.com/seed-49bee653/samestep/replay"
)

// copyFaults are the faults in the copy of a player.
var copyFaults = []struct {
	name  string
	plant planter
}{
	{"flipped bit", flipped(flippable)},
	{"flipped bool", flipped(isBool)},
	{"lost element", lostElement},
	{"draw too many", extraDraws(1)},
	{"many draws too many", extraDraws(40)},
	{"changed rule", changedRule},
}

// copyFault plants a fault in the copy of a player. The match must report the player,
// the check and the section; the histories must show the tick and the field; bisect and
// explain must find them; and verify must find the referee's replay true.
func (d *drill) copyFault(name string, p planter) error {
	v, err := plant(d.base, d.dice, p)
	if err != nil {
		return err
	}
	seat := d.seat()
	m, err := d.subject.play(d.seed, cast{referee: d.subject.Game, copied: v.game, seat: seat})
	if err != nil {
		return err
	}
	f := &fault{name, fmt.Sprintf("%s, in the copy of player %d", v.what, seat)}
	first, err := firstDiffering(m.states, m.copied, 1)
	if err != nil {
		return err
	}
	if v.tick != first {
		return fmt.Errorf("faultinjection: %s: planted in tick %d, and the states differ from tick %d on", name, v.tick, first)
	}
	if err := d.desyncReport(f, m, player(seat)); err != nil {
		return err
	}
	want := m.field(first)
	if err := d.histories(f, m, v.game, want); err != nil {
		return err
	}
	if err := d.bisect(f, m, v, want); err != nil {
		return err
	}
	want.Who = player(seat)
	if err := d.explain(f, m, v, want); err != nil {
		return err
	}
	check, err := m.check()
	if err != nil {
		return err
	}
	d.result.add(f, "verify", d.verify(m.file, m.game), clue{What: "players differed", Tick: check, Who: player(seat)})
	return nil
}

// refereeFault flips a bit in the referee's copy. All players are right, and so is the
// simulation of the log.
func (d *drill) refereeFault() error {
	v, m, err := d.faultyReferee()
	if err != nil {
		return err
	}
	f := &fault{"flipped bit in the referee", v.what}
	if err := d.desyncReport(f, m, "the referee"); err != nil {
		return err
	}
	check, err := m.check()
	if err != nil {
		return err
	}
	d.result.add(f, "verify", d.verify(m.file, m.game), clue{What: "desync", Tick: check, Who: "the referee"})
	return d.explain(f, m, v, clue{What: "desync", Tick: v.tick, Who: "the referee"})
}

// faultyReferee plays a match whose referee has a flipped bit. The bots look at the
// referee's state, so they do other things than in the base, and may undo the fault before
// a check. Then it draws another one.
func (d *drill) faultyReferee() (v *variant, m *match, err error) {
	for range 20 {
		if v, err = plant(d.base, d.dice, flipped(flippable)); err != nil {
			return nil, nil, err
		}
		m, err = d.subject.play(d.seed, cast{referee: v.game, copied: d.subject.Game})
		if err == nil {
			_, err = m.check()
		} else if !errors.As(err, new(*lockstep.PanicError)) && !errors.As(err, new(*endedError)) {
			return nil, nil, err
		}
		if err == nil {
			return v, m, nil
		}
	}
	return nil, nil, fmt.Errorf("%w: %w", errNoPlace, err)
}

// liar reports false checksums as a player whose copy is right, so that the histories do
// not differ.
func (d *drill) liar() error {
	seat := d.seat()
	c, every := d.subject.truthful(seat), d.subject.checks()
	c.lies = every * lockstep.Tick(2+d.dice.IntN(int(d.subject.ticks/every)-2))
	m, err := d.subject.play(d.seed, c)
	if err != nil {
		return err
	}
	f := &fault{"false report", fmt.Sprintf("of player %d, from tick %d on", seat, c.lies)}
	d.result.add(f, "desync report", d.reported(m.reports), clue{What: "desync", Tick: c.lies, After: c.lies - every, Who: player(seat)})
	return d.histories(f, m, c.copied, clue{})
}

// desyncReport compares the match's own report with a comparison of all states.
func (d *drill) desyncReport(f *fault, m *match, who string) error {
	check, err := m.check()
	if err != nil {
		return err
	}
	want := clue{What: "desync", Tick: check, After: check - m.subject.checks(), Who: who}
	if want.Field, err = m.section(m.states[check], m.copied[check]); err != nil {
		return err
	}
	d.result.add(f, "desync report", d.reported(m.reports), want)
	return nil
}

// reported returns the first report of a match, as the tool gives it, as a clue.
func (d *drill) reported(all []coordinator.DesyncReport) clue {
	reports := d.tools.Desync(all)
	if len(reports) == 0 {
		return clue{}
	}
	r := &reports[0]
	return clue{What: "desync", Tick: r.Tick, After: r.Agreed, Who: culprit(reports, int(d.subject.Players)), Field: r.Section}
}

// culprit returns who is wrong according to the reports of the first wrong check: a
// single player who differs from the referee, or the referee if all players differ.
func culprit(reports []coordinator.DesyncReport, players int) string {
	last := &reports[0] // of the check; it has the reports of all players
	named := 0
	for i := range reports {
		if reports[i].Tick == last.Tick {
			last = &reports[i]
			named++
		}
	}
	switch {
	case named == 1:
		return player(last.Player)
	case named == players && len(last.Groups) == 2 && len(last.Groups[1].Players) == players:
		return "the referee"
	}
	return ""
}

// field returns the fields that differ at a tick.
func (m *match) field(tick lockstep.Tick) clue {
	c := clue{What: "desync", Tick: tick}
	c.Field, c.Fields = m.leaves(m.states[tick], m.copied[tick])
	return c
}

// histories compares the histories of a right copy and of the other one.
func (d *drill) histories(f *fault, m *match, other *lockstep.Game, want clue) error {
	a, err := m.follow(m.game)
	if err != nil {
		return err
	}
	b, err := m.follow(other)
	if err != nil {
		return err
	}
	var got clue
	if found, ok := d.tools.Diverged(a, b, 1); ok && len(found.Fields.List) > 0 {
		got = clue{What: "desync", Tick: found.Tick, Field: found.Fields.List[0].Path, Fields: found.Fields.Total}
	}
	d.result.add(f, "histories", got, want)
	return nil
}

// follow plays the replay into a copy that keeps all states.
func (m *match) follow(g *lockstep.Game) (*lockstep.Follower, error) {
	f := g.NewFollower(lockstep.FollowerOptions{History: lockstep.HistoryOptions{Length: longest + 1, EveryTick: true, States: true}})
	r, err := open(m.file)
	if err != nil {
		return nil, err
	}
	err = replay.Play(r, nil, func(rec *record.Record) error {
		var desync *lockstep.DesyncError
		if err := f.Apply(rec); err != nil && !errors.As(err, &desync) {
			return err
		}
		return nil
	})
	return f, err
}

// bisect compares the referee's replay with the one that the copy's recorder would have
// written. It finds the tick and all fields if it has the copy's rules; any field that differs
// may be the first. If the copy's memory was damaged, it finds the check, and the field if one
// bit differs there.
func (d *drill) bisect(f *fault, m *match, v *variant, want clue) error {
	own, err := m.ownReplay()
	if err != nil {
		return err
	}
	a, b, err := openBoth(m.file, own)
	if err != nil {
		return err
	}
	var o bisect.Options
	oneBit := false
	if v.damage {
		check, err := m.check()
		if err != nil {
			return err
		}
		want = m.field(check)
		want.After, want.Who = check-m.subject.checks(), "the second"
		oneBit = bitsBetween(m.states[check], m.copied[check]) == 1
	} else {
		o.Other, want.Who = v.game, "the rules"
		want.Fields = m.leavesByID(m.states[want.Tick], m.copied[want.Tick])
	}
	found, err := d.tools.Bisect(a, b, m.game, o)
	got := bisection(found, err)
	if v.damage && !oneBit && got.Field == "" {
		want.Field, want.Fields = "", 0
	}
	if got.Field != "" && m.differs(got.Field, want.Tick) {
		want.Field = got.Field
	}
	d.result.add(f, "bisect", got, want)
	return nil
}

// bitsBetween counts the bits in which two states of the same length differ.
func bitsBetween(a, b []byte) (n int) {
	if len(a) != len(b) {
		return math.MaxInt
	}
	for i := range a {
		n += bits.OnesCount8(a[i] ^ b[i])
	}
	return n
}

// verify returns the verdict on a file.
func (d *drill) verify(file []byte, g *lockstep.Game) clue {
	r, err := open(file)
	if err != nil {
		return verdict(&desync.Verdict{}, err)
	}
	v, err := d.tools.Verify(r, g, replay.VerifyOptions{})
	return verdict(d.tools.Attribute(r, g, v, replay.SimulateOptions{}), err)
}
