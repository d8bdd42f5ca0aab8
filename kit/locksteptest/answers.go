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
	"github.com/seed-49bee653/samestep/lockstep/record"
	"github.com/seed-49bee653/samestep/state"
)

// twins are two worlds that look the same to a viewer, in which the rules must give equal answers.
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
	return fmt.Sprintf("the answer to a command reveals what is hidden: player %d is told %q about %s, and %q in a world in which it sees the same: %s",
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
	return fmt.Sprintf("the effect of a command reveals what is hidden: in the tick that runs %s of player %d, %s of its view is %s, and %s in a world in which it saw the same before and %s is another (if players may learn this, say so in Secrecy.Felt)",
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

// quiet reports whether the tick looks the same without a command. If not, it shows by itself, or no game reaches world b.
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

// judge returns an error if the views differ by more than what came into sight, and by more than they do without the command.
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

// keys reports whether a field ascends through the elements in world a only: it has ids, and no game reaches world b.
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

// isHidden reports whether a field is at or below one of some paths.
func isHidden(paths []string, field string) bool {
	return slices.ContainsFunc(paths, func(path string) bool {
		rest, ok := strings.CutPrefix(field, path)
		return ok && (rest == "" || rest[0] == '.' || rest[0] == '[')
	})
}
