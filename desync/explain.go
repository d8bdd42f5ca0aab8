package desync

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
	"github.com/seed-49bee653/samestep/replay"
)

// Explain explains the desync of a bundle, as far as it can. It returns an error if the bundle cannot be read: one that
// wraps [replay.ErrBundle], or a [*replay.DamageError] if the beginning of its replay is damaged. A nil bundle, of a file
// that is none, is such an error. The error wraps [state.ErrPath] if no state has the Path of the options.
func Explain(b *replay.Bundle, o Options) (*Explanation, error) {
	if b == nil {
		return nil, replay.ErrBundle
	}
	w := &work{options: o.withDefaults(), bundle: b, manifest: &b.Manifest}
	if err := w.read(); err != nil {
		return nil, err
	}
	if w.manifest.Panic != nil {
		return w.explainPanic()
	}
	w.simulate()
	w.judge()
	w.prepareTrials()
	w.takeAgain()
	w.compare()
	w.order()
	w.search()
	w.settleAgain()
	w.fingerprint()
	if err := w.limit(); err != nil {
		return nil, err
	}
	w.history()
	w.touches()
	w.e.Shown = w.shown()
	if w.listed != nil {
		w.e.Fields, w.e.Places, _ = w.listed.Named(w.e.Fields, w.e.Places, nil)
		for i := range w.e.Streams {
			w.e.Streams[i].Path = w.listed.Name(w.e.Streams[i].Path)
		}
	}
	w.entitle()
	w.e.Traits = traitsOf(w.e.Who)
	if w.options.Redact {
		w.e.redact()
	}
	w.e.Title = w.e.answer()
	return &w.e, nil
}

// A work builds an explanation.
type work struct {
	options  Options
	bundle   *replay.Bundle
	manifest *replay.Manifest
	log      *matchLog
	exhibits []exhibit
	words    *lockstep.Describer // with the game's names, if the game is available
	plain    *lockstep.Describer
	again    *rerun    // or nil
	repeated *repeater // of it
	tester   *tester
	since    lockstep.Tick // the last check at which the sides agreed
	good     lockstep.Tick // the last tick at which the sides were equal
	bad      lockstep.Tick // the first tick at which they are known to differ
	right    []byte        // the states of tick bad; nil if not known
	wrong    []byte
	later    map[lockstep.Tick][]byte // the wrong side's states after tick bad; only looked up
	listed   *listing                 // of right and wrong, or nil
	e        Explanation
}

func (w *work) note(format string, args ...any) {
	w.e.Notes = append(w.e.Notes, fmt.Sprintf(format, args...))
}

// read reads the bundle.
func (w *work) read() error {
	m := w.manifest
	if err := checkManifest(m); err != nil {
		return err
	}
	file, err := w.bundle.Replay(w.options.MaxReplay)
	if err != nil {
		return err
	}
	if w.log, err = readLog(file, m.Tick); err != nil {
		return err
	}
	h := w.log.header
	w.e = Explanation{
		Match: h.Match.String(), Game: h.Game, Build: h.Build, Recorder: h.Platform,
		Machine: lockstep.Platform(), TickRate: h.Settings.TickRate(),
		Tick: m.Tick, Agreed: m.Agreed, Began: m.Began, Player: m.Player, Tie: m.Tie, Section: m.Section,
		Changes: []Change{}, Commands: []Touch{}, Streams: []Stream{}, Draws: []Draws{}, Notes: []string{}, Tried: []Tried{}, Steps: []NextStep{},
	}
	w.e.Groups = reportedIn(m).Groups
	if m.Match != w.e.Match {
		w.note("the bundle says that it is of match %s, but its replay is of %s", m.Match, w.e.Match)
	}
	if w.log.damage != nil {
		w.note("the replay in the bundle cannot be read to its end: %v", w.log.damage)
	}
	w.e.Who, w.e.Columns = w.log.participants(m)
	if w.exhibits, err = loadExhibits(w.bundle, w.log.schema, w.options.MaxStates, w.note); err != nil {
		return err
	}
	w.plain, err = lockstep.NewDescriber(h, nil)
	w.words = w.plain
	w.since, w.bad = max(m.Agreed, m.Began, w.log.first), m.Tick
	w.good = w.since
	return err
}

