package desync

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

// An apartJob is the ticks that a process of its own computes again, each from the state before it.
type apartJob struct {
	Header *lockstep.Header
	First  lockstep.Tick // of States
	States [][]byte
	Frames []*lockstep.Frame // those with commands
	Assets map[string][]byte // by their SHA-256; only looked up
}

// An apartResult is what that process has found.
type apartResult struct {
	Partings []apartParting // at most maxPartings
	Error    string         // why there is nothing
}

type apartParting struct {
	Tick  lockstep.Tick
	Other []byte // nil if the rules failed
}

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
	if err := json.Unmarshal(job, &j); err != nil || j.Header == nil || len(j.States) == 0 {
		return nil, fmt.Errorf("desync: got no job: %w", err)
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
	x := &rerun{game: g, header: j.Header, first: j.First, end: j.First + lockstep.Tick(len(j.States)-1), states: j.States, frames: make(map[lockstep.Tick]*lockstep.Frame)}
	for _, f := range j.Frames {
		x.frames[f.Tick] = f
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

// apart lets a process of its own compute the ticks after the focus again, as [Options.Apart] says.
func (p *repeater) apart() {
	if p.computeApart == nil || len(p.partings) > 0 || p.first == p.end {
		return
	}
	after := min(p.focus, p.end-1)
	size := len(p.state(p.end))
	for t := p.end; t > after; t-- { // what fits, from the last tick back
		if size += len(p.state(t - 1)); size > maxApart && t < p.end {
			after = t
		}
	}
	p.partings, p.notApart = p.ticksApart(after, p.end)
	if p.doneApart = p.notApart == nil; p.doneApart {
		p.runs++
	}
}

// ticksApart lets a process of its own compute the ticks after a tick again.
func (p *repeater) ticksApart(after, to lockstep.Tick) ([]parting, error) {
	j := apartJob{Header: p.header, First: after, States: p.states[after-p.first : to+1-p.first]}
	for t := after + 1; t <= to; t++ {
		if f := p.frames[t]; f != nil {
			j.Frames = append(j.Frames, f)
		}
	}
	list, err := p.game.Assets(p.header)
	if err != nil {
		return nil, err
	}
	for _, a := range list {
		b, err := p.game.ReadAsset(a)
		if err != nil {
			return nil, err
		}
		if j.Assets == nil {
			j.Assets = make(map[string][]byte)
		}
		j.Assets[a.SHA256] = b
	}
	b, err := json.Marshal(&j)
	if err != nil {
		return nil, err
	}
	if b, err = p.computeApart(b); err != nil {
		return nil, err
	}
	var r apartResult
	if err := json.Unmarshal(b, &r); err != nil {
		return nil, fmt.Errorf("desync: another process: %w", err)
	}
	if r.Error != "" {
		return nil, errors.New(r.Error)
	}
	var all []parting
	for _, d := range r.Partings {
		if d.Tick <= after || d.Tick > to || d.Other != nil && p.game.StateSchema().Validate(d.Other) != nil {
			return nil, fmt.Errorf("desync: another process: got no state of a tick from %d to %d", after+1, to)
		}
		all = append(all, parting{tick: d.Tick, other: d.Other, apart: true})
	}
	return all, nil
}
