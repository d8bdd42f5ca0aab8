// Package ledger has the generic parts of the game.
package ledger

import (
	"cmp"
	"slices"
)

// An Ordered is a map that is ranged over in the order of its keys.
type Ordered[K cmp.Ordered, V any] struct {
	keys []K
	m    map[K]V
}

// Set sets the value of a key.
func (o *Ordered[K, V]) Set(k K, v V) {
	if o.m == nil {
		o.m = map[K]V{}
	}
	if _, ok := o.m[k]; !ok {
		at, _ := slices.BinarySearch(o.keys, k)
		o.keys = slices.Insert(o.keys, at, k)
	}
	o.m[k] = v
}

// Get returns the value of a key.
func (o *Ordered[K, V]) Get(k K) V { return o.m[k] }

// Drop removes a key.
func (o *Ordered[K, V]) Drop(k K) {
	delete(o.m, k)
	o.keys = slices.DeleteFunc(o.keys, func(other K) bool { return other == k })
}

// All yields all pairs.
func (o *Ordered[K, V]) All() func(yield func(K, V) bool) {
	return func(yield func(K, V) bool) {
		for _, k := range o.keys {
			if !yield(k, o.m[k]) {
				return
			}
		}
	}
}

// Number is a number.
type Number interface {
	~int | ~int16 | ~int32 | ~int64 | ~uint32
}

// Sum returns the sum of what f makes of a list.
func Sum[T any, N Number](list []T, f func(*T) N) (n N) {
	for i := range list {
		n += f(&list[i])
	}
	return n
}

// A Ring keeps the latest values.
type Ring[T any] struct {
	at   int
	list [6]T
}

// Add adds a value.
func (r *Ring[T]) Add(v T) {
	r.list[r.at%len(r.list)] = v
	r.at++
}

// Latest returns the latest n values, the latest first.
func (r *Ring[T]) Latest(n int) (all []T) {
	for i := 1; i <= min(n, r.at, len(r.list)); i++ {
		all = append(all, r.list[(r.at-i)%len(r.list)])
	}
	return all
}

// A Heap has its least element first.
type Heap[T any] struct {
	less func(a, b T) bool
	list []T
}

// NewHeap returns a heap of elements.
func NewHeap[T any](less func(a, b T) bool, list ...T) *Heap[T] {
	h := &Heap[T]{less: less}
	for _, v := range list {
		h.Push(v)
	}
	return h
}

// Push adds an element.
func (h *Heap[T]) Push(v T) {
	h.list = append(h.list, v)
	for i := len(h.list) - 1; i > 0; {
		up := (i - 1) / 2
		if !h.less(h.list[i], h.list[up]) {
			break
		}
		h.list[i], h.list[up] = h.list[up], h.list[i]
		i = up
	}
}

// Pop removes the least element.
func (h *Heap[T]) Pop() (v T, ok bool) {
	if len(h.list) == 0 {
		return v, false
	}
	v = h.list[0]
	last := len(h.list) - 1
	h.list[0] = h.list[last]
	h.list = h.list[:last]
	for i := 0; ; {
		least := i
		for _, child := range []int{2*i + 1, 2*i + 2} {
			if child < last && h.less(h.list[child], h.list[least]) {
				least = child
			}
		}
		if least == i {
			return v, true
		}
		h.list[i], h.list[least] = h.list[least], h.list[i]
		i = least
	}
}
