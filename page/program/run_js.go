package program

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/player"
	"github.com/seed-49bee653/samestep/page/canvas"
	"github.com/seed-49bee653/samestep/page/inspect"
	"github.com/seed-49bee653/samestep/page/live"
	"github.com/seed-49bee653/samestep/page/watch"
)

// A screen is what the inspector page shows: a live match or a replay, or nothing.
type screen struct {
	games  stock
	game   *Game // of the match or replay
	match  *live.Match
	replay *watch.Viewer
	viewer *lockstep.Viewer // whose views of the replay are shown, or nil for its states

	snapshot inspect.Snapshot
	open     inspect.Open
	picture  canvas.Canvas
	header   *lockstep.Header
	fault    string // of the game's Draw
}

// Run is the program of the inspector page, for any of the games and those whose modules the page fetches. It does not return.
func Run(games ...Game) {
	x := &screen{games: stockOf(games)}
	f := Functions{}
	f.lobby(func() stock { return x.games })
	x.rules(f)
	x.live(f)
	f.Watch(func() *watch.Viewer { return x.replay }, x.watch)
	f.When(func() bool { return x.replay != nil }, Functions{
		"watchState": func(Arguments) any { return Text(StateOf(x.replay)) },
		"watchAs": func(a Arguments) any { // a viewer, or "" for the states; "" or why not
			x.viewer = nil
			if a[0].String() == "" {
				return ""
			}
			viewer, err := lockstep.ParseViewer(a[0].String())
			if err != nil {
				return err.Error()
			}
			x.viewer = &viewer
			return ""
		},
	})
	x.inspect(f)
	f.Serve()
}

// live adds the functions of live matches.
func (x *screen) live(f Functions) {
	f["join"] = func(a Arguments) any { // url, token, game, build, sum of its module or "", by views?, match's id; "" or why not
		x.leave(false)
		name, build, sum := a[2].String(), a[3].String(), a[4].String()
		g, problem := x.games.of(name, build, sum)
		if g == nil && sum == "" { // the server says that the builds differ
			g, problem = x.games.of(name, "", "")
		}
		if g == nil {
			return problem
		}
		x.begin(g)
		x.match = live.Join(context.Background(), a[0].String(), a[1].String(), x.game.Game, live.Options{Views: a[5].Bool(), ID: a[6].String()})
		return ""
	}
	f["leave"] = func(a Arguments) any { x.leave(a[0].Bool()); return nil } // for good?
	f.When(func() bool { return x.match != nil }, Functions{
		"status": func(Arguments) any { // JSON, or ""
			s, ok := x.match.Status()
			if !ok {
				return ""
			}
			return Text(s)
		},
		"say":     func(a Arguments) any { x.match.Say(a[0].String()); return nil },
		"ready":   func(a Arguments) any { x.match.SetReady(a[0].Bool()); return nil },
		"corrupt": func(a Arguments) any { x.match.Corrupt(a[0].String()); return nil }, // path
		"cut":     func(Arguments) any { x.match.Cut(); return nil },
		"retry":   func(Arguments) any { x.match.Retry(); return nil },
		"send":    func(a Arguments) any { return x.send(lockstep.Kind(a.Int(0)), a[1].String()) }, // kind, JSON; "" or why not
	})
}

// begin shows a match or replay of a game.
func (x *screen) begin(g *Game) {
	x.game, x.header, x.fault = g, nil, ""
	x.snapshot = inspect.Snapshot{}
	x.open.Clear()
}

// leave ends the match for this page. If forGood is set, it gives up the seat.
func (x *screen) leave(forGood bool) {
	switch {
	case x.match == nil:
		return
	case forGood:
		x.match.Leave()
	default:
		go x.match.Close() // waits for the socket, and must not block the page
	}
	x.match = nil
}

func (x *screen) send(kind lockstep.Kind, value string) string {
	if x.header == nil {
		return "there is no state yet"
	}
	command, err := x.game.NewPayloads().ReadJSON(kind, []byte(value))
	if err != nil {
		return err.Error()
	}
	x.match.Submit(command)
	return ""
}

// watch opens a replay, or closes it if the file is nil.
func (x *screen) watch(file []byte) (any, error) {
	x.replay, x.viewer = nil, nil
	if file == nil {
		return nil, nil
	}
	v, err := watch.Open(file, watch.Fitting(file, x.games.known()...)...)
	if errors.Is(err, watch.ErrForeign) {
		v, err = watch.OpenRecording(file)
	}
	if err != nil {
		return nil, err
	}
	if v.Game() == nil {
		x.begin(&Game{}) // without rules and a picture
		x.header = v.Header()
	} else {
		x.begin(&x.games[slices.IndexFunc(x.games, func(g stocked) bool { return g.Game.Game == v.Game() })].Game)
	}
	x.replay = v
	return v.About(), nil
}

// A look is what the page is told of a new state.
type look struct {
	Tick   lockstep.Tick   `json:"tick"`
	Bytes  int             `json:"bytes"`
	Layers []inspect.Layer `json:"layers"`
	Drawn  bool            `json:"drawn"` // there is a picture
	Texts  []string        `json:"texts"` // of the picture
	Fault  string          `json:"fault"` // why the picture is not complete

	Missing string `json:"missing,omitempty"` // why there is no state
}

