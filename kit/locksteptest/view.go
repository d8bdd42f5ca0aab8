package locksteptest

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/seed-49bee653/samestep/internal/testing/prober"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/feed"
	"github.com/seed-49bee653/samestep/state"
)

// A Secrecy says what views must not tell.
type Secrecy[S any] struct {
	Viewers []lockstep.Viewer

	// Hidden returns the paths of what a viewer must not learn about a world, such as "Rand", "Players[1].Gold" or
	// "Units[17]". A field that decides whether another one is seen, such as the place of a hidden unit, is not hidden in this
	// sense: another place may be in sight.
	Hidden func(world *S, viewer lockstep.Viewer) []string

	// Felt reports whether a field of a view, such as "Units[3].Pos", may depend on a hidden one, such as "Rock[7]", in the tick
	// that runs a command of the viewer's player: a random number decides on a hit, and rock that nobody has seen is in a unit's
	// way. Nil says that none may. What comes into sight needs no mention.
	Felt func(hidden, shown string) bool
}

// CheckView plays a random match as [Check] does, and fails the test if a view tells what the viewer must not know: after a
// change of one hidden field, the view must have the same bytes. It changes each kind of hidden field at every
// Options.Every ticks. A match in which nothing is hidden, or nothing that is shown changes a view, proves nothing and fails.
//
// It also fails the test if an answer to a command tells what the player must not know. It asks the rules about commands of every
// kind in two worlds in which the player sees the same: they differ in such a field, or because others gave other commands. A
// match without such worlds, or without an answer to a kind of command, fails. With go test -v it prints how many there were.
//
// And it fails the test if the effect of a command tells it: it changes hidden fields, lets a player who sees the viewer's view give a
// command that the rules do not refuse, and computes its tick. If the tick looks the same in both worlds without the command, it must
// with it, except for what comes into sight and what Secrecy.Felt allows. If no such command runs, it fails.
func CheckView[S any](t testing.TB, g *lockstep.Game, o Options, s Secrecy[S]) {
	t.Helper()
	c, err := checkView(g, o, s)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("locksteptest: %d changes of what is hidden, in views of %d viewers; %v; %v", c.hidden, len(s.Viewers), c.twins, &c.effects)
}

func checkView[S any](g *lockstep.Game, o Options, s Secrecy[S]) (*secrecyCheck, error) {
	if g.ViewSchema() == nil || len(s.Viewers) == 0 || s.Hidden == nil {
		return nil, errors.New("locksteptest: CheckView: needs a game with views, Secrecy.Viewers and Secrecy.Hidden")
	}
	m, err := o.match(g)
	if err == nil {
		err = m.play()
	}
	if err != nil {
		return nil, err
	}
	c := &secrecyCheck{}
	if c.twins, err = newTwins(m); err != nil {
		return nil, err
	}
	c.effects = effects{twins: c.twins, felt: s.Felt, compared: make([]int, len(c.asked.kinds))}
	for tick := lockstep.Tick(0); int(tick) < len(m.states); tick += m.options.Every {
		for _, viewer := range s.Viewers {
			if err := c.a.Restore(tick, m.states[tick]); err != nil {
				return nil, fmt.Errorf("locksteptest: CheckView: tick %d: %w", tick, err)
			}
			hidden := slices.Clone(s.Hidden(lockstep.World[S](c.a), viewer))
			if err := c.tick(tick, viewer, hidden); err != nil {
				return nil, err
			}
		}
	}
	switch {
	case c.hidden == 0:
		return nil, errors.New("locksteptest: CheckView: nothing was hidden in the match")
	case c.shown == 0:
		return nil, errors.New("locksteptest: CheckView: no change of a shown field changed a view")
	}
	if tick, err := c.compareAll(32); err != nil {
		return nil, fmt.Errorf("locksteptest: CheckView: tick %d: %w", tick, err)
	}
	if err := cmp.Or(c.asked.enough(m.header.Commands), c.effects.enough()); err != nil {
		return nil, fmt.Errorf("locksteptest: CheckView: %w", err)
	}
	return c, nil
}

// A secrecyCheck changes states, and looks at the views of them.
type secrecyCheck struct {
	*twins        // a has the state of the match, and b a changed one
	want, got     []byte
	hidden, shown int // changes
	effects       effects
}

