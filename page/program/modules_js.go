package program

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"syscall/js"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/module"
	"github.com/seed-49bee653/samestep/page/watch"
	"github.com/seed-49bee653/samestep/replay"
)

// rules adds the functions with which the program learns the rules of games.
func (x *screen) rules(f Functions) {
	f["learn"] = func(a Arguments) any { // a module's file and its bytes; a promise of "" or why it is refused
		file, b := a[0].String(), a.bytes(1)
		return promise(func() any {
			if got := rulesFile(sha256.Sum256(b)); got != file {
				return fmt.Sprintf("program: the module: got %s, want %s", got, file)
			}
			g, err := ofModule(b)
			if err != nil {
				return err.Error()
			}
			x.games = joined(g, x.games)
			return ""
		})
	}
	f["watchNeeds"] = func(a Arguments) any { return Text(watch.NeedOf(a.bytes(0), x.known()...)) } // a replay; JSON, null for nothing
	f["watchLearn"] = func(a Arguments) any {                                                       // a replay with a module; as learn
		file := a.bytes(0)
		return promise(func() any {
			b, err := watch.ModuleOf(file)
			if err != nil {
				return err.Error()
			}
			g, err := ofModule(b)
			if err != nil {
				return err.Error()
			}
			x.loaded = &g // it replaces that of another replay
			return ""
		})
	}
}

// all returns the games, and that of the module in a replay.
func (x *screen) all() []Game {
	if x.loaded == nil {
		return x.games
	}
	return append(slices.Clip(x.games), *x.loaded)
}

// known returns all games with the sums of their modules.
func (x *screen) known() (all []watch.Known) {
	for i, g := range x.all() {
		k := watch.Known{Game: g.Game, InFile: i == len(x.games)}
		if g.Module != nil {
			k.Sum = replay.SumRules(g.Module)
		}
		all = append(all, k)
	}
	return all
}

// promise returns a promise of what f returns, which may wait for the browser.
func promise(f func() any) js.Value {
	begin := js.FuncOf(func(_ js.Value, settle []js.Value) any {
		go func() { settle[0].Invoke(f()) }()
		return nil
	})
	defer begin.Release() // the promise has called it
	return js.Global().Get("Promise").New(begin)
}

// ofModule returns the game of a module.
func ofModule(b []byte) (Game, error) {
	rules, err := module.Compile(b, module.Options{})
	if err != nil {
		return Game{}, err
	}
	g, err := lockstep.NewGameElsewhere(rules)
	if err != nil {
		return Game{}, err
	}
	return Game{Game: g, Config: UsualOf(rules, g), Module: b}, nil
}

// joined returns the game of a module before the games that it does not replace.
func joined(g Game, games []Game) []Game {
	all := []Game{g}
	for _, other := range games {
		if other.Name() != g.Name() || other.Build() != g.Build() {
			all = append(all, other)
		}
	}
	return all
}
