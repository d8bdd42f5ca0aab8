package desync

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/seed-49bee653/samestep/desync/internal/diff"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/record"
	"github.com/seed-49bee653/samestep/replay"
	"github.com/seed-49bee653/samestep/state"
)

// The runs that look for rules without a fixed result. A map of two keys has the other order in one of eight runs.
const (
	maxRuns      = 64                      // of the ticks in which machines are known to differ
	maxParted    = 2048                    // fields of one of them that are compared
	maxPartings  = 16                      // ticks with another result, after which a run ends
	partOfRepeat = 8                       // of the budget of trials, which runs may take after the first ones
	wholeSecond  = 1013 * time.Millisecond // that two runs must span to see a clock of whole seconds
	partOfSecond = 37 * time.Millisecond   // until another run, because a clock of milliseconds may repeat itself after a second
)

// A repeater computes the ticks again that a rerun has kept, each from the rerun's own state before it, so that a tick that comes
// out otherwise is where the rules have no fixed result.
type repeater struct {
	*rerun
	clock    clock
	focus    lockstep.Tick // the ticks after this one count most
	runs     int           // with that of the rerun
	partings []parting
	buf      []byte

	simulate     func() (*rerun, error)           // another rerun
	computeApart func(job []byte) ([]byte, error) // of the options, or nil
	doneApart    bool
	notApart     error // why it was not
	doneLater    bool
}

// A parting is a tick that came out otherwise.
type parting struct {
	tick  lockstep.Tick
	way   Way    // "" until it is looked for
	other []byte // the state; nil if the rules failed
}

// repeat computes each tick again, those after the focus as often as there is time.
func (x *rerun) repeat(focus lockstep.Tick, o *Options) *repeater {
	p := &repeater{rerun: x, focus: max(focus, x.first), runs: 1, computeApart: o.Apart}
	p.clock.begin(o.Now, o.Budget/partOfRepeat)
	bare, made := p.simulation(false), p.simulation(true)
	p.run(bare, x.first)
	p.run(made, x.first)
	for len(p.partings) == 0 && p.runs < maxRuns-2 && p.clock.left() > 0 && p.focus < p.end {
		p.run(made, p.focus)
		p.run(bare, p.focus)
	}
	return p
}

// simulation returns one whose state New has made, or one without a state; nil if the rules refuse it.
func (p *repeater) simulation(made bool) *lockstep.Simulation {
	begin := p.game.AwaitState
	if made {
		begin = p.game.NewSimulation
	}
	s, err := begin(p.header)
	if err != nil {
		return nil
	}
	return s
}

// run computes the ticks after a tick again, from the last one back: what the simulation has derived is then never what it
// derived on the way to a tick. Without time it leaves out those before the focus.
func (p *repeater) run(s *lockstep.Simulation, after lockstep.Tick) {
	if s == nil {
		return
	}
	found := 0
	for t := p.end; t > after && found < maxPartings && (t > p.focus || p.clock.left() > 0); t-- {
		if other, same := p.tick(s, t); !same {
			p.partings = append(p.partings, parting{tick: t, other: other})
			found++
		}
	}
	p.runs++
}

// tick computes a tick again, and reports whether the result is the rerun's.
func (p *repeater) tick(s *lockstep.Simulation, t lockstep.Tick) (other []byte, same bool) {
	p.clock.ticks++
	f := p.frame(t)
	if s.Restore(t-1, p.state(t-1)) != nil || s.StepInOrderGiven(&f) != nil {
		return nil, false
	}
	p.buf = s.AppendState(p.buf[:0])
	if bytes.Equal(p.buf, p.state(t)) {
		return nil, true
	}
	return slices.Clone(p.buf), false
}

