package lockstep

// outstanding are a client's own commands that are not settled yet, by rising
// sequence. Their number is the window of sequences that a Coordinator takes.
type outstanding struct {
	list []submitted
	next Sequence // of the next command
}

// A submitted command is one of this client's own.
type submitted struct {
	sequence Sequence
	kind     Kind
	payload  []byte
	sent     bool // over the present connection
	answered bool // and accepted
	tick     Tick // answered: when it runs
	assumed  Tick // the tick in which the prediction runs it; 0 for none
	run      bool // a frame that was run has it
}

// add queues a command, and reports false if the window is full or there is no
// sequence left.
func (o *outstanding) add(kind Kind, payload []byte, assumed Tick) (Sequence, bool) {
	n := len(o.list)
	if n == window || o.next == 0 {
		return 0, false
	}
	if n < cap(o.list) {
		o.list = o.list[:n+1] // its payload's memory is used again
	} else {
		o.list = append(o.list, submitted{})
	}
	s := &o.list[n]
	*s = submitted{sequence: o.next, kind: kind, payload: append(s.payload[:0], payload...), assumed: assumed}
	o.next++
	return s.sequence, true
}

// find returns the place of a sequence, or -1.
func (o *outstanding) find(seq Sequence) int {
	for i := range o.list {
		if o.list[i].sequence == seq {
			return i
		}
	}
	return -1
}

// remove takes the command at place i out.
func (o *outstanding) remove(i int) {
	gone := o.list[i]
	last := len(o.list) - 1
	copy(o.list[i:], o.list[i+1:])
	o.list[last] = gone
	o.list = o.list[:last]
}

// settle removes the accepted commands whose tick has been run.
func (o *outstanding) settle(t Tick) {
	for i := 0; i < len(o.list); {
		if s := &o.list[i]; s.answered && s.tick <= t {
			o.remove(i)
			continue
		}
		i++
	}
}

// known takes the highest sequence that the server has decided. A server that
// went on after a crash may have forgotten later ones: then those that were
// answered are waited for again, and numbers that are too far ahead of it are
// used again.
func (o *outstanding) known(last Sequence) {
	for i := range o.list {
		if s := &o.list[i]; s.sequence > last {
			s.answered, s.run = false, false
		}
	}
	if len(o.list) == 0 && o.next > last && o.next-last > window {
		o.next = last + 1
	}
	o.next = max(o.next, last+1)
}

// unsent makes all be sent again.
func (o *outstanding) unsent() {
	for i := range o.list {
		o.list[i].sent = false
	}
}
