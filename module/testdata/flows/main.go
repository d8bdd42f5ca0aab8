// A program with all ways in which control goes through functions of Go. TestFlows runs it in two forms, and TestStartOfGo as rules.
package main

import (
	"encoding/binary"
	"fmt"
	"slices"
	"sort"
	"strings"
	"unsafe"
)

func main() {}

//go:wasmexport _run
func run(n uint64) uint64 {
	all := []func(uint64) uint64{
		loops, labels, gotos, switches, panics, nested, deferred, goroutines, selects, deep, closures, iterators, methods, floats, structs, strs, maps,
	}
	return all[n%uint64(len(all))](n)
}

// message is the room for inputs and answers.
var message [16]byte

//go:wasmexport samestep_buffer
func buffer(uint32) unsafe.Pointer { return unsafe.Pointer(&message) }

// call answers a function with the result of run for its number.
//
//go:wasmexport samestep_call
func call(n, _ uint32) uint64 {
	binary.LittleEndian.PutUint64(message[:], run(uint64(n)))
	return uint64(uintptr(unsafe.Pointer(&message)))<<32 | 8
}

func mix(a, b uint64) uint64 { return (a ^ b) * 0x9e3779b97f4a7c15 >> 3 }

func loops(n uint64) (h uint64) {
	var grid [9][7]uint32
	for y := range grid {
		for x := range grid[y] {
			if (x*y)%3 == int(n%3) {
				continue
			}
			grid[y][x] = uint32(x*31+y) * uint32(n)
		}
	}
	for i := len(grid) - 1; i >= 0; i-- {
		for j, v := range grid[i] {
			for k := 0; k < j; k += 2 {
				h = mix(h, uint64(v)+uint64(k))
			}
		}
	}
	return h
}

func labels(n uint64) (h uint64) {
outer:
	for i := uint64(0); i < 20; i++ {
		for j := uint64(0); ; j++ {
			switch {
			case j > i:
				continue outer
			case i*j > n:
				break outer
			case (i+j)%5 == 4:
				break
			default:
				h = mix(h, i*j)
			}
		}
	}
	return h
}

func gotos(n uint64) (h uint64) {
	i := n % 7
again:
	h = mix(h, i)
	if i++; i%3 == 0 {
		goto middle
	}
	if i < 30 {
		goto again
	}
	return h
middle:
	h += i
	if i < 40 {
		i += 2
		goto again
	}
	return h * 3
}

func switches(n uint64) (h uint64) {
	for i := range n + 40 {
		switch i % 17 {
		case 0:
			h++
		case 1, 2, 3:
			h = mix(h, 1)
			fallthrough
		case 4:
			h += 4
		case 5:
			h ^= 5
		case 6, 8, 10, 12:
			h = mix(h, i)
		case 7, 9, 11:
			h -= i
		default:
			h <<= 1
		}
		var v any = i
		if i%2 == 0 {
			v = fmt.Sprint(i)
		}
		switch v := v.(type) {
		case string:
			h += uint64(len(v))
		case uint64:
			h ^= v
		}
	}
	return h
}

func caught(f func()) (text string) {
	defer func() {
		if v := recover(); v != nil {
			text = fmt.Sprint(v)
		}
	}()
	f()
	return "none"
}

func panics(n uint64) (h uint64) {
	var none []int
	var nobody *[100]int
	for i, f := range []func(){
		func() { none[n]++ }, func() { nobody[n%100]++ }, func() { panic("mine") }, func() {}, func() { n /= uint64(len(none)) },
		func() { _ = any(n).(string) }, func() { panic(fmt.Errorf("error %d", n)) },
	} {
		for _, c := range caught(f) {
			h = mix(h, uint64(c)+uint64(i))
		}
	}
	return h
}

func nested(n uint64) (h uint64) {
	defer func() {
		h = mix(h, uint64(len(fmt.Sprint(recover()))))
	}()
	for i := range 5 {
		defer func() {
			h = mix(h, uint64(i))
			if i == 3 {
				panic(fmt.Sprint("again ", recover()))
			}
		}()
	}
	h = n
	panic("first")
}

func deferred(n uint64) (h uint64) {
	for i := range n%9 + 3 {
		defer func() { h = mix(h, i) }()
		if i == n%5 {
			return i
		}
	}
	return n
}

