package main

import (
	"github.com/seed-49bee653/samestep/examples/skirmish"
	"github.com/seed-49bee653/samestep/examples/skirmish/maps"
	"github.com/seed-49bee653/samestep/examples/skirmish/web/live"
	"github.com/seed-49bee653/samestep/examples/skirmish/web/scene"
	"github.com/seed-49bee653/samestep/examples/skirmish/web/screen"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/player"
	"github.com/seed-49bee653/samestep/page/program"
	"github.com/seed-49bee653/samestep/page/watch"
)

// recorded is the open replay, or nil; seen is its screen.
var (
	recorded *watch.Viewer
	seen     *screen.Screen
	beside   *screen.Screen // of the other replay, or nil
)

// addWatch adds the functions of replays.
func addWatch(f program.Functions) {
	f.Watch(func() *watch.Viewer { return recorded }, openRecorded)
	f.When(func() bool { return recorded != nil }, program.Functions{
		"watchState":   func(program.Arguments) any { return program.Text(stateOf(recorded)) },
		"watchHistory": func(a program.Arguments) any { return historyOf(recorded, lockstep.Tick(a.Int(0))) }, // after; JSON, or null
		"watchFields": func(program.Arguments) any {
			id, _ := seen.Selected()
			return seen.Unit(id)
		},
		"watchFrame": func(a program.Arguments) any { // array, width, height, fraction, dots
			return program.Fill(a[0], func(dst []byte) []byte {
				return seen.Frame(dst, a.Int(1), a.Int(2), player.Fraction(a.Int(3)), a[4].Bool())
			})
		},
		"watchFrameBeside": func(a program.Arguments) any { // as watchFrame, of the other replay
			if recorded.Other() == nil {
				return nil
			}
			if beside == nil {
				beside = screen.New(recorded.Other())
			}
			seen.Beside(beside)
			return program.Fill(a[0], func(dst []byte) []byte {
				return beside.Frame(dst, a.Int(1), a.Int(2), player.Fraction(a.Int(3)), a[4].Bool())
			})
		},
		"watchFogBeside": func(a program.Arguments) any { return program.Fill(a[0], beside.Fog) },
		"watchAim":       func(a program.Arguments) any { seen.Aim(a.Int(0), a.Int(1), a.Int(2)); return nil }, // x, y, zoom
		"watchFog":       func(a program.Arguments) any { return program.Fill(a[0], seen.Fog) },
		"watchGround":    func(a program.Arguments) any { return program.Fill(a[0], seen.Ground) },
		"watchPan":       func(a program.Arguments) any { seen.Pan(a.Int(0), a.Int(1)); return nil },
		"watchZoom":      func(a program.Arguments) any { seen.Zoom(a.Int(0), a.Int(1), a.Int(2)); return nil },
		"watchLookAt":    func(a program.Arguments) any { seen.LookAt(a.Int(0), a.Int(1)); return nil },
		"watchPick":      func(a program.Arguments) any { return int(seen.Pick(a.Int(0), a.Int(1))) },
		"watchSelect":    func(a program.Arguments) any { seen.Select(skirmish.UnitID(a.Int(0))); return nil },
		"watchNear":      func(program.Arguments) any { seen.Near(); return nil },
		"watchFollow":    func(a program.Arguments) any { seen.Follow(a[0].Bool()); return nil },
		"watchSee":       func(a program.Arguments) any { seen.See(uint8(a.Int(0))); return nil },
	})
}

// historyOf returns how the match goes, without simulating; nil if nothing after a tick is known.
func historyOf(v *watch.Viewer, after lockstep.Tick) any {
	s := v.Latest(after)
	if s == nil {
		return nil
	}
	return program.Text(struct {
		Until lockstep.Tick `json:"until"`
		live.History
	}{s.Tick(), live.HistoryOf(lockstep.World[skirmish.World](s), scene.Everything)})
}

// openRecorded opens a file and returns its About, or closes the replay if the file is nil.
func openRecorded(file []byte) (any, error) {
	recorded, seen, beside = nil, nil, nil
	if file == nil {
		return nil, nil
	}
	v, err := watch.Open(file, lockstep.MustGame(skirmish.Rules()).WithAssets(maps.Read))
	if err != nil {
		return nil, err
	}
	recorded, seen = v, screen.New(v)
	return v.About(), nil
}

// A watchState is the content of the replay's panels.
type watchState struct {
	program.WatchState
	Selected skirmish.UnitID   `json:"chosen"`
	Kind     string            `json:"kind"` // of the selected unit
	Follow   bool              `json:"follow"`
	Aim      [3]int64          `json:"aim"` // x and y in 1/1000 of a cell, and the zoom
	Teams    int               `json:"teams"`
	Players  []skirmish.Player `json:"players"`
	Winner   uint8             `json:"winner"`
}

func stateOf(v *watch.Viewer) *watchState {
	_, w := seen.Worlds()
	s := &watchState{WatchState: program.StateOf(v), Teams: len(w.Fog), Players: w.Players, Winner: w.Match.Winner}
	s.Selected, s.Follow = seen.Selected()
	s.Aim[0], s.Aim[1], s.Aim[2] = seen.Center()
	if u := scene.Find(w, s.Selected); u != nil {
		s.Kind = u.Kind.String()
	}
	return s
}
