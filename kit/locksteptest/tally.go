package locksteptest

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/seed-49bee653/samestep/internal/testing/reach"
	"github.com/seed-49bee653/samestep/internal/words"
	"github.com/seed-49bee653/samestep/lockstep"
)

const (
	thinPercent = 80 // of the commands
	thinLeast   = 20 // commands
	maxSamples  = 64 // ticks that are computed without their commands,
	early       = 8  // of these, the first with commands
)

// A tally counts the commands of matches, and those that did something.
type tally struct {
	kinds   []kindTally // by kind
	matches int
	early   int // matches that the rules ended in their first fifth
	reached *reach.Sum
	samples int // ticks with accepted commands, of which the state without these commands was computed
	idle    int // those with the same state

	// The match in which a command changed something for the last time.
	last, ticks lockstep.Tick
	lastKinds   []string // kinds of the commands at last
}

// A kindTally counts the commands of a kind.
type kindTally struct {
	name           string
	given, refused int
	why            string // the game's words for the first refusal
}

// tally counts the commands of a match. It computes some ticks without commands.
func (m *match) tally() *tally {
	t := &tally{ticks: m.options.Ticks, matches: 1}
	if m.early {
		t.early = 1
	}
	byKind := map[lockstep.Kind]int{} // only looked up
	for i, k := range m.header.Commands {
		byKind[k.Kind] = i
		t.kinds = append(t.kinds, kindTally{name: k.Name})
	}
	for i := range m.played {
		o := &m.played[i]
		at, ok := byKind[o.kind]
		if o.system == nil && ok {
			t.kinds[at].add(o.receipt)
		}
	}
	m.countIdle(t)
	t.reached = reach.New(m.game)
	t.reached.Match(func(t lockstep.Tick) []byte { return m.states[t] }, m.options.Ticks, m.frames)
	return t
}

func (k *kindTally) add(r lockstep.Receipt) {
	switch r.Reason {
	case lockstep.Accepted:
		k.given++
	case lockstep.Refused, lockstep.MatchEnded:
		k.given++
		if k.refused++; k.refused == 1 {
			k.why = r.Detail
		}
	}
}

// countIdle computes up to maxSamples ticks of the match without the commands of players, and counts those with the same state.
func (m *match) countIdle(t *tally) {
	var busy []*lockstep.Frame
	for i := range m.frames {
		if f := &m.frames[i]; len(ofSystem(f).Commands) < len(f.Commands) {
			busy = append(busy, f)
		}
	}
	t.samples = min(len(busy), maxSamples)
	for i := range t.samples {
		f := busy[i]
		if i >= early {
			f = busy[early+(i-early)*(len(busy)-early)/(t.samples-early)]
		}
		if m.idle(f) {
			t.idle++
		} else {
			t.last, t.lastKinds = f.Tick, m.kindsOf(f)
		}
	}
	if last := len(busy) - 1; last >= 0 && busy[last].Tick == m.ended {
		t.last, t.lastKinds = m.ended, m.kindsOf(busy[last]) // also if it is not among the samples
	}
}

// ofSystem returns the part of a frame that is of System.
func ofSystem(f *lockstep.Frame) *lockstep.Frame {
	part := &lockstep.Frame{Tick: f.Tick}
	for _, c := range f.Commands {
		if c.Player == lockstep.System {
			part.Commands = append(part.Commands, c)
		}
	}
	return part
}

// idle reports whether the commands of players in a frame change nothing. An end of the match is a change.
func (m *match) idle(f *lockstep.Frame) bool {
	if f.Tick == m.ended {
		return false
	}
	sim, err := m.game.AwaitState(m.header)
	if err != nil || sim.Restore(f.Tick-1, m.states[f.Tick-1]) != nil || sim.Step(ofSystem(f)) != nil {
		return false
	}
	m.buf = sim.AppendState(m.buf[:0])
	return string(m.buf) == string(m.states[f.Tick])
}

// kindsOf returns the names of the kinds of commands in a frame.
func (m *match) kindsOf(f *lockstep.Frame) (names []string) {
	for _, k := range m.header.Commands {
		if slices.ContainsFunc(f.Commands, func(c lockstep.Command) bool { return c.Player != lockstep.System && c.Kind == k.Kind }) {
			names = append(names, k.Name)
		}
	}
	return names
}

