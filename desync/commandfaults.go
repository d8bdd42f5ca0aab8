package desync

import (
	"fmt"
	"slices"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/record"
	"github.com/seed-49bee653/samestep/state"
)

// eachCommand calls try for all commands that may have begun the difference.
func (s *search) eachCommand(try func(f *lockstep.Frame, i int) error) error {
	return s.commandsAfter(s.good, s.bad, try)
}

// commandsAfter calls try for all commands after a tick, backwards from the last tick, because later faults take fewer ticks
// to try.
func (s *search) commandsAfter(tick, last lockstep.Tick, try func(f *lockstep.Frame, i int) error) error {
	for t := last; t > tick; t-- {
		f := s.again.frame(t)
		for i := range f.Commands {
			if err := try(&f, i); err != nil {
				return err
			}
		}
	}
	return nil
}

// commands tries faults of single commands, the simplest faults first.
func (s *search) commands() error {
	if err := s.eachCommand(s.command); err != nil {
		return err
	}
	for by := lockstep.Tick(1); by <= record.MaxInputDelay && by < s.last-s.since; by++ {
		if err := s.commandsAfter(s.since, s.last, func(f *lockstep.Frame, i int) error { return s.moved(f, i, by) }); err != nil {
			return err
		}
	}
	return nil
}

// command tries to lose or to double command i of a frame, and to run it after those that follow it.
func (s *search) command(f *lockstep.Frame, i int) error {
	one := func(kind CauseKind, rank int, what string, frame *lockstep.Frame) error {
		return s.ofCommand(&f.Commands[i], kind, rank, what, frame)
	}
	if err := one(LostCommand, rankLost, fmt.Sprintf("a command did not run up to tick %d", s.last), without(f, i)); err != nil {
		return err
	}
	if err := one(DoubledCommand, rankDoubled, "a command ran twice", doubled(f, i)); err != nil {
		return err
	}
	for j := i + 1; j < len(f.Commands); j++ {
		what := "a command ran after the one that follows it"
		if j > i+1 {
			what = fmt.Sprintf("a command ran after the %d that follow it", j-i)
		}
		if err := one(SwappedOrder, rankSwapped, what, later(f, i, j)); err != nil {
			return err
		}
	}
	return nil
}

// ofCommand tries a fault of one command.
func (s *search) ofCommand(c *lockstep.Command, kind CauseKind, rank int, what string, frames ...*lockstep.Frame) error {
	return s.try(framed(frames...), func() *Cause {
		command := s.describe(c)
		return &Cause{Kind: kind, rank: rank, Command: &command, Text: fmt.Sprintf("%s: tick %d, %s", what, command.Tick, command.Text)}
	})
}

func framed(frames ...*lockstep.Frame) variation {
	v := variation{from: frames[0].Tick, frames: make(map[lockstep.Tick]*lockstep.Frame)}
	for _, f := range frames {
		v.from = min(v.from, f.Tick)
		v.frames[f.Tick] = f
	}
	v.from--
	return v
}

// later returns a frame in which command i runs after command j.
func later(f *lockstep.Frame, i, j int) *lockstep.Frame {
	all := slices.Clone(f.Commands)
	c := all[i]
	copy(all[i:j], all[i+1:j+1])
	all[j] = c
	return &lockstep.Frame{Tick: f.Tick, Commands: all}
}

// moved tries to let a command run later, and earlier, by some ticks.
func (s *search) moved(f *lockstep.Frame, i int, by lockstep.Tick) error {
	for _, d := range []struct {
		ok   bool
		to   lockstep.Tick
		word string
		rank int
	}{{f.Tick <= s.bad && f.Tick+by <= s.last, f.Tick + by, "late", rankMoved + 2*int(by)}, {f.Tick > s.good+by && f.Tick-by <= s.bad, f.Tick - by, "early", rankEarly + int(by)}} {
		if !d.ok {
			continue
		}
		other := s.again.frame(d.to)
		what := fmt.Sprintf("a command ran %s too %s", tickCount(by), d.word)
		if err := s.ofCommand(&f.Commands[i], MovedCommand, d.rank, what, without(f, i), with(&other, f.Commands[i])); err != nil {
			return err
		}
	}
	return nil
}

