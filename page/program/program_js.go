package program

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"syscall/js"
	"time"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/player"
	"github.com/seed-49bee653/samestep/module"
	"github.com/seed-49bee653/samestep/page/canvas"
	"github.com/seed-49bee653/samestep/page/inspect"
	"github.com/seed-49bee653/samestep/page/live"
	"github.com/seed-49bee653/samestep/page/watch"
	"github.com/seed-49bee653/samestep/replay"
	"github.com/seed-49bee653/samestep/state"
)

type screen struct {
	games  stock
	game   *Game // of the match or replay
	match  *live.Match
	replay *watch.Viewer
	viewer *lockstep.Viewer // whose views of the replay are shown, or nil for its states

	snapshot inspect.Snapshot
	open     inspect.Open
	unfolded bool // the tree, at first
	picture  canvas.Canvas
	overlay  canvas.Canvas // over the picture: the selection and the preview
	header   *lockstep.Header
	fault    string // of the game's Draw
	misled   string // of the game's Input, which gets nothing more in this match
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
	x.input(f)
	f.Serve()
}

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

func (x *screen) begin(g *Game) {
	x.game, x.header, x.fault, x.misled = g, nil, "", ""
	if g.Input != nil {
		g.Input.Reset()
	}
	x.snapshot = inspect.Snapshot{}
	x.open.Clear()
	x.unfolded = false
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

type look struct {
	Tick   lockstep.Tick   `json:"tick"`
	Bytes  int             `json:"bytes"`
	Layers []inspect.Layer `json:"layers"`
	Drawn  bool            `json:"drawn"` // there is a picture
	Texts  []string        `json:"texts"` // of the picture
	Fault  string          `json:"fault"` // why the picture is not complete
	Keys   []string        `json:"keys"`  // that the game takes as input; null if it takes none, not even clicks

	Missing string `json:"missing,omitempty"` // why there is no state
}

func (x *screen) inspect(f Functions) {
	f["look"] = func(Arguments) any { return x.look() } // takes the state; JSON, or "" before there is one
	f["rows"] = func(a Arguments) any {                 // from, number
		if !x.unfolded && x.snapshot.SizeBytes() > 0 {
			x.unfolded = true
			x.snapshot.Unfold(&x.open)
		}
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

func (x *screen) look() any {
	taken := false
	take := func(before, now *lockstep.Simulation, h *lockstep.Header, seat int) {
		taken, x.header = true, h
		x.snapshot.Take(x.game.StateSchema(), before, now)
		x.draw(now, seat)
	}
	switch {
	case x.replay != nil && x.replay.Game() == nil:
		return x.lookAt(x.replay.Recorded())
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
			taken, x.header = true, &lockstep.Header{Settings: lockstep.Settings{Players: s.Players}, Commands: x.game.Commands()} // all that the page needs
			x.snapshot.TakeBytes(x.game.ViewSchema(), s.Tick, s.Previous, s.Current)
		})
	}
	if !taken {
		return ""
	}
	texts := append([]string{}, x.picture.Texts()...)
	drawn := x.game.Draw != nil && (x.match == nil || x.header.StateSchema != nil)
	l := look{Tick: x.snapshot.Tick(), Bytes: x.snapshot.SizeBytes(), Layers: x.snapshot.Layers(), Drawn: drawn, Texts: texts, Fault: cmp.Or(x.fault, x.misled)}
	if x.match != nil && x.header.StateSchema != nil && x.game.Input != nil {
		l.Keys = x.game.Input.Keys()
	}
	return Text(l)
}

func (x *screen) lookAs() any {
	before, now := x.replay.States()
	x.header = now.Header()
	a, err := before.AppendView(nil, *x.viewer)
	b, err2 := now.AppendView(nil, *x.viewer)
	return x.lookAt(a, b, x.game.ViewSchema(), cmp.Or(err, err2))
}

// lookAt looks at states of a replay, of which err says why there is none.
func (x *screen) lookAt(before, now []byte, schema *state.Schema, err error) any {
	l := look{Tick: x.replay.Tick(), Layers: []inspect.Layer{}, Texts: []string{}}
	if err != nil {
		x.snapshot = inspect.Snapshot{}
		l.Missing = err.Error()
		return Text(l)
	}
	x.snapshot.TakeBytes(schema, l.Tick, before, now)
	l.Bytes, l.Layers = len(now), x.snapshot.Layers()
	return Text(l)
}

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

// Arguments are those of a call from the page.
type Arguments []js.Value

// Int returns a number, truncated.
func (a Arguments) Int(i int) int64 { return int64(a[i].Float()) }

func (a Arguments) text(i int) string {
	if i >= len(a) {
		return ""
	}
	return a[i].String()
}

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

var scratch []byte

// Fill copies the bytes that f appends to an array of the page, and returns their number. If there is no room, it copies nothing.
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

const workTicks = 4

// Watch adds the functions of replays that do not depend on the game. The viewer is nil while no replay is open. Open opens
// a file and returns what the page is told, or an error; it is called with nil to close the replay.
func (f Functions) Watch(viewer func() *watch.Viewer, open func(file []byte) (any, error)) {
	f["watchOpen"] = func(a Arguments) any { // the file; JSON
		about, err := open(a.bytes(0))
		if err != nil {
			return Text(map[string]string{"error": err.Error()})
		}
		if v := viewer(); v != nil {
			v.Measure(time.Now)
		}
		return Text(about)
	}
	f["watchClose"] = func(Arguments) any { open(nil); return nil }
	f.When(func() bool { return viewer() != nil }, Functions{
		"watchCosts": func(a Arguments) any { // ticks that the page knows of; JSON, or null if no more were measured
			if c := viewer().Costs(int(a.Int(0))); c != nil {
				return Text(c)
			}
			return nil
		},
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

type usual struct {
	Form  inspect.Field   `json:"form"`
	Value json.RawMessage `json:"value"`
	Error string          `json:"error"` // why there is none, or ""
}

// Lobby adds the functions of the lobby. The first of several builds of a game counts.
func (f Functions) Lobby(games ...Game) { f.lobby(func() stock { return stockOf(games) }) }

func (f Functions) lobby(of func() stock) {
	f["games"] = func(Arguments) any { return string(List(of().games()...)) } // JSON
	f["configuration"] = func(a Arguments) any {                              // game, players, units (0: as usual), scenario, build, sum of its module (the last three may be left out); JSON
		scenario := a.text(3)
		g, problem := of().of(a[0].String(), a.text(4), a.text(5))
		if g == nil {
			return Text(usual{Error: problem})
		}
		u, err := g.usual(scenario, clamped[uint8](a.Int(1)), clamped[uint16](a.Int(2)))
		if err != nil {
			u.Error = err.Error()
		}
		return Text(u)
	}
}

func clamped[T uint8 | uint16](v int64) T { return T(min(max(v, 0), int64(^T(0)))) }

// usual returns the configuration of a usual match or a scenario of some players, and with some units if that is not 0.
func (g *Game) usual(scenario string, players uint8, units uint16) (u usual, err error) {
	defer func() {
		switch v := recover().(type) { // a game need not expect any number
		case nil:
		case runtime.Error:
			err = fmt.Errorf("the game's configuration panicked: %w", v)
		case error: // that the function returned, see tool.Config
			err = v
		default:
			err = fmt.Errorf("the game's configuration panicked: %v", v)
		}
	}()
	var text bytes.Buffer
	at := slices.IndexFunc(g.Scenarios, func(s Scenario) bool { return s.Name == scenario })
	switch {
	case scenario != "" && at < 0:
		err = fmt.Errorf("unknown scenario %q", scenario)
	case at >= 0:
		err = g.WriteConfig(&text, g.Scenarios[at].Config(players))
	case units > 0 && g.Sized != nil:
		err = g.WriteConfig(&text, g.Sized(players, units))
	case g.Config != nil:
		err = g.WriteConfig(&text, g.Config(players))
	default:
		var zero any
		if zero, err = g.ReadConfig([]byte("{}"), nil); err == nil {
			err = g.WriteConfig(&text, zero)
		}
	}
	return usual{Form: inspect.FieldOf(g.ConfigSchema()), Value: text.Bytes()}, err
}

func (x *screen) rules(f Functions) {
	f["knows"] = func(a Arguments) any { return x.games.has(a[0].String()) } // the sum of a module
	f["learn"] = func(a Arguments) any {                                     // a module's sum and its bytes; a promise of "" or why it is refused
		sum, b := a[0].String(), a.bytes(1)
		return promise(func() error {
			if got := replay.SumRules(b).String(); got != sum {
				return fmt.Errorf("got a module with SHA-256 %s, want %s", got, sum)
			}
			return x.learn(b, false)
		})
	}
	f["watchNeeds"] = func(a Arguments) any { return Text(watch.NeedOf(a.bytes(0), x.games.known()...)) } // a replay; JSON, null for nothing
	f["watchLearn"] = func(a Arguments) any {                                                             // a replay with a module; as learn
		file := a.bytes(0)
		return promise(func() error {
			b, err := watch.ModuleOf(file)
			if err != nil {
				return err
			}
			return x.learn(b, true)
		})
	}
}

func (x *screen) learn(b []byte, inFile bool) error {
	rules, err := module.Compile(b, module.Options{})
	if err != nil {
		return err
	}
	g, err := lockstep.NewGameElsewhere(rules)
	if err != nil {
		return err
	}
	x.games = x.games.add(Game{Game: g, Config: UsualOf(rules, g), Module: b}, inFile)
	return nil
}

// promise returns a promise of the text of f's error, or of "". f may wait for the browser.
func promise(f func() error) js.Value {
	begin := js.FuncOf(func(_ js.Value, settle []js.Value) any {
		go func() {
			text := ""
			if err := f(); err != nil {
				text = err.Error()
			}
			settle[0].Invoke(text)
		}()
		return nil
	})
	defer begin.Release() // the promise has called it
	return js.Global().Get("Promise").New(begin)
}