func (t *tally) include(others *tally) {
	if others == nil {
		return
	}
	for i := range t.kinds {
		k, o := &t.kinds[i], &others.kinds[i]
		k.given, k.refused, k.why = k.given+o.given, k.refused+o.refused, cmp.Or(k.why, o.why)
	}
	t.matches, t.early = t.matches+others.matches, t.early+others.early
	t.samples, t.idle = t.samples+others.samples, t.idle+others.idle
	t.reached.Include(others.reached)
}

func (t *tally) sum() (given, refused int) {
	for i := range t.kinds {
		given += t.kinds[i].given
		refused += t.kinds[i].refused
	}
	return given, refused
}

// thin returns ErrThin unless enough commands did something, and the floor of the options was reached.
func (t *tally) thin(o *Options) error {
	given, refused := t.sum()
	short := 100*t.early > thinPercent*t.matches
	if o.Orders != nil || len(o.Choices) > 0 || o.AllowThin != "" {
		return nil
	}
	if given < thinLeast && !short {
		return o.Floor.Check(t.reached.Reached(), o, t.matches > 1)
	}
	useful := given - refused
	if o.Play != nil {
		useful = given
	}
	useful = useful * (t.samples - t.idle) / max(t.samples, 1)
	if 100*useful >= (100-thinPercent)*given && !short {
		return o.Floor.Check(t.reached.Reached(), o, t.matches > 1)
	}
	var s strings.Builder
	if t.early > 0 {
		fmt.Fprintf(&s, "the rules ended %d of %s in their first fifth, after %s the last one; ", t.early, words.Count(t.matches, "match"), words.Count(t.ticks, "tick"))
	}
	fmt.Fprintf(&s, "%d of %s were refused", refused, words.Count(given, "command"))
	if t.samples > 0 {
		fmt.Fprintf(&s, ", and in %d of %s the accepted ones changed nothing", t.idle, words.Count(t.samples, "tick"))
	}
	fmt.Fprintf(&s, "; want at least %d %% of the commands accepted and changing something", 100-thinPercent)
	for i := range t.kinds {
		if k := &t.kinds[i]; k.refused > 0 {
			fmt.Fprintf(&s, "\n\t%s: %d of %d refused: %s", k.name, k.refused, k.given, cmp.Or(k.why, "no reason given"))
		}
	}
	if len(t.lastKinds) > 0 && (short || 5*t.last < 4*t.ticks) {
		fmt.Fprintf(&s, "\nthe last commands of %s that changed something were at tick %d: %s", words.Count(t.ticks, "tick"), t.last, strings.Join(t.lastKinds, ", "))
	}
	return fmt.Errorf("locksteptest: %w: %s\n%s, or say why the match is enough (AllowThin)", ErrThin, s.String(), t.cure(short, refused))
}

// cure returns what most likely makes matches reach more.
func (t *tally) cure(short bool, refused int) string {
	switch {
	case short || len(t.lastKinds) > 0 && 5*t.last < 4*t.ticks:
		cure := fmt.Sprintf("exclude a kind that ends the match (such as Weights: map[string]int{%q: 0}), give commands that the rules accept (Play)", t.suspect())
		if t.last >= thinLeast {
			cure += fmt.Sprintf(", play only this long (Ticks: %d)", t.last)
		}
		return cure
	case refused > 0:
		k := slices.MaxFunc(t.kinds, func(a, b kindTally) int { return cmp.Compare(a.refused, b.refused) })
		return fmt.Sprintf("give commands %q that the rules accept (Play), play until they do (Ticks: %d), or exclude the kind (Weights: map[string]int{%q: 0})", k.name, 5*t.ticks, k.name)
	}
	return fmt.Sprintf("give commands that change something (Play), or play until they do (Ticks: %d)", 5*t.ticks)
}

// suspect returns a kind that may have ended the match: the rarest of those at the last tick that changed something.
func (t *tally) suspect() string {
	rarest := t.kinds[0]
	for _, k := range t.kinds {
		if now, then := slices.Contains(t.lastKinds, k.name), slices.Contains(t.lastKinds, rarest.name); now && !then || now == then && k.given < rarest.given {
			rarest = k
		}
	}
	return rarest.name
}

func (t *tally) String() string {
	given, refused := t.sum()
	return fmt.Sprintf("%d of %s refused; %s", refused, words.Count(given, "command"), t.reached.Reached())
}

const thinMatches = 8 // matches that together must not be thin

