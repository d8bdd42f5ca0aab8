package faultinjection

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"

	"github.com/seed-49bee653/samestep/examples/skirmish"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/state"
)

// A variant is the rules of the game with a fault in Step.
type variant struct {
	rules rules
	tick  lockstep.Tick // the first one whose state differs; 0 if unknown
	what  string        // the fault in words

	// damage says that the fault is in the memory: no rules give such a state.
	damage bool

	path    string            // of the damaged field
	command *lockstep.Command // the dropped or doubled one
}

// changed returns the game's rules with another Step in one tick.
func changed(at lockstep.Tick, do func(step, *skirmish.World, *lockstep.Turn)) rules {
	r := skirmish.Rules()
	inner := r.Step
	r.Step = func(w *skirmish.World, c *skirmish.Config, t *lockstep.Turn) {
		if t.Tick == at {
			do(func(w *skirmish.World, t *lockstep.Turn) { inner(w, c, t) }, w, t)
		} else {
			inner(w, c, t)
		}
	}
	return r
}

// A planter makes a variant of a match. It returns nil if this draw gives none.
type planter func(m *match, dice *rand.Rand) (*variant, error)

// tries limits the draws for the place of a fault. It is enough to find one command of
// hundreds.
const tries = 2000

// plant draws until it has a noticeable variant.
func plant(m *match, dice *rand.Rand, name string, p planter) (*variant, error) {
	for range tries {
		v, err := p(m, dice)
		if err != nil {
			return nil, err
		}
		if v != nil && (v.tick == 0 || m.noticeable(v.rules, v.tick)) {
			return v, nil
		}
	}
	return nil, fmt.Errorf("faultinjection: %s: found no place for it in the match of seed %d", name, m.header.Settings.Seed)
}

// anyTick returns a random tick after the first check and some checks before the end.
func anyTick(dice *rand.Rand) lockstep.Tick {
	return lockstep.Tick(checkEvery + 1 + dice.IntN(ticks-3*checkEvery))
}

var worldCodec = state.MustCompile[skirmish.World]()

// flippedBit inverts the lowest bit of a field of a unit or a player after a tick.
func flippedBit(m *match, dice *rand.Rand) (*variant, error) {
	t := anyTick(dice)
	schema := m.game.StateSchema()
	leaves, err := values(schema, m.states[t])
	if err != nil {
		return nil, err
	}
	var fields []string
	for _, path := range leaves.order {
		if strings.HasPrefix(path, "Units[") || strings.HasPrefix(path, "Players[") {
			fields = append(fields, path)
		}
	}
	path := fields[dice.IntN(len(fields))]
	return &variant{tick: t, what: fmt.Sprintf("%s after tick %d", path, t), damage: true, path: path, rules: changed(t, func(inner step, w *skirmish.World, turn *lockstep.Turn) {
		inner(w, turn)
		b := worldCodec.Append(nil, w)
		v, err := schema.Lookup(b, path)
		if err != nil || !v.Flip() {
			panic(fmt.Sprintf("faultinjection: %s cannot be flipped: %v", path, err)) // it is a leaf of this state
		}
		if err := worldCodec.Decode(b, w); err != nil {
			panic(err) // Flip keeps the bytes canonical
		}
		skirmish.Rules().Derive(w, nil)
	})}, nil
}

// command draws a tick and one of its players' commands.
func (m *match) command(dice *rand.Rand) (t lockstep.Tick, at int, ok bool) {
	t = anyTick(dice)
	commands := m.frames[t].Commands
	if len(commands) == 0 {
		return 0, 0, false
	}
	at = dice.IntN(len(commands))
	return t, at, commands[at].Player != lockstep.System
}

// otherCommands changes the commands of a tick.
func otherCommands(t lockstep.Tick, change func([]lockstep.Command) []lockstep.Command) rules {
	return changed(t, func(inner step, w *skirmish.World, turn *lockstep.Turn) {
		other := *turn
		other.Commands = change(slices.Clone(turn.Commands))
		inner(w, &other)
	})
}

func (m *match) naming(t lockstep.Tick, at int) string {
	c := &m.frames[t].Commands[at]
	return fmt.Sprintf("command %d of player %d in tick %d", c.Sequence, c.Player, t)
}

func droppedCommand(m *match, dice *rand.Rand) (*variant, error) {
	t, at, ok := m.command(dice)
	if !ok {
		return nil, nil
	}
	return &variant{tick: t, what: m.naming(t, at), command: &m.frames[t].Commands[at], rules: otherCommands(t, func(c []lockstep.Command) []lockstep.Command {
		return slices.Delete(c, at, at+1)
	})}, nil
}

func doubledCommand(m *match, dice *rand.Rand) (*variant, error) {
	t, at, ok := m.command(dice)
	if !ok {
		return nil, nil
	}
	return &variant{tick: t, what: m.naming(t, at), command: &m.frames[t].Commands[at], rules: otherCommands(t, func(c []lockstep.Command) []lockstep.Command {
		return slices.Insert(c, at, c[at])
	})}, nil
}

// wrongOrder runs the commands of a tick in reverse order.
func wrongOrder(m *match, dice *rand.Rand) (*variant, error) {
	t, _, ok := m.command(dice)
	if !ok || len(m.frames[t].Commands) < 2 {
		return nil, nil
	}
	return &variant{tick: t, what: fmt.Sprintf("the %d commands of tick %d", len(m.frames[t].Commands), t), rules: otherCommands(t, func(c []lockstep.Command) []lockstep.Command {
		slices.Reverse(c)
		return c
	})}, nil
}

func extraDraw(_ *match, dice *rand.Rand) (*variant, error) {
	t := anyTick(dice)
	return &variant{tick: t, what: fmt.Sprintf("before tick %d", t), rules: changed(t, func(inner step, w *skirmish.World, turn *lockstep.Turn) {
		w.Rand.Uint64()
		inner(w, turn)
	})}, nil
}

// table guards the table of units while an entry is wrong.
var table sync.Mutex

// wrongTable changes one entry of the table of units for the whole match.
func wrongTable(_ *match, dice *rand.Rand) (*variant, error) {
	kind := skirmish.Worker
	if dice.IntN(2) == 0 {
		kind = skirmish.Soldier
	}
	r := skirmish.Rules()
	inner := r.Step
	r.Step = func(w *skirmish.World, c *skirmish.Config, t *lockstep.Turn) {
		table.Lock() // a verification has several workers
		defer table.Unlock()
		traits := kind.Traits()
		traits.Speed++
		defer func() { traits.Speed-- }() // the others have the right table
		inner(w, c, t)
	}
	return &variant{rules: r, what: fmt.Sprintf("the speed of a %v", kind)}, nil
}
