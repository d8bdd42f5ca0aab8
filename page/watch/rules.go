package watch

import (
	"bytes"
	"slices"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/record"
	"github.com/seed-49bee653/samestep/replay"
)

// A Need is a match whose rules are needed to watch its file.
type Need struct {
	Game   string `json:"game"`
	Build  string `json:"build"`
	Module bool   `json:"module"` // whether the file has them
}

// NeedOf returns what is needed to watch a file besides the games, or nil. It is nil of a file that [Open] refuses anyway.
func NeedOf(file []byte, games ...*lockstep.Game) *Need {
	r, h := beginning(file)
	if h == nil || h.Engine != lockstep.Engine || slices.ContainsFunc(games, func(g *lockstep.Game) bool { return g.CheckIdentity(h) == nil }) {
		return nil
	}
	rules, err := r.Rules()
	return &Need{Game: h.Game, Build: h.Build, Module: err == nil && rules != nil && rules.SizeBytes > 0}
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
