package desync

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"sort"

	"github.com/seed-49bee653/samestep/checksum"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/record"
	"github.com/seed-49bee653/samestep/replay"
)

// Attribute returns the verdict on a replay that was verified with game g: at the first difference, or if the
// verification kept going, at all checks. It reads the file of r independently of r, up to the first damage.
func Attribute(r *replay.Reader, g *lockstep.Game, v *replay.Verification, o replay.SimulateOptions) *Verdict {
	verdict, _ := attribute(r, g, v, Options{MaxTicks: int(o.MaxTicks)})
	return verdict
}

// attribute is [Attribute] with the MaxTicks and Now of the options. It also returns who reported what at the first check at which
// players differed.
func attribute(r *replay.Reader, g *lockstep.Game, v *replay.Verification, o Options) (*Verdict, Reported) {
	if v.Mismatches == 0 && v.First == nil {
		return verdictOf([]Blame{}), Reported{}
	}
	own, err := r.Reopen()
	if err != nil {
		return verdictOf([]Blame{}), Reported{}
	}
	a := &attribution{until: v.Ticks, own: make(map[lockstep.Tick]uint64), decisive: make(map[Party]*check), blames: []Blame{}}
	if a.stopped = v.Stopped; a.stopped {
		a.until = v.First.Tick
	}
	replay.Play(own, nil, a.record) // the verification has reported the error
	a.log.sort()
	before, limit := lockstep.Tick(replay.WholeMatch), replay.SimulateOptions{MaxTicks: lockstep.Tick(o.MaxTicks)}
	if d := v.First; d != nil && d.Keyframe {
		before = d.Tick - 1 // a keyframe that may be false is no beginning
	}
	simulate := func(t lockstep.Tick) (uint64, error) {
		hash, _, err := replay.HashAt(r, g, min(before, t), t, &limit)
		return hash, err
	}
	a.tie(simulate)
	if a.stopped && v.First.Keyframe {
		a.next(simulate, v.First.Tick)
	}
	found := a.verdict(v.Differences, judge{lockstep.Platform(), a.recorder, "the agreed checksum"})
	found = a.settled(r, g, found, v.First, o)
	found.Grade = found.grade()
	return found, a.reported()
}

// reported groups the players by their checksums at the first check at which they differed.
func (a *attribution) reported() (r Reported) {
	if len(a.log.mismatches) == 0 || a.log.mismatches[0].tick > a.until {
		return r
	}
	r.Tick = a.log.mismatches[0].tick
	own, known := a.own[r.Tick]
	c := a.log.at(r.Tick, own, known)
	add := func(hash uint64, players ...lockstep.Player) {
		text := checksum.FormatHash(hash)
		i := slices.IndexFunc(r.Groups, func(g Group) bool { return g.Checksum == text })
		if i < 0 {
			i = len(r.Groups)
			r.Groups = append(r.Groups, Group{BundleGroup: replay.BundleGroup{Checksum: text, Players: []lockstep.Player{}}, Right: hash == c.own && (known || !c.tie)})
		}
		r.Groups[i].Players = append(r.Groups[i].Players, players...)
	}
	first := 0
	if !c.tie {
		add(c.agreed) // the log does not say who of the others had reported
		first = 1
	}
	for _, m := range c.mismatches {
		add(m.hash, m.player)
	}
	slices.SortStableFunc(r.Groups[first:], func(a, b Group) int { return cmp.Compare(len(b.Players), len(a.Players)) })
	return r
}

// settled returns a verdict if the ticks before the first difference have a fixed result, and else that they have none. The rules
// gave first, which may be nil.
func (a *attribution) settled(r *replay.Reader, g *lockstep.Game, v *Verdict, first *lockstep.DesyncError, o Options) *Verdict {
	if len(v.Blames) == 0 {
		return v
	}
	to := v.Blames[0].First
	o = o.withDefaults()
	p, err := (&Past{r, g, to - min(to, a.every), to}).repeat(&o)
	if err != nil { // too far from a keyframe
		v.Runs = 1
		return v
	}
	if ours := p.side(to); first != nil && first.Tick == to && first.End == "" && ours.hash != first.Got {
		p.partings = append(p.partings, parting{tick: to, way: WayWhole})
	}
	p.runs++ // that of the verification
	p.later()
	p.note(v)
	if parted := p.parting(); parted != nil {
		unfixed := parted.unfixed(v.Runs)
		return &unfixed
	}
	return v
}

