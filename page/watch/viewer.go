// Package watch plays a replay: it seeks to any tick, forwards and back, and lists the commands around it.
//
//	v, err := watch.Open(file, game)
//	v.Seek(18000)
//	for !v.Work(40) {
//		// draw v.States()
//	}
//
// A [Viewer] simulates the match from the nearest known state before the tick: a keyframe of the file, a state that it
// kept while playing, or the present one. It is a follower like any other, and compares its state with every checksum
// on the way. A second replay can go along with it ([Viewer.Compare]), or the state of the player in a bundle of a desync; then a
// search finds the ticks at which they part ([Viewer.Find]). It has no clock of its own and no goroutine: a page calls [Viewer.Work] between two frames.
package watch

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"slices"
	"sort"
	"time"

	"github.com/seed-49bee653/samestep/checksum"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/record"
	"github.com/seed-49bee653/samestep/replay"
	"github.com/seed-49bee653/samestep/state"
)

// A Viewer is at a tick of a replay. It belongs to one goroutine.
type Viewer struct {
	*recording
	reader *replay.Reader

	now    *lockstep.Simulation
	before *lockstep.Simulation // of the previous tick, or of the same one after a jump
	target lockstep.Tick
	at     lockstep.Tick // the present tick of a recording of another engine
	fault  error         // why the simulation cannot continue

	kept  kept
	pair  *pair      // another viewer that goes along, or nil
	given []snapshot // states of a player, by tick, which take the place of the simulated ones

	agreed  map[lockstep.Tick]bool // compared checksums and keyframes, and whether they agreed
	desyncs map[lockstep.Tick]Desync

	costs costs

	// Observe gets the events of the last simulated tick, if it is shown. Nil disables it.
	Observe func(s *lockstep.Simulation, event any)

	// Jumped is called after a jump to a tick that does not follow the previous one. Nil disables it.
	Jumped func()
}

// A Desync is a tick whose state differs from the log.
type Desync struct {
	Tick lockstep.Tick `json:"tick"`
	Got  string        `json:"got"`
	Want string        `json:"want"`
}

const (
	// keepEvery is the first distance of snapshots, in ticks.
	keepEvery = 200

	// keepBytes limits the memory of the snapshots. When they exceed it, every second one is dropped, and the distance doubles.
	keepBytes = 96 << 20

	// jumpTicks is the number of ticks that take about as long as a jump.
	jumpTicks = 20

	// shownTicks is the number of ticks before the target whose events are reported.
	shownTicks = 60
)

// Open reads a whole replay file, keeps its bytes, and goes to its first tick. It plays a torn or damaged file up to the fault (see
// [About]). If the replay is of none of the games, the error wraps a [*lockstep.IdentityError]. A file without a first state is
// [ErrEmpty]. Of a bundle of a desync, the Viewer shows the match, and [Viewer.Other] the state of the player; of one of a panic, it
// shows the match up to there, and About says the panic.
func Open(file []byte, games ...*lockstep.Game) (*Viewer, error) {
	if isBundle(file) {
		return openBundle(file, games)
	}
	return openReplay(file, games)
}

// openBundle opens a bundle. The other viewer has the player's states, and simulates from them with the commands of the match.
func openBundle(file []byte, games []*lockstep.Game) (*Viewer, error) {
	b, err := replay.OpenBundle(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		return nil, err
	}
	match, err := b.Replay(maxBundled)
	if err != nil {
		return nil, err
	}
	v, err := openReplay(match, games)
	if err != nil {
		return nil, err
	}
	m := &b.Manifest
	if p := m.Panic; p != nil {
		v.damage = fmt.Errorf("the rules panicked in tick %d: %s", m.Tick, p.Text)
		if m.Player != lockstep.System {
			v.damage = fmt.Errorf("the rules panicked on the machine of player %d in tick %d: %s", m.Player, m.Tick, p.Text)
		}
		return v, nil
	}
	other, err := openReplay(match, games)
	if err != nil {
		return nil, err
	}
	if err := other.give(b); err != nil {
		return nil, err
	}
	if err := v.Compare(other); err != nil {
		return nil, err
	}
	v.pair.commands = nil // they have the same
	v.pair.note = fmt.Sprintf("The bundle has no state of player %d. Its checksum of tick %d differed.", m.Player, m.Tick)
	if m.Tie {
		v.pair.note = fmt.Sprintf("The bundle has no second state. No checksum of tick %d has a majority.", m.Tick)
	}
	if m.Twin != nil {
		v.pair.note = fmt.Sprintf("The other side was restored from the state of tick %d, and differs at tick %d.", m.Twin.Since, m.Tick)
	} else if len(other.given) > 0 {
		first := other.given[0].tick
		v.pair.same = max(first, v.First()+1) - 1
		v.pair.note = fmt.Sprintf("Player %d sent its state of tick %d. From there on it is simulated with the commands of the match; before, the match is shown. Both last agreed at tick %d.", m.Player, first, m.Agreed)
	}
	return v, nil
}

