package follow

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

// Limits of what is kept about checks.
const keptChecks, keptDiffering = 8, 16

// A Check is what the client knows about the checksums of one checked tick.
type Check struct {
	Tick      lockstep.Tick
	Ours      uint64      // 0 if it was not compared
	Match     uint64      // the one that the log says is the match's; 0 if it has not said it
	Differing []Differing // the first players with another one, this client's among them
}

// Differing is a player's checksum that is not the match's.
type Differing struct {
	Player lockstep.Player
	Hash   uint64
}

// list returns all, oldest first.
func (c *checks) list() []Check {
	var all []Check
	for i := range c {
		if k := &c[i]; k.Tick > 0 {
			all = append(all, Check{k.Tick, k.ours, k.match, slices.Clone(k.differing[:k.n])})
		}
	}
	slices.SortStableFunc(all, func(a, b Check) int { return cmp.Compare(a.Tick, b.Tick) })
	return all
}

// checks is a ring of the latest checks. The check of tick t is at index t / CheckEvery % len. It allocates nothing.
type checks [keptChecks]keptCheck

type keptCheck struct {
	lockstep.Tick
	ours, match uint64
	n           int
	differing   [keptDiffering]Differing
}

// of returns the check of a tick. It drops the one before it in the same place, and returns nil for one that was dropped.
func (c *checks) of(t, every lockstep.Tick) *keptCheck {
	k := &c[t/every%keptChecks]
	switch {
	case t < k.Tick:
		return nil
	case t > k.Tick:
		*k = keptCheck{Tick: t}
	}
	return k
}

// match takes a checksum of the match.
func (c *checks) match(t, every lockstep.Tick, hash uint64) {
	if k := c.of(t, every); k != nil {
		k.match = hash
	}
}

// compared takes the client's own checksum.
func (c *checks) compared(t, every lockstep.Tick, hash uint64) {
	if k := c.of(t, every); k != nil {
		k.ours = hash
	}
}

// differs takes a player's checksum that differs.
func (c *checks) differs(t, every lockstep.Tick, d Differing) {
	k := c.of(t, every)
	if k == nil || k.n == keptDiffering || slices.ContainsFunc(k.differing[:k.n], func(o Differing) bool { return o.Player == d.Player }) {
		return
	}
	k.differing[k.n] = d
	k.n++
}

// Mismatch: the log says that players, this one or others, computed another checksum of a tick than the match has. Only a
// player's first mismatch in a row makes an event. Groups are all that the log has of the check, first the agreed
// one; in relay mode none may be agreed.
type Mismatch struct {
	Tick   lockstep.Tick
	Groups []Reporters
}

// Reporters are the players with one checksum of a tick.
type Reporters struct {
	Hash    uint64
	Agreed  bool              // it is the match's; the log does not say which players reported it, so it has none
	Players []lockstep.Player // by number
}

// String says who differs, from the match or, if there is no agreed checksum, from whom.
func (e Mismatch) String() string {
	var who []string
	for _, g := range e.Groups {
		var group []string
		for _, p := range g.Players {
			group = append(group, fmt.Sprintf("player %d", p))
		}
		if len(group) > 0 {
			who = append(who, strings.Join(group, ", "))
		}
	}
	if !e.Agreed() {
		return fmt.Sprintf("the states of tick %d differ, and no group has a majority: %s", e.Tick, strings.Join(who, " | "))
	}
	return fmt.Sprintf("the states of tick %d differ: %s", e.Tick, strings.Join(who, ", "))
}

// Agreed reports whether the match has a checksum of the tick: then the players in Groups differ from it. Else no group has a
// majority, and nobody knows whose state is right.
func (e Mismatch) Agreed() bool {
	return slices.ContainsFunc(e.Groups, func(g Reporters) bool { return g.Agreed })
}

// Has reports whether a player is in one of the Groups.
func (e Mismatch) Has(p lockstep.Player) bool {
	return slices.ContainsFunc(e.Groups, func(g Reporters) bool { return slices.Contains(g.Players, p) })
}

// An agreement is the checksum of a tick that the log says is the match's.
type agreement struct {
	tick lockstep.Tick
	hash uint64
}

// mismatches gathers what the log says about checksums that differ.
type mismatches struct {
	agreed [record.CheckWindow]agreement // of tick t at t / CheckEvery % len
	tick   lockstep.Tick                 // of groups
	groups []Reporters
	news   bool                              // of groups: somebody is in them who did not differ at the check before
	last   map[lockstep.Player]lockstep.Tick // the latest mismatch of each player
}

// agree takes a checksum of the match.
func (m *mismatches) agree(t, every lockstep.Tick, hash uint64) {
	m.agreed[t/every%record.CheckWindow] = agreement{t, hash}
}

// agreedAt returns the match's checksum of a tick, and false if the log has not said it lately.
func (m *mismatches) agreedAt(t, every lockstep.Tick) (uint64, bool) {
	a := m.agreed[t/every%record.CheckWindow]
	return a.hash, a.tick == t
}

// add takes a checksum that differs. Those of one check follow each other.
func (m *mismatches) add(t, every lockstep.Tick, p lockstep.Player, hash uint64) {
	if m.tick != t {
		m.tick, m.groups = t, nil
		if a := m.agreed[t/every%record.CheckWindow]; a.tick == t {
			m.groups = append(m.groups, Reporters{Hash: a.hash, Agreed: true})
		}
	}
	i := slices.IndexFunc(m.groups, func(g Reporters) bool { return g.Hash == hash })
	if i < 0 {
		i = len(m.groups)
		m.groups = append(m.groups, Reporters{Hash: hash})
	}
	if g := &m.groups[i]; !slices.Contains(g.Players, p) {
		g.Players = append(g.Players, p)
		slices.Sort(g.Players)
	}
	before, known := m.last[p]
	if m.last == nil {
		m.last = make(map[lockstep.Player]lockstep.Tick)
	}
	m.last[p] = max(before, t)
	m.news = m.news || !known || t > before+every
}

// closed returns the event of the checksums that were added since it was called last, and false if all these players differed at
// the check before, too.
func (m *mismatches) closed() (e Mismatch, news bool) {
	if !m.news {
		return Mismatch{}, false
	}
	m.news = false
	e = Mismatch{Tick: m.tick, Groups: slices.Clone(m.groups)}
	for i := range e.Groups {
		e.Groups[i].Players = slices.Clone(e.Groups[i].Players)
	}
	return e, true
}
