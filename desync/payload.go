package desync

import (
	"fmt"
	"slices"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/record"
	"github.com/seed-49bee653/samestep/state"
)

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