func (v *Viewer) give(b *replay.Bundle) error {
	for _, x := range b.Manifest.Exhibits {
		if x.Player == "" || x.Tick < v.First() || x.Tick > v.last {
			continue
		}
		state, err := b.State(x.Player)
		if err != nil {
			return err
		}
		if err := v.game.StateSchema().Validate(state); err != nil {
			return fmt.Errorf("watch: the player's state of tick %d: %w", x.Tick, err)
		}
		v.given = append(v.given, snapshot{x.Tick, state})
	}
	slices.SortFunc(v.given, func(a, b snapshot) int { return cmp.Compare(a.tick, b.tick) })
	v.given = slices.CompactFunc(v.given, func(a, b snapshot) bool { return a.tick == b.tick })
	if len(v.given) > 0 { // keyframes have the state of the match
		first := v.given[0].tick
		v.keyframes = slices.DeleteFunc(v.keyframes, func(t lockstep.Tick) bool { return t >= first && t != v.First() })
	}
	return nil
}

// OpenRecording reads a whole imported recording of another engine (docs/import.md), and keeps its bytes. Nothing is simulated: the
// Viewer goes to any tick at once, and has the states that were recorded. The error is [ErrSimulated] for the replay of a game.
func OpenRecording(file []byte) (*Viewer, error) {
	rec, r, err := read(file)
	if err != nil {
		return nil, err
	}
	if rec.header != nil && rec.recorded == nil {
		return nil, ErrSimulated
	}
	if err := rec.complete(); err != nil {
		return nil, err
	}
	v := &Viewer{recording: rec, reader: r}
	v.Seek(v.First())
	v.Work(0)
	return v, nil
}

// Recorded returns the recorded state of the present tick, the one of the tick before, if there is one, and the schema of both. The
// error is a [*replay.NoStateError] if none was recorded. It must not be called for a replay of a game.
func (v *Viewer) Recorded() (before, now []byte, schema *state.Schema, err error) {
	s, err := v.recorded.At(v.at)
	if err != nil {
		return nil, nil, nil, err
	}
	if b, berr := v.recorded.At(v.at - 1); berr == nil && v.at > 0 && b.Player == s.Player {
		before = b.State
	}
	return before, s.State, v.recorded.Schema, nil
}

func openReplay(file []byte, games []*lockstep.Game) (*Viewer, error) {
	v := &Viewer{kept: kept{every: keepEvery, limit: keepBytes}, agreed: make(map[lockstep.Tick]bool), desyncs: make(map[lockstep.Tick]Desync)}
	var err error
	if v.recording, v.reader, err = read(file); err != nil {
		return nil, err
	}
	if v.recorded != nil {
		return nil, ErrForeign
	}
	if v.header != nil {
		if v.game, err = gameOf(v.header, games); err != nil {
			return nil, err
		}
	}
	if err := v.complete(); err != nil {
		return nil, err
	}
	if v.now, err = v.game.NewSimulation(v.header); err == nil {
		v.before, err = v.game.NewSimulation(v.header)
	}
	if err != nil {
		return nil, err
	}
	if err := v.jump(v.keyframes[0]); err != nil {
		return nil, err
	}
	return v, nil
}

// Measure measures the steps from now on with a clock, see [Viewer.Costs].
func (v *Viewer) Measure(now func() time.Time) {
	if v.game == nil {
		return
	}
	v.costs.now, v.costs.column = now, v.column
	v.game.NewFollowerAt(v.header, v.now, lockstep.FollowerOptions{Stepping: v.costs.mark}) // the simulation keeps the option
}

// Costs returns what the simulated ticks cost, for reading; nil if no more than some ticks were measured.
func (v *Viewer) Costs(after int) *Costs {
	if v.costs.Ticks <= after {
		return nil
	}
	return &v.costs.Costs
}

// column returns the column of a tick, of columns of equal length from the first tick to the last.
func (v *Viewer) column(at lockstep.Tick, columns int) int {
	ticks := max(uint64(v.last-v.First()), 1)
	return int(min(uint64(max(at, v.First())-v.First())*uint64(columns)/ticks, uint64(columns-1)))
}

