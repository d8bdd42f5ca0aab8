package probe

import (
	"bufio"
	"encoding/binary"
	"io"
	"reflect"
	"strconv"
	"strings"
	"sync"
)

// MaxEvents bounds one recording. Events after that are counted and dropped.
const MaxEvents = 8 << 20

// On reports whether a recording runs. Woven code reads it before it does anything else, so a probe costs a comparison
// outside the recorded tick. Only [Start] and [Stop] set it.
var On bool

// Unbuffered makes a recording write each event at once: the program may end in the middle of the tick.
var Unbuffered bool

// A frame is a call of a woven function.
type frame struct {
	entity  string
	pending int // olds at its start
	kept    int // arguments at its start
}

// A flow is what one goroutine has done.
type flow struct {
	id     uint64
	frames []frame
	olds   []string // of assignments that are under way
	kept   []kept   // arguments of calls that are under way
}

// A kept value is an argument of a call that is under way, and what it reached before.
type kept struct {
	v      reflect.Value
	before string
}

// rec is the recording that runs. Woven code has no place for a value of its own.
var rec recording

type recording struct {
	sync.Mutex
	out     *bufio.Writer
	events  int
	dropped int
	err     error
	buf     []byte
	main    flow
	flows   map[uint64]*flow // by the number of the goroutine, for all but the first
	spawned bool
	first   uint64 // number of the first goroutine, once others run
	waiting uint64 // flows announced by Spawn
	yield   func()
	known   known
	summed  int // values in sums
	partial int // calls whose sum has not all that they reach
}

// Start begins a recording. state is a pointer to the state, whose copies are marked, or nil. yield is called before each event
// if it is not nil, by all goroutines: it perturbs the scheduling.
func Start(w io.Writer, state any, yield func()) {
	rec.Lock()
	defer rec.Unlock()
	rec.out, rec.events, rec.dropped, rec.err, rec.yield = bufio.NewWriterSize(w, 1<<16), 0, 0, nil, yield
	rec.main = flow{frames: append(rec.main.frames[:0], frame{})}
	rec.flows, rec.spawned, rec.waiting = map[uint64]*flow{}, false, 0
	rec.known, rec.summed, rec.partial = known{root: reflect.ValueOf(state), stale: true}, 0, 0
	On = true
}

// A Count is how much a recording has.
type Count struct {
	Events  int // recorded
	Dropped int // beyond [MaxEvents]
	Partial int // calls that reach more than their sum has
}

// Stop ends the recording.
func Stop() (Count, error) {
	rec.Lock()
	defer rec.Unlock()
	On = false
	if err := rec.out.Flush(); rec.err == nil {
		rec.err = err
	}
	rec.known, rec.main.kept = known{}, nil
	return Count{rec.events, rec.dropped, rec.partial}, rec.err
}

// V records the value of an expression, and returns it.
func V[T any](site int, v T) T {
	if On {
		D(site, v)
	}
	return v
}

// Of records the address v of a part of an element, with that element, or with its index in a list, and returns v.
func Of[T, E any](site int, v T, element E) T {
	if On {
		f := begin()
		defer rec.Unlock()
		e := entityOf(element)
		if e == "" {
			e = format(element)
		}
		text := format(v) + " of " + e
		if !rec.spawned {
			text += rec.known.mark(reflect.ValueOf(v))
		}
		f.put(site, f.entity(), text, "", false)
	}
	return v
}

// S records that a statement is reached.
func S(site int) {
	f := begin()
	defer rec.Unlock()
	f.put(site, f.entity(), "", "", false)
}

// B notes the value of a variable before an assignment, for the W after it.
func B(v any) {
	f := begin()
	defer rec.Unlock()
	f.olds = append(f.olds, format(v))
}

// None is the owner of a variable that is a field of no element. The name nil may be another one's in a game.
var None any

// D records the value of a variable that a statement defines.
func D(site int, v any) {
	f := begin()
	defer rec.Unlock()
	text := f.text(v)
	f.put(site, f.entity(), text, "", false)
}

// L is [D] of a part of a list. How much room it has decides whether an append to it changes the list.
func L(site int, v any) {
	f := begin()
	defer rec.Unlock()
	text, list := format(v), reflect.ValueOf(v)
	if list.Kind() == reflect.Slice && list.Len() > 0 { // an empty one is a buffer
		text += room + strconv.Itoa(list.Cap()) + ")"
	}
	if !rec.spawned {
		text += rec.known.mark(list)
	}
	f.put(site, f.entity(), text, "", false)
}

