//go:build !js

package tool

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/gameset"
	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/serving"
	"github.com/seed-49bee653/samestep/kit/locksteptest"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/page/canvas"
	"github.com/seed-49bee653/samestep/page/input"
	"github.com/seed-49bee653/samestep/server"
	"github.com/seed-49bee653/samestep/state"
)

// A Game is a game that a program can host, play and verify. [New] makes one.
type Game struct {
	game *gameset.Playable
	err  error // of the rules or the options
}

// An Option is a part of a game that its rules don't have.
type Option func(*gameset.Playable) error

// New returns the game of some rules. [Main] reports an error of the rules or the options.
//
// Without [Bot], seats without a person give random commands. Without [Config], a match has the zero configuration, or that
// of --config.
func New[S, C any](rules lockstep.Rules[S, C], options ...Option) Game {
	p, err := gameset.New(rules)
	if err != nil {
		return Game{err: err}
	}
	for _, o := range options {
		if err := o(p); err != nil {
			return Game{err: fmt.Errorf("game %s: %w", p.Name(), err)}
		}
	}
	return Game{game: p}
}

// Bot lets bots of maker play in seats without a person. A bot looks at the state of its match and returns commands as
// pointers to their registered types, valid until the next call. Equal seeds must give equal bots.
func Bot(maker func(p lockstep.Player, seed uint64) lockstep.Bot) Option {
	return func(p *gameset.Playable) error {
		p.Maker = maker
		return nil
	}
}

// ViewBot is [Bot] for bots that see only what their player sees: maker returns a function that looks at the view of the seat, of the type V of
// [lockstep.View]. Such bots also play where a client gets views only, see docs/bots.md.
func ViewBot[V any](maker func(p lockstep.Player, seed uint64) func(view *V) []any) Option {
	return func(p *gameset.Playable) error {
		codec, err := state.Compile[V]()
		if err != nil {
			return fmt.Errorf("tool.ViewBot: %w", err)
		}
		game := p.Game
		if err := lockstep.DecodeView(game, codec.Append(nil, new(V)), new(V)); err != nil {
			return fmt.Errorf("tool.ViewBot: %w", err)
		}
		p.Looks = func(p lockstep.Player, seed uint64) func([]byte) []any {
			play, view := maker(p, seed), new(V)
			return func(b []byte) []any {
				if lockstep.DecodeView(game, b, view) != nil {
					return nil // of another build's view
				}
				return play(view)
			}
		}
		looks := p.Looks
		p.Maker = func(p lockstep.Player, seed uint64) lockstep.Bot {
			play, view := looks(p, seed), []byte(nil)
			return func(s *lockstep.Simulation) []any {
				var err error
				if view, err = s.AppendView(view[:0], s.ViewerOf(p)); err != nil {
					return nil // this player sees nothing
				}
				return play(view)
			}
		}
		return nil
	}
}

// Score gives gym its rewards: the reward of a player in a step is by how much its score has changed. score reads a state, and the result
// of the match, which is nil before the end.
func Score[S, R any](score func(world *S, result *R, p lockstep.Player) int) Option {
	return func(p *gameset.Playable) error {
		if got := reflect.TypeFor[S](); got != p.World {
			return fmt.Errorf("tool.Score: got a function for the state %v, want %v", got, p.World)
		}
		codec, err := state.Compile[R]()
		if err != nil {
			return fmt.Errorf("tool.Score: %w", err)
		}
		if zero, err := p.DecodeResult(codec.Append(nil, new(R))); err != nil || zero != nil && reflect.TypeOf(zero) != reflect.TypeFor[*R]() {
			return fmt.Errorf("tool.Score: got a function for the result %v, which is not that of Rules.Result", reflect.TypeFor[R]())
		}
		p.Score = func(world, result any, p lockstep.Player) int {
			r, _ := result.(*R)
			return score(world.(*S), r, p)
		}
		return nil
	}
}

