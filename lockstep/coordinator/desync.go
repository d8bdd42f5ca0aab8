package coordinator

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/seed-49bee653/samestep/checksum"
	"github.com/seed-49bee653/samestep/lockstep"
)

// A DesyncReport lists the checksums of one tick by player.
type DesyncReport struct {
	Tick         lockstep.Tick   // the checked tick
	Player       lockstep.Player // whose checksum differs; System on a tie and for a spectator
	Tie          bool            // there is no referee and no majority
	Agreed       lockstep.Tick   // the last checked tick at which Player agreed; on a tie, the one since which all reporters have agreed; 0 if none
	Section      string          // the first section that differs; empty if unknown
	Groups       []Reporters
	Resimulation Resimulation // RefereeWrong means that no player is accused

	// Wrong holds the wrong referee's states of Agreed and Tick, as far as they were kept. The referee's history is
	// corrected already.
	Wrong []State
}

// A State is the state of a tick in canonical bytes.
type State struct {
	Tick  lockstep.Tick
	Bytes []byte
}

// Reporters are the participants that reported one checksum of a tick.
type Reporters struct {
	Hash    uint64
	Referee bool
	Players []lockstep.Player
}

func (r *DesyncReport) String() string {
	if r.Tie {
		return fmt.Sprintf("desync at tick %d: %d groups, no verdict, all agreed last at tick %d", r.Tick, len(r.Groups), r.Agreed)
	}
	s := fmt.Sprintf("desync at tick %d: player %d differs", r.Tick, r.Player)
	if r.Player == lockstep.System {
		s = fmt.Sprintf("desync at tick %d: a spectator differs", r.Tick)
	}
	if r.Section != "" {
		s += " in " + r.Section
	}
	s += fmt.Sprintf(", last agreed at tick %d", r.Agreed)
	if r.Resimulation >= RefereeWrong {
		s += "; " + r.Resimulation.String()
	}
	return s
}

// announce reports that p differs from the agreed checksum of a check.
func (c *Coordinator) announce(k *check, p lockstep.Player, agreed lockstep.Tick, sum *checksum.Sum, resimulation Resimulation) {
	r := &DesyncReport{Tick: k.Tick, Player: p, Agreed: agreed, Groups: c.groups(k), Resimulation: resimulation}
	if c.referee != nil && sum != nil {
		if own, ok := c.referee.Sum(k.Tick); ok {
			m, _ := checksum.Compare(*sum, *own, c.game.StateSchema())
			r.Section = m.Name
		}
	}
	if resimulation == RefereeWrong {
		r.Wrong = c.refereeStates(agreed, k.Tick)
	}
	c.report(r)
}

// refereeStates returns copies of the referee's states of the given ticks, as far as they are kept.
func (c *Coordinator) refereeStates(ticks ...lockstep.Tick) (states []State) {
	for _, t := range ticks {
		if b := c.referee.State(t); b != nil {
			states = append(states, State{t, slices.Clone(b)})
		}
	}
	return states
}

// maxDesyncs bounds the reports that wait for [Coordinator.Desyncs], so that an owner that never asks for them does not
// run out of memory. The log has every mismatch.
const maxDesyncs = 1024

func (c *Coordinator) report(r *DesyncReport) {
	if len(c.desyncs) < maxDesyncs {
		c.desyncs = append(c.desyncs, r)
	}
}

// Desyncs returns the desync reports since the last call, in order. [Coordinator.Report] can make one. Without a
// referee Tick, Leave, Lose, TakeOver and AwaitState can make one, too.
func (c *Coordinator) Desyncs() []*DesyncReport {
	reports := c.desyncs
	c.desyncs = nil
	return reports
}

// groups groups the players by the checksums that they reported: the referee's group first, then the largest.
func (c *Coordinator) groups(k *check) []Reporters {
	var groups []Reporters
	if c.referee != nil {
		groups = append(groups, Reporters{Hash: k.Hash, Referee: true})
	}
	for p, r := range k.reports {
		if !r.given {
			continue
		}
		i := slices.IndexFunc(groups, func(g Reporters) bool { return g.Hash == r.hash })
		if i < 0 {
			i = len(groups)
			groups = append(groups, Reporters{Hash: r.hash})
		}
		groups[i].Players = append(groups[i].Players, lockstep.Player(p))
	}
	others := groups
	if c.referee != nil {
		others = groups[1:]
	}
	slices.SortStableFunc(others, func(a, b Reporters) int { return cmp.Compare(len(b.Players), len(a.Players)) })
	return groups
}

// majority reports whether more than half of the players are in the first of the groups, which is the largest.
func majority(groups []Reporters) bool {
	players := 0
	for _, g := range groups {
		players += len(g.Players)
	}
	return 2*len(groups[0].Players) > players
}