// room is behind the text of a part of a list, with how many elements it can have.
const room = " (room for "

// WithoutRoom cuts how much room there is off the text of a part of a list.
func WithoutRoom(text string) string {
	rest, is := Outside(text)
	i := strings.LastIndex(rest, room)
	if i < 0 || !strings.HasSuffix(rest, ")") {
		return text
	}
	if is {
		return rest[:i] + outside
	}
	return rest[:i]
}

// W records the value of a variable after an assignment. owner is the element that the variable is a field of, or [None].
func W(site int, v, owner any) { write(site, v, owner, false) }

// R is [W] of an assignment that B has begun.
func R(site int, v, owner any) { write(site, v, owner, true) }

func write(site int, v, owner any, replaces bool) {
	f := begin()
	defer rec.Unlock()
	old := ""
	if replaces && len(f.olds) > 0 {
		old = f.olds[len(f.olds)-1]
		f.olds = f.olds[:len(f.olds)-1]
	}
	e := f.entity()
	if owner != nil {
		e = entityOf(owner)
	}
	if v != nil && refers(reflect.TypeOf(v)) {
		rec.known.stale = true // the state may have another list now
	}
	f.put(site, e, f.text(v), old, replaces)
}

// Enter records a call and its arguments, and returns the depth for Leave.
func Enter(site int, args ...any) int {
	f := begin()
	defer rec.Unlock()
	depth := len(f.frames)
	f.frames = append(f.frames, frame{f.entity(), len(f.olds), len(f.kept)})
	b := make([]byte, 0, 64)
	for i, a := range args {
		if i > 0 {
			b = append(b, ", "...)
		}
		b = append(b, f.text(a)...)
	}
	f.put(site, f.entity(), string(b), "", false)
	return depth
}

// Leave ends the call that Enter began at a depth.
func Leave(depth int) {
	if !On {
		return
	}
	f := begin()
	defer rec.Unlock()
	if depth < len(f.frames) {
		f.olds = f.olds[:min(f.frames[depth].pending, len(f.olds))]
		f.kept = f.kept[:min(f.frames[depth].kept, len(f.kept))]
		f.frames = f.frames[:depth]
	}
}

// begin locks the recording, and returns the flow of this goroutine.
func begin() *flow {
	if rec.yield != nil {
		rec.yield() // before the lock, or the others could do nothing
	}
	rec.Lock()
	if !rec.spawned {
		return &rec.main
	}
	n := goroutine()
	if n == rec.first {
		return &rec.main
	}
	f := rec.flows[n]
	if f == nil {
		rec.waiting++
		f = &flow{id: rec.waiting, frames: []frame{{}}}
		rec.flows[n] = f
	}
	return f
}

func (f *flow) entity() string {
	if len(f.frames) == 0 {
		return ""
	}
	return f.frames[len(f.frames)-1].entity
}

// text returns a value as text. An element becomes the one that the call is about.
func (f *flow) text(v any) string {
	if e := entityOf(v); e != "" && len(f.frames) > 0 {
		f.frames[len(f.frames)-1].entity = e
	}
	text := format(v)
	switch v.(type) {
	case nil, bool, int, string:
		return text
	}
	if rec.spawned { // others may be changing the state
		return text
	}
	return text + rec.known.mark(reflect.ValueOf(v))
}

// put writes an event.
func (f *flow) put(site int, entity, value, old string, replaces bool) {
	if rec.events >= MaxEvents {
		rec.dropped++
		return
	}
	rec.events++
	flags := uint64(0)
	if replaces {
		flags = 1
	}
	b := rec.buf[:0]
	b = binary.AppendUvarint(b, f.id)
	b = binary.AppendUvarint(b, uint64(site))
	b = binary.AppendUvarint(b, uint64(len(f.frames)))
	b = binary.AppendUvarint(b, flags)
	b = appendText(b, entity)
	b = appendText(b, value)
	if replaces {
		b = appendText(b, old)
	}
	rec.buf = b
	_, err := rec.out.Write(b)
	if Unbuffered && err == nil {
		err = rec.out.Flush()
	}
	if rec.err == nil {
		rec.err = err
	}
}

func appendText(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}
