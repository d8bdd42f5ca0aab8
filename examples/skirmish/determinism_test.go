package skirmish

import (
	"testing"

	"github.com/seed-49bee653/samestep/fixed"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

// botMatch is a match of bots without the engine, for tests that change the world between ticks.
type botMatch struct {
	w        *World
	bots     []*Bot
	turn     lockstep.Turn
	payloads *record.Payloads
}

func newBotMatch(tb testing.TB, seed uint64, players uint8, units uint16) *botMatch {
	game := lockstep.MustGame(Rules())
	m := &botMatch{w: newWorld(tb, seed, players, Defaults(players, units)), payloads: game.NewPayloads()}
	for p := range players {
		m.bots = append(m.bots, NewBot(lockstep.Player(p), seed))
	}
	return m
}

// next runs one tick, and returns its commands, valid until the next one.
func (m *botMatch) next() []lockstep.Command {
	m.turn.Tick++
	m.turn.Commands = m.turn.Commands[:0]
	for p, bot := range m.bots {
		for _, order := range bot.Think(m.w) {
			m.turn.Commands = append(m.turn.Commands, lockstep.Command{Player: lockstep.Player(p), Kind: order.Kind, Value: order.Value})
		}
	}
	step(m.w, nil, &m.turn)
	return m.turn.Commands
}

// Derived memory does not change a result: a twin stays equal that is restored from bytes, copied, or loses its derived
// memory at random ticks.
func TestDerivedChangesNothing(t *testing.T) {
	m := newBotMatch(t, 11, 4, 200)
	twin := fork(m.w)
	dice := fixed.NewRand(2)
	counts := [3]int{}
	for range 3000 {
		commands := m.next()
		switch dice.N(24) {
		case 0:
			bytes := codec.Append(nil, twin)
			twin = new(World)
			if err := codec.Decode(bytes, twin); err != nil {
				t.Fatal(err)
			}
			derive(twin)
			counts[0]++
		case 1:
			twin = fork(twin)
			counts[1]++
		case 2:
			twin.workspace = workspace{}
			derive(twin)
			counts[2]++
		}
		step(twin, nil, &lockstep.Turn{Tick: m.turn.Tick, Commands: commands})
		if m.w.Match.Tick%10 == 0 && hash(twin) != hash(m.w) {
			d, err := codec.Schema().Diff(codec.Append(nil, m.w), codec.Append(nil, twin), 5)
			t.Fatalf("tick %d: the twin differs: %v %v", m.turn.Tick, d, err)
		}
	}
	if hash(twin) != hash(m.w) || counts[0] < 50 || counts[1] < 50 || counts[2] < 50 {
		t.Errorf("the twin differs at the end, or was too seldom disturbed: %v", counts)
	}
}

// A copy into a world of another match, with other caches, behaves like a new world.
func TestCopyOverOther(t *testing.T) {
	a, b := newBotMatch(t, 1, 4, 200), newBotMatch(t, 2, 3, 150)
	for range 600 {
		a.next()
		b.next()
	}
	codec.Copy(b.w, a.w)
	derive(b.w)
	advance(a.w, 300)
	advance(b.w, 300)
	if hash(a.w) != hash(b.w) {
		t.Error("the copy went another way")
	}
}

// After a copy, the caches of a later world or of another map have no effect.
func TestCopyOverLater(t *testing.T) {
	early := arena(t)
	wall(early, 30, 20, 31, 50)
	id := put(early, Soldier, 0, cells(10, 30))
	order := by(0, &Move{Who: list(id), To: PointAt(cells(50, 30))})
	later := fork(early)
	advance(later, 40, order)
	open := arena(t)
	put(open, Soldier, 0, cells(10, 30))
	wall(open, 30, 20, 31, 60)
	advance(open, 2, order)
	want := fork(early)
	advance(want, 2, order)
	middle := fork(want) // while the field is being worked out
	if w := want.Paths.Fields[0]; w.Steps != open.Paths.Fields[0].Steps || w.Steps >= later.Paths.Fields[0].Steps {
		t.Fatalf("the fields are not in the state to test: %+v", w)
	}
	advance(want, 300)
	for name, w := range map[string]*World{"later": later, "another map": open} {
		codec.Copy(w, middle)
		derive(w)
		advance(w, 300)
		if hash(w) != hash(want) {
			t.Errorf("over the caches of %s: went another way", name)
		}
	}
}

// A world that was changed between two steps continues like one that was restored from the changed bytes.
func TestChangedInPlace(t *testing.T) {
	for name, change := range map[string]func(w *World){
		"rock": func(w *World) { w.Map.Blocked[80] ^= 0xffff00 },
		"size": func(w *World) { w.Map.Size -= 2 },
		"kind": func(w *World) { w.Units[2].Kind = Tower },
		"id":   func(w *World) { w.Units[len(w.Units)-1].ID += 5 },
		"path": func(w *World) { w.Paths.Fields[0].Goal += 3 },
	} {
		w := newBattle(t, 300)
		advance(w, 20)
		change(w)
		restored := fork(w)
		advance(w, 60)
		advance(restored, 60)
		if hash(w) != hash(restored) {
			t.Errorf("after a change of the %s the two part", name)
		}
	}
}

// Two runs are equal; the next seed gives another match.
func TestDeterministic(t *testing.T) {
	var hashes [3]uint64
	for i, seed := range []uint64{5, 5, 6} {
		m := newBotMatch(t, seed, 5, 200)
		for range 1500 {
			m.next()
		}
		hashes[i] = hash(m.w)
	}
	if hashes[0] != hashes[1] || hashes[0] == hashes[2] {
		t.Errorf("checksums %x", hashes)
	}
}

// In steady state neither Step nor the bots allocate memory.
func TestNoAllocations(t *testing.T) {
	m := newBotMatch(t, 3, 4, 400)
	for range 2500 {
		m.next()
	}
	if got := testing.AllocsPerRun(500, func() { m.next() }); got != 0 {
		t.Errorf("%v allocations per tick", got)
	}
}

// Both sides of a symmetric map are equal: two armies that crowd at opposite places push and end at exactly opposite
// places.
func TestMirror(t *testing.T) {
	w := arena(t)
	dice := fixed.NewRand(8)
	edge := fixed.FromInt(64)
	var pairs [][2]UnitID
	for k := range int64(20) {
		kind := Soldier
		if k%3 == 0 {
			kind = Archer
		}
		at := fixed.Vec2{X: fixed.FromInt(16+k%10) + dice.Q(), Y: fixed.FromInt(28+k/10) + dice.Q()}
		turned := fixed.Vec2{X: edge - at.X, Y: edge - at.Y}
		pairs = append(pairs, [2]UnitID{put(w, kind, 0, at), put(w, kind, 1, turned)})
	}
	for _, pair := range pairs { // into a narrow place, but no two to the same spot
		x, y := uint16(180+dice.N(24)), uint16(230+dice.N(24))
		advance(w, 1, by(0, &Move{Who: list(pair[0]), To: Point{x, y}}), by(1, &Move{Who: list(pair[1]), To: Point{512 - x, 512 - y}}))
	}
	advance(w, 90)
	for _, pair := range pairs {
		a, b := unit(t, w, pair[0]), unit(t, w, pair[1])
		if got, want := b.Pos, (fixed.Vec2{X: edge - a.Pos.X, Y: edge - a.Pos.Y}); got != want {
			t.Errorf("units %d and %d: %v, want %v", pair[0], pair[1], got, want)
		}
	}
}

// The rules compute the same match on every machine, and in every version of this package with the same RulesBuild. A
// change of the rules changes RulesBuild and these checksums.
func TestGolden(t *testing.T) {
	battle := newBattle(t, 600)
	advance(battle, 300)
	data := make([]byte, 6000)
	dice := fixed.NewRand(12)
	for i := range data {
		data[i] = byte(dice.Uint32())
	}
	for _, test := range []struct {
		name      string
		got, want uint64
	}{
		{"battle", hash(battle), 0xb542f3dbd58947a1},
		{"nonsense", runNonsense(t, data), 0x6fc57c9f6c8c32b9},
	} {
		if test.got != test.want {
			t.Errorf("%s of build %s: got checksum %#x, want %#x", test.name, RulesBuild, test.got, test.want)
		}
	}
}
