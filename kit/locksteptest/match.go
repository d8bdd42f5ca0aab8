package locksteptest

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/coordinator"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

// A match is the first computation, with which all others are compared.
type match struct {
	game    *lockstep.Game
	header  *lockstep.Header
	options Options
	states  [][]byte         // canonical, by tick from 0
	frames  []lockstep.Frame // by tick from 1
	played  []order          // submitted commands, by tick
	unknown lockstep.Kind    // a kind of no command
	limits  *limits          // of kinds
	early   bool             // the rules ended it in its first fifth
	ended   lockstep.Tick    // the tick with which the rules ended it, or 0
	twins   *twins           // of the phase answers, if it has run
	alone   bool             // this process does nothing else, see outsidePhase
	buf     []byte           // scratch

	payloads *record.Payloads // scratch
	tracer   *tracer          // nil unless the program is one with probes
}

const delayTicks = 2 // input delay

// match prepares a match that is as long as the options say, see measured.
func (o Options) match(g *lockstep.Game) (*match, error) {
	o, err := o.measured(g, longest, nil)
	if err != nil {
		return nil, err
	}
	return newMatch(g, o)
}

// newMatch prepares a match. It runs the phase "new".
func newMatch(g *lockstep.Game, o Options) (*match, error) {
	m := &match{game: g, options: o, unknown: unknownKind(g), payloads: g.NewPayloads()}
	settings := lockstep.DefaultSettings(o.Players)
	settings.Seed, settings.CheckEvery, settings.KeyframeEvery = o.Seed, 1, 0
	config := o.Config
	if config == nil {
		config = &struct{}{}
	}
	m.limits = newLimits(g, settings)
	var err error
	if m.header, err = g.NewHeader(lockstep.MatchID{}, settings, config); err != nil {
		return nil, m.fail("new", 0, 0, err)
	}
	for range 2 {
		sim, err := g.NewSimulation(m.header)
		if err != nil {
			return nil, m.fail("new", 0, 0, err)
		}
		if m.states == nil {
			m.states = [][]byte{sim.AppendState(nil)}
		}
		if err := cmp.Or(m.compare("new", 0, sim, m.states[0]), m.compareConfig(sim)); err != nil {
			return nil, err
		}
	}
	return m, nil
}

// play plays the match on two coordinators, and follows the log of the second: the phases "two runs" and "follower".
func (m *match) play() error {
	follower := m.game.NewFollower(lockstep.FollowerOptions{Workers: 1}) // the phase each has more
	observed := lockstep.FollowerOptions{Workers: 1, Observer: func(lockstep.Tick, any) {}}
	first, err := m.coordinator(ignore{}, lockstep.FollowerOptions{Workers: 1})
	if err != nil {
		return err
	}
	second, err := m.coordinator(tolerant{follower, m}, observed)
	if err != nil {
		return err
	}
	c := newChoices(&m.options)
	author, err := m.newAuthor(c)
	if err != nil {
		return err
	}
	for t := lockstep.Tick(1); t <= m.options.Ticks; t++ {
		orders, err := author.orders(t, first.Referee().Simulation())
		if err != nil {
			return err
		}
		if err := m.submit(first, second, orders, c); err != nil {
			return err
		}
		if err := m.compare("validate", 0, first.Referee().Simulation(), m.states[t-1]); err != nil {
			return err
		}
		a, err := m.tick("", t, first)
		if err != nil {
			return m.fail(PanicPhase, 0, t, err) // a coordinator without a disk fails of nothing else
		}
		if a == nil {
			return m.fail("play", 0, t, errors.New("the match is paused, and nobody resumes it"))
		}
		if err := m.compareConfig(first.Referee().Simulation()); err != nil {
			return err
		}
		m.keep(a, first.Referee().Simulation())
		if err := m.unsaved(first.Referee().Simulation(), m.states[t]); err != nil {
			return m.fail("play", 0, t, err)
		}
		b, err := m.tick("two runs", t, second)
		if err != nil {
			return m.fail("follower", 0, t, err) // it is the second one's log
		}
		if !equalFrames(a, b) {
			return m.fail("two runs", 0, t, fmt.Errorf("other commands were accepted: got %d, want %d", len(b.Commands), len(a.Commands)))
		}
		if err := m.compare("two runs", 0, second.Referee().Simulation(), m.states[t]); err != nil {
			return err
		}
		if err := m.compare("follower", 0, follower.Simulation(), m.states[t]); err != nil {
			return err
		}
		if over, err := m.over(t, first, second); over {
			return err
		}
	}
	return nil
}

