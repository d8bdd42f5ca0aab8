package feed

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
)

// History is how many views a sender and a receiver keep: a delta is against one of them, or against no view.
const History = 16

type shot struct {
	number Number
	image  image
}

// A waiting change was not sent, because the budget was short.
type waiting struct {
	table uint8
	key   uint64
	age   uint16
}

// A Sender makes the deltas of one series of views, which all viewers share. It is for one goroutine, and reuses its memory.
type Sender struct {
	plan    *Plan
	number  Number
	shots   [History]shot // by number modulo History
	zero    image
	view    image
	raw     []byte    // of view
	settled bool      // the last view that was sent is all of raw
	late    []waiting // by table and key
	spare   []waiting
	changes []change
	order   []int32
	packed  []byte
	scratch scratch
	made    [History + 1]made // by History minus the age of the base; the last against no view
}

type made struct {
	known bool
	bytes []byte
}

// NewSender returns a sender of views by a plan.
func NewSender(p *Plan) *Sender {
	s := &Sender{plan: p}
	s.zero.zero(p)
	s.shots[0].image.zero(p)
	return s
}

// Number returns that of the last view.
func (s *Sender) Number() Number { return s.number }

// Set takes the canonical bytes of the next view. If nothing has changed, the number stays. A budget above 0 limits the bytes
// of its delta against the last view; what does not fit is sent with later views, by the priority of its fields and by how
// long it has waited. At least one change is sent. The error is that of bytes that are no view, and then nothing has changed.
func (s *Sender) Set(view []byte, budget int) error {
	p := s.plan
	if len(view) > MaxViewBytes {
		return fmt.Errorf("feed: a view of %d bytes, want at most %d", len(view), MaxViewBytes)
	}
	if !bytes.Equal(view, s.raw) {
		if err := p.read(&s.view, view); err != nil {
			s.raw, s.settled = s.raw[:0], false
			return err
		}
		s.raw = append(s.raw[:0], view...)
	} else if s.settled {
		return nil
	}
	s.number++
	for i := range s.made {
		s.made[i].known = false
	}
	s.shots[s.number%History].number = s.number
	if s.advance(s.number, budget) != nil { // what waits is too large beside what is new
		if err := s.advance(0, 0); err != nil {
			panic(err) // a sender reads what it writes
		}
	}
	return nil
}

// advance makes the image of the next number: the last one, and the changes that are due in the view of a number and fit into a budget.
func (s *Sender) advance(due Number, budget int) error {
	last, next := &s.shots[(s.number-1)%History].image, &s.shots[s.number%History].image
	s.changes, s.settled = s.plan.compare(s.changes[:0], last, &s.view, due)
	if !s.choose(last, budget) {
		s.settled = false
	}
	m := &s.made[1] // each difference has one form, so this is that of Delta, too
	m.known, m.bytes = true, s.plan.appendDelta(m.bytes[:0], last, &s.view, s.changes)
	return s.plan.apply(next, last, m.bytes, &s.scratch)
}

// choose takes the changes that fit into a budget. It returns false if some do not.
func (s *Sender) choose(last *image, budget int) bool {
	left := budget - s.plan.overhead(&s.view)
	total := 0
	for i := range s.changes {
		c := &s.changes[i]
		c.taken = true
		if budget > 0 {
			c.bytes = s.size(c, last)
			total += c.bytes
		}
	}
	if budget <= 0 || total <= left {
		s.late = s.late[:0]
		return true
	}
	late := s.late
	s.order = s.order[:0]
	for i := range s.changes {
		c := &s.changes[i]
		c.score = s.weight(c) * (uint32(ageOf(&late, c)) + 1)
		c.taken = false
		s.order = append(s.order, int32(i))
	}
	slices.SortFunc(s.order, func(a, b int32) int {
		return cmp.Or(cmp.Compare(s.changes[b].score, s.changes[a].score), cmp.Compare(a, b))
	})
	for n, i := range s.order {
		c := &s.changes[i]
		if n > 0 && c.bytes > left {
			break // what is more urgent than the rest waits for nothing smaller
		}
		c.taken = true
		left -= c.bytes
	}
	s.wait()
	return false
}

// ageOf returns how often a change has waited, 0 for a new one, and drops those before it from a list.
func ageOf(list *[]waiting, c *change) uint16 {
	for len(*list) > 0 {
		w := &(*list)[0]
		if order := cmp.Or(cmp.Compare(w.table, c.table), cmp.Compare(w.key, c.key)); order == 0 {
			return w.age
		} else if order > 0 {
			break
		}
		*list = (*list)[1:]
	}
	return 0
}

