package desync

import (
	"fmt"
	"slices"
	"strings"

	"github.com/seed-49bee653/samestep/checksum"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
	"github.com/seed-49bee653/samestep/lockstep/record"
	"github.com/seed-49bee653/samestep/replay"
	"github.com/seed-49bee653/samestep/state"
)

// decide returns the verdict of an explanation: that the rules have no fixed result, or that the sides are different builds, and
// else who was wrong.
func (w *work) decide() Verdict {
	ours := w.again.side(w.manifest.Tick)
	v := w.verdict()
	if w.repeated != nil {
		w.repeated.later()
		w.repeated.note(&v)
		if p := w.repeated.parting(); p != nil {
			return p.unfixed(w.repeated.runs)
		}
	}
	if p := ownParting(w.manifest, v.Party); p != nil {
		return p.unfixed(v.Runs)
	}
	v.Grade = v.grade()
	var this *Program
	if ours.known() {
		this = w.thisProgram()
	}
	if b := twoBuilds(w.log.header, w.manifest, this, hash(ours)); b != nil {
		b.Runs, b.Apart, b.NotApart = v.Runs, v.Apart, v.NotApart
		return *b
	}
	return v
}

// verdict returns the verdict of an explanation: that of [Attribute] on the part of the log that was simulated, with the
// players that differ at the check of the desync.
func (w *work) verdict() Verdict {
	m, ours := w.manifest, w.again.side(w.manifest.Tick)
	if !ours.known() {
		return votes(m.Tie, w.e.Groups)
	}
	for i := range w.e.Groups {
		g := &w.e.Groups[i]
		g.Right = g.Checksum == hash(ours)
	}
	j := judge{w.e.Machine, w.e.Recorder, "the agreed checksum"}
	if slices.ContainsFunc(w.e.Groups, func(g Group) bool { return g.Referee }) {
		j.agreed = "the referee"
	} else if list := rightPlayers(w.e.Groups); len(list) > 0 {
		j.agreed = players(list)
	}
	v := w.attribution(ours.hash).verdict(append(w.log.falseKeyframes(w.again.keyframe), w.again.differences...), j)
	v.Blames = nil
	return *v
}

// attribution returns what the log says up to the check of the desync, at which our checksum is own. Of the players' checksums
// it has those of this check, and of those at which the simulation differs.
func (w *work) attribution(own uint64) *attribution {
	m, log := w.manifest, &w.log.sums
	a := &attribution{until: m.Tick, own: make(map[lockstep.Tick]uint64), decisive: make(map[Party]*check), blames: []Blame{}}
	a.log = checkLog{seats: log.seats, admitted: log.admitted, agreed: slices.Clone(log.agreed)}
	c := log.at(m.Tick, own, true)
	if c == nil {
		if c = checkOf(m, own, log.seats); !c.tie {
			a.log.agreed = append(a.log.agreed, sum{m.Tick, c.agreed})
		}
	}
	for _, d := range w.again.differences {
		if earlier := log.at(d.Tick, d.Got, true); !d.Keyframe && d.Tick < m.Tick && earlier != nil {
			a.log.mismatches = append(a.log.mismatches, earlier.mismatches...)
		}
	}
	a.log.mismatches = append(a.log.mismatches, c.mismatches...)
	for i := range a.log.agreed {
		a.ticks = append(a.ticks, a.log.agreed[i].tick)
	}
	if c.tie {
		a.ticks = append(a.ticks, m.Tick)
	}
	if c.tie || c.own != c.agreed {
		a.own[m.Tick] = own
	}
	return a
}

// checkOf returns the check of a bundle whose log does not have it yet.
func checkOf(m *replay.Manifest, own uint64, seats int) *check {
	c := &check{tick: m.Tick, tie: m.Tie, own: own, agreed: own, seats: seats}
	for i, g := range m.Groups {
		hash, err := checksum.ParseHash(g.Checksum)
		if err != nil {
			panic(err) // checkManifest has parsed it
		}
		if i == 0 && !m.Tie {
			c.agreed = hash
			continue
		}
		for _, p := range g.Players {
			c.mismatches = append(c.mismatches, mismatch{m.Tick, p, hash})
		}
	}
	return c
}

// programs returns the program that recorded the match, those of the players that differ at the check, and this one.
func (w *work) programs() []Program {
	h := w.log.header
	all := []Program{{Who: programRecorder, Build: h.Build, Sources: record.ParseSources(h.Sources)}}
	for i := range w.e.Who {
		p := &w.e.Who[i]
		if w.e.mismatches(p.Player) && (w.e.Tie || p.Player == w.e.Player || p.Differs || w.e.Verdict.undecided()) {
			all = append(all, Program{programPlayer, p.Player, p.Build, record.ParseSources(p.Sources)})
		}
	}
	if w.again != nil {
		all = append(all, *w.thisProgram())
	}
	return all
}

// thisProgram returns the program that has simulated the match again.
func (w *work) thisProgram() *Program {
	return &Program{Who: programThis, Build: w.again.game.Build(), Sources: w.again.game.Sources()}
}

