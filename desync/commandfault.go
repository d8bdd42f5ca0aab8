package desync

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/seed-49bee653/samestep/lockstep"
)

// A commandFault is a possible fault of one command.
type commandFault struct {
	kind CauseKind
	text string
	// vary returns the frames that change if the fault happens to command i of f, or nil if it cannot happen.
	vary func(s *search, f *lockstep.Frame, i int) map[lockstep.Tick]*lockstep.Frame
}

// commandFaults are the faults that trials try, the simplest first.
var commandFaults = []commandFault{
	{LostCommand, "a command did not run", func(_ *search, f *lockstep.Frame, i int) map[lockstep.Tick]*lockstep.Frame {
		return map[lockstep.Tick]*lockstep.Frame{f.Tick: without(f, i)}
	}},
	{DoubledCommand, "a command ran twice", func(_ *search, f *lockstep.Frame, i int) map[lockstep.Tick]*lockstep.Frame {
		return map[lockstep.Tick]*lockstep.Frame{f.Tick: doubled(f, i)}
	}},
	{SwappedOrder, "a command ran after the one that follows it", func(_ *search, f *lockstep.Frame, i int) map[lockstep.Tick]*lockstep.Frame {
		if i+1 == len(f.Commands) {
			return nil
		}
		return map[lockstep.Tick]*lockstep.Frame{f.Tick: swapped(f, i)}
	}},
	{MovedCommand, "a command ran one tick too late", moved(1)},
	{MovedCommand, "a command ran one tick too early", moved(-1)},
	{MovedCommand, "a command ran two ticks too late", moved(2)},
}

func moved(by int) func(s *search, f *lockstep.Frame, i int) map[lockstep.Tick]*lockstep.Frame {
	return func(s *search, f *lockstep.Frame, i int) map[lockstep.Tick]*lockstep.Frame {
		to := f.Tick + lockstep.Tick(by)
		if to <= s.good || to > s.bad {
			return nil
		}
		other := s.again.frame(to)
		return map[lockstep.Tick]*lockstep.Frame{f.Tick: without(f, i), to: with(&other, f.Commands[i])}
	}
}

// A hit is a fault of one command that leads to the wrong state.
type hit struct {
	fault   int // index in commandFaults
	first   lockstep.Tick
	command *lockstep.Command
	varied  variation
}

// commands tries all faults of single commands, backwards from the last tick, because later faults take fewer ticks to
// try. If several lead to the wrong state, the simplest and earliest is the cause, and the cause lists the others.
func (s *search) commands() error {
	var hits []hit
	err := s.commandHits(&hits)
	slices.SortStableFunc(hits, func(a, b hit) int { return cmp.Or(cmp.Compare(a.fault, b.fault), cmp.Compare(a.first, b.first)) })
	for _, h := range hits {
		command := s.describe(h.command)
		text := fmt.Sprintf("%s: tick %d, %s", commandFaults[h.fault].text, command.Tick, command.Text)
		if s.found == nil {
			s.found = &Cause{Kind: commandFaults[h.fault].kind, Text: text, Command: &command, When: Span{h.first, h.first}, fault: h.varied}
			continue
		}
		s.found.When = Span{min(s.found.When.From, h.first), max(s.found.When.To, h.first)}
		if len(s.found.Others) < maxOthers {
			s.found.Others = append(s.found.Others, text)
		}
	}
	return err
}

const maxOthers = 8

func (s *search) commandHits(hits *[]hit) error {
	for t := s.bad; t > s.good; t-- {
		f := s.again.frame(t)
		for i := range f.Commands {
			for k, fault := range commandFaults {
				frames := fault.vary(s, &f, i)
				if frames == nil {
					continue
				}
				v := variation{from: t - 1, frames: frames}
				if frames[t-1] != nil {
					v.from = t - 2
				}
				ok, err := s.fits(&v)
				if err != nil {
					return err
				}
				if !ok {
					continue
				}
				first, err := s.first(&v)
				if err != nil {
					return err
				}
				*hits = append(*hits, hit{k, first, &f.Commands[i], v})
			}
		}
	}
	return nil
}