// again compares the states with those of another rerun, from the first tick on that both have. Where they differ already there, nothing
// says from which tick on.
func (p *repeater) again(simulate func() (*rerun, error)) {
	p.simulate = simulate
	if len(p.partings) > 0 {
		return
	}
	other, err := simulate()
	if err != nil {
		return
	}
	p.runs++
	begin := max(p.kept, other.kept)
	for t := begin; t <= p.end; t++ {
		if b := other.state(t); !bytes.Equal(b, p.state(t)) {
			d := parting{tick: t, other: b}
			if t == begin {
				d.way = WayWhole
			}
			p.partings = append(p.partings, d)
			return
		}
	}
}

// note adds to a verdict how often its ticks were computed.
func (p *repeater) note(v *Verdict) {
	v.Runs, v.Apart, v.later = p.runs, p.doneApart, p.doneLater
	if p.notApart != nil {
		v.NotApart = p.notApart.Error()
	}
}

// later computes the ticks again after a whole second, if there is a clock: rules that read one seem to have a fixed result until then.
func (p *repeater) later() {
	now := p.clock.now
	if now == nil || len(p.partings) > 0 || p.first == p.end {
		return
	}
	time.Sleep(wholeSecond - min(now().Sub(p.clock.start), wholeSecond))
	p.clock.end += wholeSecond // the wait is no work
	for _, made := range []bool{false, true} {
		if made {
			time.Sleep(partOfSecond)
		}
		if s := p.simulation(made); s != nil {
			p.run(s, p.first)
			p.doneLater = true
		}
	}
	for i := range p.partings {
		p.partings[i].way = WayAgain // at first it came out the same in each way
	}
}

// parting returns the tick that shows best where the rules have no fixed result, or nil: one in which the field differs that
// differs most often.
func (p *repeater) parting() *Parting {
	if len(p.partings) == 0 {
		return nil
	}
	votes := make(map[string]int) // only looked up
	first := make([]map[string]string, len(p.partings))
	best := ""
	for i, d := range p.partings {
		first[i] = p.kinds(&d)
		for kind := range first[i] { // each once
			votes[kind]++
		}
	}
	for kind, n := range votes { // the order does not matter
		if best == "" || n > votes[best] || n == votes[best] && p.before(kind, best) {
			best = kind
		}
	}
	at := 0
	for i, d := range p.partings {
		if first[i][best] != "" && (first[at][best] == "" || d.tick < p.partings[at].tick) {
			at = i
		}
	}
	return &Parting{Tick: p.partings[at].tick, Field: first[at][best], Way: p.way(&p.partings[at])}
}

// kinds returns the fields in which a tick came out otherwise, each as the first path of its kind.
func (p *repeater) kinds(d *parting) map[string]string {
	kinds := make(map[string]string)
	if d.other == nil {
		return kinds
	}
	l, err := newListing(p.game.StateSchema(), p.state(d.tick), d.other, maxParted)
	if err != nil {
		panic(err) // cannot happen: both are our own
	}
	for _, f := range l.fields.List {
		if kind := diff.Kind(f.Path); kinds[kind] == "" {
			kinds[kind] = l.Name(f.Path)
		}
	}
	return kinds
}

// before reports whether a kind of field is before another one in the state.
func (p *repeater) before(a, b string) bool {
	root := p.game.StateSchema().Root()
	section := func(kind string) int {
		for i := range root.NumFields() {
			if name := root.Field(i).Name(); name == strings.TrimRight(kind, "[]") || strings.HasPrefix(kind, name+".") || strings.HasPrefix(kind, name+"[") {
				return i
			}
		}
		return root.NumFields()
	}
	return cmp.Or(cmp.Compare(section(a), section(b)), strings.Compare(a, b)) < 0
}

// The tick that came out otherwise is computed in each way several times, over a whole second, to tell in which it has one result.
const (
	wayRuns = 64          // in each round, where they cost little
	wayTime = time.Second // that a round may take
)

// wayWaits are the times between the rounds: of a clock that repeats itself soon, they hit more than one phase.
var wayWaits = [...]time.Duration{0, 11 * time.Millisecond, 101 * time.Millisecond, 397 * time.Millisecond, 563 * time.Millisecond}

