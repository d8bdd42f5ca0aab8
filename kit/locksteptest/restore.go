package locksteptest

import (
	"bytes"
	"fmt"
	"io"
	"reflect"
	"runtime"
	"runtime/debug"
	"slices"
	"sync"
	"unsafe"

	"github.com/seed-49bee653/samestep/desync/probe/program"
	"github.com/seed-49bee653/samestep/internal/elsewhere"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/coordinator"
	"github.com/seed-49bee653/samestep/lockstep/player"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

// restore restores saved states into a simulation that has gone on, and simulates from there.
func (r *trial) restore() {
	sim := r.simulation()
	for t := range r.saved {
		r.restoreTo(sim, t)
		r.goOn(sim, t+r.options.Span, sim.Step)
	}
}

// copies copies states into a simulation that has gone on, and simulates both from there.
func (r *trial) copies() {
	live, sim := r.simulation(), r.simulation()
	for t := range r.saved {
		r.copyTo(sim, live)
		r.goOn(sim, t+r.options.Span, sim.Step)
		r.same(live)
		r.stepTo(live, t)
	}
}

// redo predicts some ticks on a copy without the commands of others, as a client does, and then computes them with all commands.
func (r *trial) redo() {
	confirmed, predicted := r.simulation(), r.simulation()
	for t := range r.saved {
		end := min(t+r.options.Redo, r.options.Ticks)
		r.copyTo(predicted, confirmed)
		player := lockstep.System // predicts nothing
		if turn := t / r.options.Every; turn%2 == 0 {
			player = lockstep.Player(turn / 2 % lockstep.Tick(r.options.Players))
		}
		for i := t; i < end && r.err == nil; i++ {
			r.ok(i+1, predicted.Step(foreseen(r.frame(i), player)))
		}
		r.same(confirmed)
		r.copyTo(predicted, confirmed)
		r.goOn(predicted, end, predicted.Step)
		r.stepTo(confirmed, t)
	}
}

// foreseen returns the part of a frame that a player knows before it arrives: its own commands.
func foreseen(f *lockstep.Frame, p lockstep.Player) *lockstep.Frame {
	own := &lockstep.Frame{Tick: f.Tick}
	for _, c := range f.Commands {
		if c.Player == p && p != lockstep.System {
			own.Commands = append(own.Commands, c)
		}
	}
	return own
}

// derived switches one simulation between this match and another match of the game, whose derived fields are still set when
// a state is restored. (The phase "late join" restores states where derived fields were never set.)
func (r *trial) derived() {
	sim := r.otherMatch()
	var other []byte
	for t := range r.saved {
		other = sim.AppendState(other[:0])
		r.restoreTo(sim, t)
		r.goOn(sim, t+r.options.Span, sim.Step)
		r.ok(t, sim.Restore(t, other))
		r.stepTo(sim, t)
	}
}

// otherMatch returns a simulation of a match with another seed, or of this one if the game refuses eight other seeds.
func (r *trial) otherMatch() *lockstep.Simulation {
	header := *r.header
	for range 8 {
		header.Settings.Seed++
		if sim, err := r.game.NewSimulation(&header); err == nil {
			return sim
		}
	}
	return r.simulation()
}

// join follows the match on a new machine, from a saved state and the log's records after it.
func (r *trial) join() {
	sums := r.simulation()
	var last []record.LastSequence
	var log record.Encoder // has written the log up to the saved state
	log.Header(r.header)
	log.Keyframe(0, 0, nil, nil)
	done := lockstep.Tick(0)
	for t := range r.saved {
		for ; done < t; done++ {
			log.Frame(r.frame(done))
		}
		last = log.AppendLast(last[:0])
		f := r.game.NewFollower(lockstep.FollowerOptions{})
		var enc record.Encoder
		r.ok(t, f.Append(enc.Header(r.header)))
		r.restoreTo(sums, t)
		if r.err == nil && r.ok(t, f.Append(enc.Keyframe(t, sums.Hash(), last, r.states[t]))) {
			r.goOn(f.Simulation(), t+r.options.Span, func(frame *lockstep.Frame) error { return f.Append(enc.Frame(frame)) })
		}
	}
}

// A phase computes the match again in its own way.
type phase struct {
	name string
	run  func(*trial)
}

// phases are those that run after the match was played, in order.
var phases = []phase{
	{eachPhase, (*trial).each},
	{coldTwinPhase, (*trial).coldTwin},
	{"restore", (*trial).restore},
	{"late join", (*trial).join},
	{"copy", (*trial).copies},
	{"redo", (*trial).redo},
	{"refused", (*trial).refused},
	{"derived", (*trial).derived},
	{"fields", (*trial).fields},
	{"round trip", (*trial).roundTrip},
	{"machine", (*trial).machine},
	{"reading", (*trial).reading},
	{"views", (*trial).views},
	{"answers", (*trial).answers},
	{outsidePhase, (*trial).outside},
}

// compute plays the match and runs all phases.
func (m *match) compute() error {
	if err := m.play(); err != nil {
		return err
	}
	for _, p := range phases {
		if slices.Contains(m.options.Skip, p.name) {
			continue
		}
		if err := m.try(p); err != nil {
			return err
		}
	}
	return nil
}

// checkSkip returns an error unless all names are names of phases.
func checkSkip(names []string) error {
	for _, name := range names {
		if !slices.ContainsFunc(phases, func(p phase) bool { return p.name == name }) {
			return fmt.Errorf("locksteptest: options: got %q in Skip, want one of %q", name, allBut(""))
		}
	}
	return nil
}

// allBut returns the names of all phases but one.
func allBut(phase string) (names []string) {
	for _, p := range phases {
		if p.name != phase {
			names = append(names, p.name)
		}
	}
	return names
}

// refused plays the match once more without the refused commands. The result is the same.
func (r *trial) refused() {
	c, err := r.coordinator(ignore{}, lockstep.FollowerOptions{})
	if err != nil {
		r.err = err
		return
	}
	last := make([]lockstep.Sequence, r.options.Players)
	left := r.played
	for t := lockstep.Tick(1); t <= r.options.Ticks; t++ {
		for ; len(left) > 0 && left[0].tick == t; left = left[1:] {
			r.submitAgain(c, &left[0], last)
		}
		f, err := r.tick(r.phase, t, c)
		if !r.ok(t, err) {
			return
		}
		if want := r.frame(t - 1); !equalFrames(f, want) {
			r.ok(t, fmt.Errorf("other commands were accepted: got %d, want %d", len(f.Commands), len(want.Commands)))
			return
		}
		r.same(c.Referee().Simulation())
	}
}

// submitAgain submits a command that was accepted the first time. last has the last sequence of each player.
func (r *trial) submitAgain(c *coordinator.Coordinator, o *order, last []lockstep.Sequence) {
	switch {
	case o.system != nil:
		_ = issue(c, o.system) // with the result of the first time
	case o.receipt.Reason == lockstep.Accepted:
		r.keepUp(c, o, &last[o.player])
		if again := c.Submit(o.player, o.sequence, o.kind, o.payload); again != o.receipt {
			r.ok(o.tick, o.differs(again))
		}
		last[o.player] = o.sequence
	}
}

// keepUp advances a player's sequence where many commands in between were refused: it submits commands of an unknown kind.
func (r *trial) keepUp(c *coordinator.Coordinator, o *order, last *lockstep.Sequence) {
	const near = 200 // of the 256 that a coordinator looks ahead
	for *last+near < o.sequence {
		*last += near
		c.Submit(o.player, *last, r.unknown, nil)
	}
}

const maxTwins = 1000 // cold twins of a match

// coldTwin restores the state before each tick on a new machine, which then steps once. In a match of more than maxTwins
// ticks, it restores the state every few ticks, and each twin steps until the next one.
func (r *trial) coldTwin() {
	every := (r.options.Ticks + maxTwins - 1) / maxTwins
	for r.from = 0; r.from < r.options.Ticks && r.err == nil; r.from += every {
		sim, err := r.game.AwaitState(r.header)
		if r.ok(r.from, err) {
			r.restoreTo(sim, r.from)
			r.goOn(sim, r.from+every, sim.Step)
		}
		if f, ok := r.err.(*Failure); ok {
			f.Stale = r.stale(f.Tick)
		}
	}
}

// stale returns the derived field that decides, with both values: the first at which the match and a restored copy differ in it,
// and without which they would not differ at tick end. It returns nothing if none decides. Derived fields may differ and be
// innocent, such as a cache that is built when somebody asks for it.
func (r *trial) stale(end lockstep.Tick) string {
	var all []string // that differ
	found := make(map[string]string)
	for _, field := range r.game.DerivedFields() {
		if live, copied := r.liveAndCopy(); live != nil {
			d := derivedDiff{only: field, seen: map[[2]unsafe.Pointer]bool{}}
			if d.values("", reflect.ValueOf(copied.AnyWorld()).Elem(), reflect.ValueOf(live.AnyWorld()).Elem(), false); d.found != "" {
				all, found[field] = append(all, field), d.found
			}
		}
	}
	if len(all) == 0 || r.decide(nil, end) { // with nothing given, the copy computes what the match does: it is something else
		return ""
	}
	for _, field := range all[:min(len(all), maxSuspects)] {
		if r.decide([]string{field}, end) {
			return found[field]
		}
	}
	if len(all) < 2 || len(all) > maxSuspects || !r.decide(all, end) {
		return ""
	}
	for i, field := range all { // they do so together: the first that cannot be left out
		if !r.decide(slices.Delete(slices.Clone(all), i, i+1), end) {
			return found[field]
		}
	}
	return found[all[0]]
}

// maxSuspects is the number of derived fields that are tried: each takes a match.
const maxSuspects = 8

// liveAndCopy returns a simulation that has come all the way to r.from, and one that was restored there; nil if that fails.
func (r *trial) liveAndCopy() (live, copied *lockstep.Simulation) {
	live, err := r.game.NewSimulation(r.header)
	for t := lockstep.Tick(0); t < r.from && err == nil; t++ {
		err = live.Step(r.frame(t))
	}
	if err != nil {
		return nil, nil
	}
	if copied, err = r.game.AwaitState(r.header); err != nil || copied.Restore(r.from, r.states[r.from]) != nil {
		return nil, nil
	}
	return live, copied
}

// decide reports whether a restored copy that is given derived fields of the match computes what the match does, up to tick end.
func (r *trial) decide(fields []string, end lockstep.Tick) bool {
	live, copied := r.liveAndCopy()
	if live == nil {
		return false
	}
	give(fields, "", reflect.ValueOf(copied.AnyWorld()).Elem(), reflect.ValueOf(live.AnyWorld()).Elem())
	for t := r.from; t < end; t++ {
		if copied.Step(r.frame(t)) != nil {
			return false
		}
	}
	return bytes.Equal(copied.AppendState(nil), r.states[end])
}

// give sets derived fields in one state to their values in another one, of which the other fields are the same.
func give(fields []string, node string, to, from reflect.Value) {
	switch to.Kind() {
	case reflect.Struct:
		for i := range to.NumField() {
			f := to.Type().Field(i)
			name := join(node, f.Name)
			switch {
			case slices.Contains(fields, name):
				reflect.NewAt(f.Type, to.Field(i).Addr().UnsafePointer()).Elem().Set(reflect.NewAt(f.Type, from.Field(i).Addr().UnsafePointer()).Elem())
			case f.Tag.Get("state") != "derived":
				give(fields, name, to.Field(i), from.Field(i))
			}
		}
	case reflect.Slice, reflect.Array:
		for i := range min(to.Len(), from.Len()) {
			give(fields, node+"[]", to.Index(i), from.Index(i))
		}
	}
}

// A setting is one of the runtime that a simulation must not notice.
type setting struct {
	processors int // GOMAXPROCS
	gcPercent  int
	collect    bool // all garbage, every Options.Every ticks
}

var settings = [...]setting{{1, 400, true}, {8, 20, false}}

// changing is locked while the settings of the whole program are changed.
var changing sync.Mutex

// machine computes the match under other settings of the Go runtime.
func (r *trial) machine() {
	changing.Lock()
	defer changing.Unlock()
	for _, s := range settings {
		r.under(s)
	}
}

func (r *trial) under(s setting) {
	processors := runtime.GOMAXPROCS(s.processors)
	defer runtime.GOMAXPROCS(processors)
	percent := debug.SetGCPercent(s.gcPercent)
	defer debug.SetGCPercent(percent)

	sim := r.simulation()
	r.same(sim)
	for t := range r.options.Ticks {
		if s.collect && (t+1)%r.options.Every == 0 {
			runtime.GC()
		}
		r.step(sim, t)
		r.same(sim)
	}
}

// reading computes the match while it is read in every way: events, pictures, words and dumps.
func (r *trial) reading() {
	current, previous := r.simulation(), r.simulation()
	words, err := lockstep.NewDescriber(r.header, r.game)
	if !r.ok(0, err) {
		return
	}
	current.Observe(func(lockstep.Tick, any) {})
	for t := range r.options.Ticks {
		look := (t+1)%r.options.Every == 0
		if look {
			r.copyTo(previous, current)
		}
		r.step(current, t)
		r.same(current)
		if look && r.err == nil {
			r.look(words, previous, current)
		}
	}
}

// look reads two states one tick apart, and compares them with the saved ones.
func (r *trial) look(words *lockstep.Describer, previous, current *lockstep.Simulation) {
	t := current.Tick()
	for i := range r.frame(t - 1).Commands {
		words.Describe(&r.frame(t - 1).Commands[i])
	}
	if r.options.Render != nil {
		for _, f := range [...]player.Fraction{0, player.One / 3, player.One} {
			r.options.Render(player.Interpolation{Previous: previous, Current: current, Fraction: f})
		}
	}
	r.same(previous)
	r.same(current)
	r.ok(t, r.game.StateSchema().Dump(io.Discard, r.states[t]))
	r.ok(t, r.game.StateSchema().DumpJSON(io.Discard, r.states[t]))
}

// A surrounding is one thing that another machine has in another way.
type surrounding struct {
	name   string
	change func() (undo func(), err error)
}

var surroundings = [...]surrounding{
	{"another time zone (time.Local)", func() (func(), error) { return elsewhere.Zone(), nil }},
	{"other environment variables (" + elsewhere.Names + ")", elsewhere.Variables},
}

// outside computes the match under each of the other surroundings, which are a whole process's: one that Check starts.
func (r *trial) outside() {
	if !r.alone {
		return
	}
	for _, s := range surroundings {
		undo, err := s.change()
		if r.ok(0, err) {
			r.again()
		}
		undo()
		if f, ok := r.err.(*Failure); ok {
			if r.tracer != nil {
				return // it has recorded this one
			}
			control := &trial{match: r.match, phase: r.phase}
			if control.again(); control.err == nil { // else it is not because of the surrounding
				f.Under = s.name
			}
			return
		}
	}
}

// again computes the match from its beginning.
func (r *trial) again() {
	sim := r.simulation()
	if r.err != nil {
		return
	}
	r.same(sim)
	for t := range r.options.Ticks {
		r.step(sim, t)
		r.same(sim)
	}
}

const eachMost = 8 // goroutines at a time

// each computes the match with the elements of Turn.Each in other orders and on several goroutines. The match that was played first
// computed them one after the other.
func (r *trial) each() {
	used := false
	r.ordered(1, func(k, n int) int {
		used = true
		return program.Backwards(k, n)
	})
	if r.scheduled("backwards"); !used || r.tracer != nil { // a recording needs one goroutine
		return
	}
	r.ordered(1, permuted)
	r.scheduled("in a mixed order")
	for workers := 1; workers <= eachMost; workers++ {
		r.ordered(workers, ascending)
		r.scheduled(fmt.Sprintf("on %d goroutines", workers))
	}
}

// ordered computes the match from its beginning on a schedule, unless there is an error.
func (r *trial) ordered(workers int, order func(k, n int) int) {
	if r.err != nil {
		return
	}
	sim := r.simulation()
	if r.err != nil {
		return
	}
	sim.Schedule(workers, order)
	for t := range r.options.Ticks {
		r.step(sim, t)
		r.same(sim)
	}
}

// scheduled says in the failure under which schedule it was found.
func (r *trial) scheduled(schedule string) {
	if f, ok := r.err.(*Failure); ok && f.Under == "" {
		f.Under = "the elements of Turn.Each " + schedule
	}
}

func ascending(k, _ int) int { return k }

// permuted returns the k-th element of an order in which neighbours are far from each other.
func permuted(k, n int) int {
	if k >= n {
		return n
	}
	stride := n*5/8 | 1
	for divisor(stride, n) > 1 {
		stride += 2
	}
	return int((uint64(k)*uint64(stride) + uint64(n/3)) % uint64(n))
}

// divisor returns the greatest common divisor.
func divisor(a, b int) int {
	for b > 0 {
		a, b = b, a%b
	}
	return a
}
