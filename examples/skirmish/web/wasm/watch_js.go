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
	exports["watchOpen"] = func(a arguments) any { // the file; JSON
		file := make([]byte, a[0].Length())
		js.CopyBytesToGo(file, a[0])
		return openRecorded(file)
	}
	exports["watchClose"] = func(arguments) any { recorded, seen = nil, nil; return nil }
	watching("watchTimeline", func(a arguments) any { return text(recorded.Timeline(int(a.int(0)))) })
	watching("watchGo", func(a arguments) any { recorded.Seek(lockstep.Tick(a.int(0))); return nil })
	watching("watchWork", func(a arguments) any { // milliseconds; returns whether it has arrived
		for until := time.Now().Add(time.Duration(a.int(0)) * time.Millisecond); ; {
			if done := recorded.Work(workTicks); done || time.Now().After(until) {
				return done
			}
		}
	})
	watching("watchState", func(arguments) any { return text(stateOf(recorded)) })
	watching("watchTick", func(arguments) any { return int(recorded.Tick()) })
	watching("watchCommands", func(a arguments) any { return text(recorded.Commands(recorded.Tick(), int(a.int(0)))) })
	watching("watchFields", func(arguments) any {
		id, _ := seen.Selected()
		return recorded.Unit(id)
	})
	watching("watchFrame", func(a arguments) any { // array, width, height, fraction, dots
		return fill(a[0], func(dst []byte) []byte {
			return seen.Frame(dst, a.int(1), a.int(2), player.Fraction(a.int(3)), a[4].Bool())
		})
	})
	watching("watchFog", func(a arguments) any { return fill(a[0], seen.Fog) })
	watching("watchGround", func(a arguments) any { return fill(a[0], seen.Ground) })
	watching("watchPan", func(a arguments) any { seen.Pan(a.int(0), a.int(1)); return nil })
	watching("watchZoom", func(a arguments) any { seen.Zoom(a.int(0), a.int(1), a.int(2)); return nil })
	watching("watchLookAt", func(a arguments) any { seen.LookAt(a.int(0), a.int(1)); return nil })
	watching("watchPick", func(a arguments) any { return int(seen.Pick(a.int(0), a.int(1))) })
	watching("watchSelect", func(a arguments) any { seen.Select(skirmish.UnitID(a.int(0))); return nil })
	watching("watchFollow", func(a arguments) any { seen.Follow(a[0].Bool()); return nil })
	watching("watchSee", func(a arguments) any { seen.See(uint8(a.int(0))); return nil })
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
func watching(name string, f function) {
	exports[name] = func(a arguments) any {
		if recorded == nil {
			return nil
		}
		return f(a)
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
