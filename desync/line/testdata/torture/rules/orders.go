package rules

type node struct {
	next  *node
	value int64
}

type counter struct{ n int64 }

func (c *counter) inc() int64 {
	c.n++
	return c.n
}

func (c *counter) both() (int64, int64) { return c.n, c.inc() }

func take(a, b int64) int64 { return a*100 + b }

// orders has what the language leaves open, where the compiler always does the same: probes must not change it.
func orders(w *World) int64 {
	c := &counter{int64(w.Tick)}
	a, b := c.both()
	d := take(c.n+1, c.inc())
	if e, f := c.n, c.inc(); e < f {
		d += e
	}
	list := []int64{1, 2, 3}
	i := 0
	i, list[i] = 2, 9
	list[i] = func() int64 {
		i = 1
		return 4
	}()
	var p *counter
	made := func() int64 {
		p = c
		return 5
	}
	*box(&p, made) += 1
	return a + b*3 + d*5 + list[0]*7 + list[2]*11 + c.n
}

func box(p **counter, f func() int64) *int64 {
	f()
	return &(*p).n
}

// lists turns a list around, and assigns through what it changes.
func lists(w *World) (n int64) {
	var head *node
	for i := range 4 {
		head = &node{head, int64(i) + int64(w.Tick)}
	}
	var back *node
	for p := head; p != nil; {
		p.next, back, p = back, p, p.next
	}
	for p := back; p != nil; p = p.next {
		n = n*3 + p.value
	}
	w.Trail, n = append(w.Trail, int32(n)), n+1
	return n
}