// tick advances a coordinator. It is a computation of a phase.
func (m *match) tick(phase string, t lockstep.Tick, c *coordinator.Coordinator) (f *lockstep.Frame, err error) {
	m.traced(phase, 0, t, c.Referee().Simulation(), func() error {
		f, err = c.Tick()
		return err
	})
	return f, err
}

// traced does a step of a simulation to tick t, and records it if the tracer wants it. The phase "" is the match.
func (m *match) traced(phase string, from, t lockstep.Tick, sim *lockstep.Simulation, step func() error) error {
	if m.tracer == nil {
		return step()
	}
	return m.tracer.step(phase, from, t, sim, step)
}

// over reports whether the rules ended the match with tick t, which shortens it.
func (m *match) over(t lockstep.Tick, first, second *coordinator.Coordinator) (bool, error) {
	want, ended := first.Result()
	if got, also := second.Result(); also != ended || !bytes.Equal(got, want) {
		return true, m.fail("two runs", 0, t, fmt.Errorf("turn.End: got %x, %t, want %x, %t", got, also, want, ended))
	}
	if ended {
		m.early, m.ended, m.options.Ticks = 5*t < min(m.options.Ticks, unknown), t, t
		m.options.Every = min(m.options.Every, max(t/10, 1))
	}
	return ended, nil
}

type ignore struct{}

func (ignore) Append([]byte) error { return nil }

// tolerant is a follower that ignores mismatching checksums, because the comparison of states tells more.
type tolerant struct {
	*lockstep.Follower
	match *match
}

func (f tolerant) Append(record []byte) (err error) {
	if sim := f.Simulation(); sim == nil {
		err = f.Follower.Append(record)
	} else {
		if r := f.match.tracer; r != nil && r.open != nil { // that of the coordinator, whose log this is
			r.end(nil)
		}
		f.match.traced("follower", 0, sim.Tick()+1, sim, func() error {
			err = f.Follower.Append(record)
			return err
		})
	}
	if d := (*lockstep.DesyncError)(nil); errors.As(err, &d) {
		return nil
	}
	return err
}

// The maximum number of commands of a player for one tick, from Options.Play and at random. They stay within the limits
// that a coordinator has for all kinds, in any order of arrival. Beyond these limits, the order would decide which command
// is refused. So it does with the limit of a kind, see limits.arrange.
const (
	maxPlayed = 128
	maxRandom = 64
)

// coordinator returns a coordinator of the match with all seats taken.
func (m *match) coordinator(log lockstep.Log, o lockstep.FollowerOptions) (*coordinator.Coordinator, error) {
	c, err := coordinator.New(m.game, m.header, log, coordinator.Options{
		InputDelay: delayTicks, Referee: o, MaxPerTick: maxPlayed + maxRandom,
		MaxBytesPerTick: (maxPlayed + maxRandom) * lockstep.MaxPayload,
	})
	if err != nil {
		return nil, m.fail("new", 0, 0, err)
	}
	for p := range lockstep.Player(m.options.Players) {
		if _, err := c.Join(p); err != nil {
			return nil, m.fail("new", 0, 0, err)
		}
	}
	return c, nil
}

// submit submits the orders, those of System first, to both coordinators in different orders of arrival, and compares the receipts.
func (m *match) submit(first, second *coordinator.Coordinator, orders []order, c *choices) error {
	from := len(m.played)
	m.played = append(m.played, orders...)
	for len(orders) > 0 && orders[0].system != nil {
		a, b := issue(first, orders[0].system), issue(second, orders[0].system)
		if errors.Is(a, errSystem) {
			return m.fail("play", 0, orders[0].tick, a)
		}
		if fmt.Sprint(a) != fmt.Sprint(b) {
			return m.fail("two runs", 0, orders[0].tick, fmt.Errorf("%T: got %v, want %v", orders[0].system, b, a))
		}
		orders = orders[1:]
		from++
	}
	for _, i := range m.arrival(c, orders) {
		o := &m.played[from+i]
		o.receipt = first.Submit(o.player, o.sequence, o.kind, o.payload)
		if err := first.Err(); err != nil {
			return m.fail(PanicPhase, 0, o.tick, err)
		}
		if err := m.limits.check(o); err != nil {
			return m.fail("two runs", 0, o.tick, err)
		}
	}
	for _, i := range m.arrival(c, orders) {
		o := &m.played[from+i]
		if r := second.Submit(o.player, o.sequence, o.kind, o.payload); r != o.receipt {
			return m.fail("two runs", 0, o.tick, o.differs(r))
		}
	}
	return nil
}

