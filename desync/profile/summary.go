package profile

import (
	"cmp"
	"slices"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/state"
)

const (
	tenths   = 10
	maxLists = 64 // of a state
)

// summarize makes the costs of all runs.
func (m *measuring) summarize() {
	p := m.p
	p.To = p.From + lockstep.Tick(len(p.total)) - 1
	p.Step = costOf(p.From, p.total)
	for i := range p.Phases {
		x := &p.Phases[i]
		if x.Cost = costOf(p.From, p.of[i]); p.Step.Total > 0 {
			x.Share = rounded(x.Total / p.Step.Total)
		}
	}
	n := len(p.total)
	for i := range min(tenths, n) {
		from, to := i*n/min(tenths, n), (i+1)*n/min(tenths, n)
		first := p.From + lockstep.Tick(from)
		p.Tenths = append(p.Tenths, Part{From: first, To: p.From + lockstep.Tick(to) - 1, Cost: costOf(first, p.total[from:to]), Lists: []Count{}})
	}
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(p.total[b], p.total[a]) })
	for _, i := range order[:min(n, m.o.Worst)] {
		p.Worst = append(p.Worst, p.tick(i))
	}
	if len(p.Phases) == 1 && p.Phases[0].Name == "" { // no marks
		p.Phases, p.of = []Phase{}, nil
	}
}

// tick returns the times of a tick.
func (p *Profile) tick(i int) Tick {
	t := Tick{Tick: p.From + lockstep.Tick(i), US: p.total[i], Phases: []Time{}, Commands: []Count{}, Lists: []Count{}}
	for n := range p.Phases {
		if i < len(p.of[n]) && p.of[n][i] >= 0 && len(p.Phases) > 1 {
			t.Phases = append(t.Phases, Time{p.Phases[n].Name, p.of[n][i]})
		}
	}
	slices.SortStableFunc(t.Phases, func(a, b Time) int { return cmp.Compare(b.US, a.US) })
	return t
}

// commands counts the commands of a frame by kind.
func (m *measuring) commands(f *lockstep.Frame) []Count {
	kinds, n := m.game.Commands(), make(map[string]int)
	for i := range f.Commands {
		name := "of the system"
		if c := &f.Commands[i]; c.Player != lockstep.System {
			for _, k := range kinds {
				if k.Kind == c.Kind {
					name = k.Name
				}
			}
		}
		n[name]++
	}
	return sorted(n)
}

// sorted returns the largest numbers first.
func sorted(n map[string]int) []Count {
	all := make([]Count, 0, len(n))
	for name, k := range n {
		all = append(all, Count{name, k})
	}
	slices.SortFunc(all, func(a, b Count) int { return cmp.Or(cmp.Compare(b.N, a.N), cmp.Compare(a.Name, b.Name)) })
	return all
}

// listsOf counts the elements of the lists of a state by their paths.
func listsOf(s *state.Schema, b []byte) []Count {
	w := walk{}
	w.value(s.Root(), b)
	n := make(map[string]int, len(w))
	for node, k := range w {
		n[node.Path()] = k
	}
	all := sorted(n)
	return all[:min(len(all), maxLists)]
}

type walk map[state.Node]int

// value walks through the value of a node that bytes begin with, and returns its size.
func (w walk) value(n state.Node, b []byte) (size int) {
	switch n.Kind() {
	case state.Struct:
		for i := range n.NumFields() {
			size += w.value(n.Field(i), b[size:])
		}
		return size
	case state.Array, state.Slice:
		k, at := n.Elements(b)
		if n.Kind() == state.Slice {
			w[n] += k
		}
		elem := n.Elem()
		if one, fixed := elem.Size(); fixed {
			return at + k*one
		}
		for range k {
			at += w.value(elem, b[at:])
		}
		return at
	}
	return n.SizeOf(b)
}