// verdict goes through the differences in order of their ticks, and says who was wrong.
func (a *attribution) verdict(differences []*lockstep.DesyncError, j judge) *Verdict {
	a.judge(differences)
	slices.SortStableFunc(a.blames, func(a, b Blame) int { return cmp.Compare(a.First, b.First) })
	v := verdictOf(a.blames)
	v.Text = j.text(v, a.decisive[v.Party])
	if c := a.decisive[WrongPlayer]; v.Party == WrongKeyframe && len(v.Players) > 0 && c != nil {
		v.Text += "; " + j.text(&Verdict{Party: WrongPlayer, Players: v.Players}, c)
	}
	return v
}

// An attribution finds the wrong parties, one check after the other.
type attribution struct {
	log      checkLog
	until    lockstep.Tick
	stopped  bool                     // the verification ended at until, because of a difference
	ticks    []lockstep.Tick          // of the checks, in order
	own      map[lockstep.Tick]uint64 // the simulation's checksums where they differ, and on ties; only looked up, never ranged over
	presence []presence               // at most maxEvidence
	gone     [256]lockstep.Tick       // by player: the tick at which it left; 0 if it is present
	blames   []Blame
	recorder string                // the platform that recorded the replay
	every    lockstep.Tick         // ticks between two checks
	keyframe *lockstep.DesyncError // a keyframe that differs, until the next check
	differs  bool                  // the simulation differed at the last check
	decisive map[Party]*check      // by party: the first check at which it was wrong; only looked up
}

// A presence is the arrival or departure of a player.
type presence struct {
	tick   lockstep.Tick
	player lockstep.Player
	there  bool
}

// record notes a record's checksums, and the players that came or left.
func (a *attribution) record(rec *record.Record) error {
	for i := range rec.Frame.Commands {
		if c := &rec.Frame.Commands[i]; c.Player == lockstep.System && len(a.presence) < maxEvidence {
			a.meet(c)
		}
	}
	if rec.Kind == record.KindHeader {
		a.recorder, a.every = rec.Header.Platform, lockstep.Tick(rec.Header.Settings.CheckEvery)
	}
	return a.log.record(rec)
}

// meet notes the arrival or departure in a command of System.
func (a *attribution) meet(c *lockstep.Command) {
	value, err := record.SystemValue(c)
	if err != nil {
		return // another engine's
	}
	switch v := value.(type) {
	case *lockstep.Joined:
		a.presence = append(a.presence, presence{c.Tick, v.Player, true})
	case *lockstep.Left:
		a.presence = append(a.presence, presence{c.Tick, v.Player, false})
	case *lockstep.Lost:
		a.presence = append(a.presence, presence{c.Tick, v.Player, false})
	case *lockstep.TakenOver:
		a.presence = append(a.presence, presence{c.Tick, v.Player, false})
	}
}

// maxTies is how many ticks without an agreed checksum are simulated again.
const maxTies = 8

// tie lists the checks: all that have an agreed checksum, and the first maxTies that have none. It simulates the latter
// again.
func (a *attribution) tie(simulate func(lockstep.Tick) (uint64, error)) {
	for i := range a.log.agreed {
		a.ticks = append(a.ticks, a.log.agreed[i].tick)
	}
	var last lockstep.Tick
	found := 0
	for _, m := range a.log.mismatches {
		if m.tick == last || m.tick > a.until || a.log.agreed.find(m.tick) != nil {
			continue
		}
		if found++; found > maxTies {
			break
		}
		last = m.tick
		hash, err := simulate(m.tick)
		if err != nil {
			break
		}
		a.own[m.tick] = hash
		a.ticks = append(a.ticks, m.tick)
	}
	slices.Sort(a.ticks)
	a.ticks = slices.Compact(a.ticks)
}

