package flight

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/bits"
	"slices"
	"unicode/utf8"

	"github.com/seed-49bee653/samestep/lockstep/record"
)

// ErrMalformed reports bytes that [Record.Append] never writes. The text has the place.
var ErrMalformed = errors.New("malformed flight record")

const version = 1

// The flags that begin a tick.
const (
	hasPrints = 1 << iota
	hasCommands
	hasPhases // other ones than the tick before
	hasDraws
	isRestored
	allFlags = 1<<iota - 1
)

// A context is what an entry is relative to, and what it leaves for the next one.
type context struct {
	tick   record.Tick
	prints [MaxPrints]uint16
	n      int // of prints
	phases []uint8
}

// An entry is a tick in which names are numbers.
type entry struct {
	restored bool
	gap      uint32 // ticks that are missing before it, if restored
	printed  bool
	state    uint32
	prints   [MaxPrints]uint16
	commands uint32
	sum      uint16
	phases   []uint8 // names
	counts   []count // by place
	sums     [MaxPhases + 1]uint16
}

// A count is how often a phase drew from a stream.
type count struct {
	place  uint8 // 0 is before the first phase
	stream uint8
	n      uint32
}

// append appends e, relative to c, and moves c on.
func (c *context) append(dst []byte, e *entry) []byte {
	at := len(dst)
	flags := byte(0)
	dst = append(dst, 0)
	if e.restored {
		flags |= isRestored
		dst = binary.AppendUvarint(dst, uint64(e.gap))
	}
	c.tick += 1 + record.Tick(e.gap)
	if e.printed {
		flags |= hasPrints
		dst = binary.LittleEndian.AppendUint32(dst, e.state)
		mask := uint64(0)
		for i := range c.n {
			if e.prints[i] != c.prints[i] {
				mask |= 1 << i
			}
		}
		dst = binary.AppendUvarint(dst, mask)
		for ; mask > 0; mask &= mask - 1 {
			p := e.prints[bits.TrailingZeros64(mask)]
			dst = append(dst, byte(p), byte(p>>8))
		}
		c.prints = e.prints
	}
	if e.commands > 0 {
		flags |= hasCommands
		dst = binary.AppendUvarint(dst, uint64(e.commands))
		dst = append(dst, byte(e.sum), byte(e.sum>>8))
	}
	if !slices.Equal(e.phases, c.phases) {
		flags |= hasPhases
		dst = append(append(dst, byte(len(e.phases))), e.phases...)
		c.phases = append(c.phases[:0], e.phases...)
	}
	if len(e.counts) > 0 {
		flags |= hasDraws
		dst = e.appendDraws(dst)
	}
	dst[at] = flags
	return dst
}

func (e *entry) appendDraws(dst []byte) []byte {
	mask := uint64(0)
	for _, d := range e.counts {
		mask |= 1 << d.place
	}
	dst = binary.AppendUvarint(dst, mask)
	for rest := e.counts; len(rest) > 0; {
		n := 1
		for n < len(rest) && rest[n].place == rest[0].place {
			n++
		}
		dst = append(dst, byte(n))
		for _, d := range rest[:n] {
			dst = binary.AppendUvarint(append(dst, d.stream), uint64(d.n))
		}
		s := e.sums[rest[0].place]
		dst = append(dst, byte(s), byte(s>>8))
		rest = rest[n:]
	}
	return dst
}

// A cursor reads bytes, around the end of the memory of a ring. Its first error stays.
type cursor struct {
	b    []byte
	at   int
	left int
	err  error
}

func (c *cursor) fail(format string, args ...any) {
	if c.err == nil {
		c.err = fmt.Errorf("flight: %w: at byte %d: %s", ErrMalformed, c.at, fmt.Sprintf(format, args...))
	}
	c.left = 0
}

func (c *cursor) byte() byte {
	if c.left == 0 {
		c.fail("it ends too early")
		return 0
	}
	c.left--
	if c.at == len(c.b) {
		c.at = 0
	}
	c.at++
	return c.b[c.at-1]
}

func (c *cursor) u16() uint16 { return uint16(c.byte()) | uint16(c.byte())<<8 }
func (c *cursor) u32() uint32 { return uint32(c.u16()) | uint32(c.u16())<<16 }

// number reads a number from least to most, in its shortest form.
func (c *cursor) number(what string, least, most uint64) uint64 {
	v := uint64(0)
	for shift := 0; c.err == nil; shift += 7 {
		b := c.byte()
		if shift == 63 && b > 1 || shift > 0 && b == 0 {
			c.fail("%s is not in its shortest form", what)
			break
		}
		v |= uint64(b&0x7f) << shift
		if b < 0x80 {
			break
		}
	}
	if c.err == nil && (v < least || v > most) {
		c.fail("%s: got %d, want %d to %d", what, v, least, most)
	}
	if c.err != nil {
		return 0
	}
	return v
}