// Game returns the replay's game, or nil if it is a recording of another engine.
func (v *Viewer) Game() *lockstep.Game { return v.game }

// Header returns the replay's header.
func (v *Viewer) Header() *lockstep.Header { return v.header }

// Tick returns the present tick.
func (v *Viewer) Tick() lockstep.Tick {
	if v.recorded != nil {
		return v.at
	}
	return v.now.Tick()
}

// First returns the first tick of the match.
func (v *Viewer) First() lockstep.Tick { return v.keyframes[0] }

// Last returns the last tick of the match.
func (v *Viewer) Last() lockstep.Tick { return v.last }

// States returns the simulations at the previous and the present tick, for reading; nil of recordings, see [Viewer.Recorded].
func (v *Viewer) States() (before, now *lockstep.Simulation) { return v.before, v.now }

// Hash returns the state hash of the present tick. Of a recording of another engine, it is the checksum that most players reported, or "".
func (v *Viewer) Hash() string {
	if v.recorded == nil {
		return checksum.FormatHash(v.now.Hash())
	}
	hash, ok := v.checkAt(v.at)
	if !ok {
		return ""
	}
	return checksum.FormatHash(hash)
}

// Compared returns the number of ticks that agreed with the log, and of those that did not.
func (v *Viewer) Compared() (agreed, differing int) { return len(v.agreed), len(v.desyncs) }

// Desyncs returns the ticks whose state differed from the log, in order.
func (v *Viewer) Desyncs() []Desync {
	all := slices.AppendSeq(make([]Desync, 0, len(v.desyncs)), maps.Values(v.desyncs)) // an empty list, not null, for the page
	slices.SortFunc(all, func(a, b Desync) int { return cmp.Compare(a.Tick, b.Tick) })
	return all
}

// Fault returns why the simulation cannot continue, or nil.
func (v *Viewer) Fault() error { return v.fault }

// Seek sets the target to a tick, or to the nearest tick of the match. [Viewer.Work] goes there.
func (v *Viewer) Seek(t lockstep.Tick) {
	v.target = min(max(t, v.First()), v.last)
	v.fault = nil
	if p := v.pair; p != nil {
		p.search = 0
		p.other.Seek(v.target)
	}
}

// Left returns the number of ticks to simulate up to the target.
func (v *Viewer) Left() lockstep.Tick {
	if v.recorded != nil {
		return 0
	}
	from, _ := v.from()
	return v.target - from
}

// Work simulates at most some ticks towards the target, as does a viewer that goes along. It reports whether it is there, or cannot get there.
func (v *Viewer) Work(ticks int) bool {
	if v.pair == nil {
		return v.advance(ticks)
	}
	if v.pair.search != 0 && !v.look(ticks) {
		return false
	}
	return v.reach(v.target, ticks)
}

func (v *Viewer) advance(ticks int) bool {
	if v.recorded != nil {
		v.at = v.target
	}
	if v.fault != nil || v.recorded != nil {
		return true
	}
	if from, jump := v.from(); jump {
		if err := v.jump(from); err != nil {
			v.fault = err
			return true
		}
	}
	for ; ticks > 0 && v.Tick() < v.target; ticks-- {
		if err := v.step(); err != nil {
			v.fault, v.target = err, v.Tick()
			return true
		}
	}
	return v.Tick() == v.target
}

// from returns the tick to simulate from, and whether it needs a jump.
func (v *Viewer) from() (t lockstep.Tick, jump bool) {
	start := v.start()
	if v.target < v.Tick() || start > v.Tick()+jumpTicks {
		return start, true
	}
	return v.Tick(), false
}

func (v *Viewer) start() lockstep.Tick {
	i := sort.Search(len(v.keyframes), func(i int) bool { return v.keyframes[i] > v.target })
	best := v.keyframes[max(i-1, 0)]
	for _, known := range [][]snapshot{v.given, v.kept.list} {
		if s := upTo(known, v.target); s != nil {
			best = max(best, s.tick)
		}
	}
	return best
}

