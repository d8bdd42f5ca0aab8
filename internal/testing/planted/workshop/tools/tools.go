// Package tools has what the jobs of a workshop work with.
package tools

// A Part is an element of the shop.
type Part struct {
	ID   uint32
	Size int32
	Wear int32
	Path []int32
}

// Grind wears a part.
func (p *Part) Grind(by int32) { p.Wear += by }

// A Bench has a level, and the size of the last part on it.
type Bench struct{ Level, Last int32 }

// Raise raises the bench for a part.
func (b *Bench) Raise(p *Part) {
	b.Level += p.Size
	b.Last = p.Size
}

// Each calls f for each element.
func Each[T any](list []T, f func(*T)) {
	for i := range list {
		x := &list[i]
		f(x)
	}
}

// Ranked is a heap of parts.
type Ranked []*Part

// Len returns how many parts there are.
func (r Ranked) Len() int { return len(r) }

// Less compares by the wear.
func (r Ranked) Less(i, j int) bool { return r[i].Wear < r[j].Wear }

// Swap swaps two parts.
func (r Ranked) Swap(i, j int) { r[i], r[j] = r[j], r[i] }

// Push adds a part.
func (r *Ranked) Push(x any) { *r = append(*r, x.(*Part)) }

// Pop takes the last part.
func (r *Ranked) Pop() any {
	last := (*r)[len(*r)-1]
	*r = (*r)[:len(*r)-1]
	return last
}
