package locksteptest

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/seed-49bee653/samestep/internal/testing/prober"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/state"
)

// effects are what a viewer sees in the tick that runs a command of its player, in two worlds in which it saw the same before. If the
// tick looks the same without the command, it must look the same with it, or the command tells what the view hides. What comes
// into sight may differ: for that, the hidden fields themselves are made equal after the tick, so that only what followed from
// them remains.
type effects struct {
	*twins
	felt     func(hidden, shown string) bool
	whole    []byte            // the state of world a
	changed  []byte            // that of world b
	paths    []string          // of the hidden fields in which they differ
	compared []int             // commands by index of the kind
	after    []byte            // a state
	seats    []lockstep.Player // who see what the viewer sees
	seated   bool              // in any of the states

	all    map[state.Node][]state.Value // the leaves of world a, only looked up
	hidden map[state.Node][]state.Value // and those that are hidden
	nodes  []state.Node                 // of these
}

// An effectError is a command of which a viewer sees an effect that depends on what is hidden.
type effectError struct {
	player                 lockstep.Player
	command, hidden, shown string
	is                     [2]string
}

func (e *effectError) Error() string {
	return fmt.Sprintf("the effect of a command tells what is hidden: in the tick that runs %s of player %d, %s of its view is %s, and %s in a world in which it saw the same before and %s is another (if players may learn this, say so in Secrecy.Felt)",
		e.command, e.player, e.shown, e.is[0], e.is[1], e.hidden)
}

// begin begins with a state, which world a has.
func (x *effects) begin(viewer lockstep.Viewer, whole []byte, leaves iter.Seq[state.Value], hidden []string) {
	x.seats = x.seats[:0]
	for p := range lockstep.Player(x.options.Players) {
		if x.a.ViewerOf(p) == viewer {
			x.seats, x.seated = append(x.seats, p), true
		}
	}
	x.whole, x.nodes = whole, x.nodes[:0]
	x.all, x.hidden = map[state.Node][]state.Value{}, map[state.Node][]state.Value{}
	for leaf := range leaves {
		x.all[leaf.Node] = append(x.all[leaf.Node], leaf)
		if !isHidden(hidden, leaf.Path) {
			continue
		}
		if x.hidden[leaf.Node] == nil {
			x.nodes = append(x.nodes, leaf.Node)
		}
		x.hidden[leaf.Node] = append(x.hidden[leaf.Node], leaf)
	}
}

// alone compares the effect of one command in worlds that differ in one hidden leaf.
func (x *effects) alone(tick lockstep.Tick, viewer lockstep.Viewer, leaf *state.Value, changed []byte) error {
	x.changed, x.paths = append(x.changed[:0], changed...), append(x.paths[:0], leaf.Path)
	if len(x.seats) == 0 || x.keys(leaf.Node) || !x.quiet(tick, viewer) {
		return nil
	}
	c := lockstep.Command{Tick: tick + 1, Sequence: 1}
	kind := x.probe.IntN(len(x.compared))
	if !x.command(tick, &c, kind) {
		return nil
	}
	return x.one(tick, viewer, &c, kind)
}

