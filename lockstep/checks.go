package lockstep

import (
	"fmt"

	"github.com/seed-49bee653/samestep/checksum"
)

// checkWindow is how many checked ticks can be reported on at a time.
const checkWindow = 32

// checks are the checksums of recent checked ticks, by who reported them.
type checks struct {
	ring    [checkWindow]check // of tick t at (t / CheckEvery) % checkWindow
	players []standing         // by seat
}

// A standing is what a player's reports have shown so far.
type standing struct {
	compared Tick // the latest tick that was compared
	agreed   Tick // the latest one at which the player agreed; 0 if none
	differs  bool // at compared
}

// A check is what is known of one checked tick.
type check struct {
	tick    Tick
	verdict verdict
	root    uint64 // the agreed checksum, if there is one
	logged  uint64 // what the log says it is: a referee may correct itself
	reports []report
}

// A verdict says what came of a check.
type verdict uint8

const (
	open   verdict = iota // not enough is known yet
	agreed                // there is an agreed checksum
	tied                  // no referee, and no majority
)

// A report is what a player said of a checked tick, by seat.
type report struct {
	given bool
	root  uint64
}

func newChecks(players uint8) checks {
	c := checks{players: make([]standing, players)}
	for i := range c.ring {
		c.ring[i].reports = make([]report, players)
	}
	return c
}

// begin makes k the check of tick t.
func (k *check) begin(t Tick) {
	k.tick, k.verdict = t, open
	clear(k.reports)
}

// of returns the check of tick t, or what is in its place.
func (c *checks) of(t, every Tick) *check { return &c.ring[t/every%checkWindow] }

func (c *Coordinator) checkOf(t Tick) *check {
	return c.checks.of(t, Tick(c.header.Settings.CheckEvery))
}

// check does what is due when the tick just sealed is a checked one, or one
// that has a keyframe.
func (c *Coordinator) check() error {
	t := c.sealed
	if t%Tick(c.header.Settings.CheckEvery) == 0 {
		k := c.checkOf(t)
		if k.tick > 0 && k.verdict == open {
			if err := c.settle(k); err != nil { // its last chance
				return err
			}
		}
		k.begin(t)
		if c.referee == nil {
			if err := c.settleComplete(); err != nil {
				return err
			}
		} else {
			sum, _ := c.referee.Sum(t)
			if err := c.agree(k, sum.Root); err != nil {
				return err
			}
		}
	}
	if every := Tick(c.header.Settings.KeyframeEvery); every > 0 && t%every == 0 && c.referee != nil {
		if err := c.keyframe(c.referee.sim); err != nil {
			return c.fail(err)
		}
	}
	return nil
}

// agree makes root the agreed checksum of a check.
func (c *Coordinator) agree(k *check, root uint64) error {
	k.verdict, k.root, k.logged = agreed, root, root
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
	if k.reports[p].given {
		return fmt.Errorf("%w: player %d, tick %d: reported already", ErrReport, p, t)
	}
	k.reports[p] = report{true, sum.Root}
	switch {
	case k.verdict == agreed:
		return c.compare(k, p, sum)
	case k.verdict == tied:
		return c.append(c.enc.Dissent(k.tick, p, sum.Root))
	case c.complete(k):
		return c.settle(k)
	}
	return nil
}

// settleComplete settles the checks on which no report is waited for any more.
func (c *Coordinator) settleComplete() error {
	for i := range c.checks.ring {
		if k := &c.checks.ring[i]; k.tick > 0 && k.verdict == open && c.complete(k) {
			if err := c.settle(k); err != nil {
				return err
			}
		}
	}
	return nil
}

// patience is how many checks later a verdict that most reports agree on does
// not wait for the others any more.
const patience = 2

// complete reports whether no report on a check is waited for any more. Players
// who are away or wait for a state are not: no state is known to be right without
// a verdict. Nor are, after a while, those who could not change the verdict, so
// that one who is silent does not keep it from all.
func (c *Coordinator) complete(k *check) bool {
	missing, given, most := 0, 0, 0
	for p, r := range k.reports {
		switch {
		case r.given:
			given++
			most = max(most, k.same(r.root))
		case c.seats[p].present && !c.seats[p].away && !c.seats[p].blank:
			missing++
		}
	}
	late := c.sealed-k.tick >= patience*Tick(c.header.Settings.CheckEvery)
	return missing == 0 || late && 2*most > given+missing
}

// same returns how many have reported a checksum.
func (k *check) same(root uint64) (n int) {
	for _, r := range k.reports {
		if r.given && r.root == root {
			n++
		}
	}
	return n
}

// compare compares one player's report with the agreed checksum. Reports come,
// and checks are settled, in any order of ticks: only the latest says how the
// player stands.
func (c *Coordinator) compare(k *check, p Player, sum *checksum.Sum) error {
	root := k.reports[p].root
	earlier := k.tick < c.seats[p].joined // perhaps a report of the player who had the seat before
	differed := c.checks.players[p].differs
	last := c.standingBefore(p, k.tick).agreed
	var retrial Retrial
	if root != k.root && !differed && !earlier {
		var err error
		if retrial, err = c.contradict(k, p, last, root, sum); err != nil {
			return err
		}
	}
	differs := root != k.root
	if !earlier {
		c.checks.players[p].take(k.tick, differs)
	}
	if root != k.logged {
		if err := c.append(c.enc.Dissent(k.tick, p, root)); err != nil {
			return err
		}
	}
	if differs && !differed && !earlier {
		c.announce(k, p, last, sum, retrial)
	}
	return nil
}

// take adds the comparison of a tick to a standing.
func (s *standing) take(t Tick, differs bool) {
	if t > s.compared {
		s.compared, s.differs = t, differs
	}
	if !differs {
		s.agreed = max(s.agreed, t)
	}
}

// standingBefore returns how a player stood before a tick. Players report ticks,
// and checks are settled, in any order.
func (c *Coordinator) standingBefore(p Player, t Tick) standing {
	now := c.checks.players[p]
	if now.compared < t {
		return now
	}
	var s standing
	if now.agreed < t {
		s.agreed = now.agreed
	}
	for i := range c.checks.ring {
		k := &c.checks.ring[i]
		if k.tick < t && k.tick >= c.seats[p].joined && k.verdict == agreed && k.reports[p].given {
			s.take(k.tick, k.reports[p].root != k.root)
		}
	}
	return s
}

// settle decides a check that no referee decides: the checksum that more than
// half of the reports have is the agreed one.
func (c *Coordinator) settle(k *check) error {
	groups := c.groups(k)
	if len(groups) == 0 {
		return nil
	}
	if !majority(groups) {
		return c.tie(k, groups)
	}
	if err := c.agree(k, groups[0].Root); err != nil {
		return err
	}
	for p := range k.reports {
		if k.reports[p].given {
			if err := c.compare(k, Player(p), nil); err != nil {
				return err
			}
		}
	}
	return nil
}

// tie logs every report of a check on which there is no verdict.
func (c *Coordinator) tie(k *check, groups []Group) error {
	k.verdict = tied
	for p, r := range k.reports {
		if !r.given {
			continue
		}
		if err := c.append(c.enc.Dissent(k.tick, Player(p), r.root)); err != nil {
			return err
		}
	}
	if c.options.Desync != nil {
		c.options.Desync(&DesyncReport{Tick: k.tick, Player: System, Tie: true, Groups: groups})
	}
	return nil
}