// simulate computes the states again, if the game is available.
func (w *work) simulate() {
	w.e.lacksGame = true
	if w.options.Game == nil {
		w.note("the game's code is not here: nothing was simulated again, and no command is looked for")
		return
	}
	g, err := w.options.Game(w.log.header)
	if err != nil {
		w.note("the game's code is not here (%v): nothing was simulated again, and no command is looked for", err)
		return
	}
	w.e.lacksGame = false
	if words, err := lockstep.NewDescriber(w.log.header, g); err == nil && !w.options.Redact { // a game's words may have texts of people
		w.words = words
	}
	const longest = 8 * lookBack
	from := min(w.good, w.bad-min(w.bad, lookBack))
	from = max(from, w.bad-min(w.bad, longest))
	again, err := w.simulateFrom(g, from)
	if err != nil {
		w.note("the match could not be simulated again: %v", err)
		return
	}
	w.again, w.e.Ending = again, again.ending
	for _, c := range again.costs {
		if c.Tick > w.good {
			w.e.Costs = append(w.e.Costs, c)
		}
	}
	focus := w.good
	if d := again.differences; len(d) > 0 {
		focus = min(focus, d[0].Tick-min(d[0].Tick, lockstep.Tick(w.log.header.Settings.CheckEvery)))
	}
	w.repeated = again.repeat(focus, &w.options)
	w.repeated.again(func() (*rerun, error) { return w.log.simulate(g, again.keyframe, from, w.bad, &w.options) })
	w.repeated.apart()
}

// prepareTrials begins the time of the trials, unless they could show nothing.
func (w *work) prepareTrials() {
	if w.again == nil || w.e.Verdict.Party == NoFixedResult || w.e.Verdict.Party == TwoBuilds {
		return
	}
	var err error
	if w.tester, err = newTester(w.again, &w.options); err != nil {
		w.note("no trials: %v", err)
	}
}

// maxBegins is the number of keyframes from which a match is simulated, one after the other.
const maxBegins = 3

// simulateFrom simulates from the last keyframe that is not after a tick, and keeps the states from that tick on. If a
// checksum of the log contradicts the keyframe or what follows from it, the keyframe may be false: then it takes an earlier one.
func (w *work) simulateFrom(g *lockstep.Game, from lockstep.Tick) (again *rerun, err error) {
	begin := from
	for range maxBegins {
		x, err := w.log.simulate(g, w.log.sound(begin), from, w.bad, &w.options)
		if err != nil && again == nil {
			return nil, err
		}
		if err != nil {
			return again, nil // an earlier keyframe is too far away
		}
		if again = x; x.keyframe <= w.log.first || !x.contradicted(w.bad) {
			break
		}
		begin = x.keyframe - 1
	}
	return again, nil
}

func (w *work) judge() {
	w.e.Verdict = w.decide()
	w.e.Programs = w.programs()
	w.e.Verdict.Advice, w.e.Verdict.With = w.e.advise()
	if w.e.Verdict.Party == WrongReferee {
		return
	}
	for i := range w.e.Who {
		who := &w.e.Who[i]
		tied := w.e.Tie && len(w.e.Verdict.Players) > 0 // the log says of each that it differs
		who.Differs = who.Differs && !tied || slices.Contains(w.e.Verdict.Players, who.Player)
	}
}

// sides returns the right and the wrong state of an exhibit, according to the verdict.
func (w *work) sides(x *exhibit) (right, wrong side) {
	again := w.again.side(x.tick)
	switch {
	case w.e.Verdict.Party == WrongReferee:
		if again.known() {
			return again, x.referee
		}
		return x.player, x.referee
	case w.e.Verdict.undecided() || !again.known():
		return x.referee, x.player
	}
	return again, x.player
}