// next simulates the check after a keyframe at which the verification stopped, since that check decides, unless the
// keyframe's tick has one.
func (a *attribution) next(simulate func(lockstep.Tick) (uint64, error), keyframe lockstep.Tick) {
	i := a.log.agreed.after(keyframe - 1)
	if i == len(a.log.agreed) || a.log.agreed[i].tick == keyframe {
		return
	}
	t := a.log.agreed[i].tick
	hash, err := simulate(t)
	if err != nil {
		return
	}
	if a.until = t; hash != a.log.agreed[i].hash {
		a.own[t] = hash
	}
}

// judge attributes the differences of all checks, and of the keyframes that differ from the simulation.
func (a *attribution) judge(differences []*lockstep.DesyncError) {
	for _, d := range differences {
		if !d.Keyframe {
			a.own[d.Tick] = d.Got
		}
	}
	for _, t := range a.ticks {
		if t > a.until {
			break
		}
		for ; len(differences) > 0 && differences[0].Tick < t; differences = differences[1:] {
			a.key(differences[0])
		}
		own, known := a.own[t]
		a.check(a.log.at(t, own, known))
	}
	for _, d := range differences {
		a.key(d)
	}
	if a.keyframe != nil { // and no check follows
		a.blame(WrongBuild, 0, a.keyframe.Tick)
	}
}

// key notes a keyframe that differs from the simulation, unless the state was wrong at the last check.
func (a *attribution) key(d *lockstep.DesyncError) {
	if !d.Keyframe || a.differs || a.keyframe != nil {
		return
	}
	if a.log.agreed.find(d.Tick) == nil {
		a.keyframe = d
	} else if _, differs := a.own[d.Tick]; !differs {
		a.blame(WrongKeyframe, 0, d.Tick)
	}
}

// check adds the blames of one check, and notes which parties have healed.
func (a *attribution) check(c *check) {
	for ; len(a.presence) > 0 && a.presence[0].tick <= c.tick; a.presence = a.presence[1:] {
		if p := a.presence[0]; p.there {
			a.gone[p.player] = 0
		} else if a.gone[p.player] == 0 {
			a.gone[p.player] = p.tick
		}
	}
	_, wrong := c.sides()
	for _, p := range wrong {
		a.blame(WrongPlayer, p, c.tick)
	}
	first := c.tick
	a.differs = c.own != c.agreed
	if a.keyframe != nil && a.differs {
		first = a.keyframe.Tick
	} else if a.keyframe != nil {
		a.blame(WrongKeyframe, 0, a.keyframe.Tick)
	}
	a.keyframe = nil
	party := c.party()
	if party != "" {
		a.blame(party, 0, first)
	}
	if who := cmp.Or(party, WrongPlayer); a.decisive[who] == nil && (party != "" || len(wrong) > 0) {
		a.decisive[who] = c
	}
	for i := range a.blames {
		b := &a.blames[i]
		well := party == ""
		if b.Who == WrongPlayer {
			well = !slices.Contains(wrong, b.Player)
			if b.Healed == 0 {
				b.Gone = a.gone[b.Player]
			}
		}
		if well && b.Healed == 0 && b.Last < c.tick && b.Gone == 0 {
			b.Healed = c.tick
		}
	}
}

// blame adds the check of tick t to those at which a party was wrong.
func (a *attribution) blame(who Party, p lockstep.Player, t lockstep.Tick) {
	i := slices.IndexFunc(a.blames, func(b Blame) bool { return b.Who == who && b.Player == p })
	if i < 0 {
		i = len(a.blames)
		a.blames = append(a.blames, Blame{Who: who, Player: p, First: t, Open: a.stopped})
	}
	b := &a.blames[i]
	if b.Checks == 0 || b.Last != t {
		b.Checks++
	}
	b.Last, b.Healed = t, 0
}

// sums are checksums by tick.
type sums []sum

