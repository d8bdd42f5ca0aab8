package desync

import (
	"bytes"
	"cmp"
	"errors"
	"slices"

	"github.com/seed-49bee653/samestep/desync/internal/diff"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
	"github.com/seed-49bee653/samestep/lockstep/record"
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
	if w.manifest.Twin != nil {
		return w.explainTwin()
	}
	w.simulate()
	w.judge()
	w.prepareTrials()
	w.takeAgain()
	w.takeFlights()
	w.compare()
	w.order()
	w.search()
	w.settleAgain()
	w.settleFlights()
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
	return w.finish(), nil
}

// simulate computes the states again, if the game is available.
func (w *work) simulate() {
	g := w.game("nothing was simulated again, and no command was searched for")
	if w.e.lacksGame = g == nil; g == nil {
		return
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
		if again = x; x.keyframe <= w.log.first || !slices.ContainsFunc(x.differences, func(d *lockstep.DesyncError) bool { return !d.Keyframe && d.Tick < w.bad }) {
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
			w.note("the states of tick %d already differ, although their checksums agree", x.tick)
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
		w.note("no state of the wrong side differs: no field can be named")
		if !slices.ContainsFunc(w.exhibits, func(x exhibit) bool { return x.player.known() }) {
			w.note("the bundle has no state of the player: the player did not answer, or the server stopped first")
		}
		return
	}
	var err error
	if w.listed, err = newListing(w.log.schema, w.right, w.wrong, max(maxRanked, w.options.Fields)); err != nil {
		panic(err) // cannot happen: both were validated when they were loaded, or are our own
	}
	w.show()
	if good := w.again.state(w.good); good != nil {
		w.e.Streams = StreamsOf(w.log.schema, w.e.Fields.List, good, w.right, w.wrong)
	} else if x := w.lastGood(); x.referee.known() {
		w.e.Streams = StreamsOf(w.log.schema, w.e.Fields.List, x.referee.bytes, w.right, w.wrong)
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
	w.e.Fingerprint = NewFingerprint(w.e.Game, class, section, path, "")
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

// show takes the listing into the explanation, up to the limit of the options.
func (w *work) show() {
	w.e.Fields, w.e.Places = w.listed.fields, w.listed.places
	w.e.Fields.List = w.e.Fields.List[:min(len(w.e.Fields.List), w.options.Fields)]
}

// order orders the fields by cause, if the match was simulated again.
func (w *work) order() {
	if w.tester == nil || w.wrong == nil || w.e.Verdict.undecided() {
		return
	}
	w.listed.byCause(w.tester, w.known(), w.bad)
	w.show()
}

// known returns the first tick after which the states are equal and kept.
func (w *work) known() lockstep.Tick { return max(w.good, w.again.first) }

// limit limits the fields to those of the Path. The search for the cause needs all.
func (w *work) limit() (err error) {
	if w.options.Path != "" && w.listed != nil {
		w.e.path = w.options.Path
		w.e.Fields, w.e.Places, err = w.listed.at(w.options.Path, w.options.Fields)
	}
	return err
}

// entitle keeps what differs first, whatever part of it the report lists, and what may have differed before it.
func (w *work) entitle() {
	if w.listed == nil || w.e.Verdict.Party == NoFixedResult {
		return
	}
	all, places, _ := w.listed.Named(w.listed.fields, w.listed.places, nil)
	if len(places.List) > 0 {
		w.e.top, w.e.differing = &places.List[0], all.Total
	}
	if w.e.Cause == nil && w.e.First != (Span{w.bad, w.bad}) {
		w.e.Rivals = w.listed.rivals
	}
}

// search looks for the cause.
func (w *work) search() {
	if w.tester == nil || w.wrong == nil || w.e.Verdict.undecided() {
		return
	}
	if w.e.Again != nil && w.e.Again.outcome == protocol.ThirdResult {
		w.note("no trials: the machine of player %d computed the same ticks with another result, and no single fault accounts for that", w.manifest.Player)
		return
	}
	s := w.newSearch()
	if s.good >= s.bad {
		w.note("no trials: the states before tick %d exceed the memory limit", s.good)
		return
	}
	if s.good > w.good {
		w.note("trials begin at tick %d: earlier states exceed the memory limit", s.good)
	}
	switch err := s.look(w.families(s)); {
	case s.parted != nil:
		w.repeated.partings = append(w.repeated.partings, *s.parted)
		w.e.unfix(w.repeated.parting(), w.repeated.runs)
		return
	case err != nil:
		w.note("the trials ended: %v", err)
	}
	w.e.Trials, w.e.Tried = s.spent, s.tried
	w.e.Cause = s.cause()
	if w.e.Cause == nil {
		w.note("no single fault that was tried leads to the wrong state; a rule may be wrong in several ticks")
	} else {
		w.e.Cause.ends = s.last
	}
	w.drawn(s)
}

// families returns all families of faults, the simplest first.
func (w *work) families(s *search) []family {
	schema := w.log.schema
	return []family{
		{"faults of commands", s.commands},
		{"faults of all commands of a tick", s.ticks},
		{"other numbers of draws", func() error { return s.draws(w.e.Streams) }},
		{"orders of lists", func() error { return s.orders(diff.ListsOf(schema), w.listed.Orders) }},
		{"lost elements", func() error { return s.elements(diff.ListsOf(schema), w.listed.Missing) }},
		{"altered payloads of commands that change what differs", func() error { return s.payloads(w.relevant(s), true) }},
		{"altered fields", func() error { return s.altered(schema, w.listed.fields.List) }},
		{"altered payloads of other commands", func() error { return s.payloads(w.relevant(s), false) }},
		{"commands of other players", s.players},
		{"other configurations", s.configurations},
	}
}

// relevant returns the commands without which an element that differs would have another value.
func (w *work) relevant(s *search) (all []*lockstep.Command) {
	entities := entitiesOf(w.log.schema, w.again.state(w.bad), w.listed.fields.List)
	for t := w.known() + 1; t <= w.bad; t++ {
		f := w.again.frame(t)
		for i := range f.Commands {
			if changes, err := s.changes(&f, i, w.bad, entities); err != nil {
				return all
			} else if len(changes) > 0 {
				all = append(all, &f.Commands[i])
			}
		}
	}
	return all
}

func (w *work) drawn(s *search) {
	var fault *variation
	if w.e.Cause != nil && w.e.Cause.fault.config == nil {
		fault = &w.e.Cause.fault
	}
	s.clock.begin(s.clock.now, w.options.Budget) // again, after the search
	s.tell = nil
	all, err := s.drawsOf(s.good, s.bad, fault)
	if err != nil {
		w.note("the draws could not be counted: %v", err)
		return
	}
	w.e.Draws = all
}

// newSearch returns a search that knows all exhibits. What the machine has computed again excludes causes, and confirms none.
func (w *work) newSearch() *search {
	s := &search{
		tester: w.tester, begin: max(w.manifest.Began, w.log.first, w.again.first), since: max(w.since, w.again.first), good: w.known(), bad: w.bad, wrong: w.wrong, states: w.later, last: w.bad, describe: w.command,
	}
	for t := range w.later { // the order does not matter
		s.last = max(s.last, t)
	}
	s.exact = w.recordedAt()
	a := w.e.Again
	if a == nil {
		return s
	}
	if s.exact = cmp.Or(s.exact, a.exact()); a.outcome == protocol.WrongTheSameWay {
		s.hashes = make(map[lockstep.Tick]string)
		for i, h := range w.manifest.Resimulation.Runs[0] {
			s.hashes[a.From+1+lockstep.Tick(i)] = h
		}
	}
	return s
}

// maxChanges is the number of fields whose last change is searched.
const maxChanges = 3

// historian returns a historian with its own budget.
func (w *work) historian() *historian {
	t := *w.tester
	t.clock.begin(t.clock.now, w.options.Budget)
	t.tell = nil
	return &historian{tester: &t, log: w.log, describe: w.command}
}

// history finds the last changes of the first fields that differ, one field of each place.
func (w *work) history() {
	if w.tester == nil || w.e.Verdict.alien() {
		return
	}
	h := w.historian()
	until := min(w.e.First.To, w.bad)
	for i := range w.e.Places.List {
		if i == maxChanges || until < w.again.first {
			return
		}
		field, ok := diff.Watch(w.log.schema, w.again.state(w.e.Compared), w.e.Places.List[i].First.Path)
		if !ok {
			continue
		}
		c, err := h.change(field, until)
		if errors.Is(err, errBudget) {
			w.note("the last change of %s was searched for only back to tick %d", c.Field, c.Since)
		} else if err != nil {
			w.note("the last change of %s could not be searched: %v", c.Field, err)
			continue
		}
		if w.e.Cause == nil {
			c.Stale = h.stale(field, w.bad, w.wrong)
		}
		w.e.Changes = append(w.e.Changes, c)
	}
}

// touches finds the commands of the first divergent ticks that change or name an element that differs.
func (w *work) touches() {
	if len(w.e.Fields.List) == 0 {
		return
	}
	if w.tester == nil || w.e.Verdict.alien() {
		w.touchesByName()
		return
	}
	entities := entitiesOf(w.log.schema, w.again.state(w.e.Compared), w.e.Fields.List)
	h := w.historian()
	for t := max(w.e.First.From, w.again.first+1); t <= w.e.First.To; t++ {
		f := w.again.frame(t)
		found, err := h.touches(&f, entities, w.plain)
		w.e.Commands = append(w.e.Commands, found...)
		if err != nil || len(w.e.Commands) > maxTouches {
			w.e.Commands = w.e.Commands[:min(len(w.e.Commands), maxTouches)]
			w.note("of the commands of ticks %d to %d, only the first %d that touch what differs are listed", w.e.First.From, w.e.First.To, len(w.e.Commands))
			return
		}
	}
}

// touchesByName finds the commands that name an element that differs, from the log alone.
func (w *work) touchesByName() {
	entities := entitiesOf(w.log.schema, w.right, w.e.Fields.List)
	visit := func(r *record.Record) error {
		if r.Tick < w.e.First.From || r.Tick > w.e.First.To {
			return nil
		}
		for i := range r.Frame.Commands {
			c := &r.Frame.Commands[i]
			if names := named(plainText(w.plain, c), entities); len(names) > 0 && len(w.e.Commands) < maxTouches {
				w.e.Commands = append(w.e.Commands, Touch{Command: w.command(c), Changes: []string{}, Names: names})
			}
		}
		return nil
	}
	r, err := w.log.reader()
	if err == nil {
		err = replay.Play(r, nil, visit)
	}
	if err != nil && !errors.As(err, new(*replay.DamageError)) { // the notes have damage
		w.note("the commands could not be read: %v", err)
	}
}
