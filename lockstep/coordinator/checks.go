package coordinator

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/seed-49bee653/samestep/checksum"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

type checks struct {
	ring    [record.CheckWindow]check // of tick t at (t / CheckEvery) % CheckWindow
	players []standing                // by seat
}

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

func (k *check) begin(t lockstep.Tick) {
	k.Tick, k.Status = t, CheckOpen
	clear(k.reports)
}

// of returns the slot of tick t. The slot may hold the check of another tick.
func (c *checks) of(t, every lockstep.Tick) *check { return &c.ring[t/every%record.CheckWindow] }

// Check returns the check of a tick. It returns false if the tick is not among the last [record.CheckWindow] checked ones.
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

// Final reports whether a verdict can no longer change: a player agrees, no report is expected, or there is no referee to be wrong.
func (c *Coordinator) Final(t lockstep.Tick) bool {
	k := c.checkOf(t)
	return k.Tick != t || c.referee == nil || c.sealed-t >= patience*lockstep.Tick(c.header.Settings.CheckEvery) || k.same(k.Hash) > 0
}

// StillDiffers reports whether a player's latest report is of tick t and differs from the agreed checksum.
func (c *Coordinator) StillDiffers(p lockstep.Player, t lockstep.Tick) bool {
	s := &c.checks.players[p]
	return s.differs && s.compared == t
}

// AwaitState records whether a player lacks a state, and so reports no checksums: no check waits for it. An error ends the match.
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

func (c *Coordinator) agree(k *check, hash uint64) error {
	k.Status, k.Hash, k.logged = CheckAgreed, hash, hash
	return c.append(c.enc.Checksum(k.Tick, hash))
}

// Report takes the checksum that player p computed of the state after tick t, which must be a sealed, checked tick among the last
// CheckWindow ones. One that differs from the agreed checksum is logged and affects p alone. The first of several consecutive ones also
// makes a desync report. The error says why a report was not compared; it is [ErrReport] unless the match is over.
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

// complete reports whether a check waits for no further report: not for players that are away or await a state, who get one only after a
// verdict. Once it is patience checks old, it does not wait for players that cannot change the verdict either.
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

func (k *check) same(hash uint64) (n int) {
	for _, r := range k.reports {
		if r.given && r.hash == hash {
			n++
		}
	}
	return n
}

// compare compares a report with the agreed checksum, in any order of ticks: only the latest counts for the player's standing.
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

func (s *standing) take(t lockstep.Tick, differs bool) {
	if t > s.compared {
		s.compared, s.differs = t, differs
	}
	if !differs {
		s.agreed = max(s.agreed, t)
	}
}

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

func (c *Coordinator) tie(k *check, groups []Reporters) error {
	k.Status = CheckTied
	for p, r := range k.reports {
		if !r.given {
			continue
		}
		if err := c.append(c.enc.Mismatch(k.Tick, lockstep.Player(p), r.hash)); err != nil {
			return err
		}
	}
	c.report(&DesyncReport{Tick: k.Tick, Player: lockstep.System, Tie: true, Agreed: c.agreedBefore(k), Groups: groups})
	return nil
}

// agreedBefore returns the last check before k, of those kept, at which all who reported for k agreed; 0 if there is none.
func (c *Coordinator) agreedBefore(k *check) (last lockstep.Tick) {
	for i := range c.checks.ring {
		o := &c.checks.ring[i]
		if o.Tick >= k.Tick || o.Tick <= last || o.Status != CheckAgreed {
			continue
		}
		agreed := true
		for p, r := range k.reports {
			agreed = agreed && (!r.given || o.reports[p].given && o.reports[p].hash == o.Hash)
		}
		if agreed {
			last = o.Tick
		}
	}
	return last
}

// contradict handles a report that differs from the checksum of k. A wrong referee gets another state, and k the right checksum.
func (c *Coordinator) contradict(k *check, p lockstep.Player, agreed lockstep.Tick, hash uint64, sum *checksum.Sum) (Resimulation, error) {
	resimulation, right := c.resimulate(k, agreed, hash)
	if resimulation != RefereeWrong {
		return resimulation, nil
	}
	c.announce(k, p, agreed, sum, resimulation)
	return RefereeRight, c.replaceReferee(right, agreed)
}