// arrival returns a random order of arrival of orders, in which the limits of kinds accept the same ones.
func (m *match) arrival(c *choices, orders []order) []int {
	arrival := c.order(len(orders))
	m.limits.arrange(arrival, orders)
	return arrival
}

func (m *match) keep(f *lockstep.Frame, s *lockstep.Simulation) {
	commands := slices.Clone(f.Commands)
	for i := range commands {
		commands[i].Payload = bytes.Clone(commands[i].Payload)
	}
	m.frames = append(m.frames, lockstep.Frame{Tick: f.Tick, Commands: commands})
	m.states = append(m.states, s.AppendState(nil))
}

func equalFrames(a, b *lockstep.Frame) bool {
	return slices.EqualFunc(a.Commands, b.Commands, func(c, d lockstep.Command) bool {
		return record.Compare(&c, &d) == 0 && c.Kind == d.Kind && bytes.Equal(c.Payload, d.Payload)
	})
}

// unknownKind returns a kind of command that a game does not have.
func unknownKind(g *lockstep.Game) lockstep.Kind {
	kind := ^lockstep.Kind(0)
	for slices.ContainsFunc(g.Commands(), func(c record.CommandDescription) bool { return c.Kind == kind }) {
		kind--
	}
	return kind
}

// compare returns a Failure unless want has the canonical bytes of the state of got.
func (m *match) compare(phase string, from lockstep.Tick, got *lockstep.Simulation, want []byte) error {
	m.buf = got.AppendState(m.buf[:0])
	if err := m.unsaved(got, m.buf); err != nil {
		return m.fail(phase, from, got.Tick(), err)
	}
	if string(m.buf) == string(want) {
		return nil
	}
	f := &Failure{Phase: phase, From: from, Tick: got.Tick(), Options: m.options, game: m.game, played: m.played}
	d, err := m.game.StateSchema().Diff(m.buf, want, 1)
	if err != nil {
		f.Err = err
		return f
	}
	f.Field, f.Got, f.Want, f.More = d.List[0].Path, d.List[0].A, d.List[0].B, d.Total-1
	return f
}

// unsaved returns why a simulation gave no state, or nil if it gave one. The next Step says it.
func (m *match) unsaved(s *lockstep.Simulation, state []byte) error {
	if len(state) > 0 || m.game.StateSchema().Validate(nil) == nil {
		return nil
	}
	return s.Step(&lockstep.Frame{Tick: s.Tick() + 1})
}

// compareConfig returns a Failure of the phase "configuration" if the rules have changed that of the match.
func (m *match) compareConfig(s *lockstep.Simulation) error {
	m.buf = s.AppendConfig(m.buf[:0])
	if string(m.buf) == string(m.header.Config) {
		return nil
	}
	d, err := m.game.ConfigSchema().Diff(m.buf, m.header.Config, 1)
	if err == nil {
		err = fmt.Errorf("the rules changed the read-only configuration of the match: %s: got %s, want %s", d.List[0].Path, d.List[0].A, d.List[0].B)
	}
	return m.fail("configuration", 0, s.Tick(), err)
}

func (m *match) fail(phase string, from, t lockstep.Tick, err error) error {
	return &Failure{Phase: phase, From: from, Tick: t, Err: err, Options: m.options, game: m.game, played: m.played}
}

// An author produces the players' commands: those of Options.Orders, or else those of Options.Play and random ones.
type author struct {
	m         *match
	random    *generator
	roster    *roster
	payloads  *record.Payloads
	sequences []lockstep.Sequence // by player
	written   []Order             // orders of Options.Orders that are left
	list      []order             // orders of the current tick
}

func (m *match) newAuthor(c *choices) (*author, error) {
	gen, err := newGenerator(c, m.header.Commands, m.options.Weights)
	if err != nil {
		return nil, err
	}
	last := m.options.Ticks
	if late := slices.IndexFunc(m.options.Orders, func(o Order) bool { return o.Tick > last }); late >= 0 {
		return nil, m.fail("play", 0, last, fmt.Errorf("an order for tick %d, want one of the %d ticks of the match", m.options.Orders[late].Tick, last))
	}
	return &author{
		m: m, random: gen, roster: newRoster(&m.options), payloads: m.game.NewPayloads(), written: m.options.Orders,
		sequences: make([]lockstep.Sequence, m.options.Players),
	}, nil
}

