package program

import (
	"reflect"
	"runtime"
	"strings"

	"github.com/seed-49bee653/samestep/lockstep"
)

// A Maker makes a game of the program.
type Maker struct {
	Game func() (*lockstep.Game, error)
	Step func() Function // of its rules
}

// Of returns the Maker of the game of some rules.
func Of[S, C any](rules func() lockstep.Rules[S, C]) Maker {
	return Maker{
		Game: func() (*lockstep.Game, error) { return lockstep.NewGame(rules()) },
		Step: func() Function { return functionOf(rules().Step) },
	}
}

func functionOf(f any) Function {
	fn := runtime.FuncForPC(reflect.ValueOf(f).Pointer())
	file, line := fn.FileLine(fn.Entry())
	return Function{strings.TrimSuffix(fn.Name(), "-fm"), file, line} // -fm is the wrapper of a method value
}