// Config sets the configuration of a usual match of some players. The flag --config overrides fields of it. usual is a
// func(players int) C or a func(players int) (C, error), where C is the type of the game's configuration. Its error, or a panic, says
// that there is no such match.
func Config(usual any) Option {
	return func(p *gameset.Playable) error {
		config, err := configOf(usual, 1, p.ConfigType)
		if err != nil {
			return fmt.Errorf("tool.Config: %w", err)
		}
		p.Usual = func(players uint8) any { return config(int(players)) }
		return nil
	}
}

// Units lets the field Units of the configuration choose the size of a match, as --config does with {"Units": 300}: sized returns the
// configuration of a match with about as many units. It is for games in which several fields follow from this one. sized is a
// func(players, units int) C, and may return an error, as that of [Config].
func Units(sized any) Option {
	return func(p *gameset.Playable) error {
		config, err := configOf(sized, 2, p.ConfigType)
		if err != nil {
			return fmt.Errorf("tool.Units: %w", err)
		}
		if f, ok := p.ConfigType.Elem().FieldByName(gameset.UnitsField); !ok || f.Type.Kind() < reflect.Int || f.Type.Kind() > reflect.Uint64 {
			return fmt.Errorf("tool.Units: got a configuration without a whole number %s, want one with it", gameset.UnitsField)
		}
		p.Sized = func(players uint8, units uint16) any { return config(int(players), int(units)) }
		return nil
	}
}

// Tick sets how long a tick of a usual match lasts, 1 ms to a minute, such as 2 s for a game of slow turns: that of its server, its demo and
// its page, unless whoever begins a match says otherwise. Without it, 50 ms.
func Tick(period time.Duration) Option {
	return func(p *gameset.Playable) error {
		s := lockstep.Settings{Players: 1, TickMicros: uint32(min(max(0, period.Microseconds()), math.MaxUint32)), CheckEvery: 1}
		if err := s.Check(); err != nil || period%time.Microsecond != 0 {
			return fmt.Errorf("tool.Tick: got %v, want a time of whole microseconds, 1ms to 1m0s", period)
		}
		p.Tick = s.TickMicros
		return nil
	}
}

// Page serves the files of a page on which the game is played. programs has the import paths of its WebAssembly programs by
// name: NAME.wasm is built from each.
func Page(files func() fs.FS, programs map[string]string) Option {
	return func(p *gameset.Playable) error {
		p.Page = &gameset.WebPage{Files: files, Programs: programs}
		return nil
	}
}

// Source says how the Go tests that fuzz writes refer to the game. Without it, they call the function that makes the rules
// without arguments, or Rules in the package of the state. A game whose rules need arguments says it.
func Source(s locksteptest.Source) Option {
	return func(p *gameset.Playable) error {
		if s.Package == "" || s.Path == "" || s.Game == "" {
			return fmt.Errorf("tool.Source: got %+v, want Package, Path and Game", s)
		}
		p.Source = s
		return nil
	}
}

// Floor sets the least that the matches of fuzz, golden and simulate must reach: the ticks of one match, and of all together the
// percentages of the kinds of commands and of the state's fields, as in locksteptest.Floor.
func Floor(ticks, kinds, fields int) Option {
	return func(p *gameset.Playable) error {
		p.Floor = locksteptest.Floor{Ticks: ticks, Kinds: kinds, Fields: fields}
		if kinds > 100 || fields > 100 {
			return fmt.Errorf("tool.Floor: got %d %% of the kinds and %d %% of the fields, want at most 100", kinds, fields)
		}
		return nil
	}
}

// Compat lets serve, with the key compat, also speak another wire, for clients that were not written for this engine: bridge makes the
// handler of WebSockets that do not offer our subprotocol; see [server.Server.HandleOtherSockets]. Matches have the usual settings of that
// wire: its tick rate, unless a flag says otherwise, and its intervals of checksums and keyframes.
func Compat(usual lockstep.Settings, bridge func(*server.Server, gameset.CompatOptions) http.Handler) Option {
	return func(p *gameset.Playable) error {
		usual.Players = 1
		if err := usual.Check(); err != nil {
			return fmt.Errorf("tool.Compat: %w", err)
		}
		p.Compat = &gameset.OtherWire{Usual: usual, Bridge: bridge}
		return nil
	}
}