// way finds which difference between the runs decides: one way has the one result each time, and another one the other. If any has two, or
// nothing tells that time does not decide, no way is named.
func (p *repeater) way(d *parting) Way {
	if d.way != "" {
		return d.way
	}
	now := p.clock.now
	if now == nil {
		return WayAgain
	}
	begin := now()
	ways := [...]func(lockstep.Tick) ([]byte, bool){
		p.whole,
		func(t lockstep.Tick) ([]byte, bool) { return p.alone(false, t) }, // only restored
		func(t lockstep.Tick) ([]byte, bool) { return p.alone(true, t) },  // New has begun it
		p.elsewhere,
	}
	var results [len(ways)][]byte
	for round, wait := range wayWaits {
		time.Sleep(wait)
		for i, way := range ways {
			b, fixed := way(d.tick)
			if !fixed || round > 0 && !bytes.Equal(b, results[i]) {
				return WayAgain
			}
			results[i] = b
		}
		if round == 0 && now().Sub(begin) > wayTime {
			return WayAgain
		}
	}
	whole, restored, made, elsewhere := results[0], results[1], results[2], results[3]
	here := func(b []byte) bool { return b == nil || bytes.Equal(b, restored) }
	ours := p.state(d.tick)
	switch {
	case restored == nil:
	case !here(elsewhere):
		if here(whole) && here(made) && (here(ours) || bytes.Equal(ours, elsewhere)) {
			return WayApart // or this process did so, before it had done more
		}
	case !here(whole):
		if bytes.Equal(ours, whole) {
			return WayRestored
		}
	case !here(made) && (here(ours) || bytes.Equal(ours, made)):
		return WayNew
	}
	return WayAgain
}

// whole computes a tick in another rerun. It returns nil if that comes to another state before it.
func (p *repeater) whole(t lockstep.Tick) (b []byte, fixed bool) {
	x, err := p.simulate()
	if err != nil || !bytes.Equal(x.state(t-1), p.state(t-1)) {
		return nil, err == nil
	}
	return x.state(t), true
}

// elsewhere computes a tick in a process of its own, if there is one. It returns nil without.
func (p *repeater) elsewhere(t lockstep.Tick) (b []byte, fixed bool) {
	if p.computeApart == nil {
		return nil, true
	}
	all, err := p.ticksApart(t-1, t)
	if err != nil || len(all) == 0 {
		return p.state(t), err == nil
	}
	return all[0].other, true
}

// alone computes a tick in one way, as run does, and reports whether it has one result. Without a simulation it returns none.
func (p *repeater) alone(made bool, t lockstep.Tick) (b []byte, fixed bool) {
	for n := range wayRuns {
		s := p.simulation(made)
		if s == nil {
			return nil, true
		}
		if t < p.end {
			p.tick(s, t+1)
		}
		other, same := p.tick(s, t)
		if same {
			other = p.state(t)
		}
		if n > 0 && !bytes.Equal(b, other) {
			return nil, false
		}
		b = other
	}
	return b, true
}

// apart lets a process of its own compute the ticks again, as [Options.Apart] says.
func (p *repeater) apart() {
	if p.computeApart == nil || len(p.partings) > 0 || p.kept == p.end {
		return
	}
	after := p.kept
	size := len(p.state(p.end))
	for t := p.end; t > after; t-- { // what fits, from the last tick back
		if size += len(p.state(t - 1)); size > maxApart && t < p.end {
			after = t
		}
	}
	p.partings, p.notApart = p.ticksApart(after, p.end)
	if p.doneApart = p.notApart == nil; p.doneApart {
		p.runs++
	}
}

