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
	w.simulate()
	w.judge()
	w.takeAgain()
	w.compare()
	w.search()
	w.settleAgain()
	if err := w.limit(); err != nil {
		return nil, err
	}
	w.history()
	w.touches()
	w.e.Traits = traitsOf(w.e.Who)
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
	again    *rerun // or nil
	tester   *tester
	good     lockstep.Tick // the last tick at which the sides were equal
	bad      lockstep.Tick // the first tick at which they are known to differ
	right    []byte        // the states of tick bad; nil if not known
	wrong    []byte
	listed   *alignment // of the states whose fields are listed, or nil
	e        Explanation
}

func (w *work) note(format string, args ...any) {
	w.e.Notes = append(w.e.Notes, fmt.Sprintf(format, args...))
}

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

// simulate computes the states again, if the game is available.
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
	if words, err := lockstep.NewDescriber(w.log.header, g); err == nil {
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
	w.again, w.e.Ending = again, again.ending
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

// fields lists the differences between two states.
func (w *work) fields(right, wrong []byte) {
	a, err := align(w.log.schema, right, wrong)
	if err == nil {
		w.e.Fields, w.e.Places, err = a.differences("", w.options.Fields)
	}
	if err != nil {
		panic(err) // cannot happen: both were validated when they were loaded, or are our own
	}
	w.listed = a
}

// limit limits the fields to those of the Path. The search for the cause needs all.
func (w *work) limit() (err error) {
	if w.options.Path != "" && w.listed != nil {
		w.e.path = w.options.Path
		w.e.Fields, w.e.Places, err = w.listed.differences(w.options.Path, w.options.Fields)
	}
	return err
}

func (w *work) search() {
	if w.tester == nil || w.wrong == nil || w.e.Verdict.undecided() {
		return
	}
	s := &search{tester: w.tester, good: max(w.good, w.again.first), bad: w.bad, wrong: w.wrong, describe: w.command}
	if s.good >= s.bad {
		w.note("no trials: the states before tick %d do not fit into memory", s.good)
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

// look tries all kinds of faults, the simplest first. No kind may spend the whole budget.
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

// take copies the result of a search into the explanation.
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
	s.left = 3 * int(s.bad-s.good) // a new budget, after the search
	all, err := s.drawsOf(s.good, s.bad, fault)
	if err != nil {
		w.note("the draws were not counted: %v", err)
		return
	}
	w.e.Draws = all
}

// command returns a command with its text.
func (w *work) command(c *lockstep.Command) Command {
	return Command{c.Tick, c.Player, c.Sequence, w.words.Describe(c)}
}

// An Explanation is everything that was found out about a desync. Its Notes say what could not be found out.
type Explanation struct {
	Match    string            `json:"match"`
	Game     string            `json:"game"`
	Build    string            `json:"build"`
	Recorder string            `json:"recorder"`      // the platform that wrote the replay
	Machine  string            `json:"machine"`       // the platform that explains it
	TickRate uint16            `json:"tick_rate"`     // ticks per second
	Tick     lockstep.Tick     `json:"tick"`          // the check that found the desync
	Agreed   lockstep.Tick     `json:"agreed"`        // the last check at which the player agreed
	Began    lockstep.Tick     `json:"began"`         // the tick of the last state sent to the player; 0 if not known
	Player   lockstep.Player   `json:"player"`        // the player that differed; unset on a tie
	Tie      bool              `json:"tie,omitempty"` // there was no referee and no majority
	Section  string            `json:"section"`       // the first section that differed
	Groups   []Group           `json:"groups"`
	Who      []Participant     `json:"participants"`
	Columns  []Column          `json:"columns"` // the time line of the participants' cells
	Verdict  Verdict           `json:"verdict"`
	Ending   *Ending           `json:"ending"`       // nil if the rules of this build end the match as the log does
	Again    *Again            `json:"resimulation"` // nil if the player's machine was not asked to compute the ticks again
	First    Span              `json:"first_divergent_tick"`
	Compared lockstep.Tick     `json:"compared_tick"` // the tick of the states in Fields and Places
	Fields   state.Differences `json:"fields"`        // A is the right side, as far as known, and B the wrong one
	Places   state.Places      `json:"places"`        // the same, grouped
	Cause    *Cause            `json:"cause"`         // nil if no trial ends in the wrong state
	Trials   int               `json:"trials"`        // ticks simulated for trials
	Changes  []Change          `json:"changes"`       // the last changes of the first fields that differ
	Commands []Touch           `json:"commands"`      // of the first divergent ticks
	Streams  []Stream          `json:"streams"`       // generators in the state
	Draws    []Draws           `json:"draws"`         // of generators that are not in the state
	Traits   []Trait           `json:"traits"`
	Costs    []Cost            `json:"costs,omitempty"`
	Notes    []string          `json:"notes"` // what could not be found out, and why

	good lockstep.Tick // the last tick at which the sides were equal
	path string        // of the fields
}