// Thin plays eight matches, whose seeds begin at o.Seed, and returns [ErrThin] if these together prove too little. [Fuzz],
// [Search] and, without bots, [Cluster] call it first. Bots play every second match alone. bots returns Options.Play for the match of a seed; nil stands for that of the
// options. Thin returns nil if the rules fail in a match, because another check explains that. Other errors are those of the options.
func Thin(g *lockstep.Game, o Options, bots func(seed uint64) func(lockstep.Player, *lockstep.Simulation) []any) error {
	_, err := thin(g, o, bots)
	return err
}

// thin is Thin. It returns what the matches have reached, or nil if the rules failed.
func thin(g *lockstep.Game, o Options, bots func(seed uint64) func(lockstep.Player, *lockstep.Simulation) []any) (*Reached, error) {
	var sum *tally
	o, err := o.measured(g, longest, bots)
	if err != nil {
		return nil, err
	}
	play := o.Play
	for i := range thinMatches {
		o := o
		o.Seed += uint64(i)
		if bots != nil {
			o.Play = bots(o.Seed)
			play = o.Play
		}
		if o.Play != nil && i%2 == 1 {
			o.Weights = onlyBots(g)
		}
		m, err := newMatch(g, o)
		if err == nil {
			err = m.play()
		}
		if errors.As(err, new(*Failure)) {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		t := m.tally()
		t.include(sum)
		sum = t
	}
	o.Play = play
	if err = sum.thin(&o); err != nil {
		err = fmt.Errorf("%w\nthese are the %d matches that are played first, to see what such matches reach", err, thinMatches)
	}
	return sum.reached.Reached(), err
}

// Length plays a match of the game until its rules end it, and returns the number of its ticks. With Options.Play, bots play it alone:
// it is a usual match of this game, of at most o.Ticks, or 1000 if that is 0. Without, random commands play it, for at most o.Ticks or
// 200. The error is one of the options; a match of rules that fail counts as one that they do not end.
func Length(g *lockstep.Game, o Options) (lockstep.Tick, error) {
	if o.Play != nil {
		o.Ticks, o.Changes, o.Weights = cmp.Or(o.Ticks, longest), -1, onlyBots(g)
	}
	o = o.filled()
	m, err := newMatch(g, o)
	if err == nil {
		return m.length()
	}
	if errors.As(err, new(*Failure)) {
		return o.Ticks, nil // another check explains it
	}
	return 0, err
}

func (m *match) length() (lockstep.Tick, error) {
	c, err := m.coordinator(ignore{}, lockstep.FollowerOptions{})
	if err != nil {
		return 0, err
	}
	author, err := m.newAuthor(newChoices(&m.options))
	if err != nil {
		return 0, err
	}
	for t := lockstep.Tick(1); t <= m.options.Ticks; t++ {
		orders, err := author.orders(t, c.Referee().Simulation())
		if err != nil {
			return m.options.Ticks, nil // the rules or the bots fail, which another check explains
		}
		for i := range orders {
			if o := &orders[i]; o.system != nil {
				_ = issue(c, o.system) // the match goes on if it does not fit
			} else {
				c.Submit(o.player, o.sequence, o.kind, o.payload)
			}
		}
		if f, err := c.Tick(); f == nil || err != nil {
			return m.options.Ticks, nil // the same
		}
		if _, ended := c.Result(); ended {
			return t, nil
		}
		m.states[t-1] = nil // only the author compares states, and only the last one
		m.states = append(m.states, c.Referee().Simulation().AppendState(nil))
	}
	return m.options.Ticks, nil
}

// measured returns the options with the length of a match of bots alone, up to most ticks, unless they say one. bots may be nil, see
// [Thin].
func (o Options) measured(g *lockstep.Game, most lockstep.Tick, bots func(seed uint64) func(lockstep.Player, *lockstep.Simulation) []any) (Options, error) {
	if o.Ticks > 0 || o.Play == nil && bots == nil || o.Orders != nil {
		return o.filled(), nil
	}
	alone := o
	if bots != nil {
		alone.Play = bots(max(o.Seed, 1))
	}
	alone.Ticks = most
	var err error
	o.Ticks, err = Length(g, alone)
	return o.filled(), err
}

// onlyBots returns weights that exclude all random commands.
func onlyBots(g *lockstep.Game) map[string]int {
	weights := map[string]int{}
	for _, k := range g.Commands() {
		weights[k.Name] = 0
	}
	return weights
}
