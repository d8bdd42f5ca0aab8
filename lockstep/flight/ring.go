package flight

import (
	"slices"

	"github.com/cespare/xxhash/v2"

	"github.com/seed-49bee653/samestep/lockstep/record"
)

// ringBytes is the memory for ticks. The other fields of a Ring fit into the rest of MaxBytes.
const ringBytes = 56 << 10

// A Ring keeps the record of the latest ticks of one match, at most [MaxTicks] and at most [MaxBytes] of memory. When it is full, the oldest
// ticks go. The zero Ring is empty and ready. It belongs to one goroutine.
type Ring struct {
	match record.MatchID
	buf   []byte // the entries, from head on, around the end
	head  int
	used  int
	ticks int
	begun bool

	oldest context // before the first entry
	latest context // after the last one
	before entry   // the one that went last
	now    entry   // the present tick

	names []string
	keys  []uint64 // of names
	sums  [MaxPhases + 1]uint64
	every record.Tick // which ticks are printed
}

// Begin says that the state of tick t of a match came from elsewhere, such as a keyframe, or from New for tick 0.
func (r *Ring) Begin(match record.MatchID, t record.Tick) {
	if match == r.match && t < r.latest.tick {
		r.back(t)
	}
	if match != r.match || r.ticks == 0 {
		r.match, r.ticks, r.head, r.used = match, 0, 0, 0
		r.oldest.tick, r.latest.tick = t, t
		r.oldest.phases, r.latest.phases = r.oldest.phases[:0], r.latest.phases[:0]
		r.names, r.keys = r.names[:0], r.keys[:0]
		r.latest.prints, r.oldest.prints = [MaxPrints]uint16{}, [MaxPrints]uint16{}
		r.every = 1
	}
	r.now.restored = r.ticks > 0
	r.now.gap = uint32(t - r.latest.tick)
	r.begun = true
}

// Open begins the next tick. What an earlier one left without [Ring.Note] is forgotten.
func (r *Ring) Open() {
	e := &r.now
	e.phases, e.counts = e.phases[:0], e.counts[:0]
	r.sums[0] = 0
}

// Phase notes a mark of Step.
func (r *Ring) Phase(name string) {
	if len(r.now.phases) == MaxPhases {
		return // its draws count as those of the last one
	}
	r.now.phases = append(r.now.phases, r.name(name))
	r.sums[len(r.now.phases)] = 0
}

// Drew notes a draw from a stream for an entity.
func (r *Ring) Drew(stream string, entity uint32) {
	e := &r.now
	place, s := uint8(len(e.phases)), r.name(stream)
	r.sums[place] = mix(r.sums[place], r.keys[s]+uint64(entity))
	i := len(e.counts) - 1
	for i >= 0 && e.counts[i].place == place && e.counts[i].stream != s {
		i--
	}
	switch {
	case i >= 0 && e.counts[i].place == place:
		e.counts[i].n++
	case len(e.counts) < maxCounts:
		e.counts = append(e.counts, count{place, s, 1})
	}
}

// name returns the number of a name. The last number is that of all names for which there is no room.
func (r *Ring) name(name string) uint8 {
	for i := range r.names {
		if r.names[i] == name {
			return uint8(i)
		}
	}
	return r.newName(clean(name))
}

func (r *Ring) newName(name string) uint8 {
	i := slices.Index(r.names, name)
	if i < 0 && len(r.names) >= MaxNames-1 {
		name = "…"
		i = slices.Index(r.names, name)
	}
	if i >= 0 {
		return uint8(i)
	}
	if r.names == nil {
		r.names, r.keys = make([]string, 0, MaxNames), make([]uint64, 0, MaxNames)
	}
	r.names = append(r.names, name)
	//samestep:allow unseen xxHash64 is the same function in assembly and in Go
	r.keys = append(r.keys, xxhash.Sum64([]byte(name)))
	return uint8(len(r.names) - 1)
}

// Prints reports whether [Ring.Note] wants the prints of tick t.
func (r *Ring) Prints(t record.Tick) bool { return t%max(r.every, 1) == 0 }

// Note ends tick t with its commands and the prints of the state's sections, nil if [Ring.Prints] does not want them. costBytes is the
// size of the state in canonical bytes, or more if its prints cost more. It decides which ticks are printed.
func (r *Ring) Note(t record.Tick, commands []record.Command, prints []uint64, costBytes int) {
	if !r.begun || t != r.latest.tick+1+record.Tick(r.now.gap) {
		return // not its match
	}
	e := &r.now
	e.commands, e.sum = uint32(len(commands)), sumOf(commands)
	for i, c := range e.counts {
		if i == 0 || c.place != e.counts[i-1].place {
			e.sums[c.place] = uint16(r.sums[c.place])
		}
	}
	if e.printed = prints != nil; e.printed {
		r.latest.n = min(len(prints), MaxPrints)
		r.oldest.n = r.latest.n
		e.cut(prints)
		r.every = everyOf(costBytes)
	}
	r.push()
	e.restored, e.gap = false, 0
}