// tick checks the views of one viewer at one tick.
func (c *secrecyCheck) tick(t lockstep.Tick, viewer lockstep.Viewer, hidden []string) (err error) {
	if c.want, err = c.a.AppendView(c.want[:0], viewer); err != nil {
		return fmt.Errorf("locksteptest: CheckView: tick %d: %w", t, err)
	}
	whole := c.states[t]
	leaves, err := c.game.StateSchema().Leaves(whole)
	if err != nil {
		return err
	}
	type group struct {
		node   state.Node
		hidden bool
	}
	seen := map[group]int{} // only looked up
	x := &c.effects
	x.begin(viewer, whole, leaves, hidden)
	for leaf := range leaves {
		at := group{leaf.Node, isHidden(hidden, leaf.Path)}
		if seen[at]++; seen[at]&(seen[at]-1) != 0 {
			continue // the first, second, fourth, eighth and so on
		}
		changed := slices.Clone(whole)
		leaf.Bytes = changed[leaf.Offset:][:len(leaf.Bytes)]
		if !leaf.Flip() {
			continue
		}
		if err := c.b.Restore(t, changed); err != nil {
			continue // no game reaches most of these states
		}
		c.got, err = c.b.AppendView(c.got[:0], viewer)
		differs := err != nil || !bytes.Equal(c.got, c.want)
		switch {
		case at.hidden && differs:
			return c.leak(t, viewer, leaf.Path, err)
		case at.hidden:
			c.hidden++
		case differs:
			c.shown++
		}
		if differs {
			continue
		}
		c.probe.Hint(c.game.StateSchema(), whole, changed, prober.Element(leaf.Path))
		if err := c.a.Restore(t, whole); err != nil {
			return err
		}
		var oracle *oracleError
		if _, err := c.compare(viewer, 1); errors.As(err, &oracle) { // other errors are of states that no game reaches
			return fmt.Errorf("locksteptest: CheckView: tick %d: %w", t, err)
		}
		if at.hidden {
			if err := x.alone(t, viewer, &leaf, changed); err != nil {
				return fmt.Errorf("locksteptest: CheckView: tick %d: %w", t, err)
			}
		}
	}
	for _, zero := range []bool{false, true} {
		if err := x.together(t, viewer, zero); err != nil {
			return fmt.Errorf("locksteptest: CheckView: tick %d: %w", t, err)
		}
	}
	return nil
}

func (c *secrecyCheck) leak(t lockstep.Tick, viewer lockstep.Viewer, path string, err error) error {
	if err == nil {
		d, diffErr := c.game.ViewSchema().Diff(c.want, c.got, 1)
		if err = diffErr; err == nil {
			err = fmt.Errorf("%s of the view changes from %s to %s", d.List[0].Path, d.List[0].A, d.List[0].B)
		}
	}
	return fmt.Errorf("locksteptest: CheckView: tick %d: a view for %v tells %s, which is hidden: when it changes, %w", t, viewer, path, err)
}

// views makes views for all players and spectators, twice and from a restored copy. They must be the same.
func (r *trial) views() {
	if r.game.ViewSchema() == nil {
		return
	}
	plan, err := feed.NewPlan(r.game.ViewSchema(), r.game.ViewTags())
	if !r.ok(0, err) {
		return
	}
	viewers := []lockstep.Viewer{{}}
	for p := range r.header.Settings.Players {
		viewers = append(viewers, lockstep.Viewer{As: lockstep.AsPlayer, Number: p})
	}
	current, restored := r.simulation(), r.simulation()
	sender := feed.NewSender(plan)
	var first, again []byte
	for t := range r.options.Ticks {
		if r.step(current, t); (t+1)%r.options.Every != 0 || r.err != nil {
			continue
		}
		tick := t + 1
		r.restoreTo(restored, tick)
		for _, viewer := range viewers {
			first, err = current.AppendView(first[:0], viewer)
			if err != nil {
				if fault := (*lockstep.PanicError)(nil); errors.As(err, &fault) {
					r.ok(tick, err)
				}
				continue // the game refuses the viewer
			}
			r.same(current)
			for _, sim := range []*lockstep.Simulation{current, restored} {
				again, err = sim.AppendView(again[:0], viewer)
				if r.ok(tick, err) && !bytes.Equal(first, again) {
					r.ok(tick, fmt.Errorf("a view for %v differs when it is made again: it depends on more than the state and the viewer", viewer))
				}
			}
			if err := sender.Set(first, 0); err != nil {
				r.ok(tick, fmt.Errorf("a view for %v: %w", viewer, err))
			}
		}
	}
}