// orders returns the commands for tick t, given the state s before it. They are valid until the next call.
func (a *author) orders(t lockstep.Tick, s *lockstep.Simulation) ([]order, error) {
	a.list = a.list[:0]
	if a.m.options.Orders != nil {
		err := a.read(t)
		return a.list, err
	}
	if change := a.roster.next(); change != nil {
		a.list = append(a.list, order{tick: t, player: lockstep.System, system: change})
	}
	for p := range lockstep.Player(a.m.options.Players) {
		if a.m.options.Play != nil {
			if err := a.play(t, p, s); err != nil {
				return nil, err
			}
		}
		for range maxRandom {
			if a.random.total == 0 || a.random.below(16) >= a.m.options.Rate {
				break
			}
			kind, payload := a.random.command()
			a.add(t, p, kind, payload)
			if a.random.below(2) == 0 {
				break
			}
		}
	}
	return a.list, nil
}

func (a *author) add(t lockstep.Tick, p lockstep.Player, kind lockstep.Kind, payload []byte) {
	a.sequences[p]++
	a.list = append(a.list, order{tick: t, player: p, sequence: a.sequences[p], kind: kind, payload: payload})
}

// play calls Options.Play, which must only read.
func (a *author) play(t lockstep.Tick, p lockstep.Player, s *lockstep.Simulation) error {
	values := a.m.options.Play(p, s)
	if len(values) > maxPlayed {
		return a.m.fail("play", 0, t, fmt.Errorf("%d commands of player %d for one tick, want at most %d", len(values), p, maxPlayed))
	}
	for _, value := range values {
		kind, payload, err := a.payloads.Encode(value)
		if err != nil {
			return a.m.fail("play", 0, t, err)
		}
		a.add(t, p, kind, bytes.Clone(payload))
	}
	return a.m.compare("play", 0, s, a.m.states[t-1])
}

// read takes the orders of Options.Orders for tick t.
func (a *author) read(t lockstep.Tick) error {
	for len(a.written) > 0 && a.written[0].Tick <= t {
		o := &a.written[0]
		a.written = a.written[1:]
		if o.Player == lockstep.System && o.Tick == t {
			a.list = append(a.list, order{tick: t, player: o.Player, system: o.Value})
			continue
		}
		kind, payload, err := a.encode(o)
		switch {
		case err != nil:
		case o.Tick < t:
			err = fmt.Errorf("an order for tick %d, want orders from tick 1 on, by ascending tick", o.Tick)
		case int(o.Player) >= len(a.sequences):
			err = fmt.Errorf("an order of player %d of %d", o.Player, len(a.sequences))
		case a.count(o.Player) >= maxPlayed+maxRandom:
			err = fmt.Errorf("too many orders of player %d for tick %d, want at most %d", o.Player, t, maxPlayed+maxRandom)
		}
		if err != nil {
			return a.m.fail("play", 0, t, err)
		}
		a.add(t, o.Player, kind, bytes.Clone(payload))
	}
	slices.SortStableFunc(a.list, func(a, b order) int { return cmp.Compare(b.player/lockstep.System, a.player/lockstep.System) }) // System first
	return nil
}

// count returns how many of the current orders are of a player.
func (a *author) count(p lockstep.Player) (n int) {
	for i := range a.list {
		if a.list[i].player == p {
			n++
		}
	}
	return n
}

func (a *author) encode(o *Order) (lockstep.Kind, []byte, error) {
	if o.Kind == 0 {
		return a.payloads.Encode(o.Value)
	}
	payload, err := a.payloads.EncodeAs(o.Kind, o.Value)
	return o.Kind, payload, err
}

// A roster makes players leave and return, and changes the pace. Its random numbers are its own, so players' commands stay.
type roster struct {
	rng    *rand.Rand
	often  int // of 64 ticks
	away   []change
	paused bool
	pauser lockstep.Player
}

// A change is the state of a player's connection.
type change uint8

const (
	here change = iota
	lost
	left
)

func newRoster(o *Options) *roster {
	return &roster{rng: rand.New(rand.NewPCG(o.Seed, 0x205732)), often: max(o.Changes, 0), away: make([]change, o.Players)}
}