// jump goes to a tick with a known state. If that state is damaged, it drops it and uses the previous one.
func (v *Viewer) jump(t lockstep.Tick) error {
	for _, known := range [][]snapshot{v.given, v.kept.list} {
		if s := upTo(known, t); s != nil && s.tick == t {
			if err := v.now.Restore(t, s.state); err != nil {
				return err
			}
			return v.landed()
		}
	}
	k, err := v.keyframe(t)
	if err == nil {
		err = v.now.Restore(t, k.State)
	}
	if err != nil {
		if i := sort.Search(len(v.keyframes), func(i int) bool { return v.keyframes[i] >= t }); i > 0 {
			v.keyframes = append(v.keyframes[:i:i], v.keyframes[i+1:]...)
			return v.jump(v.start())
		}
		return fmt.Errorf("watch: the state of tick %d: %w", t, err)
	}
	v.compare(t, k.Hash)
	if hash, ok := v.checkAt(t); ok && hash != k.Hash {
		v.compare(t, hash)
	}
	return v.landed()
}

func (v *Viewer) landed() error {
	if v.Jumped != nil {
		v.Jumped()
	}
	return v.before.CopyFrom(v.now)
}

func (v *Viewer) keyframe(t lockstep.Tick) (*record.Keyframe, error) {
	at, err := v.reader.Seek(t)
	if err != nil {
		return nil, err
	}
	if at != t {
		return nil, fmt.Errorf("got the keyframe of tick %d", at)
	}
	for {
		rec, err := v.reader.Next()
		if err != nil {
			return nil, err
		}
		if rec.Kind == record.KindKeyframe {
			return &rec.Keyframe, nil
		}
	}
}

func (v *Viewer) step() error {
	t := v.Tick() + 1
	if t+shownTicks > v.target && v.Observe != nil {
		v.now.Observe(func(_ lockstep.Tick, event any) { v.Observe(v.now, event) })
	} else {
		v.now.Observe(nil)
	}
	if t == v.target { // otherwise the previous state is never drawn
		if err := v.before.CopyFrom(v.now); err != nil {
			return err
		}
	}
	if err := v.now.Step(&lockstep.Frame{Tick: t, Commands: v.commands[v.firstAt(t):v.firstAt(t+1)]}); err != nil {
		return err
	}
	if s := upTo(v.given, t); s != nil && s.tick == t {
		if err := v.now.Restore(t, s.state); err != nil {
			return err
		}
	}
	if hash, ok := v.checkAt(t); ok {
		v.compare(t, hash)
	}
	if v.kept.due(t) {
		v.kept.add(snapshot{t, v.now.AppendState(nil)})
	}
	return nil
}

func (v *Viewer) compare(t lockstep.Tick, want uint64) {
	got := v.now.Hash()
	if got == want {
		v.agreed[t] = true
		return
	}
	v.desyncs[t] = Desync{t, checksum.FormatHash(got), checksum.FormatHash(want)}
}

type snapshot struct {
	tick  lockstep.Tick
	state []byte
}

// upTo returns the last of some snapshots at or before a tick, or nil.
func upTo(all []snapshot, t lockstep.Tick) *snapshot {
	i := sort.Search(len(all), func(i int) bool { return all[i].tick > t })
	if i == 0 {
		return nil
	}
	return &all[i-1]
}

// kept are snapshots of simulated ticks. When they exceed the limit, every second one is dropped.
type kept struct {
	list  []snapshot    // by tick
	size  int           // in bytes
	limit int           // of size
	every lockstep.Tick // distance of snapshots
}

func (k *kept) due(t lockstep.Tick) bool {
	s := upTo(k.list, t)
	return t%k.every == 0 && (s == nil || s.tick != t)
}

func (k *kept) add(s snapshot) {
	i := sort.Search(len(k.list), func(i int) bool { return k.list[i].tick >= s.tick })
	k.list = slices.Insert(k.list, i, s)
	if k.size += len(s.state); k.size <= k.limit {
		return
	}
	k.every *= 2
	k.list = slices.DeleteFunc(k.list, func(s snapshot) bool { return s.tick%k.every != 0 })
	k.size = 0
	for _, s := range k.list {
		k.size += len(s.state)
	}
}

// Latest returns the latest state of the match that is known without simulating: that of the present tick or of the file's last
// keyframe. It is for reading until the next call of a method, and nil if it is not of a later tick than the given one, or damaged.
func (v *Viewer) Latest(after lockstep.Tick) *lockstep.Simulation {
	if v.recorded != nil {
		return nil
	}
	last := v.keyframes[len(v.keyframes)-1]
	switch {
	case v.Tick() > after && v.Tick() >= last:
		return v.now
	case last <= after:
		return nil
	}
	k, err := v.keyframe(last)
	if err != nil {
		return nil
	}
	s, err := v.game.NewSimulation(v.header)
	if err != nil || s.Restore(last, k.State) != nil {
		return nil
	}
	return s
}
