package watch

import (
	"bytes"
	"slices"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/record"
	"github.com/seed-49bee653/samestep/replay"
)

// A Known is a game whose rules a page has.
type Known struct {
	*lockstep.Game
	Sum    replay.RulesSum // of the module with the rules; zeros for rules of the program itself
	InFile bool            // the module was in a replay
}

// Fitting returns the games with which the match in a file may be watched: that of the module that the file names, or else those of
// the program. If it names none, those of all modules that were not in a replay fit, too.
func Fitting(file []byte, all ...Known) (games []*lockstep.Game) {
	r, h := beginning(file)
	if h == nil {
		r = nil
	}
	sum := sumOf(r)
	if sum != nil {
		for _, k := range all {
			if k.Sum == *sum {
				games = append(games, k.Game)
			}
		}
	}
	if len(games) > 0 {
		return games
	}
	for _, k := range all {
		if k.Sum == (replay.RulesSum{}) || sum == nil && !k.InFile {
			games = append(games, k.Game)
		}
	}
	return games
}

// A Need is a match whose rules are needed to watch its file.
type Need struct {
	Game   string `json:"game"`
	Build  string `json:"build"`
	Sum    string `json:"sum"`    // of the module with them, if the file names it
	Module bool   `json:"module"` // whether the file has them
}

// NeedOf returns what is needed to watch a file besides the games, or nil. It is nil of a file that [Open] refuses anyway.
func NeedOf(file []byte, all ...Known) *Need {
	r, h := beginning(file)
	if h == nil || h.Engine != lockstep.Engine || slices.ContainsFunc(Fitting(file, all...), func(g *lockstep.Game) bool { return g.CheckIdentity(h) == nil }) {
		return nil
	}
	n := &Need{Game: h.Game, Build: h.Build}
	if rules, err := r.Rules(); err == nil && rules != nil {
		n.Sum, n.Module = rules.Sum.String(), rules.SizeBytes > 0
	}
	return n
}

// ModuleOf returns the module of rules in a file, or nil.
func ModuleOf(file []byte) ([]byte, error) {
	r, h := beginning(file)
	if h == nil {
		return nil, nil
	}
	rules, err := r.Rules()
	if err != nil || rules == nil {
		return nil, err
	}
	return rules.Module()
}

// beginning returns a reader of the match in a file, and its header or nil.
func beginning(file []byte) (*replay.Reader, *lockstep.Header) {
	if isBundle(file) {
		b, err := replay.OpenBundle(bytes.NewReader(file), int64(len(file)))
		if err != nil {
			return nil, nil
		}
		if file, err = b.Replay(maxBundled); err != nil {
			return nil, nil
		}
	}
	r, err := replay.NewReader(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		return nil, nil
	}
	for first, err := range r.All() {
		if err != nil || first.Kind != record.KindHeader {
			break
		}
		h := *first.Header
		return r, &h
	}
	return nil, nil
}
