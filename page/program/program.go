// Package program is the program of a page: any game, compiled to WebAssembly (GOOS=js GOARCH=wasm). It joins matches, plays
// replays, and answers the calls of the page's modules.
//
// [Run] is the whole program of the inspector page. A page of a game's own makes its own functions, and takes those of
// the lobby and of replays from [Functions.Lobby] and [Functions.Watch].
//
// A site lists its games in a file games.json, and has the modules of those that the program is built without: [Files] returns
// both. The page fetches a module when a match, a replay or the lobby's form needs it, and [Run] plays its game like its own. A replay may have its
// module in its file.
package program

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/abi"
	"github.com/seed-49bee653/samestep/lockstep/record"
	"github.com/seed-49bee653/samestep/page/canvas"
	"github.com/seed-49bee653/samestep/page/input"
	"github.com/seed-49bee653/samestep/page/watch"
	"github.com/seed-49bee653/samestep/replay"
)

// A Game is a game of the page.
type Game struct {
	*lockstep.Game

	// Draw draws a state, which it must not change. Nil shows a map of the state's places instead.
	Draw func(c *canvas.Canvas, s *lockstep.Simulation)

	// Input turns clicks and keys on the picture or the map into commands. Nil: the page has only its forms.
	Input *Input

	// Config returns a pointer to the configuration of a usual match, which the lobby changes. Nil is the zero configuration.
	Config func(players uint8) any
	// Sized does the same for a match with some units. Nil: the game has no number of units.
	Sized func(players uint8, units uint16) any

	// Module has the rules of a game that the program is built without. The page fetches it. Nil: the program has the rules.
	Module []byte

	Bots      []string   // the names of its bots, the usual one first; none if there is nothing to choose
	Scenarios []Scenario // that the lobby offers besides a usual match
	Paced     bool       // its ticks have a length of their own, which the lobby does not name
}

// An Input is the controller of a game's handler, and takes the state for it from a simulation.
type Input struct {
	*input.Controller
	world func(s *lockstep.Simulation) any
}

// NewInput returns the input of a game with state S.
func NewInput[S any](h input.Handler[S]) *Input {
	return &Input{input.New(h), func(s *lockstep.Simulation) any { return lockstep.World[S](s) }}
}

// A Scenario is a configuration with a name, such as a map.
type Scenario struct {
	Name    string                  `json:"name"`
	Players int                     `json:"players"` // at most, 0: as many as the game allows
	Config  func(players uint8) any `json:"-"`       // returns a pointer to the configuration
}

type listed struct {
	Name  string `json:"name"`
	Build string `json:"build"` // of new matches
	Sized bool   `json:"sized"` // whether a number of units chooses the size of a match
	Paced bool   `json:"paced,omitempty"`

	Bots      []string   `json:"bots"` // names, the usual one first
	Scenarios []Scenario `json:"scenarios"`

	Rules []listedModule `json:"rules,omitempty"` // the modules with its rules
}

type listedModule struct {
	Build string      `json:"build"`
	Sum   replay.Hash `json:"sum"` // the module is in rules/SUM.wasm, relative to the list
}

const gamesFile = "games.json"

// Files returns the files of a site that depend on its games: the list, and the modules of rules.
func Files(games ...Game) map[string][]byte {
	files := map[string][]byte{gamesFile: List(games...)}
	for _, g := range games {
		if g.Module != nil {
			files["rules/"+replay.SumRules(g.Module).String()+".wasm"] = g.Module
		}
	}
	return files
}