// ticksApart lets a process of its own compute the ticks after a tick again.
func (p *repeater) ticksApart(after, to lockstep.Tick) ([]parting, error) {
	j := apartJob{Header: p.header, First: after, States: p.states[after-p.kept : to+1-p.kept]}
	for t := after + 1; t <= to; t++ {
		for _, c := range p.frame(t).Commands {
			j.Commands = append(j.Commands, apartCommand{c.Tick, c.Player, c.Sequence, c.Kind, c.Payload})
		}
	}
	list, err := p.game.Assets(p.header)
	if err != nil {
		return nil, err
	}
	for _, a := range list {
		b, err := p.game.ReadAsset(a)
		if err != nil {
			return nil, err
		}
		if j.Assets == nil {
			j.Assets = make(map[string][]byte)
		}
		j.Assets[a.SHA256] = b
	}
	b, err := json.Marshal(&j)
	if err != nil {
		return nil, err
	}
	if b, err = p.computeApart(b); err != nil {
		return nil, err
	}
	var r apartResult
	if err := json.Unmarshal(b, &r); err != nil {
		return nil, fmt.Errorf("desync: another process: %w", err)
	}
	if r.Error != "" {
		return nil, errors.New(r.Error)
	}
	var all []parting
	for _, d := range r.Partings {
		if d.Tick <= after || d.Tick > to || d.Other != nil && p.game.StateSchema().Validate(d.Other) != nil {
			return nil, fmt.Errorf("desync: another process: got no state of a tick from %d to %d", after+1, to)
		}
		all = append(all, parting{tick: d.Tick, other: d.Other})
	}
	return all, nil
}

// An apartJob is the ticks that a process of its own computes again, each from the state before it.
type apartJob struct {
	Header   *lockstep.Header
	First    lockstep.Tick // of States
	States   [][]byte
	Commands []apartCommand
	Assets   map[string][]byte // by their SHA-256; only looked up
}

type apartCommand struct {
	Tick     lockstep.Tick
	Player   lockstep.Player
	Sequence lockstep.Sequence
	Kind     lockstep.Kind
	Payload  []byte
}

// An apartResult is what that process has found.
type apartResult struct {
	Partings []apartParting // at most maxPartings
	Error    string         // why there is nothing
}

type apartParting struct {
	Tick  lockstep.Tick
	Other []byte // nil if the rules failed
}

// ComputeApart computes the ticks of a job of [Options.Apart] again, with the game that fits it, and returns its result. New of the rules
// is not called: what it leaves outside of the state is in no other machine that has got the state.
func ComputeApart(job []byte, game func(*lockstep.Header) (*lockstep.Game, error)) []byte {
	result, err := computeApart(job, game)
	if err != nil {
		result = &apartResult{Error: err.Error()}
	}
	b, err := json.Marshal(result)
	if err != nil {
		panic(err) // cannot happen: it is plain data
	}
	return b
}

func computeApart(job []byte, game func(*lockstep.Header) (*lockstep.Game, error)) (*apartResult, error) {
	var j apartJob
	if err := json.Unmarshal(job, &j); err != nil {
		return nil, fmt.Errorf("desync: invalid job: %w", err)
	}
	if j.Header == nil || len(j.States) == 0 {
		return nil, errors.New("desync: invalid job: no header or no states")
	}
	g, err := game(j.Header)
	if err != nil {
		return nil, err
	}
	if g.HasAssets() {
		g = g.WithAssets(func(a lockstep.Asset) ([]byte, error) {
			if b, ok := j.Assets[a.SHA256]; ok {
				return b, nil
			}
			return nil, record.ErrNoAsset
		})
	}
	x := &rerun{game: g, header: j.Header, first: j.First, kept: j.First, end: j.First + lockstep.Tick(len(j.States)-1), states: j.States, frames: make(map[lockstep.Tick]*lockstep.Frame)}
	for _, c := range j.Commands {
		f := x.frame(c.Tick)
		f.Commands = append(f.Commands, lockstep.Command{Tick: c.Tick, Player: c.Player, Sequence: c.Sequence, Kind: c.Kind, Payload: c.Payload})
		x.frames[c.Tick] = &f
	}
	s, err := g.AwaitState(j.Header)
	if err != nil {
		return nil, err
	}
	p := &repeater{rerun: x, focus: x.first}
	p.run(s, x.first)
	r := &apartResult{}
	for _, d := range p.partings {
		r.Partings = append(r.Partings, apartParting{d.tick, d.other})
	}
	return r, nil
}

