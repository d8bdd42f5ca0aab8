package program

import (
	"errors"
	"fmt"
	"reflect"
	"runtime"
	"strconv"
	"strings"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/state"
)

// stand goes to the tick before that of the job. Of a Debug it computes the tick.
func (m *match) stand(r *Result) error {
	f, err := m.approach(nil)
	if err != nil {
		return err
	}
	sim, err := m.restored(m.sim.Tick(), m.sim.AppendState(nil))
	if err != nil {
		return err
	}
	var address uintptr
	if m.job.Path != "" {
		field, at, err := watched(m.game.StateSchema(), sim.AppendState(nil), sim.AnyWorld(), m.job.Path)
		if err != nil {
			return err
		}
		r.Field, address = &field, at
	}
	r.Step = m.step()
	if m.job.Kind == Stand {
		if err := m.cut.begin(*r); err != nil { // the tick may end the program
			return err
		}
		if err := sim.Step(f); errors.As(err, new(*lockstep.PanicError)) {
			r.Panic = err.Error()
		}
		return nil
	}
	before(address)
	err = sim.Step(f)
	after(err)
	runtime.KeepAlive(sim) // the address is in it
	return nil
}

// before is where a debugger sets the watchpoint.
//
//go:noinline
func before(address uintptr) { runtime.KeepAlive(address) }

// after is where a debugger stops after the tick.
//
//go:noinline
func after(err error) { runtime.KeepAlive(err) }

// watched returns the field at a path of a state, and where world has it in memory.
func watched(s *state.Schema, b []byte, world any, path string) (f Field, address uintptr, err error) {
	v, err := s.Lookup(b, path)
	if err != nil {
		return f, 0, err
	}
	if kind := v.Node.Kind(); kind == state.Struct || kind == state.Array {
		leaves, err := s.LeavesAt(b, v.Path)
		if err != nil {
			return f, 0, err
		}
		for leaf := range leaves {
			return f, 0, fmt.Errorf("%s is %v: want the path of one field, such as %s", v.Path, kind, leaf.Path)
		}
		return f, 0, fmt.Errorf("%s has no field to watch", v.Path)
	}
	memory := memoryOf(reflect.ValueOf(world).Elem(), v.Path)
	f = Field{path, v.String(), memory.Kind().String(), v.Node.FractionBits()}
	if memory.Kind() == reflect.Slice { // its pointer, its length and its capacity
		f.Type = "int"
		return f, memory.UnsafeAddr() + reflect.TypeFor[uintptr]().Size(), nil
	}
	return f, memory.UnsafeAddr(), nil
}

// memoryOf returns the part of a state at a path with indexes only.
func memoryOf(v reflect.Value, path string) reflect.Value {
	for path != "" {
		end := strings.IndexAny(path[1:], ".[") + 1
		if end == 0 {
			end = len(path)
		}
		step := path[:end]
		path = path[end:]
		if index, ok := strings.CutPrefix(step, "["); ok {
			i, err := strconv.Atoi(strings.TrimSuffix(index, "]"))
			if err != nil {
				panic(err) // cannot happen: the path of a state.Value has indexes only
			}
			v = v.Index(i)
		} else {
			v = v.FieldByName(strings.TrimPrefix(step, "."))
		}
	}
	return v
}
