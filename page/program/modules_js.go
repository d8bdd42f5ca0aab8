package program

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"syscall/js"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/module"
)

// modules returns the games whose modules the page has fetched, as program.js gives them. It waits for the browser. A module
// that does not become a game is left out, and the console says why.
func modules() (all []Game) {
	list := js.Global().Get("samestepRules")
	if list.Type() != js.TypeObject {
		return nil
	}
	for n := range list.Length() {
		file, content := list.Index(n).Get("file").String(), list.Index(n).Get("content")
		b := make([]byte, content.Length())
		js.CopyBytesToGo(b, content)
		g, err := ofModule(file, b)
		if err != nil {
			js.Global().Get("console").Call("error", file+": "+err.Error())
			continue
		}
		all = append(all, g)
	}
	js.Global().Delete("samestepRules") // frees the bytes
	return all
}

// ofModule returns the game of a module, which is what its file says.
func ofModule(file string, b []byte) (Game, error) {
	if got := rulesFile(sha256.Sum256(b)); got != file {
		return Game{}, fmt.Errorf("program: the module: got %s, want %s", got, file)
	}
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

// joined returns the games of modules, and those of the program that they do not replace.
func joined(modules, own []Game) []Game {
	all := slices.Clone(modules)
	for _, g := range own {
		if !slices.ContainsFunc(modules, func(m Game) bool { return m.Name() == g.Name() && m.Build() == g.Build() }) {
			all = append(all, g)
		}
	}
	return all
}