// A Past is the part of a match between a tick at which two sides had the same state, and one at which they have not.
type Past struct {
	Replay *replay.Reader
	Game   *lockstep.Game
	Agreed lockstep.Tick // both sides had the same state
	Tick   lockstep.Tick // of the states that are compared
}

// DiffStates compares the states of both sides at the Tick as the function [DiffStates] does, but the fields are in the order
// of cause, as in an [Explanation]: it simulates the ticks of the replay again, and changes each field that differs, to see
// which others follow from it. The paths are those of the side that the simulation computes. If it computes neither, or
// cannot reach the Tick, or the states are larger than 1 MiB, the fields are in the order of the schema. Of the options,
// Path, MaxTicks, Budget, of which it takes a quarter, and Now matter. The Replay keeps its position.
func (p *Past) DiffStates(a, b []byte, o Options) (state.Differences, state.Places, error) {
	o = o.withDefaults()
	o.MaxMemory = maxPast
	schema := p.Game.StateSchema()
	l, err := newListing(schema, a, b, maxListed)
	if err != nil {
		return state.Differences{}, state.Places{}, err
	}
	var again *rerun
	if l.fields.Total > 1 && max(len(a), len(b)) <= maxPast/8 {
		again, _ = p.simulate(p.Agreed, &o)
	}
	turned := bytes.Equal(again.state(p.Tick), b)
	if turned {
		if l, err = newListing(schema, b, a, maxListed); err != nil {
			return state.Differences{}, state.Places{}, err
		}
	}
	if again != nil {
		if t, err := newTester(again, &o); err == nil {
			l.byCause(t, p.Agreed, p.Tick)
		}
	}
	fields, places, err := l.Named(l.at(o.Path, maxListed))
	if turned {
		for i := range fields.List {
			d := &fields.List[i]
			d.A, d.B = d.B, d.A
		}
		for i := range places.List {
			d := &places.List[i].First
			d.A, d.B = d.B, d.A
		}
	}
	return fields, places, err
}

// simulate simulates the ticks after one again.
func (p *Past) simulate(from lockstep.Tick, o *Options) (*rerun, error) {
	r, err := p.Replay.Reopen()
	if err != nil {
		return nil, err
	}
	return simulateAgain(r, p.Game, from, from, p.Tick, o)
}

// Repeat simulates the ticks of pasts several times: at once, again, each tick from the state before it, and if the options have a
// clock, a second later. It returns where the results of one differ, or nil, and the number of runs. If the states do not fit into the memory of the
// options, it begins later. It leaves out a past whose ticks it cannot simulate; the error says why. Of the options, MaxTicks,
// MaxMemory, Budget, Apart and Now matter.
func Repeat(o Options, pasts ...Past) (parting *Parting, runs int, err error) {
	o = o.withDefaults()
	var all []*repeater
	for i := range pasts {
		p, failed := pasts[i].repeat(&o)
		if failed != nil {
			err = errors.Join(err, failed)
			continue
		}
		all = append(all, p)
	}
	for _, p := range all {
		p.later()
		runs += p.runs
		if parting = p.parting(); parting != nil {
			break
		}
	}
	return parting, runs, err
}

// repeat repeats the ticks before the difference, those after the agreement as often as there is time.
func (p *Past) repeat(o *Options) (*repeater, error) {
	from := p.Tick - min(p.Tick, max(lookBack, p.Tick-p.Agreed))
	simulate := func() (*rerun, error) { return p.simulate(from, o) }
	x, err := simulate()
	if err != nil {
		return nil, err
	}
	again := x.repeat(p.Agreed, o)
	again.again(simulate)
	again.apart()
	return again, nil
}
