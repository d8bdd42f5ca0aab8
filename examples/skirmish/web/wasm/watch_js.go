package main

import (
	"encoding/json"
	"syscall/js"
	"time"

	"github.com/seed-49bee653/samestep/examples/skirmish"
	"github.com/seed-49bee653/samestep/examples/skirmish/web/scene"
	"github.com/seed-49bee653/samestep/examples/skirmish/web/watch"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/player"
)

// recorded is the open replay, or nil; seen is its screen.
var (
	recorded *watch.Viewer
	seen     *watch.Screen
)

// shownDesyncs limits the desyncs in a watchState.
const shownDesyncs = 200

// workTicks is the number of ticks to simulate between two looks at the clock.
const workTicks = 4

func init() {
	exports["watchOpen"] = func(args []js.Value) any { // the file; JSON
		file := make([]byte, args[0].Length())
		js.CopyBytesToGo(file, args[0])
		return openRecorded(file)
	}
	exports["watchClose"] = func([]js.Value) any { recorded, seen = nil, nil; return nil }
	watching("watchTimeline", func(args []js.Value) any { return text(recorded.Timeline(int(whole(args[0])))) })
	watching("watchGo", func(args []js.Value) any { recorded.Seek(lockstep.Tick(whole(args[0]))); return nil })
	watching("watchWork", func(args []js.Value) any { // milliseconds; returns whether it has arrived
		for until := time.Now().Add(time.Duration(whole(args[0])) * time.Millisecond); ; {
			if done := recorded.Work(workTicks); done || time.Now().After(until) {
				return done
			}
		}
	})
	watching("watchState", func([]js.Value) any { return text(stateOf(recorded)) })
	watching("watchTick", func([]js.Value) any { return int(recorded.Tick()) })
	watching("watchCommands", func(args []js.Value) any { return text(recorded.Commands(recorded.Tick(), int(whole(args[0])))) })
	watching("watchFields", func([]js.Value) any {
		id, _ := seen.Selected()
		return recorded.Unit(id)
	})
	watching("watchAccount", func(args []js.Value) any { return recorded.Player(lockstep.Player(whole(args[0]))) })
	watching("watchFrame", func(args []js.Value) any { // array, width, height, fraction, dots
		return copied(args[0], func(dst []byte) []byte {
			return seen.Frame(dst, whole(args[1]), whole(args[2]), player.Fraction(whole(args[3])), args[4].Bool())
		})
	})
	watching("watchFog", func(args []js.Value) any { return copied(args[0], seen.Fog) })
	watching("watchGround", func(args []js.Value) any { return copied(args[0], seen.Ground) })
	watching("watchPan", func(args []js.Value) any { seen.Pan(whole(args[0]), whole(args[1])); return nil })
	watching("watchZoom", func(args []js.Value) any { seen.Zoom(whole(args[0]), whole(args[1]), whole(args[2])); return nil })
	watching("watchLookAt", func(args []js.Value) any { seen.LookAt(whole(args[0]), whole(args[1])); return nil })
	watching("watchPick", func(args []js.Value) any { return int(seen.Pick(whole(args[0]), whole(args[1]))) })
	watching("watchSelect", func(args []js.Value) any { seen.Select(skirmish.UnitID(whole(args[0]))); return nil })
	watching("watchFollow", func(args []js.Value) any { seen.Follow(args[0].Bool()); return nil })
	watching("watchSee", func(args []js.Value) any { seen.See(uint8(whole(args[0]))); return nil })
	watching("watchPixel", func(args []js.Value) any { // unit; returns its pixel as JSON
		x, y, ok := seen.Pixel(skirmish.UnitID(whole(args[0])))
		return text(map[string]any{"x": x, "y": y, "lives": ok})
	})
}

// openRecorded opens a file and returns its About, or the error, as JSON.
func openRecorded(file []byte) any {
	recorded, seen = nil, nil
	v, err := watch.Open(file)
	if err != nil {
		return text(map[string]string{"error": err.Error()})
	}
	recorded, seen = v, watch.NewScreen(v)
	return text(v.About())
}

// A watchState is the content of the replay's panels.
type watchState struct {
	Tick      lockstep.Tick     `json:"tick"`
	Left      lockstep.Tick     `json:"left"`
	Hash      string            `json:"root"`
	Agreed    int               `json:"agreed"`
	Differing int               `json:"differing"`
	Desyncs   []watch.Desync    `json:"desyncs"` // the first of them
	Fault     string            `json:"fault"`
	Selected  skirmish.UnitID   `json:"chosen"`
	Kind      string            `json:"kind"` // of the selected unit
	Follow    bool              `json:"follow"`
	Teams     int               `json:"teams"`
	Players   []skirmish.Player `json:"players"`
	Winner    uint8             `json:"winner"`
}

func stateOf(v *watch.Viewer) *watchState {
	_, w := v.Worlds()
	s := &watchState{Tick: v.Tick(), Left: v.Left(), Hash: v.Hash(), Desyncs: v.Desyncs(), Teams: len(w.Fog), Players: w.Players, Winner: w.Match.Winner}
	s.Agreed, s.Differing = v.Compared()
	s.Desyncs = s.Desyncs[:min(len(s.Desyncs), shownDesyncs)]
	s.Selected, s.Follow = seen.Selected()
	if u := scene.Find(w, s.Selected); u != nil {
		s.Kind = u.Kind.String()
	}
	if err := v.Fault(); err != nil {
		s.Fault = err.Error()
	}
	return s
}

// watching adds a function that does nothing while no replay is open.
func watching(name string, f func(args []js.Value) any) {
	exports[name] = func(args []js.Value) any {
		if recorded == nil {
			return nil
		}
		return f(args)
	}
}

// text returns a value as JSON.
func text(v any) any {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // plain data
	}
	return string(b)
}

// copied is fill for the open replay.
func copied(array js.Value, f func(dst []byte) []byte) any {
	scratch = f(scratch[:0])
	if len(scratch) > array.Length() {
		return len(scratch)
	}
	return js.CopyBytesToJS(array, scratch)
}
