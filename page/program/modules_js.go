package program

import (
	"fmt"
	"syscall/js"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/module"
	"github.com/seed-49bee653/samestep/page/watch"
	"github.com/seed-49bee653/samestep/replay"
)

// rules adds the functions with which the program learns the rules of games.
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

// learn adds the game of a module.
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