// advise says what to do if this build is not the one to explain the bundle with, and names the revision of that one, if git can
// check it out.
func (e *Explanation) advise() (text, revision string) {
	if e.Verdict.Simulated && !e.Verdict.undecided() || e.Verdict.Party == NoFixedResult || e.Verdict.Party == TwoBuilds {
		return "", "" // another program says the same
	}
	recorder, this := &e.Programs[0], &Program{}
	if last := &e.Programs[len(e.Programs)-1]; last.Who == programThis {
		this = last
	}
	switch revision = recorder.ShortCheckout(); {
	case recorder.same(this):
		return fmt.Sprintf("this program is of the recorder's revision, %s: explain the bundle again on the recorder's platform (%s)", revision, e.Recorder), ""
	case revision != "" && !recorder.Modified:
		text = fmt.Sprintf("explain the bundle again with a program of revision %s, which recorded the match", revision)
	case !e.Verdict.Simulated && e.lacksGame:
		return fmt.Sprintf("explain the bundle again with the program of the game %s, build %s, or with a module of its rules (--rules FILE)", e.Game, e.Build), ""
	case !e.Verdict.Simulated:
		return "", "" // a note says what is missing
	case revision != "":
		text = fmt.Sprintf("explain the bundle again with the program that recorded the match: it is of revision %s with changed files, which no repository has", revision)
		revision = ""
	default:
		text = fmt.Sprintf("explain the bundle again with the program that recorded the match (build %s, on %s): the replay does not have its revision", e.Build, e.Recorder)
	}
	for i := range e.Programs {
		if p := &e.Programs[i]; p.Who == programPlayer && this.Checkout() != "" && p.Sources == this.Sources {
			text += fmt.Sprintf("; this program is of the revision of player %d, %s", p.Player, this.ShortCheckout())
			break
		}
	}
	return text, revision
}

// programLines lists the programs if their revisions are known to differ, or if nobody knows which is right.
func (e *Explanation) programLines() []string {
	for i := range e.Programs {
		p, recorder := &e.Programs[i], &e.Programs[0]
		if e.Verdict.undecided() || p.Checkout() != "" && p.Sources != recorder.Sources {
			return lines(e.Programs)
		}
	}
	return nil
}

func lines[E fmt.Stringer](list []E) []string {
	var all []string
	for _, x := range list {
		all = append(all, x.String())
	}
	return all
}

// twoBuilds returns the verdict that the sides of a bundle are different programs, which explains all of it, or nil: each program
// is known to differ from each on the other sides, and none on its own side. A machine that was right when it computed
// the ticks again contradicts it, and so does this program, nil if it has not simulated the match, if its checksum is not that
// of the side with the same sources.
func twoBuilds(h *lockstep.Header, m *replay.Manifest, this *Program, checksum string) *Verdict {
	if a := m.Resimulation; a != nil && a.Outcome == protocol.RightThisTime.String() || len(m.Groups) < 2 {
		return nil
	}
	sides := make([][]Program, len(m.Groups))
	for i := range m.Groups {
		if sides[i] = programsOf(h, m, &m.Groups[i]); len(sides[i]) == 0 {
			return nil
		}
		if this != nil && this.same(&sides[i][0]) && checksum != m.Groups[i].Checksum {
			return nil
		}
	}
	for i, side := range sides {
		for k := range side {
			for j, other := range sides {
				if slices.ContainsFunc(other, func(o Program) bool { return o.differs(&side[k]) != (i != j) }) {
					return nil
				}
			}
		}
	}
	var texts []string
	for i := range sides {
		texts = append(texts, sideText(&m.Groups[i])+" "+builtText(&sides[i][0]))
	}
	return disagree(this != nil, texts...)
}

// otherBuild returns the verdict that the program which recorded a match, and another of whose results some differ, are different
// programs; nil unless that is known.
func otherBuild(h *lockstep.Header, this *Program) *Verdict {
	recorder := Program{Build: h.Build, Sources: record.ParseSources(h.Sources)}
	if !recorder.differs(this) {
		return nil
	}
	return disagree(true, "the recorder "+builtText(&recorder), "this program "+builtText(this))
}

func disagree(simulated bool, sides ...string) *Verdict {
	return &Verdict{
		Party: TwoBuilds, Players: []lockstep.Player{}, Grade: GradeConsistent, Simulated: simulated, Blames: []Blame{},
		Text: programsDiffer + strings.Join(sides, "; "),
	}
}

// programsOf returns the programs of a group. There is none if one is not known.
func programsOf(h *lockstep.Header, m *replay.Manifest, g *replay.BundleGroup) (all []Program) {
	if g.Referee {
		all = append(all, Program{Build: h.Build, Sources: record.ParseSources(h.Sources)})
	}
	for _, player := range g.Players {
		i := slices.IndexFunc(m.Participants, func(p replay.BundleParticipant) bool { return p.Player == player })
		if i < 0 {
			return nil
		}
		p := &m.Participants[i]
		all = append(all, Program{Player: player, Build: p.Build, Sources: record.ParseSources(p.Sources)})
	}
	return all
}

// sideText names the machines of a group.
func sideText(g *replay.BundleGroup) string {
	switch {
	case !g.Referee:
		return players(g.Players)
	case len(g.Players) == 0:
		return "the referee"
	}
	return "the referee and " + players(g.Players)
}

func builtText(p *Program) string {
	if p.Checkout() == "" {
		return "with build " + p.Build
	}
	return fmt.Sprintf("with build %s, %s", p.Build, p.sources())
}

// unfix replaces the verdict: the rules have no fixed result, so that nothing that was simulated shows anything.
func (e *Explanation) unfix(p *Parting, runs int) {
	if !e.Verdict.undecided() { // the sides were one of the bundle and the simulation
		e.Fields, e.Places = state.Differences{}, state.Places{}
	}
	e.Verdict = p.unfixed(runs)
	e.Cause, e.Trials, e.Tried, e.Changes, e.Draws = nil, 0, []Tried{}, []Change{}, []Draws{}
	if e.Again != nil {
		e.Again.means = ""
	}
	for i := range e.Who {
		e.Who[i].Differs = !e.Tie && e.mismatches(e.Who[i].Player)
	}
}