// List returns what the lobby is told of the games, as JSON: the file games.json of a site. The first of several builds of a game counts.
func List(games ...Game) []byte {
	list := []*listed{}
	for _, g := range games {
		at := slices.IndexFunc(list, func(l *listed) bool { return l.Name == g.Name() })
		if at < 0 {
			at = len(list)
			list = append(list, &listed{
				Name: g.Name(), Build: g.Build(), Sized: g.Sized != nil, Paced: g.Paced, Bots: append([]string{}, g.Bots...), Scenarios: append([]Scenario{}, g.Scenarios...),
			})
		}
		if g.Module != nil {
			list[at].Rules = append(list[at].Rules, listedModule{g.Build(), replay.SumRules(g.Module)})
		}
	}
	b, err := json.Marshal(list)
	if err != nil {
		panic(err) // names and flags
	}
	return b
}

// A stock has the games that a page can play: those of its program, and then those of modules, the latest first.
type stock []stocked

// A stocked game of a module is known by the sum of the module.
type stocked struct {
	Game
	sum    replay.Hash // of Module, if it has one
	inFile bool        // the module was in a replay
}

func (g stocked) is(sum string) bool { return g.Module != nil && g.sum.String() == sum }

// maxModules is the number of modules in a stock. Older ones are fetched again when they are needed.
const maxModules = 8

func stockOf(games []Game) (s stock) {
	for _, g := range games {
		s = append(s, stocked{Game: g})
	}
	return s
}

// add returns the stock with the game of a module. A module in a replay replaces that in another one.
func (s stock) add(g Game, inFile bool) stock {
	now := stocked{g, replay.SumRules(g.Module), inFile && !s.has(replay.SumRules(g.Module).String())}
	s = slices.DeleteFunc(slices.Clone(s), func(old stocked) bool {
		return old.Module != nil && (old.sum == now.sum || now.inFile && old.inFile)
	})
	first := slices.IndexFunc(s, func(old stocked) bool { return old.Module != nil })
	if first < 0 {
		first = len(s)
	}
	s = slices.Insert(s, first, now)
	return s[:min(len(s), first+maxModules)]
}

// has reports whether the stock has the module with a sum for all matches, and not only for those that name it.
func (s stock) has(sum string) bool {
	return slices.ContainsFunc(s, func(g stocked) bool { return g.is(sum) && !g.inFile })
}

func (s stock) games() (all []Game) {
	for _, g := range s {
		if !g.inFile {
			all = append(all, g.Game)
		}
	}
	return all
}

func (s stock) known() (all []watch.Known) {
	for _, g := range s {
		all = append(all, watch.Known{Game: g.Game.Game, Sum: g.sum, InFile: g.inFile})
	}
	return all
}

// of returns the game of a build, which may be "" for any, or why there is none. If a sum is known, the game is that of the module
// with the sum, and no other. Without one, it is none of a module in a replay.
func (s stock) of(name, build, sum string) (*Game, string) {
	at := slices.IndexFunc(s, func(g stocked) bool {
		if sum != "" {
			return g.is(sum)
		}
		return !g.inFile && g.Name() == name && (build == "" || g.Build() == build)
	})
	switch {
	case at < 0 && sum != "":
		return nil, fmt.Sprintf("This page does not have the module with SHA-256 %s.", sum)
	case at < 0:
		return nil, fmt.Sprintf("This page is not of the game %q.", name)
	case s[at].Name() != name || build != "" && s[at].Build() != build:
		return nil, fmt.Sprintf("The module has the rules of %s build %s, want %s build %s.", s[at].Name(), s[at].Build(), name, build)
	}
	return &s[at].Game, ""
}

// UsualOf returns a function for the configuration that rules elsewhere give for some players, which is the zero value if they have none.
func UsualOf(m abi.Machine, g *lockstep.Game) func(players uint8) any {
	return func(players uint8) any {
		if one, err := m.New(); err == nil {
			defer one.Close()
			if b, err := one.Call(abi.Usual, []byte{players}); err == nil && g.ConfigSchema().Validate(b) == nil {
				return &record.Untyped{Canonical: slices.Clone(b)}
			}
		}
		zero, err := g.ReadConfig([]byte("{}"), nil)
		if err != nil {
			panic(err) // which an empty object cannot cause
		}
		return zero
	}
}