func goroutines(n uint64) (h uint64) {
	in, out := make(chan uint64), make(chan uint64, 3)
	for range 4 {
		go func() {
			for v := range in {
				out <- mix(v, deep(v%40))
			}
			out <- 0
		}()
	}
	go func() {
		defer close(in)
		for i := range n + 20 {
			in <- i
		}
	}()
	for ended := 0; ended < 4; {
		if v := <-out; v == 0 {
			ended++
		} else {
			h += v // in any order
		}
	}
	return h
}

func selects(n uint64) (h uint64) {
	a, b, done := make(chan uint64), make(chan uint64), make(chan bool)
	go func() {
		for i := range n + 9 {
			select {
			case a <- i:
			case b <- i * 7:
			}
		}
		close(done)
	}()
	for {
		select {
		case v := <-a:
			h += v
		case v := <-b:
			h += v / 7
		case <-done:
			return h
		}
	}
}

// deep lets the stack grow, so that the functions on it are left and go on.
func deep(n uint64) uint64 {
	var large [300]uint64
	for i := range large {
		large[i] = n + uint64(i)
	}
	if n == 0 {
		return large[7]
	}
	below := deep(n - 1)
	for _, v := range large {
		below = mix(below, v)
	}
	return below
}

func closures(n uint64) (h uint64) {
	var all []func(uint64) uint64
	for i := range n%5 + 4 {
		sum := i
		all = append(all, func(v uint64) uint64 { sum += v; return sum * i })
	}
	for i := range uint64(50) {
		h = mix(h, all[i%uint64(len(all))](i))
	}
	return h
}

func count(n uint64) func(func(uint64, uint64) bool) {
	return func(yield func(uint64, uint64) bool) {
		for i := range n {
			if !yield(i, i*i) {
				return
			}
		}
	}
}

func iterators(n uint64) (h uint64) {
	for i, v := range count(n + 30) {
		if i%4 == 1 {
			continue
		}
		for j := range count(i) {
			if j > 5 {
				break
			}
			if v > 500 {
				return h
			}
			defer func() { h += j }()
			h = mix(h, v+j)
		}
	}
	return h
}

type shape interface{ area(k uint64) uint64 }

type (
	square uint64
	box    struct{ a, b, c, d, e uint64 }
)

func (s square) area(k uint64) uint64 { return uint64(s) * k }
func (b *box) area(k uint64) uint64   { b.e += k; return b.a*b.b + b.e }

func methods(n uint64) (h uint64) {
	shapes := []shape{square(n), &box{n, 2, 3, 4, 5}, square(7)}
	for i := range uint64(30) {
		h = mix(h, shapes[i%3].area(i))
	}
	f := shapes[1].area
	return mix(h, f(n))
}

func floats(n uint64) (h uint64) {
	x := float64(n) + 0.5
	for i := 1; i < 40; i++ {
		x = x*1.25 - float64(i)/3
		if x > 1e6 {
			x /= 1e5
		}
		h = mix(h, uint64(int64(x*1000)))
	}
	return h
}

func structs(n uint64) (h uint64) {
	boxes := make([]box, n%20+3)
	for i := range boxes {
		boxes[i] = box{uint64(i), n, uint64(i) * n, 1, 2}
	}
	for i := 1; i < len(boxes); i++ {
		boxes[i-1], boxes[i] = boxes[i], boxes[i-1]
		one := boxes[i]
		one.c++
		boxes[len(boxes)-1] = one
	}
	copy(boxes[1:], boxes)
	for _, b := range boxes {
		h = mix(h, b.a+b.b*3+b.c*5+b.d+b.e)
	}
	return h
}

func strs(n uint64) (h uint64) {
	s := strings.Repeat(fmt.Sprintf("%x-%q ", n, "ä\n"), int(n%9)+1)
	for i, c := range strings.ToUpper(s) {
		h = mix(h, uint64(c)*uint64(i))
	}
	for word := range strings.FieldsSeq(s) {
		h += uint64(len(word))
	}
	return h
}

func maps(n uint64) (h uint64) {
	m := map[uint64]string{}
	for i := range n + 50 {
		m[i*i%31] += fmt.Sprint(i)
		if i%7 == 0 {
			delete(m, i%13)
		}
	}
	var keys []uint64
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	sort.SliceStable(keys, func(i, j int) bool { return keys[i]%3 < keys[j]%3 })
	for _, k := range keys {
		h = mix(h, k+uint64(len(m[k])))
	}
	return h
}