// inspect adds the functions of the state.
func (x *screen) inspect(f Functions) {
	f["look"] = func(Arguments) any { return x.look() } // takes the state; JSON, or "" before there is one
	f["rows"] = func(a Arguments) any {                 // from, number
		rows, total := x.snapshot.Rows(&x.open, int(a.Int(0)), int(a.Int(1)))
		return Text(map[string]any{"rows": rows, "total": total})
	}
	f["open"] = func(a Arguments) any { return x.open.Set(a[0].String(), a[1].Bool()) } // path, open; false if too many are
	f["closeAll"] = func(Arguments) any { x.open.Clear(); return nil }
	f["reveal"] = func(a Arguments) any { return x.snapshot.Reveal(&x.open, a[0].String()) } // path; the number of its row, or -1
	f["search"] = func(a Arguments) any { return Text(x.snapshot.Search(a[0].String())) }
	f["changes"] = func(Arguments) any { return Text(x.snapshot.Changes()) }
	f["places"] = func(a Arguments) any { // array
		return Fill(a[0], func(dst []byte) []byte {
			if x.header == nil {
				return dst
			}
			return x.snapshot.Places(dst, int(x.header.Settings.Players))
		})
	}
	f["elementAt"] = func(a Arguments) any { return x.snapshot.ElementAt(int(a.Int(0))) } // index of the place; its path
	f["picture"] = func(a Arguments) any { return Fill(a[0], x.picture.AppendWords) }     // array
	f["forms"] = func(Arguments) any {
		if x.header == nil {
			return "[]"
		}
		forms, err := inspect.Forms(x.header)
		if err != nil {
			return "[]" // the game's own schemas are good
		}
		return Text(forms)
	}
}

// look takes the state to be shown.
func (x *screen) look() any {
	taken := false
	take := func(before, now *lockstep.Simulation, h *lockstep.Header, seat int) {
		taken, x.header = true, h
		x.snapshot.Take(x.game.StateSchema(), before, now)
		x.draw(now, seat)
	}
	switch {
	case x.replay != nil && x.replay.Game() == nil:
		return x.lookRecorded()
	case x.replay != nil && x.viewer != nil:
		return x.lookAs()
	case x.replay != nil:
		before, now := x.replay.States()
		take(before, now, now.Header(), -1)
	case x.match != nil:
		x.match.See(func(c *player.Client, v player.Interpolation) {
			seat := int(c.Status().Seat)
			if c.Status().Seat == lockstep.System {
				seat = -1
			}
			take(v.Previous, v.Current, c.Header(), seat)
		})
		x.match.Look(func(_ *player.Client, s player.Sight) {
			taken, x.header = true, x.headerOf(s.Players)
			x.snapshot.TakeBytes(x.game.ViewSchema(), s.Tick, s.Previous, s.Current)
		})
	}
	if !taken {
		return ""
	}
	texts := append([]string{}, x.picture.Texts()...)
	drawn := x.game.Draw != nil && (x.match == nil || x.header.StateSchema != nil)
	return Text(look{x.snapshot.Tick(), x.snapshot.SizeBytes(), x.snapshot.Layers(), drawn, texts, x.fault, ""})
}

// headerOf returns what the page needs of the header of a match that is seen by views.
func (x *screen) headerOf(players uint8) *lockstep.Header {
	return &lockstep.Header{Settings: lockstep.Settings{Players: players}, Commands: x.game.Commands()}
}

// lookAs takes what a viewer of the replay may see.
func (x *screen) lookAs() any {
	before, now := x.replay.States()
	l := look{Tick: now.Tick(), Layers: []inspect.Layer{}, Texts: []string{}}
	x.header = now.Header()
	a, err := before.AppendView(nil, *x.viewer)
	b, err2 := now.AppendView(nil, *x.viewer)
	if err = cmp.Or(err, err2); err != nil {
		x.snapshot = inspect.Snapshot{}
		l.Missing = err.Error()
		return Text(l)
	}
	x.snapshot.TakeBytes(x.game.ViewSchema(), l.Tick, a, b)
	l.Bytes, l.Layers = len(b), x.snapshot.Layers()
	return Text(l)
}

// lookRecorded takes the state of a recording of another engine.
func (x *screen) lookRecorded() any {
	t := x.replay.Tick()
	before, now, schema, err := x.replay.Recorded()
	if err != nil {
		x.snapshot = inspect.Snapshot{}
		return Text(look{Tick: t, Layers: []inspect.Layer{}, Texts: []string{}, Missing: err.Error()})
	}
	if x.snapshot.Tick() != t || x.snapshot.SizeBytes() != len(now) {
		x.snapshot.TakeBytes(schema, t, before, now)
	}
	return Text(look{Tick: t, Bytes: len(now), Layers: x.snapshot.Layers(), Texts: []string{}})
}

// draw draws the game's own picture.
func (x *screen) draw(s *lockstep.Simulation, seat int) {
	x.picture.Reset(seat)
	x.fault = ""
	if x.game.Draw == nil {
		return
	}
	defer func() {
		if v := recover(); v != nil { // the state may be corrupt
			x.fault = fmt.Sprintf("the game's Draw panicked: %v", v)
		} else if x.picture.Cut() {
			x.fault = "the picture is too large, and the rest of it is left out"
		}
	}()
	x.game.Draw(&x.picture, s)
}
