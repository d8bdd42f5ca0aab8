package desync

import (
	"bytes"
	"errors"
	"fmt"
	"runtime"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/replay"
	"github.com/seed-49bee653/samestep/state"
)

// Explain explains the desync of a bundle, as far as it can. The error is that
// of a bundle that cannot be read: it wraps [replay.ErrBundle], or is the
// [*replay.DamageError] of a replay that does not begin as one.
func Explain(b *replay.Bundle, o Options) (*Explanation, error) {
	w := &work{options: o.withDefaults(), bundle: b, manifest: &b.Manifest}
	if err := w.read(); err != nil {
		return nil, err
	}
	w.simulate()
	w.judge()
	w.compare()
	w.search()
	w.history()
	w.touches()
	w.e.Traits = traitsOf(w.e.Who)
	return &w.e, nil
}

// A work is an explanation that is being made.
type work struct {
	options  Options
	bundle   *replay.Bundle
	manifest *replay.Manifest
	log      *matchLog
	exhibits []exhibit
	words    *lockstep.Describer // in the game's words, if it is there
	plain    *lockstep.Describer
	again    *rerun // or nil
	tester   *tester
	good     lockstep.Tick // the last one at which the sides were equal
	bad      lockstep.Tick // the first one at which they are known to differ
	right    []byte        // the states of tick bad; nil if not known
	wrong    []byte
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
		Machine: runtime.GOOS + "/" + runtime.GOARCH + " " + runtime.Version(), TickRate: h.Settings.TickRate,
		Tick: m.Tick, Agreed: m.Agreed, Began: m.Began, Player: m.Player, Tie: m.Tie, Section: m.Section,
		Changes: []Change{}, Commands: []Touch{}, Streams: []Stream{}, Draws: []Draws{}, Notes: []string{},
	}
	for _, g := range m.Groups {
		w.e.Groups = append(w.e.Groups, Group{BundleGroup: g})
	}
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
	w.good, w.bad = max(m.Agreed, m.Began, w.log.first), m.Tick
	return err
}

// simulate makes the states again, if the game is there.
func (w *work) simulate() {
	if w.options.Game == nil {
		w.note("the game's code is not here: nothing was simulated again, so the first divergent tick and the command are not looked for")
		return
	}
	g, err := w.options.Game(w.log.header)
	if err != nil {
		w.note("the game's code is not here (%v): nothing was simulated again, so the first divergent tick and the command are not looked for", err)
		return
	}
	words, err := lockstep.NewDescriber(w.log.header, g)
	if err == nil {
		w.words = words
	}
	const longest = 8 * lookBack
	from := min(w.good, w.bad-min(w.bad, lookBack))
	from = max(from, w.bad-min(w.bad, longest))
	again, err := simulateAgain(w.log, g, from, w.bad, &w.options)
	if err != nil {
		w.note("the match could not be simulated again: %v", err)
		return
	}
	w.again = again
	for _, c := range again.costs {
		if c.Tick > w.good {
			w.e.Costs = append(w.e.Costs, c)
		}
	}
	if w.tester, err = newTester(again, w.options.Budget); err != nil {
		w.note("no trials: %v", err)
		return
	}
	if progress, ticks := w.options.Progress, 0; progress != nil {
		w.tester.tell = func(n int) { ticks += n; progress(ticks) }
	}
}

func (w *work) judge() {
	w.e.Verdict = w.verdict()
	if w.e.Verdict.Party == WrongReferee {
		return
	}
	for i := range w.e.Who {
		for _, p := range w.e.Verdict.Players {
			w.e.Who[i].Differs = w.e.Who[i].Differs || w.e.Who[i].Player == p
		}
	}
}

// sides returns the right and the wrong state of an exhibit, as the verdict is.
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
		w.bad, w.right, w.wrong = x.tick, right.bytes, wrong.bytes
		break
	}
	if w.good >= w.bad { // the states that were sent are equal at the end
		w.good = max(w.manifest.Agreed, w.manifest.Began)
	}
	w.e.good = w.good
	w.e.First, w.e.Compared = Span{w.good + 1, w.bad}, w.bad
	if w.wrong == nil {
		w.note("there is no state of the wrong side that differs: no field can be named")
		return
	}
	w.fields(w.right, w.wrong)
	if good := w.again.state(w.good); good != nil {
		w.e.Streams = streamsOf(w.log.schema, w.e.Fields.List, good, w.right, w.wrong)
	} else if x := at(w.exhibits, w.good); x.referee.known() {
		w.e.Streams = streamsOf(w.log.schema, w.e.Fields.List, x.referee.bytes, w.right, w.wrong)
	}
}

// honest notes where what a player sent is not what it reported.
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

// fields lists the differences between two states.
func (w *work) fields(right, wrong []byte) {
	a, err := align(w.log.schema, right, wrong)
	if err == nil {
		w.e.Fields, w.e.Places, err = a.differences(w.options.Fields)
	}
	if err != nil {
		panic(err) // both were checked when they were loaded, or are our own
	}
}