func tickCount(n lockstep.Tick) string {
	if n == 1 {
		return "one tick"
	}
	return fmt.Sprintf("%d ticks", n)
}

// ticks tries faults of all commands of a tick, and of all of one player in it.
func (s *search) ticks() error {
	for t := s.bad; t > s.since; t-- {
		f := s.again.frame(t)
		if len(f.Commands) < 2 {
			continue // a fault of a command
		}
		reversed := slices.Clone(f.Commands)
		slices.Reverse(reversed)
		if err := s.ofTick(t, SwappedOrder, "the commands of tick %d ran in reverse order", framed(&lockstep.Frame{Tick: t, Commands: reversed})); err != nil {
			return err
		}
		for _, who := range append([]int{-1}, severalOf(&f)...) {
			if err := s.partOf(&f, who); err != nil {
				return err
			}
		}
	}
	return nil
}

// severalOf returns the players with several commands in a frame, but not if all are of one player.
func severalOf(f *lockstep.Frame) (all []int) {
	for i := 1; i < len(f.Commands); i++ {
		if p := int(f.Commands[i].Player); p == int(f.Commands[i-1].Player) && !slices.Contains(all, p) {
			all = append(all, p)
		}
	}
	if f.Commands[0].Player == f.Commands[len(f.Commands)-1].Player {
		return nil
	}
	return all
}

// partOf tries faults of all commands of a player in a tick; -1: of all players. Each of the commands must matter.
func (s *search) partOf(f *lockstep.Frame, who int) error {
	of := ""
	if who >= 0 {
		of = fmt.Sprintf(" of player %d", who)
	}
	rest := &lockstep.Frame{Tick: f.Tick}
	var part []lockstep.Command
	for _, c := range f.Commands {
		if who < 0 || int(c.Player) == who {
			part = append(part, c)
		} else {
			rest.Commands = append(rest.Commands, c)
		}
	}
	near := func(late *lockstep.Frame) func() []variation { // one of them ran in time
		return func() (all []variation) {
			for i, one := range part {
				frames := []*lockstep.Frame{with(rest, one)}
				if late != nil {
					frames = append(frames, with(late, slices.Delete(slices.Clone(part), i, i+1)...))
				}
				all = append(all, framed(frames...))
			}
			return all
		}
	}
	lost := framed(rest)
	lost.near = near(nil)
	if slices.ContainsFunc(part, func(c lockstep.Command) bool { return c.Kind != part[0].Kind }) { // else a mistake in the rule of the kind does the same
		if err := s.ofTick(f.Tick, LostTick, "the commands"+of+" of tick %d did not run", lost); err != nil {
			return err
		}
	}
	for by := lockstep.Tick(1); by <= record.MaxInputDelay && f.Tick+by <= s.last; by++ {
		other := s.again.frame(f.Tick + by)
		text := fmt.Sprintf("the commands%s of tick %%d ran %s too late", of, tickCount(by))
		moved := framed(rest, with(&other, part...))
		moved.near = near(&other)
		if err := s.ofTick(f.Tick, MovedTick, text, moved); err != nil {
			return err
		}
	}
	return nil
}

func (s *search) ofTick(t lockstep.Tick, kind CauseKind, text string, v variation) error {
	return s.try(v, func() *Cause {
		rank := map[CauseKind]int{SwappedOrder: rankSwapped, LostTick: rankTick, MovedTick: rankMovedTick}[kind]
		return &Cause{Kind: kind, rank: rank, Text: fmt.Sprintf(text, t)}
	})
}

// players tries each command as one of another player.
func (s *search) players() error {
	seats := lockstep.Player(s.again.header.Settings.Players)
	return s.eachCommand(func(f *lockstep.Frame, i int) error {
		c := f.Commands[i]
		for p := range seats {
			if f.Commands[i].Player == lockstep.System || f.Commands[i].Player == p {
				continue
			}
			c.Player = p
			if err := s.ofCommand(&f.Commands[i], OtherPlayer, rankPlayer, fmt.Sprintf("a command ran as one of player %d", p), with(without(f, i), c)); err != nil {
				return err
			}
		}
		return nil
	})
}

