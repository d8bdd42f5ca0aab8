package workshop

import (
	"container/heap"
	"encoding/binary"
	"os"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/seed-49bee653/samestep/internal/testing/planted/workshop/tools"
)

// sharpen wears a part by a pointer to it.
func sharpen(w *Shop) {
	for i := range w.Parts {
		p := &w.Parts[i]
		p.Wear += p.Size
	}
}

// polish wears all parts in a loop.
func polish(w *Shop) {
	for i := range w.Parts {
		w.Parts[i].Wear++
	}
}

// turn turns the end of the queue around.
func turn(w *Shop) {
	tail := w.Queue[1:]
	slices.Reverse(tail)
}

// rotate turns a copy of the end around, and keeps it.
func rotate(w *Shop) {
	tail := slices.Clone(w.Queue[2:])
	slices.Reverse(tail)
	w.Shelf = tail
}

// shift moves the queue.
func shift(w *Shop) {
	copy(w.Queue[1:], w.Queue)
}

// empty clears the front of the queue.
func empty(w *Shop) {
	clear(w.Queue[:2])
}

// forget takes a size out of a table.
func forget(w *Shop) {
	sizes := map[int32]int32{}
	for i := range w.Parts {
		sizes[w.Parts[i].Size] = w.Parts[i].Wear
	}
	gone := w.Parts[0].Size
	delete(sizes, gone)
	for i := range w.Parts {
		w.Parts[i].Wear += sizes[w.Parts[i].Size]
	}
}

// sift takes what is even out of a copy of the queue.
func sift(w *Shop) {
	list := slices.Clone(w.Queue)
	odd := slices.DeleteFunc(list, func(v int32) bool { return v%2 == 0 })
	w.Shelf = append(w.Shelf, odd...)
}

// extend puts something behind the head of the queue, and leaves the queue as it is.
func extend(w *Shop) {
	head := append(w.Queue[:2:2], 40)
	w.Shelf = append(w.Shelf, head...)
}

// arrange sorts the parts.
func arrange(w *Shop) {
	slices.SortFunc(w.Parts, func(a, b tools.Part) int { return int(b.Size - a.Size) })
}

// visit wears each part by a function with a type parameter.
func visit(w *Shop) {
	tools.Each(w.Parts, func(p *tools.Part) { p.Wear += 2 })
}

// remember lets each part wear the one before it.
func remember(w *Shop) {
	last := &w.Parts[0]
	wear := func(p *tools.Part) {
		last.Grind(p.Size)
		last = p
	}
	for i := range w.Parts {
		wear(&w.Parts[i])
	}
}

// raise raises the bench.
func raise(w *Shop) {
	b := &w.Bench
	b.Raise(&w.Parts[3])
	w.Sum += int64(b.Level)
}

// pack writes numbers.
func pack(w *Shop) {
	at, size := 4, uint32(w.Parts[2].Size)
	binary.LittleEndian.PutUint32(w.Packed[at:], size)
}

// label writes a label.
func label(w *Shop) {
	var b strings.Builder
	b.WriteString("part ")
	b.WriteByte('a' + byte(w.Parts[1].Size))
	b.WriteString(".")
	w.Label = b.String()
}

// roll draws a number.
func roll(w *Shop) {
	r := &w.Dice
	n := r.N(5)
	w.Sum += int64(n)
}

// count adds with an atomic operation.
func count(w *Shop) {
	sum := &w.Sum
	for _, v := range w.Queue[:3] {
		atomic.AddInt64(sum, int64(v))
	}
}

// oil takes the part with the least wear.
func oil(w *Shop) {
	var r tools.Ranked
	for i := range w.Parts {
		heap.Push(&r, &w.Parts[i])
	}
	first := r[0]
	first.Wear += 1000
	heap.Fix(&r, 0)
	r[0].Size += 2
}

// hand gives a number to a function of the standard library.
func hand(w *Shop) {
	at, what := 2, w.Parts[1].Wear
	w.Queue = slices.Insert(w.Queue, at, what)
}

// lend changes a list of a part.
func lend(w *Shop) {
	path := w.Parts[2].Path
	slices.Sort(path[:2])
	path[0] -= 7
}

// note replaces the value behind a pointer.
func note(w *Shop) {
	p := &w.Parts[4]
	next := *p
	next.Wear += 9
	*p = next
}

// drain empties the queue.
func drain(w *Shop) {
	for n := int32(len(w.Queue)); n > 0; n -= w.Queue[0] {
		w.Sum += int64(n)
	}
}

// wait waits until a part is worn.
func wait(w *Shop) {
	p := &w.Parts[5]
	for {
		p.Grind(1)
		if p.Wear >= 20 {
			break
		}
	}
}

// stall looks for a place.
func stall(w *Shop) {
	at := slices.Index(w.Queue, 4)
	//lint:ignore SA5002 a mistake of a test lets it spin
	for at < 0 {
	}
	w.Sum += int64(at)
}

// fill fills the shelf.
func fill(w *Shop) {
	for len(w.Shelf) < 20 {
		w.Shelf = append(w.Shelf, w.Queue...)
	}
}

// climb goes up some steps.
func climb(w *Shop) { rise(w, 5) }

func rise(w *Shop, steps int) {
	w.Sum++
	if steps > 0 {
		rise(w, steps-1)
		w.Sum++
	}
}

// shut closes an empty shop.
func shut(w *Shop) {
	if len(w.Parts) == 0 {
		os.Exit(4)
	}
}
