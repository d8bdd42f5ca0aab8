// Package probe records what the rules of a game compute in one tick: each value that is assigned, tested or returned, in order, with
// its function and element.
//
// The calls of this package are generated. Package desync/line/internal/weave adds them to copies of a game's sources; samestep desync
// line builds the copies, runs one tick on two sides, and compares the recordings: the first probe that differs is the answer. See
// docs/desync-line.md. The package imports only the standard library, so that the woven copy of any package can import it.
//
// A recording is a stream of events. An event is, with numbers in base 128, low digits first:
//
//	flow     the goroutine: 0 is that of Step, see [Spawn]
//	site     the probe, by its number in the list of package weave
//	depth    the calls of woven functions above it
//	flags    1: there is an old value
//	entity   length and text, such as "Unit 12"; empty for none
//	value    length and text
//	old      length and text, if there is one
package probe

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/binary"
	"io"
	"reflect"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unsafe"
)

// MaxEvents bounds one recording. Events after that are counted and dropped.
const MaxEvents = 8 << 20

// On reports whether a recording runs. Woven code reads it before it does anything else, so a probe costs a comparison
// outside the recorded tick. Only [Start] and [Stop] set it.
var On bool

// Unbuffered makes a recording write each event at once, for a program that may end in the middle of the tick.
var Unbuffered bool

// A frame is a call of a woven function.
type frame struct {
	entity  string
	pending int // olds at its start
	kept    int // arguments at its start
}

// A flow is the state of one goroutine's recording.
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

// rec is the running recording. It is a package variable, because woven code cannot pass a value around.
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

	elements [][]byte // the events of the elements of a loop that runs; nil outside of one
	element  int      // the present one
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
	rec.elements = nil
	On = true
}

// A Count is the size of a recording.
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
	rec.join()
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

// B records the value of a variable before an assignment, for the W after it.
func B(v any) {
	f := begin()
	defer rec.Unlock()
	f.olds = append(f.olds, format(v))
}

// None is the owner of a variable that is not a field of an element. Woven code does not say nil, since a game may redeclare that name.
var None any

// D records the value of a variable that a statement defines.
func D(site int, v any) {
	f := begin()
	defer rec.Unlock()
	text := f.text(v)
	f.put(site, f.entity(), text, "", false)
}

// L is [D] for a part of a list. Its capacity decides whether an append to it changes the list.
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

// room marks the capacity behind the text of a part of a list.
const room = " (room for "

// WithoutRoom cuts the capacity off the text of a part of a list.
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

// R is [W] for an assignment that B has begun.
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
	if v != nil && infoOf(reflect.TypeOf(v)).refers {
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
	if rec.elements != nil {
		rec.elements[rec.element] = append(rec.elements[rec.element], b...)
		return
	}
	_, err := rec.out.Write(b)
	if Unbuffered && err == nil {
		err = rec.out.Flush()
	}
	if rec.err == nil {
		rec.err = err
	}
}

// Element begins element i of the n of a loop whose elements are computed in any order, one after the other. The recording has them in their
// own order, so that two such orders can be compared. [Join] ends the loop.
func Element(i, n int) {
	rec.Lock()
	defer rec.Unlock()
	if rec.elements == nil {
		rec.elements = make([][]byte, n)
	}
	rec.element = i
}

// Join ends the loop that [Element] has begun, if there is one.
func Join() {
	rec.Lock()
	defer rec.Unlock()
	rec.join()
}

func (r *recording) join() {
	for _, b := range r.elements {
		if _, err := r.out.Write(b); r.err == nil {
			r.err = err
		}
	}
	r.elements = nil
}