// payloads tries commands whose payload was read wrong: other values of each field, the values of two fields exchanged, and
// lists without their first or last element. It tries the commands that are in the list, or the others.
func (s *search) payloads(list []*lockstep.Command, listed bool) error {
	schemas := make(map[lockstep.Kind]*state.Schema) // only looked up
	for _, d := range s.again.header.Commands {
		if schema, err := state.ParseSchema(d.Schema); err == nil {
			schemas[d.Kind] = schema
		}
	}
	return s.eachCommand(func(f *lockstep.Frame, i int) error {
		c := &f.Commands[i]
		if c.Player == lockstep.System || schemas[c.Kind] == nil || slices.ContainsFunc(list, func(o *lockstep.Command) bool { return record.Compare(o, c) == 0 }) != listed {
			return nil
		}
		return s.payload(f, i, schemas[c.Kind])
	})
}

// payload tries other payloads of one command.
func (s *search) payload(f *lockstep.Frame, i int, schema *state.Schema) error {
	for _, m := range misreadings(schema, f.Commands[i].Payload) {
		c := f.Commands[i]
		c.Payload = m.bytes
		err := s.try(framed(replaced(f, i, c)), func() *Cause {
			command := s.describe(&f.Commands[i])
			return &Cause{
				Kind: AlteredPayload, rank: rankPayload, Command: &command, Path: m.path, Right: m.right, Wrong: m.wrong,
				Text: fmt.Sprintf("a command ran with %s %s instead of %s: tick %d, %s", m.path, m.wrong, m.right, command.Tick, command.Text),
			}
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// A misreading is another value of a payload.
type misreading struct {
	path         string
	right, wrong string
	bytes        []byte
}

// misreadings returns other values of a payload in canonical bytes.
func misreadings(schema *state.Schema, right []byte) (all []misreading) {
	leaves, err := schema.Leaves(right)
	if err != nil {
		return nil // such a frame could not have run
	}
	list := slices.Collect(leaves)
	set := func(v state.Value, b []byte) misreading {
		changed, became := slices.Clone(right), v
		copy(changed[v.Offset:], b)
		became.Bytes = b
		return misreading{v.Path, v.String(), became.String(), changed}
	}
	for _, v := range list {
		for _, b := range others(v) {
			all = append(all, set(v, b))
		}
	}
	for i, v := range list {
		for _, o := range list[i+1:] {
			if v.Node.Kind() != o.Node.Kind() || slices.Equal(v.Bytes, o.Bytes) || v.Node.Kind() == state.String {
				continue
			}
			m := set(v, o.Bytes)
			copy(m.bytes[o.Offset:], v.Bytes)
			m.path += " and " + o.Path
			m.right, m.wrong = v.String()+" and "+o.String(), o.String()+" and "+v.String()
			all = append(all, m)
		}
	}
	return append(all, shortened(schema, right)...)
}

// shortened returns payloads in which one list lacks its first or its last element.
func shortened(schema *state.Schema, right []byte) (all []misreading) {
	var walk func(n state.Node, path string)
	walk = func(n state.Node, path string) {
		switch n.Kind() {
		case state.Struct:
			for i := range n.NumFields() {
				f := n.Field(i)
				name := f.Name()
				if path != "" {
					name = path + "." + name
				}
				walk(f, name)
			}
		case state.Slice:
			v, err := schema.Lookup(right, path)
			if err != nil {
				return
			}
			elements := slices.Collect(v.Elements())
			for k, e := range elements {
				if k > 0 && k < len(elements)-1 {
					continue
				}
				changed := slices.Clone(right)
				shorter(changed[v.Offset:])
				changed = slices.Delete(changed, e.Offset, e.Offset+len(e.Bytes))
				all = append(all, misreading{e.Path, "present", "absent", changed})
			}
		}
	}
	walk(schema.Root(), "")
	return all
}
