package coordinator

import (
	"fmt"

	"github.com/seed-49bee653/samestep/checksum"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

// checks holds the checksums of recent checked ticks, by player.
type checks struct {
	ring    [record.CheckWindow]check // of tick t at (t / CheckEvery) % CheckWindow
	players []standing                // by seat
}

// A standing sums up the comparisons of a player's reports.
type standing struct {
	compared lockstep.Tick // the latest tick that was compared
	agreed   lockstep.Tick // the latest tick at which the player agreed; 0 if none
	differs  bool          // whether the player differed at compared
}

// A Check is the current result of one checked tick.
type Check struct {
	Tick   lockstep.Tick
	Status CheckStatus
	Hash   uint64 // the agreed checksum, if there is one
}

// A check is a Check with the reports on which it is based.
type check struct {
	Check
	logged  uint64 // the agreed checksum in the log; a referee may have corrected Hash since
	reports []report
}

// A CheckStatus is the state of a check.
type CheckStatus uint8

// The states of a check.
const (
	CheckOpen   CheckStatus = iota // not enough players have reported
	CheckAgreed                    // there is an agreed checksum
	CheckTied                      // there is no referee and no majority
)

// A report is the checksum that a player reported of a checked tick.
type report struct {
	given bool
	hash  uint64
}

func newChecks(players uint8) checks {
	c := checks{players: make([]standing, players)}
	for i := range c.ring {
		c.ring[i].reports = make([]report, players)
	}
	return c
}

// begin makes k the check of tick t.
func (k *check) begin(t lockstep.Tick) {
	k.Tick, k.Status = t, CheckOpen
	clear(k.reports)
}

// of returns the slot of tick t. The slot may hold the check of another tick.
func (c *checks) of(t, every lockstep.Tick) *check { return &c.ring[t/every%record.CheckWindow] }

// Check returns the check of a tick. It returns false if the tick is not among the last [record.CheckWindow] checked
// ones.
func (c *Coordinator) Check(t lockstep.Tick) (Check, bool) {
	k := c.checkOf(t)
	return k.Check, k.Tick == t
}

// Reported returns the checksum that player p reported of a tick, and false if there is none.
func (c *Coordinator) Reported(t lockstep.Tick, p lockstep.Player) (hash uint64, ok bool) {
	k := c.checkOf(t)
	if k.Tick != t || int(p) >= len(k.reports) {
		return 0, false
	}
	return k.reports[p].hash, k.reports[p].given
}

// Final reports whether the verdict on a checked tick can no longer change: a player agrees with it, no further report
// is expected, or there is no referee that could find itself wrong.
func (c *Coordinator) Final(t lockstep.Tick) bool {
	k := c.checkOf(t)
	return k.Tick != t || c.referee == nil || c.sealed-t >= patience*lockstep.Tick(c.header.Settings.CheckEvery) || k.same(k.Hash) > 0
}

// StillDiffers reports whether a player's latest report is of tick t and differs from the agreed checksum.
func (c *Coordinator) StillDiffers(p lockstep.Player, t lockstep.Tick) bool {
	s := &c.checks.players[p]
	return s.differs && s.compared == t
}

// AwaitState records whether a player lacks a state of the match. Such a player reports no checksums, so no check waits
// for it. An error ends the match.
func (c *Coordinator) AwaitState(p lockstep.Player, awaits bool) error {
	c.seats[p].awaitsState = awaits
	if !awaits || c.err != nil {
		return nil
	}
	return c.decideComplete()
}

func (c *Coordinator) checkOf(t lockstep.Tick) *check {
	return c.checks.of(t, lockstep.Tick(c.header.Settings.CheckEvery))
}

// check opens the check of the tick just sealed and writes its keyframe, if the settings ask for either at that tick.
func (c *Coordinator) check() error {
	t := c.sealed
	if t%lockstep.Tick(c.header.Settings.CheckEvery) == 0 {
		k := c.checkOf(t)
		if k.Tick > 0 && k.Status == CheckOpen {
			if err := c.decide(k); err != nil { // its last chance
				return err
			}
		}
		k.begin(t)
		if c.referee == nil {
			if err := c.decideComplete(); err != nil {
				return err
			}
		} else {
			sum, _ := c.referee.Sum(t)
			if err := c.agree(k, sum.Hash); err != nil {
				return err
			}
			c.referee.ReleaseStates(c.agreedByAll())
		}
	}
	if every := lockstep.Tick(c.header.Settings.KeyframeEvery); every > 0 && t%every == 0 && c.referee != nil {
		return c.Keyframe()
	}
	return nil
}

// agreedByAll returns the latest check at which all players agreed. No desync of theirs asks for an earlier state. A player
// that awaits a state reports nothing: with a referee that is a bot of the host.
func (c *Coordinator) agreedByAll() lockstep.Tick {
	t := c.sealed
	for p := range c.seats {
		if c.seats[p].present && !c.seats[p].awaitsState {
			t = min(t, c.checks.players[p].agreed)
		}
	}
	return t
}

// agree makes hash the agreed checksum of a check and logs it.
func (c *Coordinator) agree(k *check, hash uint64) error {
	k.Status, k.Hash, k.logged = CheckAgreed, hash, hash
	return c.append(c.enc.Checksum(k.Tick, hash))
}

// Report takes the checksum that player p computed of the state after tick t, which must be a sealed, checked tick
// among the last CheckWindow ones. A report that differs from the agreed checksum is logged and affects p alone. The
// first of several consecutive ones also makes a desync report. The error says why a report was not compared; it is
// [ErrReport] unless the match is over.
func (c *Coordinator) Report(p lockstep.Player, t lockstep.Tick, sum *checksum.Sum) error {
	if err := c.seated(p); err != nil {
		return err
	}
	every := lockstep.Tick(c.header.Settings.CheckEvery)
	switch {
	case t == 0 || t%every != 0:
		return fmt.Errorf("%w: player %d, tick %d: want a multiple of %d", ErrReport, p, t, every)
	case t > c.sealed:
		return fmt.Errorf("%w: player %d, tick %d: only tick %d is sealed", ErrReport, p, t, c.sealed)
	}
	k := c.checkOf(t)
	if k.Tick != t {
		return fmt.Errorf("%w: player %d, tick %d: older than %d checks", ErrReport, p, t, record.CheckWindow)
	}
	if k.reports[p].given {
		return fmt.Errorf("%w: player %d, tick %d: reported already", ErrReport, p, t)
	}
	k.reports[p] = report{true, sum.Hash}
	switch {
	case k.Status == CheckAgreed:
		return c.compare(k, p, sum)
	case k.Status == CheckTied:
		return c.append(c.enc.Mismatch(k.Tick, p, sum.Hash))
	case c.complete(k):
		return c.decide(k)
	}
	return nil
}

// decideComplete decides the checks that wait for no further report.
func (c *Coordinator) decideComplete() error {
	for i := range c.checks.ring {
		if k := &c.checks.ring[i]; k.Tick > 0 && k.Status == CheckOpen && c.complete(k) {
			if err := c.decide(k); err != nil {
				return err
			}
		}
	}
	return nil
}

// patience is the number of checks after which a check with a majority stops waiting for the remaining reports.
const patience = 2

// complete reports whether a check waits for no further report. It does not wait for players that are away or await a
// state: they get a state only after a verdict. Once the check is patience checks old, it does not wait for players
// that cannot change the verdict either, so that one silent player does not delay the others.
func (c *Coordinator) complete(k *check) bool {
	missing, given, most := 0, 0, 0
	for p, r := range k.reports {
		switch {
		case r.given:
			given++
			most = max(most, k.same(r.hash))
		case c.seats[p].present && !c.seats[p].away && !c.seats[p].awaitsState:
			missing++
		}
	}
	late := c.sealed-k.Tick >= patience*lockstep.Tick(c.header.Settings.CheckEvery)
	return missing == 0 || late && 2*most > given+missing
}

// same returns the number of players that reported a checksum.
func (k *check) same(hash uint64) (n int) {
	for _, r := range k.reports {
		if r.given && r.hash == hash {
			n++
		}
	}
	return n
}

// compare compares one player's report with the agreed checksum. Reports arrive, and checks are decided, in any order
// of ticks: only the latest tick counts for the player's standing.
func (c *Coordinator) compare(k *check, p lockstep.Player, sum *checksum.Sum) error {
	hash := k.reports[p].hash
	earlier := k.Tick < c.seats[p].joined // may be a report of the seat's previous player
	differed := c.checks.players[p].differs
	last := c.standingBefore(p, k.Tick).agreed
	var resimulation Resimulation
	if hash != k.Hash && !differed && !earlier {
		var err error
		if resimulation, err = c.contradict(k, p, last, hash, sum); err != nil {
			return err
		}
	}
	differs := hash != k.Hash
	if !earlier {
		c.checks.players[p].take(k.Tick, differs)
	}
	if hash != k.logged {
		if err := c.append(c.enc.Mismatch(k.Tick, p, hash)); err != nil {
			return err
		}
	}
	if differs && !differed && !earlier {
		c.announce(k, p, last, sum, resimulation)
	}
	return nil
}

// take adds the comparison of a tick to a standing.
func (s *standing) take(t lockstep.Tick, differs bool) {
	if t > s.compared {
		s.compared, s.differs = t, differs
	}
	if !differs {
		s.agreed = max(s.agreed, t)
	}
}

// standingBefore returns a player's standing before a tick.
func (c *Coordinator) standingBefore(p lockstep.Player, t lockstep.Tick) standing {
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
		if k.Tick < t && k.Tick >= c.seats[p].joined && k.Status == CheckAgreed && k.reports[p].given {
			s.take(k.Tick, k.reports[p].hash != k.Hash)
		}
	}
	return s
}