// together compares the effects of many commands in worlds that differ in as many hidden fields as do not show by themselves.
func (x *effects) together(tick lockstep.Tick, viewer lockstep.Viewer, zero bool) error {
	if len(x.seats) == 0 {
		return nil
	}
	x.changed, x.paths = append(x.changed[:0], x.whole...), x.paths[:0]
	var fields []state.Node
	for _, field := range x.nodes {
		before, paths := slices.Clone(x.changed), len(x.paths)
		if x.change(field, zero) && !x.keys(field) && x.quiet(tick, viewer) {
			fields = append(fields, field)
		} else {
			x.changed, x.paths = before, x.paths[:paths]
		}
	}
	x.probe.Hint(x.game.StateSchema(), x.whole, x.changed, x.elements()...)
	c := lockstep.Command{Tick: tick + 1, Sequence: 1}
	all := slices.Clone(x.changed)
	for kind := range x.compared {
		for range effectCommands {
			if len(fields) == 0 || !x.command(tick, &c, kind) {
				break
			}
			x.changed = append(x.changed[:0], all...)
			same, err := x.step(tick, viewer, c)
			if err != nil {
				continue // no game reaches world b
			}
			if x.compared[kind]++; same {
				continue
			}
			for _, field := range fields { // which one is it?
				x.changed, x.paths = append(x.changed[:0], x.whole...), x.paths[:0]
				x.change(field, zero)
				if err := x.one(tick, viewer, &c, kind); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// effectCommands is how many commands of each kind have an effect in worlds that differ in many fields.
const effectCommands = 16

// command sets c to a command of a kind that the rules do not refuse, and reports whether it has found one.
func (x *effects) command(tick lockstep.Tick, c *lockstep.Command, kind int) bool {
	if x.a.Restore(tick, x.whole) != nil {
		return false
	}
	for range 1024 {
		if x.probe.Command(c, x.seats[x.probe.IntN(len(x.seats))], kind) && x.a.Validate(c) == nil {
			return true
		}
	}
	return false
}

// quiet reports whether the tick looks the same without a command. If not, what is hidden shows by itself, or no game reaches
// world b.
func (x *effects) quiet(tick lockstep.Tick, viewer lockstep.Viewer) bool {
	same, err := x.step(tick, viewer)
	return same && err == nil
}

// step computes a tick with some commands in both worlds, and reports whether the viewer sees the same.
func (x *effects) step(tick lockstep.Tick, viewer lockstep.Viewer, commands ...lockstep.Command) (same bool, err error) {
	if err := x.a.Restore(tick, x.whole); err != nil {
		return false, err
	}
	if err := x.b.Restore(tick, x.changed); err != nil {
		return false, err
	}
	for _, sim := range []*lockstep.Simulation{x.a, x.b} {
		f := &x.different
		f.Tick, f.Commands = tick+1, append(f.Commands[:0], commands...)
		if err := sim.Step(f); err != nil {
			return false, err
		}
	}
	if x.viewA, err = x.a.AppendView(x.viewA[:0], viewer); err != nil {
		return false, err
	}
	x.viewB, err = x.b.AppendView(x.viewB[:0], viewer)
	return err == nil && bytes.Equal(x.viewA, x.viewB), err
}

// one compares the effect of one command.
func (x *effects) one(tick lockstep.Tick, viewer lockstep.Viewer, c *lockstep.Command, kind int) error {
	same, err := x.step(tick, viewer, *c)
	if err != nil {
		return nil // no game reaches such a state
	}
	if x.compared[kind]++; same {
		return nil
	}
	return x.judge(tick, viewer, c, kind)
}

// judge returns an error if the views differ by more than what has come into sight: the hidden fields themselves, and what follows
// from them without the command, too.
func (x *effects) judge(tick lockstep.Tick, viewer lockstep.Viewer, c *lockstep.Command, kind int) error {
	e, err := x.unfelt()
	if e == nil || err != nil {
		return err
	}
	if same, err := x.step(tick, viewer); !same || err != nil {
		return nil
	}
	hidden := map[string][]byte{} // values of world b by path, only looked up
	for _, path := range x.paths {
		hidden[path] = nil
	}
	d, err := x.game.StateSchema().Diff(x.a.AppendState(nil), x.b.AppendState(nil), 4096)
	if err != nil {
		return err
	}
	for i := range d.List {
		hidden[d.List[i].Path] = nil
	}
	if _, err := x.step(tick, viewer, *c); err != nil {
		return nil
	}
	for i, sim := range []*lockstep.Simulation{x.b, x.a} {
		x.after = sim.AppendState(x.after[:0])
		leaves, err := x.game.StateSchema().Leaves(x.after)
		if err != nil {
			return err
		}
		for leaf := range leaves {
			switch value, ok := hidden[leaf.Path]; {
			case ok && i == 0:
				hidden[leaf.Path] = bytes.Clone(leaf.Bytes)
			case ok && len(value) == len(leaf.Bytes):
				copy(x.after[leaf.Offset:], value)
			}
		}
	}
	if x.a.Restore(tick+1, x.after) != nil {
		return nil
	}
	if x.viewA, err = x.a.AppendView(x.viewA[:0], viewer); err != nil {
		return err
	}
	if e, err = x.unfelt(); e == nil || err != nil {
		return err
	}
	return &effectError{c.Player, x.probe.Words(kind, c), x.paths[0], e.Path, [2]string{e.A, e.B}}
}

// unfelt returns the first difference of the two views that the game does not allow, or nil.
func (x *effects) unfelt() (*state.Difference, error) {
	d, err := x.game.ViewSchema().Diff(x.viewA, x.viewB, 1024)
	for i := range d.List {
		if e := &d.List[i]; x.felt == nil || !x.felt(x.paths[0], e.Path) {
			return e, err
		}
	}
	return nil, err
}

// change lets each hidden leaf of a field be zero, or have the value of the next one, which is one that the match has. It changes
// the only one as [state.Value.Flip] does. It reports whether that changes anything.
func (x *effects) change(field state.Node, zero bool) bool {
	leaves, before := x.hidden[field], len(x.paths)
	for i, leaf := range leaves {
		now := state.Value{Node: field, Bytes: x.changed[leaf.Offset:][:len(leaf.Bytes)]}
		next := leaves[(i+1)%len(leaves)].Bytes
		switch {
		case field.Kind() == state.String || len(next) != len(now.Bytes):
			continue
		case zero:
			clear(now.Bytes)
		case len(leaves) == 1:
			now.Flip()
		default:
			copy(now.Bytes, next)
		}
		if !bytes.Equal(now.Bytes, leaf.Bytes) {
			x.paths = append(x.paths, leaf.Path)
		}
	}
	return len(x.paths) > before
}

// elements returns the paths of the elements of the hidden fields, for hints.
func (x *effects) elements() (list []string) {
	for _, path := range x.paths {
		if e := prober.Element(path); !slices.Contains(list, e) && len(list) < 64 {
			list = append(list, e)
		}
	}
	return list
}

// keys reports whether the numbers of a field ascend through the elements in world a, and not in world b: they are ids, by which
// rules find elements, and no game reaches world b.
func (x *effects) keys(field state.Node) bool {
	leaves := x.all[field]
	ascends := func(b []byte) bool {
		var last, v [8]byte
		for i, leaf := range leaves {
			copy(v[:], b[leaf.Offset:][:len(leaf.Bytes)])
			if i > 0 && binary.LittleEndian.Uint64(v[:]) <= binary.LittleEndian.Uint64(last[:]) {
				return false
			}
			last = v
		}
		return true
	}
	return leaves[0].Node.Kind().Integer() && len(leaves) > 1 && ascends(x.whole) && !ascends(x.changed)
}

// enough returns an error if commands could have been compared, and none was.
func (x *effects) enough() error {
	if x.seated && slices.Max(x.compared) == 0 {
		return errors.New("no command that the rules accept ran in two worlds that looked the same to a player, so no effects were compared")
	}
	return nil
}

func (x *effects) String() string {
	var s strings.Builder
	s.WriteString("effects of")
	x.list(&s, x.compared)
	return s.String()
}