// A DesyncReport lists the checksums of one tick by player.
type DesyncReport struct {
	Tick         lockstep.Tick   // the checked tick
	Player       lockstep.Player // whose checksum differs; System on a tie and for a spectator
	Tie          bool            // there is no referee and no majority
	Agreed       lockstep.Tick   // the last checked tick at which Player agreed, or on a tie all who reported; 0 if none is known
	Section      string          // the first section that differs; empty if unknown
	Groups       []Reporters
	Resimulation Resimulation // RefereeWrong means that no player is accused

	// Wrong holds the wrong referee's states of Agreed and Tick, as far as they were kept. The referee's history is corrected already.
	Wrong []State

	// Flight is the record of the last ticks of the wrong referee, as package flight writes it; nil without one.
	Flight []byte
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
	s := fmt.Sprintf("desync at tick %d: ", r.Tick)
	switch {
	case r.Tie:
		s += fmt.Sprintf("%d groups, no verdict", len(r.Groups))
	case r.Player == lockstep.System:
		s += "a spectator differs"
	default:
		s += fmt.Sprintf("player %d differs", r.Player)
	}
	if r.Section != "" {
		s += " in " + r.Section
	}
	if !r.Tie || r.Agreed > 0 {
		s += fmt.Sprintf(", last agreed at tick %d", r.Agreed)
	}
	if r.Resimulation >= RefereeWrong {
		s += "; " + r.Resimulation.String()
	}
	return s
}

func (c *Coordinator) announce(k *check, p lockstep.Player, agreed lockstep.Tick, sum *checksum.Sum, resimulation Resimulation) {
	r := &DesyncReport{Tick: k.Tick, Player: p, Agreed: agreed, Groups: c.groups(k), Resimulation: resimulation}
	if c.referee != nil && sum != nil {
		if own, ok := c.referee.Sum(k.Tick); ok {
			m, _ := checksum.Compare(*sum, *own, c.game.StateSchema())
			r.Section = m.Name
		}
	}
	if resimulation == RefereeWrong {
		if ring := c.referee.Flight(); ring != nil {
			r.Flight = ring.Record().Append(nil)
		}
		for _, t := range [...]lockstep.Tick{agreed, k.Tick} {
			if b := c.referee.State(t); b != nil {
				r.Wrong = append(r.Wrong, State{t, slices.Clone(b)})
			}
		}
	}
	c.report(r)
}

// maxDesyncs bounds the reports that wait for [Coordinator.Desyncs]. The log has every mismatch.
const maxDesyncs = 1024

func (c *Coordinator) report(r *DesyncReport) {
	if len(c.desyncs) < maxDesyncs {
		c.desyncs = append(c.desyncs, r)
	}
}