type sum struct {
	tick lockstep.Tick
	hash uint64
}

func (s sums) find(t lockstep.Tick) *sum {
	if i := s.after(t) - 1; i >= 0 && s[i].tick == t {
		return &s[i]
	}
	return nil
}

// after returns the index of the first checksum after a tick.
func (s sums) after(t lockstep.Tick) int {
	return sort.Search(len(s), func(i int) bool { return s[i].tick > t })
}

type checkLog struct {
	seats      int
	agreed     sums          // by tick, after sort
	mismatches []mismatch    // by tick, after sort
	admitted   lockstep.Tick // the last check before the referee admitted that it was wrong
}

// record notes a record's checksums. It returns [io.EOF] after maxEvidence checksums.
func (l *checkLog) record(rec *record.Record) error {
	if max(len(l.agreed), len(l.mismatches)) >= maxEvidence {
		return io.EOF
	}
	switch rec.Kind {
	case record.KindHeader:
		l.seats = int(rec.Header.Settings.Players)
	case record.KindChecksum:
		l.agreed = append(l.agreed, sum{rec.Tick, rec.Hash})
	case record.KindMismatch:
		l.mismatches = append(l.mismatches, mismatch{rec.Tick, rec.Player, rec.Hash})
	case record.KindEvent:
		if n := len(l.agreed); n > 0 && rec.Event == record.EventReferee {
			l.admitted = l.agreed[n-1].tick
		}
	}
	return nil
}

func (l *checkLog) sort() {
	slices.SortStableFunc(l.agreed, func(a, b sum) int { return cmp.Compare(a.tick, b.tick) })
	slices.SortStableFunc(l.mismatches, func(a, b mismatch) int { return cmp.Compare(a.tick, b.tick) })
}

// at returns the check of a tick, or nil if the log has no checksum of it. The simulation's checksum is own, or if that
// is not known, the agreed one.
func (l *checkLog) at(t lockstep.Tick, own uint64, known bool) *check {
	compare := func(m mismatch, t lockstep.Tick) int { return cmp.Compare(m.tick, t) }
	from, _ := slices.BinarySearchFunc(l.mismatches, t, compare)
	to, _ := slices.BinarySearchFunc(l.mismatches, t+1, compare)
	c := &check{tick: t, own: own, agreed: own, mismatches: l.mismatches[from:to], seats: l.seats, admitted: t <= l.admitted}
	switch agreed := l.agreed.find(t); {
	case agreed != nil:
		if c.agreed = agreed.hash; !known {
			c.own = c.agreed
		}
	case from < to:
		c.tie = true
	default:
		return nil
	}
	return c
}

// unfixed returns the verdict on rules without a fixed result.
func (p *Parting) unfixed(runs int) Verdict {
	return Verdict{
		Party: NoFixedResult, Players: []lockstep.Player{}, Simulated: runs > 0, Grade: GradeUnfixed, Runs: runs, Parting: p, Blames: []Blame{},
		Text: p.accusesNobody(),
	}
}

// votes returns the verdict of the votes, without a simulation.
func votes(tie bool, groups []Group) Verdict {
	v := Verdict{Party: WrongUnknown, Players: []lockstep.Player{}}
	if tie || len(groups) < 2 {
		v.Text = noMajority
		return v
	}
	first, voters := groups[0], 0
	for _, g := range groups[1:] {
		v.Players = append(v.Players, g.Players...)
		voters += len(g.Players)
	}
	slices.Sort(v.Players)
	if first.Referee && len(first.Players) == 0 && len(groups) == 2 && voters > 1 {
		v.Party, v.Players = WrongReferee, []lockstep.Player{}
		v.Text = fmt.Sprintf(refereeAlone, voters)
		return v
	}
	v.Party = WrongPlayer
	v.Text = fmt.Sprintf(notAgreed, players(v.Players))
	return v
}

func rightPlayers(groups []Group) []lockstep.Player {
	var all []lockstep.Player
	for _, g := range groups {
		if g.Right {
			all = append(all, g.Players...)
		}
	}
	return all
}