// next returns the command of System before the next tick, or nil.
func (r *roster) next() any {
	if r.paused {
		r.paused = false
		return &lockstep.Resumed{Player: r.pauser}
	}
	if r.rng.IntN(64) >= r.often {
		return nil
	}
	p := lockstep.Player(r.rng.IntN(len(r.away)))
	switch r.away[p] {
	case lost, left:
		r.away[p] = here
		return &lockstep.Joined{Player: p}
	}
	switch r.rng.IntN(5) {
	case 0:
		r.away[p] = left
		return &lockstep.Left{Player: p}
	case 1:
		r.away[p] = lost
		return &lockstep.Lost{Player: p}
	case 2:
		r.away[p] = lost
		return &lockstep.TakenOver{Player: p}
	case 3:
		r.paused, r.pauser = true, p
		return &lockstep.Paused{Player: p}
	}
	return &lockstep.SpeedSet{Percent: uint16(50 + 50*r.rng.IntN(4))}
}

var errSystem = errors.New("unsupported command of System")

func issue(c *coordinator.Coordinator, value any) (err error) {
	switch v := value.(type) {
	case *lockstep.Joined:
		if c.Seated(v.Player) {
			_, err = c.Return(v.Player)
		} else {
			_, err = c.Join(v.Player)
		}
	case *lockstep.Left:
		_, err = c.Leave(v.Player)
	case *lockstep.Lost:
		_, err = c.Lose(v.Player)
	case *lockstep.TakenOver:
		_, err = c.TakeOver(v.Player)
	case *lockstep.Paused:
		_, err = c.Pause(v.Player)
	case *lockstep.Resumed:
		_, err = c.Resume(v.Player)
	case *lockstep.SpeedSet:
		_, err = c.SetSpeed(v.Percent)
	default:
		err = fmt.Errorf("%w: got %T, want Joined, Left, Lost, TakenOver, Paused, Resumed or SpeedSet", errSystem, value)
	}
	return err
}

// limits counts the accepted commands of the kinds that have a limit, in a simpler way than the coordinator does.
type limits struct {
	list []limit
	used map[use][]lockstep.Tick // ticks of the accepted commands, ascending; only looked up
}

// A limit allows a player n commands of a kind in any window of per ticks.
type limit struct {
	kind lockstep.Kind
	n    int
	per  lockstep.Tick
}

type use struct {
	player lockstep.Player
	kind   lockstep.Kind
}

func newLimits(g *lockstep.Game, s lockstep.Settings) *limits {
	l := &limits{used: map[use][]lockstep.Tick{}}
	for _, c := range g.Commands() {
		if of := g.CommandLimit(c.Kind); of.N > 0 {
			l.list = append(l.list, limit{c.Kind, of.N, lockstep.Tick(max(1, s.TicksIn(int64(of.Per))))})
		}
	}
	return l
}

func (l *limits) of(kind lockstep.Kind) *limit {
	if i := slices.IndexFunc(l.list, func(of limit) bool { return of.kind == kind }); i >= 0 {
		return &l.list[i]
	}
	return nil
}

// arrange changes an order of arrival so that the commands of one player and limited kind arrive in the order of their
// sequences, as from a connection. Otherwise the order of arrival would decide which of them are within the limit.
func (l *limits) arrange(arrival []int, orders []order) {
	places := map[use][]int{} // in arrival; only looked up
	for place, at := range arrival {
		if o := &orders[at]; l.of(o.kind) != nil {
			key := use{o.player, o.kind}
			places[key] = append(places[key], place)
		}
	}
	for at := range orders { // of ascending sequences
		key := use{orders[at].player, orders[at].kind}
		if left := places[key]; len(left) > 0 {
			arrival[left[0]], places[key] = at, left[1:]
		}
	}
}

// check counts a submitted command, and returns an error if its receipt contradicts the limit. Commands come in order of arrival.
func (l *limits) check(o *order) error {
	limit := l.of(o.kind)
	r := &o.receipt
	if limit == nil || r.Reason != lockstep.Accepted && r.Reason != lockstep.Refused && r.Reason != lockstep.TooOften {
		return nil // the limit was not asked
	}
	at, key := o.tick-1+delayTicks, use{o.player, o.kind}
	used := l.used[key]
	var wait lockstep.Tick // until the window has room
	if first := len(used) - limit.n; first >= 0 && used[first]+limit.per > at {
		wait = used[first] + limit.per - at
	}
	if (wait > 0) != (r.Reason == lockstep.TooOften) || wait != r.Wait {
		return fmt.Errorf("command %d of player %d, kind %d: got %v, want a wait of %d ticks: at most %d in %d ticks",
			o.sequence, o.player, o.kind, *r, wait, limit.n, limit.per)
	}
	if r.Reason == lockstep.Accepted {
		l.used[key] = append(used, r.Tick)
	}
	return nil
}