// Desyncs returns the reports since the last call, in order: those of [Coordinator.Report], and without a referee those of other calls.
func (c *Coordinator) Desyncs() (reports []*DesyncReport) {
	reports, c.desyncs = c.desyncs, nil
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

func majority(groups []Reporters) bool {
	players := 0
	for _, g := range groups {
		players += len(g.Players)
	}
	return 2*len(groups[0].Players) > players
}

// A Resimulation is the outcome of re-simulating a tick because a report contradicted the referee.
type Resimulation uint8

// The outcomes of a re-simulation.
const (
	NotResimulated Resimulation = iota // no earlier state is kept, there is no referee, or the limit was reached
	RefereeRight                       // re-simulation gave the same checksum
	RefereeWrong                       // re-simulation gave the reported checksum, or another one twice: the referee's memory was altered, or the rules have no fixed result
	NeitherRight                       // each re-simulation gave another checksum: the game is not deterministic even on this machine
)

var resimulationTexts = [...]string{"", "the referee has computed it again", "the referee has another result now, and takes it", "each computation of the referee has another result"}

func (r Resimulation) String() string { return resimulationTexts[r] }

// resimulate computes the ticks up to a check again before a player is accused, who reported hash and last agreed at tick from. If the
// player is honest, the state there was right. Ticks that were re-simulated from there or earlier are not re-simulated again. With
// [RefereeWrong] it returns the right state of the check's tick.
func (c *Coordinator) resimulate(k *check, from lockstep.Tick, hash uint64) (Resimulation, *lockstep.Simulation) {
	switch {
	case c.referee == nil || c.options.Frames == nil:
		return NotResimulated, nil
	case k.Tick <= c.resimulated && from >= c.resimulatedFrom:
		return RefereeRight, nil
	}
	begin := c.resimulated // continue there
	anew := from > c.resimulated || from < c.resimulatedFrom
	if anew {
		begin = from
	}
	m, frames := c.before(k, begin)
	if m == nil || len(frames) > c.mayResimulate {
		return NotResimulated, nil
	}
	c.mayResimulate -= len(frames)
	c.resimulations += uint64(len(frames))
	sim := c.again(m, frames)
	if sim == nil {
		return NotResimulated, nil
	}
	if anew {
		c.resimulatedFrom = from
	}
	c.resimulated = k.Tick
	if sim.Hash() == k.Hash {
		return RefereeRight, nil
	}
	if sim.Hash() != hash {
		if twice := c.again(m, frames); twice == nil || twice.Hash() != sim.Hash() {
			return NeitherRight, nil
		}
	}
	return RefereeWrong, sim
}

// before returns the first moment from a tick on whose state and later frames up to a check are kept, and these frames, or nil.
func (c *Coordinator) before(k *check, from lockstep.Tick) (*lockstep.Moment, []lockstep.Frame) {
	for {
		m := c.referee.MomentFrom(from)
		if m == nil || m.Tick >= k.Tick {
			return nil, nil
		}
		if m.State != nil {
			//samestep:allow unseen the frames of the log, which the caller keeps
			if frames := c.options.Frames(m.Tick, k.Tick); frames != nil {
				return m, frames
			}
		}
		from = m.Tick + 1
	}
}

// replaceReferee gives the referee another state of a past tick, and corrects everything that was computed from the old one. Its flight
// record loses the ticks after agreed, some of which are wrong.
func (c *Coordinator) replaceReferee(sim *lockstep.Simulation, agreed lockstep.Tick) error {
	//samestep:allow unseen the frames of the log, which the caller keeps
	frames := c.options.Frames(sim.Tick(), c.sealed)
	c.resimulated = c.sealed - c.sealed%lockstep.Tick(c.header.Settings.CheckEvery) // everything up to there is re-simulated here
	if err := c.Event(lockstep.System, record.EventReferee, fmt.Sprintf("wrong at tick %d, computed again up to tick %d", sim.Tick(), c.sealed)); err != nil {
		return err
	}
	for p := range c.checks.players { // later reports are compared again, in the order of ticks
		c.checks.players[p] = c.standingBefore(lockstep.Player(p), sim.Tick())
	}
	if err := c.correct(sim); err != nil {
		return err
	}
	for i := range frames {
		if err := sim.Step(&frames[i]); err != nil {
			return c.fail(err)
		}
		if err := c.correct(sim); err != nil {
			return err
		}
	}
	if ring := c.referee.Flight(); ring != nil {
		ring.Begin(c.header.Match, agreed)
		ring.Begin(c.header.Match, sim.Tick())
	}
	return c.referee.Simulation().CopyFrom(sim)
}

// correct replaces the referee's state of sim's tick, and its checksum. Players that agreed with the old one now differ.
func (c *Coordinator) correct(sim *lockstep.Simulation) error {
	m := c.referee.Moment(sim.Tick())
	if m == nil {
		return nil
	}
	sim.Sum(&m.Sum)
	if m.State != nil {
		m.State = sim.AppendState(m.State[:0])
	}
	k := c.checkOf(sim.Tick())
	if k.Tick != sim.Tick() || k.Status != CheckAgreed {
		return nil
	}
	before := k.Hash
	k.Hash = m.Sum.Hash
	for p := range k.reports {
		switch r := &k.reports[p]; {
		case !r.given || k.Tick < c.seats[p].joined:
		case r.hash != before || k.Hash == before:
			c.checks.players[p].take(k.Tick, r.hash != k.Hash)
		default:
			if err := c.compare(k, lockstep.Player(p), nil); err != nil {
				return err
			}
		}
	}
	return nil
}