// take reads an entry and moves c on. names is how many names there are.
func (c *context) take(in *cursor, e *entry, names int) {
	flags := in.byte()
	if flags > allFlags {
		in.fail("unknown flags %#x", flags)
	}
	e.restored, e.gap = flags&isRestored != 0, 0
	if e.restored {
		e.gap = uint32(in.number("ticks that are missing", 0, uint64(record.MaxTick)))
	}
	if uint64(c.tick)+1+uint64(e.gap) > uint64(record.MaxTick) {
		in.fail("a tick beyond %d", record.MaxTick)
	}
	c.tick += 1 + record.Tick(e.gap)
	if e.printed = flags&hasPrints != 0; e.printed {
		e.state = in.u32()
		c.takePrints(in)
		e.prints = c.prints
	}
	e.commands, e.sum = 0, 0
	if flags&hasCommands != 0 {
		e.commands = uint32(in.number("commands", 1, math.MaxUint32))
		e.sum = in.u16()
	}
	if flags&hasPhases != 0 {
		c.takePhases(in, names)
	}
	e.phases = append(e.phases[:0], c.phases...)
	e.counts = e.counts[:0]
	if flags&hasDraws != 0 {
		e.takeDraws(in, names)
	}
}

func (c *context) takePrints(in *cursor) {
	mask := in.number("the sections that changed", 0, 1<<c.n-1)
	for ; mask > 0; mask &= mask - 1 {
		p := &c.prints[bits.TrailingZeros64(mask)]
		now := in.u16()
		if now == *p {
			in.fail("the print of a section that changed is the one before")
		}
		*p = now
	}
}

func (c *context) takePhases(in *cursor, names int) {
	n := int(in.byte())
	if n > MaxPhases {
		in.fail("got %d phases, want at most %d", n, MaxPhases)
		return
	}
	var now [MaxPhases]uint8
	for i := range n {
		now[i] = in.name(names)
	}
	if slices.Equal(now[:n], c.phases) {
		in.fail("the phases are those of the tick before")
	}
	c.phases = append(c.phases[:0], now[:n]...)
}

func (c *cursor) name(names int) uint8 {
	i := c.byte()
	if int(i) >= names {
		c.fail("got name %d of %d", i, names)
	}
	return i
}

func (e *entry) takeDraws(in *cursor, names int) {
	places := in.number("the phases that drew", 1, math.MaxUint64)
	if bits.Len64(places) > len(e.phases)+1 {
		in.fail("draws of a phase that is none")
	}
	for ; places > 0 && in.err == nil; places &= places - 1 {
		place := uint8(bits.TrailingZeros64(places))
		n, from := int(in.byte()), len(e.counts)
		if n == 0 || from+n > maxCounts {
			in.fail("got %d streams, want 1 to %d", n, maxCounts-from)
			return
		}
		for range n {
			stream := in.name(names)
			if slices.ContainsFunc(e.counts[from:], func(d count) bool { return d.stream == stream }) {
				in.fail("a stream twice")
			}
			e.counts = append(e.counts, count{place, stream, uint32(in.number("draws", 1, math.MaxUint32))})
		}
		e.sums[place] = in.u16()
	}
}

// A table has the names of phases and streams in the order of their first use.
type table []string

// of returns the number of a name, which it adds.
func (t *table) of(name string) uint8 {
	i := slices.Index(*t, name)
	if i < 0 {
		i = len(*t)
		*t = append(*t, name)
	}
	return uint8(i)
}

// Append appends the bytes of r, which [Parse] reads. It panics if r is no record that a [Ring] or Parse returned.
func (r *Record) Append(dst []byte) []byte {
	var names table // in the order of use: phases, then streams, of each tick
	var body []byte
	c := context{n: r.Prints}
	if len(r.Ticks) > 0 {
		c.tick = r.Ticks[0].Tick - 1
	}
	for i := range r.Ticks {
		body = c.append(body, r.Ticks[i].entry(c.tick, &names))
	}
	dst = append(append(dst, version), r.Match[:]...)
	dst = append(dst, byte(r.Prints), byte(len(names)))
	for _, name := range names {
		dst = append(append(dst, byte(len(name))), name...)
	}
	dst = binary.LittleEndian.AppendUint32(dst, uint32(r.First()))
	dst = binary.AppendUvarint(dst, uint64(len(r.Ticks)))
	return append(dst, body...)
}

