package desync

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

// ComputeApart computes the ticks of a job of [Options.Apart] again, with the game that fits it, and returns its result. New of the rules
// is not called: what it leaves outside of the state is in no other machine that has got the state.
func ComputeApart(job []byte, game func(*lockstep.Header) (*lockstep.Game, error)) []byte {
	result, err := computeApart(job, game)
	if err != nil {
		result = &apartResult{Error: err.Error()}
	}
	b, err := json.Marshal(result)
	if err != nil {
		panic(err) // cannot happen: it is plain data
	}
	return b
}

func computeApart(job []byte, game func(*lockstep.Header) (*lockstep.Game, error)) (*apartResult, error) {
	var j apartJob
	if err := json.Unmarshal(job, &j); err != nil {
		return nil, fmt.Errorf("desync: got no job: %w", err)
	}
	if j.Header == nil || len(j.States) == 0 {
		return nil, errors.New("desync: got a job without a header or states")
	}
	g, err := game(j.Header)
	if err != nil {
		return nil, err
	}
	if g.HasAssets() {
		g = g.WithAssets(func(a lockstep.Asset) ([]byte, error) {
			if b, ok := j.Assets[a.SHA256]; ok {
				return b, nil
			}
			return nil, record.ErrNoAsset
		})
	}
	x := &rerun{game: g, header: j.Header, first: j.First, kept: j.First, end: j.First + lockstep.Tick(len(j.States)-1), states: j.States, frames: make(map[lockstep.Tick]*lockstep.Frame)}
	for _, c := range j.Commands {
		f := x.frame(c.Tick)
		f.Commands = append(f.Commands, lockstep.Command{Tick: c.Tick, Player: c.Player, Sequence: c.Sequence, Kind: c.Kind, Payload: c.Payload})
		x.frames[c.Tick] = &f
	}
	s, err := g.AwaitState(j.Header)
	if err != nil {
		return nil, err
	}
	p := &repeater{rerun: x, focus: x.first}
	p.run(s, x.first)
	r := &apartResult{}
	for _, d := range p.partings {
		r.Partings = append(r.Partings, apartParting{d.tick, d.other})
	}
	return r, nil
}