func appendText(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

// Spawn records that a statement starts a goroutine. From then on each event looks up its goroutine, which takes about a
// microsecond.
func Spawn(site int) {
	S(site)
	rec.Lock()
	defer rec.Unlock()
	if !rec.spawned {
		rec.spawned, rec.first = true, goroutine()
	}
}

// goroutine returns the number of this goroutine. The runtime shows it only in the first line of a stack.
func goroutine() uint64 {
	var buf [48]byte
	b := buf[:runtime.Stack(buf[:], false)]
	b = bytes.TrimPrefix(b, []byte("goroutine "))
	n, _ := strconv.ParseUint(string(b[:max(bytes.IndexByte(b, ' '), 0)]), 10, 64)
	return n
}

// A records the value of an argument of code without probes, such as the standard library, and keeps it for the C or P after the
// call: the call may change what the argument reaches.
func A[T any](site int, v T) T {
	if On {
		D(site, v)
		keep(v)
	}
	return v
}

// K is [A] of a part of a list. It keeps the whole list.
func K[T any](site int, v T, whole any) T {
	if On {
		D(site, v)
		keep(whole)
	}
	return v
}

func keep(v any) {
	f := begin()
	defer rec.Unlock()
	k := kept{v: reflect.ValueOf(v)}
	k.before = rec.left(k.v)
	f.kept = append(f.kept, k)
}

// C records what the latest n kept arguments reach after a call that has the result v, and returns v.
func C[T any](site, n int, v T) T {
	if On {
		P(site, n)
	}
	return v
}

// P records what the latest n kept arguments reach after a call, and what they reached before if it is something else.
func P(site, n int) {
	f := begin()
	defer rec.Unlock()
	from := max(len(f.kept)-n, 0)
	text, before := "", ""
	for i, k := range f.kept[from:] {
		if i > 0 {
			text, before = text+", ", before+", "
		}
		text, before = text+rec.left(k.v), before+k.before
	}
	clear(f.kept[from:])
	f.kept = f.kept[:from]
	if text == before {
		f.put(site, f.entity(), clipAt(text, maxLeftText), "", false)
		return
	}
	rec.known.stale = true
	f.put(site, f.entity(), clipAt(text, maxLeftText), clipAt(before, maxLeftText), true)
}

// left returns what a value reaches as text.
func (r *recording) left(v reflect.Value) string {
	if r.spawned { // others may be changing it
		r.partial++
		return "?"
	}
	most := maxReach
	if r.summed > maxReaches {
		most = smallReach
	}
	text, used := left(v, most)
	r.summed += used
	if used > most {
		r.partial++
	}
	return text
}

// outside marks the text of a pointer or a list that is not in the state: a copy, which looks like the original.
const outside = " outside the state"

// Outside cuts the mark of what is not in the state off a value's text.
func Outside(text string) (rest string, is bool) {
	if n := len(text) - len(outside); n >= 0 && text[n:] == outside {
		return text[:n], true
	}
	return text, false
}

// Limits of the memory spans that are kept.
const (
	maxSpans = 1 << 16 // of one look at the state
	maxLooks = 1 << 24 // values in all looks of a recording
)

// A span is a part of the memory of the state.
type span struct {
	from, to uintptr
	keep     unsafe.Pointer // so that nothing else gets this memory
}

// known holds the memory of the state.
type known struct {
	root  reflect.Value   // a pointer to the state; the zero Value if it is not known
	spans []span          // in order, none beside another
	seen  map[target]bool // pointers in this look
	stale bool            // lists may have been made anew since
	looks int             // values so far
	off   bool            // the state has too many parts, or changes too often
}

// has reports whether an address is in the state.
func (k *known) has(address uintptr) bool {
	if k.stale {
		k.look()
	}
	i, _ := slices.BinarySearchFunc(k.spans, address, func(s span, a uintptr) int {
		if s.to <= a {
			return -1
		}
		return 1
	})
	return i < len(k.spans) && k.spans[i].from <= address
}

// look finds the memory of the state.
func (k *known) look() {
	k.spans, k.stale, k.seen = k.spans[:0], false, map[target]bool{}
	k.add(k.root)
	k.seen = nil
	if k.looks > maxLooks || len(k.spans) > maxSpans {
		k.off = true
		return
	}
	slices.SortFunc(k.spans, func(a, b span) int { return cmp.Compare(a.from, b.from) })
	n := 0
	for _, s := range k.spans {
		if n > 0 && s.from <= k.spans[n-1].to {
			k.spans[n-1].to = max(k.spans[n-1].to, s.to)
			continue
		}
		k.spans[n] = s
		n++
	}
	clear(k.spans[n:])
	k.spans = k.spans[:n]
}

func (k *known) add(v reflect.Value) {
	if l := infoOf(v.Type()); l.leads {
		k.follow(v, l)
	}
}

// follow is add for a value whose type leads somewhere.
func (k *known) follow(v reflect.Value, l *typeInfo) {
	if k.looks++; k.looks > maxLooks || len(k.spans) > maxSpans {
		return
	}
	t := v.Type()
	switch v.Kind() {
	case reflect.Pointer:
		if at := (target{v.Pointer(), t}); !v.IsNil() && !k.seen[at] {
			k.seen[at] = true
			k.span(v.UnsafePointer(), t.Elem().Size())
			k.add(v.Elem())
		}
	case reflect.Interface:
		if !v.IsNil() {
			k.add(v.Elem())
		}
	case reflect.Slice:
		if v.Len() > 0 {
			k.span(v.UnsafePointer(), uintptr(v.Len())*t.Elem().Size())
		}
		fallthrough
	case reflect.Array:
		elem := infoOf(t.Elem())
		for i := 0; elem.leads && i < v.Len(); i++ {
			k.follow(v.Index(i), elem)
		}
	case reflect.Struct:
		for _, f := range l.fields {
			k.follow(v.Field(f.index), f.typeInfo)
		}
	case reflect.Map:
		for i, l := v.MapRange(), infoOf(t.Elem()); l.leads && i.Next(); {
			k.follow(i.Value(), l)
		}
	}
}

// span adds a part of the memory, unless it is in the one before.
func (k *known) span(at unsafe.Pointer, size uintptr) {
	from := uintptr(at)
	if n := len(k.spans); n > 0 && k.spans[n-1].from <= from && from+size <= k.spans[n-1].to {
		return
	}
	k.spans = append(k.spans, span{from, from + size, at})
}

// mark returns the mark of a pointer or a list that is not in the memory of the state.
func (k *known) mark(v reflect.Value) string {
	if !k.root.IsValid() || k.off {
		return ""
	}
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() || v.Type().Elem().Size() == 0 || opaque(v.Type()) {
			return ""
		}
	case reflect.Slice:
		if v.Len() == 0 || v.Type().Elem().Size() == 0 {
			return ""
		}
	default:
		return ""
	}
	if k.has(v.Pointer()) || k.off {
		return ""
	}
	return outside
}