// decide decides a check without a referee: the checksum that more than half of the reports have is the agreed one.
func (c *Coordinator) decide(k *check) error {
	groups := c.groups(k)
	if len(groups) == 0 {
		return nil
	}
	if !majority(groups) {
		return c.tie(k, groups)
	}
	if err := c.agree(k, groups[0].Hash); err != nil {
		return err
	}
	for p := range k.reports {
		if k.reports[p].given {
			if err := c.compare(k, lockstep.Player(p), nil); err != nil {
				return err
			}
		}
	}
	return nil
}

// tie logs every report of a check without a verdict.
func (c *Coordinator) tie(k *check, groups []Reporters) error {
	k.Status = CheckTied
	agreed := k.Tick
	for p, r := range k.reports {
		if !r.given {
			continue
		}
		agreed = min(agreed, c.standingBefore(lockstep.Player(p), k.Tick).agreed)
		if err := c.append(c.enc.Mismatch(k.Tick, lockstep.Player(p), r.hash)); err != nil {
			return err
		}
	}
	c.report(&DesyncReport{Tick: k.Tick, Player: lockstep.System, Tie: true, Agreed: agreed, Groups: groups})
	return nil
}

// contradict handles a report of hash that differs from the checksum of k. The player last agreed at tick agreed. If
// the referee was wrong, contradict replaces its state, and k then has the right checksum.
func (c *Coordinator) contradict(k *check, p lockstep.Player, agreed lockstep.Tick, hash uint64, sum *checksum.Sum) (Resimulation, error) {
	resimulation, right := c.resimulate(k, agreed, hash)
	if resimulation != RefereeWrong {
		return resimulation, nil
	}
	c.announce(k, p, agreed, sum, resimulation)
	return RefereeRight, c.replaceReferee(right)
}
