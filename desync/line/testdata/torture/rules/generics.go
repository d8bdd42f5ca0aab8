package rules

import (
	"cmp"
	"slices"
)

type number interface{ ~int32 | ~int64 | ~uint32 }

type pair[A, B any] struct {
	first  A
	second B
}

func (p *pair[A, B]) swap(other *pair[A, B]) { *p, *other = *other, *p }

type tree[K cmp.Ordered, V any] struct {
	left, right *tree[K, V]
	key         K
	value       V
}

func (t *tree[K, V]) put(k K, v V) *tree[K, V] {
	switch {
	case t == nil:
		return &tree[K, V]{key: k, value: v}
	case k < t.key:
		t.left = t.left.put(k, v)
	default:
		t.right = t.right.put(k, v)
	}
	return t
}

func (t *tree[K, V]) all(yield func(K, V) bool) bool {
	return t == nil || t.left.all(yield) && yield(t.key, t.value) && t.right.all(yield)
}

type scaled[T number] = pair[T, T]

func sum[T number, S ~[]T](list S, scale T) (total T) {
	for _, v := range list {
		total += v * scale
	}
	return
}

func convert[To, From number](list []From, f func(From) To) []To {
	out := make([]To, 0, len(list))
	for _, v := range list {
		out = append(out, f(v))
	}
	return out
}

func generics(w *World) int64 {
	var root *tree[uint32, int32]
	for _, u := range w.Units {
		root = root.put(u.ID*7%5, u.X)
	}
	var wide []int64
	root.all(func(k uint32, v int32) bool {
		wide = append(wide, int64(v)+int64(k))
		return len(wide) < 5
	})
	p, q := scaled[int64]{1, 2}, scaled[int64]{3, 4}
	p.swap(&q)
	small := convert(wide, func(v int64) int32 { return int32(v << (w.Tick % 3)) })
	slices.SortFunc(small, func(a, b int32) int { return cmp.Compare(b, a) })
	return sum(wide, 2) + int64(sum[int32](small, 3)) + p.first*q.second
}
