package program

import (
	"encoding/json"
	"errors"
	"syscall/js"
	"time"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/page/watch"
	"github.com/seed-49bee653/samestep/replay"
)

// Arguments are those of a call from the page.
type Arguments []js.Value

// Int returns a number, truncated.
func (a Arguments) Int(i int) int64 { return int64(a[i].Float()) }

// text returns a text, or "" if it is left out.
func (a Arguments) text(i int) string {
	if i >= len(a) {
		return ""
	}
	return a[i].String()
}

// bytes returns a copy of an array.
func (a Arguments) bytes(i int) []byte {
	b := make([]byte, a[i].Length())
	js.CopyBytesToGo(b, a[i])
	return b
}

// Functions are the functions of globalThis.samestep by name. They return at once, and throw nothing.
type Functions map[string]func(a Arguments) any

// Serve tells the page that the program runs, and answers its calls for ever.
func (f Functions) Serve() {
	object := js.Global().Get("Object").New()
	for name, call := range f { // a map, but the order does not matter
		object.Set(name, js.FuncOf(func(_ js.Value, args []js.Value) any { return call(args) }))
	}
	js.Global().Set("samestep", object)
	js.Global().Call("dispatchEvent", js.Global().Get("Event").New("samestep"))
	select {}
}

// When adds functions that return null while ready is false.
func (f Functions) When(ready func() bool, more Functions) {
	for name, call := range more { // a map, but the order does not matter
		f[name] = func(a Arguments) any {
			if !ready() {
				return nil
			}
			return call(a)
		}
	}
}

// scratch is a buffer for data that goes to the page.
var scratch []byte

// Fill copies the bytes that f appends to an array of the page, and returns their number. If that is more than the array
// holds, it copies nothing.
func Fill(array js.Value, f func(dst []byte) []byte) any {
	scratch = f(scratch[:0])
	if len(scratch) > array.Length() {
		return len(scratch)
	}
	return js.CopyBytesToJS(array, scratch)
}

// Text returns a value as JSON.
func Text(v any) any {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // plain data
	}
	return string(b)
}

// workTicks is the number of ticks to simulate between two looks at the clock.
const workTicks = 4

// Watch adds the functions of replays that do not depend on the game. The viewer is nil while no replay is open. Open opens
// a file and returns what the page is told, or an error; it is called with nil to close the replay.
func (f Functions) Watch(viewer func() *watch.Viewer, open func(file []byte) (any, error)) {
	f["watchOpen"] = func(a Arguments) any { // the file; JSON
		about, err := open(a.bytes(0))
		if err != nil {
			return Text(map[string]string{"error": err.Error()})
		}
		return Text(about)
	}
	f["watchClose"] = func(Arguments) any { open(nil); return nil }
	f.When(func() bool { return viewer() != nil }, Functions{
		"watchTimeline": func(a Arguments) any { return Text(viewer().Timeline(int(a.Int(0)))) },
		"watchGo":       func(a Arguments) any { viewer().Seek(lockstep.Tick(max(a.Int(0), 0))); return nil },
		"watchWork": func(a Arguments) any { // milliseconds; returns whether it has arrived
			for until := time.Now().Add(time.Duration(a.Int(0)) * time.Millisecond); ; {
				if done := viewer().Work(workTicks); done || time.Now().After(until) {
					return done
				}
			}
		},
		"watchCompare": func(a Arguments) any { // another file; "" or why it cannot be compared
			var other *watch.Viewer
			err := watch.ErrPair // a recording of another engine
			if g := viewer().Game(); g != nil {
				if other, err = watch.Open(a.bytes(0), g); err == nil {
					err = viewer().Compare(other)
				}
			}
			if err != nil {
				return err.Error()
			}
			return ""
		},
		"watchFind":     func(a Arguments) any { viewer().Find(a[0].Bool()); return nil }, // back; the next or previous difference
		"watchTick":     func(Arguments) any { return int(viewer().Tick()) },
		"watchCommands": func(a Arguments) any { return Text(viewer().Commands(viewer().Tick(), int(a.Int(0)))) },
	})
}

// A WatchState is the part of a replay's panels that does not depend on the game.
type WatchState struct {
	Tick      lockstep.Tick  `json:"tick"`
	Left      lockstep.Tick  `json:"left"`
	Hash      string         `json:"state_hash"`
	Agreed    int            `json:"agreed"`
	Differing int            `json:"differing"`
	Desyncs   []watch.Desync `json:"desyncs"` // the first of them
	Fault     string         `json:"fault"`

	// Of a recording of another engine: why the tick has no state, the nearest ticks that have one, and who differs from whom.
	Missing string           `json:"missing,omitempty"`
	Nearest []lockstep.Tick  `json:"nearest,omitempty"`
	Differ  *watch.Differing `json:"differ,omitempty"` // the players' checksums differ at the last check

	Compared *watch.Comparison `json:"compared,omitempty"` // with another replay
}

// shownDesyncs limits the desyncs in a WatchState.
const shownDesyncs = 200

// StateOf returns the WatchState of a replay.
func StateOf(v *watch.Viewer) WatchState {
	s := WatchState{Tick: v.Tick(), Left: v.Left(), Hash: v.Hash(), Desyncs: v.Desyncs(), Compared: v.Comparison()}
	s.Agreed, s.Differing = v.Compared()
	s.Desyncs = s.Desyncs[:min(len(s.Desyncs), shownDesyncs)]
	if err := v.Fault(); err != nil {
		s.Fault = err.Error()
	}
	if v.Game() == nil {
		s.Differ = v.Differing()
		var missing *replay.NoStateError
		if _, _, _, err := v.Recorded(); errors.As(err, &missing) {
			s.Missing, s.Nearest = missing.Error(), missing.Nearest
		}
	}
	return s
}