// search looks for the cause.
func (w *work) search() {
	if w.tester == nil || w.wrong == nil || w.e.Verdict.undecided() {
		return
	}
	s := &search{tester: w.tester, good: max(w.good, w.again.first), bad: w.bad, wrong: w.wrong, describe: w.command}
	if s.good >= s.bad {
		w.note("no trials: the states before tick %d are too many to be kept", s.good)
		return
	}
	if s.good > w.good {
		w.note("trials begin at tick %d only: the states before are too many to be kept", s.good)
	}
	err := s.look(w.log.schema, w.e.Streams, w.e.Fields.List)
	w.e.Trials = s.spent
	switch c := s.found; {
	case errors.Is(err, errBudget):
		w.note("the search for the cause ended after %d simulated ticks", s.spent)
	case err == nil && c == nil:
		w.note("no single fault of those that are tried (a command lost, doubled, moved or swapped, a generator drawn from too often, a field altered) leads to the wrong state")
	}
	if s.found != nil {
		w.take(s)
	}
	w.drawn(s)
}

// look tries all kinds of faults, the simplest first. None may spend all.
func (s *search) look(schema *state.Schema, streams []Stream, fields []state.Difference) error {
	err := s.share(s.left/2, s.commands)
	if s.found == nil {
		err = errors.Join(err, s.share(s.left/2, func() error { return s.extraDraws(schema, streams) }))
	}
	if s.found == nil {
		err = errors.Join(err, s.altered(schema, fields))
	}
	if s.found != nil && err != nil { // an earlier fault may lead there, too
		s.found.When.From = s.good + 1
	}
	return err
}

// take makes what was found the explanation's.
func (w *work) take(s *search) {
	c := s.found
	c.ends, w.e.Cause = s.bad, c
	w.e.First = Span{max(w.e.First.From, c.When.From), min(w.e.First.To, c.When.To)}
	if !c.When.Exact() || c.When.To >= w.bad {
		return
	}
	b, err := s.play(&c.fault, c.When.To, nil)
	if right := w.again.state(c.When.To); err == nil && b != nil && right != nil && !bytes.Equal(b, right) {
		w.e.Compared = c.When.To
		w.fields(right, append([]byte{}, b...))
	}
}

func (w *work) drawn(s *search) {
	var fault *variation
	if s.found != nil {
		fault = &s.found.fault
	}
	s.left = 3 * int(s.bad-s.good) // whatever was spent before
	all, err := s.drawsOf(s.good, s.bad, fault)
	if err != nil {
		w.note("the draws were not counted: %v", err)
		return
	}
	w.e.Draws = all
}

// command returns a command in words.
func (w *work) command(c *lockstep.Command) Command {
	return Command{c.Tick, c.Player, c.Sequence, w.words.Describe(c)}
}

// An Explanation is what could be found out about a desync. What could not is
// in Notes.
type Explanation struct {
	Match    string            `json:"match"`
	Game     string            `json:"game"`
	Build    string            `json:"build"`
	Recorder string            `json:"recorder"`      // platform of who wrote the replay
	Machine  string            `json:"machine"`       // platform of who explains
	TickRate uint16            `json:"tick_rate"`     // ticks a second
	Tick     lockstep.Tick     `json:"tick"`          // the check that found it
	Agreed   lockstep.Tick     `json:"agreed"`        // the last check at which all was well
	Began    lockstep.Tick     `json:"began"`         // that of the state which the player was sent last; 0 if not known
	Player   lockstep.Player   `json:"player"`        // who was reported; unset on a tie
	Tie      bool              `json:"tie,omitempty"` // there was no referee and no majority
	Section  string            `json:"section"`       // the first section that differed
	Groups   []Group           `json:"groups"`
	Who      []Participant     `json:"participants"`
	Columns  []Column          `json:"columns"` // the time line that the participants' cells are of
	Verdict  Verdict           `json:"verdict"`
	First    Span              `json:"first_divergent_tick"`
	Compared lockstep.Tick     `json:"compared_tick"` // whose states Fields and Places are of
	Fields   state.Differences `json:"fields"`        // A is right, as far as that is known, and B is wrong
	Places   state.Places      `json:"places"`        // the same, grouped
	Cause    *Cause            `json:"cause"`         // nil if no trial ends in the wrong state
	Trials   int               `json:"trials"`        // ticks that were simulated for them
	Changes  []Change          `json:"changes"`       // the last ones of the first fields that differ
	Commands []Touch           `json:"commands"`      // of the first divergent ticks
	Streams  []Stream          `json:"streams"`       // generators in the state
	Draws    []Draws           `json:"draws"`         // without a state
	Traits   []Trait           `json:"traits"`
	Costs    []Cost            `json:"costs,omitempty"`
	Notes    []string          `json:"notes"` // what could not be found out, and why

	good lockstep.Tick // at which the sides were equal last
}
