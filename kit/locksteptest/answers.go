package locksteptest

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/seed-49bee653/samestep/internal/testing/prober"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/record"
	"github.com/seed-49bee653/samestep/state"
)

// twins are two worlds of a match that look the same to a viewer. The rules must give equal answers in them, or the answers tell
// what the view hides.
type twins struct {
	*match
	a, b      *lockstep.Simulation
	probe     *prober.Prober
	asked     asked
	viewA     []byte
	viewB     []byte
	players   []lockstep.Player
	different lockstep.Frame
}

// asked counts what was asked.
type asked struct {
	pairs int   // of worlds that looked the same to a player
	kinds []int // commands by index of the kind
}

func newTwins(m *match) (*twins, error) {
	x := &twins{match: m, asked: asked{kinds: make([]int, len(m.header.Commands))}}
	var err error
	if x.probe, err = prober.New(m.options.Seed, m.game); err != nil {
		return nil, err
	}
	for i := range m.played {
		if o := &m.played[i]; o.system == nil {
			x.probe.Add(o.player, o.kind, o.payload)
		}
	}
	if x.a, err = m.game.AwaitState(m.header); err == nil {
		x.b, err = m.game.AwaitState(m.header)
	}
	return x, err
}

// An oracleError is an answer that tells what a view hides.
type oracleError struct {
	player  lockstep.Player
	command string
	told    [2]string
	differs string // what differs in the two worlds
}

func (e *oracleError) Error() string {
	return fmt.Sprintf("the answer to a command tells what is hidden: player %d is told %q about %s, and %q in a world in which it sees the same: %s",
		e.player, e.told[0], e.command, e.told[1], e.differs)
}

// compare asks both worlds about commands of each kind if they look the same to a viewer. It reports whether they do.
func (x *twins) compare(viewer lockstep.Viewer, commands int) (same bool, err error) {
	x.players = x.players[:0]
	for p := range lockstep.Player(x.options.Players) {
		if x.a.ViewerOf(p) == viewer && x.b.ViewerOf(p) == viewer {
			x.players = append(x.players, p)
		}
	}
	if x.viewA, err = x.a.AppendView(x.viewA[:0], viewer); err != nil {
		return false, nil // a viewer that sees nothing is refused nothing
	}
	if x.viewB, err = x.b.AppendView(x.viewB[:0], viewer); err != nil || !bytes.Equal(x.viewA, x.viewB) || len(x.players) == 0 {
		return false, nil
	}
	x.asked.pairs++
	for i := range x.asked.kinds { // each kind is the first one at times: the rules make the views then
		for range commands {
			if err := x.ask((x.asked.pairs + i) % len(x.asked.kinds)); err != nil {
				return true, err
			}
		}
	}
	return true, nil
}

// ask asks both worlds about one command.
func (x *twins) ask(kind int) error {
	c := lockstep.Command{Tick: x.a.Tick() + delayTicks, Sequence: 1}
	player := x.players[x.probe.IntN(len(x.players))]
	if !x.probe.Command(&c, player, kind) {
		return nil
	}
	var told [2]string
	for i, sim := range []*lockstep.Simulation{x.a, x.b} {
		err := sim.Validate(&c)
		if fault := (*lockstep.PanicError)(nil); errors.As(err, &fault) {
			return err
		}
		told[i] = verdict(err)
	}
	x.asked.kinds[kind]++
	x.probe.Note(&c, kind, told[0])
	if told[0] == told[1] {
		return nil
	}
	_, differs, err := differing(x.game.StateSchema(), x.a.AppendState(nil), x.b.AppendState(nil))
	if err != nil {
		return err
	}
	return &oracleError{player, x.probe.Words(kind, &c), told, differs}
}

// diverge lets the match go on from a saved state in another way: the commands of those who do not share a viewer's view are those
// that they gave at other times. The worlds are compared after 1, 2, 4 and so on ticks, while they look the same to the viewer.
func (x *twins) diverge(from lockstep.Tick, viewer lockstep.Viewer, span lockstep.Tick, commands int) (lockstep.Tick, error) {
	if err := x.b.Restore(from, x.states[from]); err != nil {
		return from, err
	}
	shift := 1 + x.probe.IntN(max(len(x.frames)-1, 1))
	for t := from + 1; t <= min(from+span, x.options.Ticks); t++ {
		if err := x.b.Step(x.otherwise(t, viewer, shift)); err != nil {
			return t, err
		}
		if _, ended := x.b.Ended(); ended {
			return t, nil
		}
		if n := t - from; n&(n-1) != 0 {
			continue
		}
		if x.buf = x.b.AppendState(x.buf[:0]); bytes.Equal(x.buf, x.states[t]) {
			continue
		}
		if err := x.a.Restore(t, x.states[t]); err != nil {
			return t, err
		}
		paths, _, err := differing(x.game.StateSchema(), x.states[t], x.buf)
		if err != nil {
			return t, err
		}
		x.probe.Hint(x.game.StateSchema(), x.states[t], x.buf, paths...)
		if same, err := x.compare(viewer, commands); err != nil || !same {
			return t, err
		}
	}
	return from, nil
}

// changes is how many parts of a saved state are changed for a viewer.
const changes = 48