// compare finds the first exhibit whose sides differ, and how.
func (w *work) compare() {
	for i := range w.exhibits {
		w.honest(&w.exhibits[i])
	}
	for i := range w.exhibits {
		x := &w.exhibits[i]
		right, wrong := w.sides(x)
		if !right.known() || !wrong.known() {
			continue
		}
		if bytes.Equal(right.bytes, wrong.bytes) {
			w.good = max(w.good, x.tick)
			continue
		}
		if x.tick <= w.good {
			w.note("the states of tick %d differ already, at which the checksums agreed", x.tick)
			continue
		}
		if w.wrong == nil {
			w.bad, w.right, w.wrong, w.later = x.tick, right.bytes, wrong.bytes, make(map[lockstep.Tick][]byte)
		}
		w.later[x.tick] = wrong.bytes
	}
	if w.good >= w.bad { // the states that were sent are equal at the end
		w.good = max(w.manifest.Agreed, w.manifest.Began)
	}
	w.e.good = w.good
	w.e.First, w.e.Compared = Span{w.good + 1, w.bad}, w.bad
	if w.wrong == nil {
		w.note("there is no state of the wrong side that differs: no field can be named")
		if !slices.ContainsFunc(w.exhibits, func(x exhibit) bool { return x.player.known() }) {
			w.note("the bundle has no state of the player: it did not answer, or the server was stopped before it could")
		}
		return
	}
	var err error
	if w.listed, err = newListing(w.log.schema, w.right, w.wrong, max(maxRanked, w.options.Fields)); err != nil {
		panic(err) // cannot happen: both were validated when they were loaded, or are our own
	}
	w.show()
	if good := w.again.state(w.good); good != nil {
		w.e.Streams = streamsOf(w.log.schema, w.e.Fields.List, good, w.right, w.wrong)
	} else if x := w.lastGood(); x.referee.known() {
		w.e.Streams = streamsOf(w.log.schema, w.e.Fields.List, x.referee.bytes, w.right, w.wrong)
	}
}

// fingerprint finds the fingerprint, from all fields that differ: the Path of the options does not count.
func (w *work) fingerprint() {
	var cause CauseKind
	if w.e.Cause != nil {
		cause = w.e.Cause.Kind
	}
	var outcome protocol.Outcome
	section, path := w.e.Section, ""
	if a := w.e.Again; a != nil {
		outcome, section = a.outcome, cmp.Or(a.Section, section)
	}
	if w.listed != nil && len(w.listed.fields.List) > 0 {
		path = w.listed.fields.List[0].Path
	}
	class := classOf(cause, outcome)
	if p := w.e.Verdict.Parting; p != nil && p.Way != WayMachine {
		class, section, path = ClassUnstable, "", p.Field
	}
	w.e.Fingerprint = NewFingerprint(w.e.Game, class, section, path)
}

// lastGood returns the latest exhibit with a state of the referee at which the sides were equal. That of the last good tick
// itself is seldom among them.
func (w *work) lastGood() (good exhibit) {
	for _, x := range w.exhibits {
		if x.tick <= w.good && x.referee.known() {
			good = x
		}
	}
	return good
}

// honest adds a note if a player sent a state whose checksum is not the one that it reported.
func (w *work) honest(x *exhibit) {
	if x.tick != w.manifest.Tick || !x.player.known() {
		return
	}
	for _, g := range w.e.Groups {
		for _, p := range g.Players {
			if p == w.manifest.Player && g.Checksum != hash(x.player) {
				w.note("the state of tick %d that player %d sent has checksum %s, but it had reported %s", x.tick, p, hash(x.player), g.Checksum)
			}
		}
	}
}

// shown finds where a viewer shows the difference.
func (w *work) shown() *Shown {
	for _, x := range w.exhibits {
		match := w.again.side(x.tick)
		if !match.known() {
			match = x.referee
		}
		if !match.known() || !x.player.known() || bytes.Equal(match.bytes, x.player.bytes) {
			continue
		}
		l, err := newListing(w.log.schema, match.bytes, x.player.bytes, maxRanked)
		if err != nil {
			panic(err) // cannot happen: both were validated when they were loaded, or are our own
		}
		first := l.fields.List
		if w.listed != nil && w.listed.ranked {
			first = arrangedAs(first, w.listed.fields.List)
		}
		if len(first) == 0 {
			continue
		}
		return &Shown{x.tick, l.Name(first[0].Path)}
	}
	return nil
}