// everyOf returns the smallest power of two so that a state of that size costs at most SampleBytes in a tick.
func everyOf(costBytes int) record.Tick {
	n := record.Tick(1)
	for ; n < maxEvery && costBytes > SampleBytes; n *= 2 {
		costBytes /= 2
	}
	return n
}

// cut sets the prints of a tick to those of the state's sections.
func (e *entry) cut(prints []uint64) {
	all := uint64(0)
	for _, p := range prints {
		all = mix(all, p)
	}
	e.state = uint32(all)
	for i, p := range prints {
		if i == MaxPrints-1 && len(prints) > MaxPrints {
			for p = 0; i < len(prints); i++ {
				p = mix(p, prints[i])
			}
			e.prints[MaxPrints-1] = uint16(p)
			return
		}
		e.prints[i] = uint16(p)
	}
}

func sumOf(commands []record.Command) uint16 {
	sum := uint64(0)
	for i := range commands {
		c := &commands[i]
		sum = mix(sum, uint64(c.Player)|uint64(c.Kind)<<8|uint64(c.Sequence)<<24)
		//samestep:allow unseen xxHash64 is the same function in assembly and in Go
		sum = mix(sum, xxhash.Sum64(c.Payload))
	}
	return uint16(sum)
}

// mix returns a sum with one more value.
func mix(sum, v uint64) uint64 {
	sum = (sum ^ v) * 0x9e3779b97f4a7c15
	return sum ^ sum>>32
}

// push appends the present tick, and drops the oldest ones until there is room.
func (r *Ring) push() {
	if r.buf == nil {
		r.buf = make([]byte, ringBytes)
	}
	var room [512]byte
	b := r.latest.append(room[:0], &r.now)
	for r.ticks == MaxTicks || r.used+len(b) > len(r.buf) {
		r.drop()
	}
	end := (r.head + r.used) % len(r.buf)
	copy(r.buf, b[copy(r.buf[end:], b):])
	r.used += len(b)
	r.ticks++
}

// cursor returns one at the oldest entry.
func (r *Ring) cursor() cursor { return cursor{b: r.buf, at: r.head, left: r.used} }

func (r *Ring) drop() {
	in := r.cursor()
	r.oldest.take(&in, &r.before, len(r.names))
	if in.err != nil {
		panic(in.err) // our own bytes
	}
	r.head, r.used = in.at%len(r.buf), in.left
	r.ticks--
}

// back drops the ticks after t.
func (r *Ring) back(t record.Tick) {
	in, c := r.cursor(), r.oldest
	c.phases = slices.Clone(c.phases)
	kept, end := 0, in.left
	r.latest = c
	r.latest.phases = slices.Clone(c.phases)
	for kept < r.ticks {
		if c.take(&in, &r.before, len(r.names)); c.tick > t {
			break
		}
		kept, end = kept+1, in.left
		r.latest.tick, r.latest.prints = c.tick, c.prints
		r.latest.phases = append(r.latest.phases[:0], c.phases...)
	}
	r.ticks, r.used = kept, r.used-end
}

// Record returns what the ring has.
func (r *Ring) Record() *Record {
	out := &Record{Match: r.match, Prints: r.latest.n}
	in, c, e := r.cursor(), r.oldest, entry{}
	c.phases = slices.Clone(c.phases)
	var phases []string
	for range r.ticks {
		c.take(&in, &e, len(r.names))
		if in.err != nil {
			panic(in.err) // our own bytes
		}
		out.Ticks = append(out.Ticks, e.tick(c.tick, out.Prints, r.names, phases))
		phases = out.Ticks[len(out.Ticks)-1].Phases
	}
	return out
}

// Memory returns how many bytes the ring holds, at most [MaxBytes].
func (r *Ring) Memory() int {
	n := fieldBytes + cap(r.buf) + 8*(cap(r.now.counts)+cap(r.before.counts)) + 24*cap(r.names)
	for _, c := range [][]uint8{r.oldest.phases, r.latest.phases, r.now.phases, r.before.phases} {
		n += cap(c)
	}
	for _, name := range r.names {
		n += len(name)
	}
	return n
}

// fieldBytes is the size of a Ring itself.
const fieldBytes = 2000
