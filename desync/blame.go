package desync

import (
	"slices"

	"github.com/seed-49bee653/samestep/lockstep"
)

// A Blame says who was wrong, and when.
type Blame struct {
	Who    Party           `json:"who"`
	Player lockstep.Player `json:"player"` // if Who is WrongPlayer
	Checks int             `json:"checks"` // at which it was wrong
	First  lockstep.Tick   `json:"first"`  // of them
	Last   lockstep.Tick   `json:"last"`

	// Healed is the first check after Last, at which all was well again (a player
	// may also have been silent); 0 if there is none, so that it persists.
	Healed lockstep.Tick `json:"healed"`

	// Gone is the tick at which the player left, or lost the connection, before it
	// healed; 0 for nobody, and for a player who came back and agreed.
	Gone lockstep.Tick `json:"gone"`

	// Open tells that the verification stopped at First, so that nothing is known
	// of what follows.
	Open bool `json:"open"`
}

// judge goes through the checks and keyframes that were verified.
func (a *attribution) judge() {
	last := a.verified.Ticks
	if a.verified.Stopped {
		last = a.verified.First.Tick
	}
	keyframes := a.verified.Differences
	for _, m := range keyframes {
		if !m.Keyframe {
			a.own[m.Tick] = m.Got
		}
	}
	mismatches := a.mismatches
	for _, c := range a.checks {
		if c.tick > last {
			break
		}
		for len(keyframes) > 0 && keyframes[0].Tick < c.tick {
			a.key(keyframes[0])
			keyframes = keyframes[1:]
		}
		for len(mismatches) > 0 && mismatches[0].tick < c.tick {
			mismatches = mismatches[1:] // of a tick without a verdict
		}
		n := 0
		for n < len(mismatches) && mismatches[n].tick == c.tick {
			n++
		}
		root, differs := a.own[c.tick]
		if !differs {
			root = c.root
		}
		a.check(c.tick, root, differs, mismatches[:n])
	}
	for _, m := range keyframes {
		a.key(m)
	}
	if a.keyframe != nil { // and no check tells more
		a.blame(WrongBuild, 0, a.keyframe.Tick)
	}
}

// key notes a keyframe that differs from the simulation, unless the state was
// wrong at the last check.
func (a *attribution) key(m *lockstep.DesyncError) {
	if !m.Keyframe || a.differs || a.keyframe != nil {
		return
	}
	if i := a.last(m.Tick); i != nil && i.tick == m.Tick {
		if _, differs := a.own[m.Tick]; !differs {
			a.blame(WrongKeyframe, 0, m.Tick)
		}
		return
	}
	a.keyframe = m
}

// last returns the last check that is not after a tick, or nil.
func (a *attribution) last(t lockstep.Tick) *item {
	if i := a.checks.after(t); i > 0 {
		return &a.checks[i-1]
	}
	return nil
}

// check judges one check, of which the simulation has root.
func (a *attribution) check(t lockstep.Tick, root uint64, differs bool, mismatches []mismatch) {
	for ; len(a.presence) > 0 && a.presence[0].tick <= t; a.presence = a.presence[1:] {
		if p := a.presence[0]; p.there {
			a.gone[p.player] = 0
		} else if a.gone[p.player] == 0 {
			a.gone[p.player] = p.tick
		}
	}
	var wrong [256]bool
	right := 0 // players who had what the simulation has, though the agreed checksum is another
	for _, d := range mismatches {
		if d.root != root {
			wrong[d.player] = true
			a.blame(WrongPlayer, d.player, t)
		} else {
			right++
		}
	}
	first := t
	if a.keyframe != nil && differs {
		first = a.keyframe.Tick
	} else if a.keyframe != nil {
		a.blame(WrongKeyframe, 0, a.keyframe.Tick)
	}
	a.keyframe, a.differs = nil, differs
	switch {
	case !differs:
	case 2*right > a.seats || right > 0 && t <= a.admitted:
		a.blame(WrongReferee, 0, first)
	case right > 0 && 2*right == a.seats:
		a.blame(WrongUnclear, 0, first)
	default:
		a.blame(WrongBuild, 0, first)
	}
	for i := range a.blames {
		b := &a.blames[i]
		well := !differs
		if b.Who == WrongPlayer {
			well = !wrong[b.Player]
			if b.Healed == 0 {
				b.Gone = a.gone[b.Player]
			}
		}
		if well && b.Healed == 0 && b.Last < t && b.Gone == 0 {
			b.Healed = t
		}
	}
}

// blame adds a check to what somebody is blamed for.
func (a *attribution) blame(who Party, p lockstep.Player, t lockstep.Tick) {
	i := slices.IndexFunc(a.blames, func(b Blame) bool { return b.Who == who && b.Player == p })
	if i < 0 {
		i = len(a.blames)
		a.blames = append(a.blames, Blame{Who: who, Player: p, First: t, Open: a.verified.Stopped})
	}
	b := &a.blames[i]
	if b.Checks == 0 || b.Last != t {
		b.Checks++
	}
	b.Last, b.Healed = t, 0
}
