package rules

import "iter"

func closures(w *World) int64 {
	counter := func() func(by int64) int64 {
		n := int64(w.Tick)
		return func(by int64) int64 {
			n += by
			return n * 2
		}
	}()
	total := int64(0)
	for i := range 4 {
		total += counter(int64(i) + 1)
	}
	func(by int64) { total -= by }(3)
	return total
}

type mover interface{ move(by int32) (moved bool) }

func (u Unit) reach(by int32) int64 { return int64(u.X) + int64(by) }

func (u *Unit) move(by int32) bool {
	old := u.X
	u.X += by
	return old != u.X
}

func methodValues(w *World) int64 {
	reach := w.Units[0].reach
	expr := (*Unit).move
	w.Units[0].X++
	moved := expr(&w.Units[len(w.Units)-1], 2)
	if m := mover(&w.Units[0]); m.move(-1) && moved {
		return reach(5) * 3
	}
	return reach(6)
}

func selects(w *World) int64 {
	in, out := make(chan int64, 1), make(chan int64, 4)
	in <- int64(w.Tick) % 5
	total := int64(0)
	for n := range 3 {
		var from <-chan int64 // only one case is ever ready
		var to chan<- int64 = out
		if n == 0 {
			from, to = in, nil
		}
		select {
		case total = <-from:
			total *= 3
		case to <- total + func() int64 { return int64(len(out)) }():
			if v, ok := <-out; ok {
				total += v
			}
		}
	}
	select {
	case v := <-in:
		total += v
	default:
		total++
	}
	return total
}

func defers(w *World) (total int64) {
	defer func() {
		if r := recover(); r != nil {
			total += int64(r.(int)) + 7
		}
	}()
	for i := range w.Units {
		defer func(n int64) { total = total*3 + n }(int64(i) + 2)
	}
	if w.Tick%4 == 1 {
		panic(int(w.Tick))
	}
	return int64(w.Tick)
}

func labels(w *World) (n int64) {
	i := 0
again:
	i++
	n += int64(i)
outer:
	for j := 0; ; j++ {
		switch {
		case j == 2:
			continue outer
		case j > 5:
			break outer
		case j == 1:
			n += 10
			fallthrough
		case j == 9:
			n++
		default:
			for k := range 3 {
				if k == int(w.Tick)%3 {
					continue outer
				}
				n += int64(k)
			}
		}
	}
	{
		if n%2 == 0 {
			goto done
		}
		n++
	}
	if i < 3 {
		goto again
	}
done:
	return n
}

func count(n int) iter.Seq[int] {
	return func(yield func(int) bool) {
		for i := range n {
			if !yield(i * i) {
				return
			}
		}
	}
}

func (w *World) each() iter.Seq2[int, *Unit] {
	return func(yield func(int, *Unit) bool) {
		for i := range w.Units {
			if !yield(i, &w.Units[i]) {
				return
			}
		}
	}
}

func iterators(w *World) (n int64) {
	for i, u := range w.each() {
		for square := range count(i + 3) {
			if square > 3 {
				break
			}
			n += int64(square) + int64(u.X)%3
		}
		defer func() { n++ }()
	}
	next, stop := iter.Pull(count(5))
	defer stop()
	for v, ok := next(); ok; v, ok = next() {
		n += int64(v)
		if v == 9 {
			return n
		}
	}
	return n
}