func (s *Sender) size(c *change, last *image) int {
	t := &s.plan.tables[c.table]
	to, from := s.view.rows[c.table], last.rows[c.table]
	switch c.kind {
	case removed:
		return varintSize(uint64(c.from))
	case added:
		s.packed = t.appendRow(s.packed[:0], zeros[:t.size], t.row(to, int(c.to)), c.mask)
		return max(varintSize(t.first(c.key)), varintSize(c.key-t.key(to, 0))) + len(s.packed)
	}
	s.packed = t.appendRow(s.packed[:0], t.row(from, int(c.from)), t.row(to, int(c.to)), c.mask)
	return varintSize(uint64(c.from)) + len(s.packed)
}

func (s *Sender) wait() {
	old := s.late
	next := s.spare[:0]
	for i := range s.changes {
		c := &s.changes[i]
		if c.taken {
			continue
		}
		next = append(next, waiting{c.table, c.key, min(ageOf(&old, c), 1<<16-2) + 1})
	}
	s.late, s.spare = next, s.late
}

// weight returns the priority of a change. What is gone goes first: it costs little, and the viewer must not see it.
func (s *Sender) weight(c *change) uint32 {
	if c.kind == removed {
		return 256
	}
	w := uint32(1)
	for i := range s.plan.tables[c.table].columns {
		if c.mask>>i&1 != 0 {
			w = max(w, uint32(s.plan.tables[c.table].columns[i].weight))
		}
	}
	return w
}

// Delta returns the delta from a view to the last one, or with base 0 from none if that view is gone. The bytes are valid until Set.
func (s *Sender) Delta(from Number) (base Number, delta []byte) {
	if from > s.number || from+History <= s.number || from == 0 {
		from = 0
	}
	m, src := &s.made[History], &s.zero
	if from > 0 {
		m, src = &s.made[s.number-from], &s.shots[from%History].image
	}
	if !m.known {
		to := &s.shots[s.number%History].image
		s.changes, _ = s.plan.compare(s.changes[:0], src, to, 0)
		for i := range s.changes {
			s.changes[i].taken = true
		}
		m.known, m.bytes = true, s.plan.appendDelta(m.bytes[:0], src, to, s.changes)
	}
	return from, m.bytes
}

// Memory returns the bytes that the sender keeps.
func (s *Sender) Memory() int {
	n := cap(s.raw) + cap(s.packed) + cap(s.scratch.merged) + 8*(cap(s.scratch.changed)+cap(s.scratch.removed)) +
		16*(cap(s.late)+cap(s.spare)) + 64*cap(s.changes) + 4*cap(s.order)
	for i := range s.made {
		n += cap(s.made[i].bytes)
	}
	n += s.view.memory()
	for i := range s.shots {
		n += s.shots[i].image.memory()
	}
	return n
}

// AppendView appends the canonical bytes of the last view as it was sent.
func (s *Sender) AppendView(dst []byte) []byte {
	return s.plan.append(dst, &s.shots[s.number%History].image)
}

// A Receiver makes views from deltas. It is for one goroutine.
type Receiver struct {
	plan    *Plan
	number  Number
	shots   [History]shot
	zero    image
	scratch scratch
}

// NewReceiver returns a receiver of views by a plan.
func NewReceiver(p *Plan) *Receiver {
	r := &Receiver{plan: p}
	r.zero.zero(p)
	r.shots[0].image.zero(p)
	return r
}

// Number returns that of the last view, which the receiver acknowledges.
func (r *Receiver) Number() Number { return r.number }

// Apply takes the delta from a base to a newer view. Without the base, or with a [*DeltaError], the receiver keeps its views.
func (r *Receiver) Apply(number, base Number, delta []byte) error {
	if number <= r.number {
		return nil
	}
	src := &r.zero
	if base > 0 {
		if shot := &r.shots[base%History]; shot.number == base && base < number && number-base < History {
			src = &shot.image
		} else {
			return fmt.Errorf("feed: view %d is given as a difference to view %d, which the receiver does not have", number, base)
		}
	}
	next := &r.shots[number%History]
	next.number = 0
	if err := r.plan.apply(&next.image, src, delta, &r.scratch); err != nil {
		return err
	}
	next.number, r.number = number, number
	return nil
}

// Memory returns the bytes that the receiver keeps.
func (r *Receiver) Memory() int {
	n := cap(r.scratch.merged) + 8*(cap(r.scratch.changed)+cap(r.scratch.removed))
	for i := range r.shots {
		n += r.shots[i].image.memory()
	}
	return n
}

// AppendView appends the canonical bytes of the last view.
func (r *Receiver) AppendView(dst []byte) []byte {
	return r.plan.append(dst, &r.shots[r.number%History].image)
}