// NamedBot is [Bot] for a game with several: a server's setting bot, or the one who creates a match, chooses one by its name.
// The first is the usual one, unless [Bot] says otherwise.
func NamedBot(name string, maker func(p lockstep.Player, seed uint64) lockstep.Bot) Option {
	return func(p *gameset.Playable) error {
		if err := checkChoice(p.Opponents, name); err != nil {
			return fmt.Errorf("tool.NamedBot: %w", err)
		}
		p.Opponents = append(p.Opponents, gameset.Choice{Name: name, Maker: maker})
		if p.Maker == nil {
			p.Maker = maker
		}
		return nil
	}
}

// Scenario adds a configuration, such as a map or the size of the armies, that the setting scenario or the one who creates a
// match chooses by its name. seats is the largest number of players, or 0 if the game knows. usual is as that of [Config].
func Scenario(name string, seats int, usual any) Option {
	return func(p *gameset.Playable) error {
		config, err := configOf(usual, 1, p.ConfigType)
		if err != nil {
			return fmt.Errorf("tool.Scenario: %w", err)
		}
		if err := checkChoice(p.Scenarios, name); err != nil {
			return fmt.Errorf("tool.Scenario: %w", err)
		}
		p.Scenarios = append(p.Scenarios, gameset.Choice{Name: name, Seats: seats, Usual: func(players uint8) any { return config(int(players)) }})
		return nil
	}
}

func checkChoice(list []gameset.Choice, name string) error {
	if name == "" || strings.ContainsAny(name, " \t\n=") || slices.ContainsFunc(list, func(c gameset.Choice) bool { return c.Name == name }) {
		return fmt.Errorf("got the name %q, want another one, without spaces", name)
	}
	return nil
}

// Assets brings assets with the program, such as maps that it embeds. read is like that of [lockstep.Game.WithAssets]. A
// program also has the assets of the folder of --assets.
func Assets(read func(lockstep.Asset) ([]byte, error)) Option {
	return func(p *gameset.Playable) error {
		if !p.HasAssets() {
			return errors.New("tool.Assets: the rules have no Assets")
		}
		p.Game = p.WithAssets(guardedRead(read))
		return nil
	}
}

// Draw shows a picture of the game's own on its page, above which the page shows nothing else at first. draw draws a state,
// which it must not change. Without Draw, the page has a map of everything in the state that has a place: each struct of
// two integers X and Y, such as a fixed.Vec2.
func Draw[S any](draw func(c *canvas.Canvas, world *S)) Option {
	return func(p *gameset.Playable) error {
		if got := reflect.TypeFor[S](); draw != nil && got != p.World {
			return fmt.Errorf("tool.Draw: got a function for the state %v, want %v", got, p.World)
		}
		return nil // only the page draws: see main_js.go
	}
}

// Input lets the player of the game's page click, drag and press keys on its picture or map, which become commands: see package
// [input]. Without it, the page has only a form for each kind of command. It needs the state, so a match sent as views has the forms.
func Input[S any](handler input.Handler[S]) Option {
	return func(p *gameset.Playable) error {
		if got := reflect.TypeFor[S](); got != p.World {
			return fmt.Errorf("tool.Input: got a handler for the state %v, want %v", got, p.World)
		}
		return nil // only the page has a mouse: see main_js.go
	}
}

// Programs gives a program the WebAssembly of its pages, which the verb pack has written into a folder. Then it needs neither its
// sources nor the go command. files is the folder, or has it as its only one. Call it before [Main], in a file that only
// release builds compile, as the page's program must not embed itself:
//
//	//go:build release
//
//	package main
//
//	//go:embed wasm
//	var wasm embed.FS
//
//	func init() { tool.Programs(wasm) }
func Programs(files fs.FS) { serving.Built = files }

// CompatOptions are what serve gives to the handler of [Compat], from its flags.
type CompatOptions = gameset.CompatOptions