// entry returns t with numbers for names, after a tick.
func (t *Tick) entry(before record.Tick, names *table) *entry {
	e := &entry{restored: t.Restored, gap: uint32(t.Tick - before - 1), printed: t.Prints != nil, state: t.State, commands: t.Commands, sum: t.Sum}
	copy(e.prints[:], t.Prints)
	for _, p := range t.Phases {
		e.phases = append(e.phases, names.of(p))
	}
	for _, d := range t.Draws {
		e.sums[d.Phase] = d.Sum
		for _, s := range d.Streams {
			e.counts = append(e.counts, count{uint8(d.Phase), names.of(s.Stream), s.Count})
		}
	}
	return e
}

// tick returns e, of a tick, with names. before has the phases of the tick before it.
func (e *entry) tick(t record.Tick, prints int, names, before []string) Tick {
	out := Tick{Tick: t, Restored: e.restored, Commands: e.commands, Sum: e.sum}
	if e.printed {
		out.State = e.state
		out.Prints = append(make([]uint16, 0, prints), e.prints[:prints]...)
	}
	if slices.EqualFunc(before, e.phases, func(name string, n uint8) bool { return name == names[n] }) {
		out.Phases = before
	} else {
		for _, n := range e.phases {
			out.Phases = append(out.Phases, names[n])
		}
	}
	for i, d := range e.counts {
		if i == 0 || d.place != e.counts[i-1].place {
			out.Draws = append(out.Draws, Drawn{Phase: int(d.place), Sum: e.sums[d.place]})
		}
		p := &out.Draws[len(out.Draws)-1]
		p.Streams = append(p.Streams, Draws{names[d.stream], d.n})
	}
	return out
}

// Parse reads what [Record.Append] writes, and nothing else. The error wraps [ErrMalformed].
func Parse(b []byte) (*Record, error) {
	in := &cursor{b: b, left: len(b)}
	if len(b) > MaxBytes {
		in.fail("got %d bytes, want at most %d", len(b), MaxBytes)
	}
	if v := in.byte(); v != version {
		in.fail("got version %d, want %d", v, version)
	}
	r := &Record{}
	for i := range r.Match {
		r.Match[i] = in.byte()
	}
	if r.Prints = int(in.byte()); r.Prints > MaxPrints {
		in.fail("got %d prints, want at most %d", r.Prints, MaxPrints)
	}
	names := in.names()
	first := in.u32()
	n := int(in.number("ticks", 0, MaxTicks))
	if n == 0 && first > 0 || n > 0 && first == 0 {
		in.fail("got %d ticks from %d on", n, first)
	}
	used := names[:0:0]
	e, c := &entry{}, context{n: r.Prints, tick: record.Tick(first) - 1}
	var phases []string
	for i := 0; i < n && in.err == nil; i++ {
		c.take(in, e, len(names))
		if i == 0 && e.gap > 0 {
			in.fail("ticks are missing before the first")
		}
		if in.err == nil {
			r.Ticks = append(r.Ticks, e.tick(c.tick, r.Prints, names, phases))
			phases = r.Ticks[i].Phases
			used = r.Ticks[i].use(used)
		}
	}
	if in.left > 0 {
		in.fail("%d bytes are left", in.left)
	}
	if !slices.Equal(used, names) {
		in.fail("the names are not those of the ticks, in order")
	}
	if in.err != nil {
		return nil, in.err
	}
	return r, nil
}

func (c *cursor) names() []string {
	n := int(c.byte())
	if n > MaxNames {
		c.fail("got %d names, want at most %d", n, MaxNames)
		return nil
	}
	var names []string
	for range n {
		b := make([]byte, c.number("the size of a name", 1, MaxName))
		for i := range b {
			b[i] = c.byte()
		}
		if name := string(b); c.err == nil && clean(name) != name {
			c.fail("got the name %q", name)
		}
		names = append(names, string(b))
	}
	return names
}

// use adds the names that t uses first to a table.
func (t *Tick) use(names table) table {
	for _, p := range t.Phases {
		names.of(p)
	}
	for _, d := range t.Draws {
		for _, s := range d.Streams {
			names.of(s.Stream)
		}
	}
	return names
}

// clean returns a name as a record has it: at most MaxName bytes of UTF-8 without control characters, and not empty.
func clean(name string) string {
	good := name != "" && len(name) <= MaxName && utf8.ValidString(name)
	for _, r := range name {
		good = good && r >= ' ' && (r < 0x7f || r > 0x9f)
	}
	if good {
		return name
	}
	var b []byte
	for _, r := range name {
		if r < ' ' || r >= 0x7f && r <= 0x9f {
			r = '?'
		}
		if len(b)+utf8.RuneLen(r) > MaxName {
			break
		}
		b = utf8.AppendRune(b, r)
	}
	if len(b) == 0 {
		return "?"
	}
	return string(b)
}
