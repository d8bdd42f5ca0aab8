package program

import (
	"fmt"
	"slices"

	"github.com/seed-49bee653/samestep/page/watch"
	"github.com/seed-49bee653/samestep/replay"
)

// A stock has the games that a page can play: those of its program, and then those of modules, the latest first.
type stock []stocked

// A stocked game of a module is known by the sum of the module.
type stocked struct {
	Game
	sum    replay.RulesSum // of Module, if it has one
	inFile bool            // the module was in a replay
}

// is reports whether the game is that of the module with a sum.
func (g stocked) is(sum string) bool { return g.Module != nil && g.sum.String() == sum }

// maxModules is the number of modules in a stock. Older ones are fetched again when they are needed.
const maxModules = 8

// stockOf returns a stock of the games of a program.
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

// games returns the games for all matches.
func (s stock) games() (all []Game) {
	for _, g := range s {
		if !g.inFile {
			all = append(all, g.Game)
		}
	}
	return all
}

// known returns the games for replays.
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
