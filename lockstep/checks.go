package lockstep

import (
	"fmt"

	"github.com/seed-49bee653/samestep/checksum"
)

// checkWindow is how many checked ticks can be reported on at a time.
const checkWindow = 32

// checks are the checksums of recent checked ticks, by who reported them.
type checks struct {
	ring [checkWindow]check // of tick t at (t / CheckEvery) % checkWindow
	good [MaxPlayers]Tick   // the last checked tick at which the player agreed
	bad  [MaxPlayers]bool   // the player's last report differed
}

// A check is what is known of one checked tick.
type check struct {
	tick     Tick
	agreed   bool // root is the agreed checksum
	root     uint64
	reported [MaxPlayers]bool
	roots    [MaxPlayers]uint64
}

func (c *Coordinator) checkOf(t Tick) *check {
	return &c.checks.ring[t/Tick(c.header.Settings.CheckEvery)%checkWindow]
}

// check does what is due when the tick just sealed is a checked one, or one
// that has a keyframe.
func (c *Coordinator) check() error {
	t := c.sealed
	if t%Tick(c.header.Settings.CheckEvery) == 0 {
		k := c.checkOf(t)
		if c.referee == nil && k.tick > 0 && !k.agreed {
			if err := c.settle(k); err != nil { // its last chance
				return err
			}
		}
		*k = check{tick: t}
		if c.referee != nil {
			sum, _ := c.referee.Sum(t)
			if err := c.agree(k, sum.Root); err != nil {
				return err
			}
		}
	}
	if every := Tick(c.header.Settings.KeyframeEvery); every > 0 && t%every == 0 && c.referee != nil {
		return c.keyframe(c.referee.sim)
	}
	return nil
}

// agree makes root the agreed checksum of a check.
func (c *Coordinator) agree(k *check, root uint64) error {
	k.agreed, k.root = true, root
	return c.append(c.enc.Checksum(k.tick, root))
}

// Report takes the checksum that player p computed of the state after tick t,
// a sealed, checked tick of the last checkWindow ones. A report that differs
// from the agreed checksum concerns p alone: it is logged, and the first of a
// row makes a desync report. The error says why a report was not compared; it
// is [ErrReport] unless the match is over.
func (c *Coordinator) Report(p Player, t Tick, sum *checksum.Sum) error {
	if err := c.seated(p); err != nil {
		return err
	}
	every := Tick(c.header.Settings.CheckEvery)
	switch {
	case t == 0 || t%every != 0:
		return fmt.Errorf("%w: player %d, tick %d: want a multiple of %d", ErrReport, p, t, every)
	case t > c.sealed:
		return fmt.Errorf("%w: player %d, tick %d: only tick %d is sealed", ErrReport, p, t, c.sealed)
	}
	k := c.checkOf(t)
	if k.tick != t {
		return fmt.Errorf("%w: player %d, tick %d: older than %d checks", ErrReport, p, t, checkWindow)
	}
	if k.reported[p] {
		return fmt.Errorf("%w: player %d, tick %d: reported already", ErrReport, p, t)
	}
	k.reported[p], k.roots[p] = true, sum.Root
	if k.agreed {
		return c.compare(k, p, sum)
	}
	if c.complete(k) {
		return c.settle(k)
	}
	return nil
}

// complete reports whether every seated player has reported on a check.
func (c *Coordinator) complete(k *check) bool {
	for p := range c.seats {
		if c.seats[p].present && !k.reported[p] {
			return false
		}
	}
	return true
}

// compare compares one player's report with the agreed checksum.
func (c *Coordinator) compare(k *check, p Player, sum *checksum.Sum) error {
	if k.roots[p] == k.root {
		c.checks.good[p], c.checks.bad[p] = k.tick, false
		return nil
	}
	if err := c.append(c.enc.Dissent(k.tick, p, k.roots[p])); err != nil {
		return err
	}
	if !c.checks.bad[p] {
		c.checks.bad[p] = true
		c.announce(k, p, sum)
	}
	return nil
}

// settle decides a check that no referee decides: the checksum that most
// players reported is the agreed one, unless there is a tie.
func (c *Coordinator) settle(k *check) error {
	groups := c.groups(k)
	if len(groups) == 0 {
		return nil
	}
	if len(groups) > 1 && len(groups[0].Players) == len(groups[1].Players) {
		k.agreed = true // that there is no verdict
		return c.tie(k, groups)
	}
	if err := c.agree(k, groups[0].Root); err != nil {
		return err
	}
	for p := range k.reported {
		if k.reported[p] {
			if err := c.compare(k, Player(p), nil); err != nil {
				return err
			}
		}
	}
	return nil
}

// tie logs every report of a check on which there is no verdict.
func (c *Coordinator) tie(k *check, groups []Group) error {
	for p := range k.reported {
		if !k.reported[p] {
			continue
		}
		if err := c.append(c.enc.Dissent(k.tick, Player(p), k.roots[p])); err != nil {
			return err
		}
	}
	if c.options.Desync != nil {
		c.options.Desync(&DesyncReport{Tick: k.tick, Tie: true, Groups: groups})
	}
	return nil
}