// change compares a saved state with ones that lack an element, or in which an element has a field of another.
func (x *twins) change(t lockstep.Tick, viewer lockstep.Viewer, commands int) error {
	whole, schema := x.states[t], x.game.StateSchema()
	leaves, err := schema.Leaves(whole)
	if err != nil {
		return err
	}
	byNode := map[state.Node][]state.Value{} // only looked up
	var nodes []state.Node
	for leaf := range leaves {
		if byNode[leaf.Node] == nil {
			nodes = append(nodes, leaf.Node)
		}
		byNode[leaf.Node] = append(byNode[leaf.Node], leaf)
	}
	for range min(changes, changes*len(nodes)) {
		list := byNode[nodes[x.probe.IntN(len(nodes))]]
		leaf := list[x.probe.IntN(len(list))]
		var changed []byte
		if x.probe.IntN(2) == 0 {
			changed = prober.Without(schema, whole, leaf.Path)
		}
		if from := list[x.probe.IntN(len(list))]; changed == nil && len(from.Bytes) == len(leaf.Bytes) {
			changed = slices.Clone(whole)
			copy(changed[leaf.Offset:], from.Bytes)
		}
		if changed == nil || bytes.Equal(changed, whole) || x.b.Restore(t, changed) != nil {
			continue
		}
		if err := x.a.Restore(t, whole); err != nil {
			return err
		}
		x.probe.Hint(schema, whole, changed, prober.Element(leaf.Path))
		var oracle *oracleError
		if _, err := x.compare(viewer, commands); errors.As(err, &oracle) { // other errors are of states that no game reaches
			return err
		}
	}
	return nil
}

// otherwise returns the frame of a tick with other commands of those who do not share a viewer's view.
func (x *twins) otherwise(t lockstep.Tick, viewer lockstep.Viewer, shift int) *lockstep.Frame {
	f := &x.different
	f.Tick, f.Commands = t, f.Commands[:0]
	add := func(from *lockstep.Frame, shared bool) {
		for _, c := range from.Commands {
			if own := c.Player == lockstep.System || x.b.ViewerOf(c.Player) == viewer; own == shared {
				c.Tick = t
				f.Commands = append(f.Commands, c)
			}
		}
	}
	add(&x.frames[t-1], true)
	add(&x.frames[(int(t-1)+shift)%len(x.frames)], false)
	slices.SortFunc(f.Commands, func(a, b lockstep.Command) int { return record.Compare(&a, &b) })
	return f
}

// compareAll compares worlds at each saved state for some of the viewers that players are.
func (x *twins) compareAll(commands int) (lockstep.Tick, error) {
	turn := 0
	for t := lockstep.Tick(0); t < x.options.Ticks; t += x.options.Every {
		if err := x.a.Restore(t, x.states[t]); err != nil {
			return t, err
		}
		var viewers []lockstep.Viewer
		for p := range lockstep.Player(x.options.Players) {
			if v := x.a.ViewerOf(p); !slices.Contains(viewers, v) {
				viewers = append(viewers, v)
			}
		}
		for range min(len(viewers), 2) {
			turn++
			viewer := viewers[turn%len(viewers)]
			if err := x.change(t, viewer, commands); err != nil {
				return t, err
			}
			if at, err := x.diverge(t, viewer, x.options.Every, commands); err != nil {
				return at, err
			}
		}
	}
	return 0, nil
}

// enough returns an error unless answers were compared to commands of each kind.
func (a *asked) enough(kinds []record.CommandDescription) error {
	if a.pairs == 0 {
		return errors.New("no two different worlds looked the same to a player, so no answers were compared")
	}
	for i, n := range a.kinds {
		if n == 0 {
			return fmt.Errorf("no answer to a command of kind %q was compared", kinds[i].Name)
		}
	}
	return nil
}

// add adds the counts of another match of the same game, if it was asked.
func (a *asked) add(x *twins) {
	if x == nil {
		return
	}
	a.pairs += x.asked.pairs
	for i, n := range x.asked.kinds {
		if a.kinds = append(a.kinds, make([]int, max(i+1-len(a.kinds), 0))...); n > 0 {
			a.kinds[i] += n
		}
	}
}

// thin returns [ErrThin] if the phase answers ran and did too little.
func (a *asked) thin(m *match) error {
	o := &m.options
	if len(a.kinds) == 0 || o.Orders != nil || len(o.Choices) > 0 || o.AllowThin != "" {
		return nil
	}
	if err := a.enough(m.header.Commands); err != nil {
		return fmt.Errorf("locksteptest: %w: answers: %w\nsay why that is enough (AllowThin)", ErrThin, err)
	}
	return nil
}

func (x *twins) String() string {
	var s strings.Builder
	fmt.Fprintf(&s, "answers in %d pairs of worlds with equal views:", x.asked.pairs)
	x.list(&s, x.asked.kinds)
	return s.String()
}

// list writes how many commands of each kind there were.
func (x *twins) list(s *strings.Builder, counts []int) {
	for i, n := range counts {
		fmt.Fprintf(s, " %d %s", n, x.header.Commands[i].Name)
		if i < len(counts)-1 {
			s.WriteByte(',')
		}
	}
}

// answers compares answers to commands in worlds that look the same to a player.
func (r *trial) answers() {
	if r.game.ViewSchema() == nil || len(r.frames) == 0 {
		return
	}
	x, err := newTwins(r.match)
	if r.ok(0, err) {
		t, err := x.compareAll(16)
		r.ok(t, err)
		r.twins = x
	}
}

// differing returns the paths of elements in which two states differ.
func differing(schema *state.Schema, a, b []byte) (paths []string, first string, err error) {
	d, err := schema.Diff(a, b, 64)
	for i := range d.List {
		e := &d.List[i]
		if path := prober.Element(e.Path); !slices.Contains(paths, path) {
			paths = append(paths, path)
		}
		if i == 0 {
			first = e.Path + " is " + e.A + " and " + e.B
		}
	}
	return paths, first, err
}
