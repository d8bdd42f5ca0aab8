package locksteptest

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"unsafe"

	"github.com/seed-49bee653/samestep/checksum"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/abi"
	"github.com/seed-49bee653/samestep/lockstep/record"
	"github.com/seed-49bee653/samestep/state"
)

// fields changes one field after the other of the last state by its lowest bit, and one slice after the other by its last
// element. The change must survive a restore, change the checksum in the section of the field only, and appear in the
// difference. Of fields that occur many times, the phase changes the first, the last and a random one.
func (r *trial) fields() {
	sim := r.simulation()
	r.from = r.options.Ticks
	last := r.states[r.from]
	r.restoreOnly(sim, last)
	values, err := r.sample(last)
	if !r.ok(r.from, err) {
		return
	}
	var want checksum.Sum
	sim.Sum(&want)
	for _, v := range values {
		changed := slices.Clone(last)
		v.Bytes = changed[v.Offset:][:len(v.Bytes)]
		if v.Flip() { // not an empty string
			r.changed(sim, &want, v.Path, changed)
		}
	}
	all, err := r.firstSlices(last, values)
	r.ok(r.from, err)
	for _, v := range all {
		shorter, err := r.shortened(last, v)
		if r.ok(r.from, err) {
			r.changed(sim, &want, v.Path, shorter)
		}
	}
}

// changed checks a state b that differs from the last one in one field.
func (r *trial) changed(sim *lockstep.Simulation, want *checksum.Sum, path string, b []byte) {
	if refusal := (*abi.Refusal)(nil); r.err == nil && errors.As(sim.Restore(r.from, b), &refusal) {
		return // rules elsewhere may refuse a state that no game reaches
	}
	r.restoreOnly(sim, b)
	if r.err == nil {
		r.err = r.compare(r.phase, r.from, sim, b)
	}
	if r.err != nil {
		return
	}
	var got checksum.Sum
	sim.Sum(&got)
	schema := r.game.StateSchema()
	for i := range got.Sections {
		if differs := got.Sections[i] != want.Sections[i]; differs != (schema.SectionName(i) == section(path)) {
			r.ok(r.from, fmt.Errorf("%s was changed: the checksum of section %s differs: %t", path, schema.SectionName(i), differs))
		}
	}
	if got.Hash == want.Hash {
		r.ok(r.from, fmt.Errorf("%s was changed: the checksum is the same", path))
	}
	d, err := schema.Diff(r.states[r.from], b, 1)
	if r.ok(r.from, err) && (d.Total != 1 || d.List[0].Path != path) {
		r.ok(r.from, fmt.Errorf("%s was changed: got %d differences, the first at %s", path, d.Total, d.List[0].Path))
	}
}

// restoreOnly restores a state to look at it. Derive may panic, because no game reaches most of these states.
func (r *trial) restoreOnly(sim *lockstep.Simulation, b []byte) {
	if r.err == nil {
		err := sim.Restore(r.from, b)
		if fault := (*lockstep.PanicError)(nil); !errors.As(err, &fault) {
			r.ok(r.from, err)
		}
	}
}

// sample returns up to three leaves of each kind of field, in the order of the kinds: the first, a random one, and the last.
func (m *match) sample(b []byte) ([]state.Value, error) {
	leaves, err := m.game.StateSchema().Leaves(b)
	if err != nil {
		return nil, err
	}
	type group struct {
		values [3]state.Value
		n      int
	}
	var groups []*group
	byNode := map[state.Node]*group{} // only looked up
	rng := rand.New(rand.NewPCG(m.options.Seed, 0xf1e1d5))
	for v := range leaves {
		g := byNode[v.Node]
		if g == nil {
			g = &group{}
			byNode[v.Node], groups = g, append(groups, g)
			g.values[0], g.values[1] = v, v
		}
		g.n++
		if rng.IntN(g.n) == 0 {
			g.values[1] = v
		}
		g.values[2] = v
	}
	var values []state.Value
	for _, g := range groups {
		values = append(values, slices.CompactFunc(g.values[:], func(a, b state.Value) bool { return a.Path == b.Path })...)
	}
	return values, nil
}

// firstSlices returns the first slice of each node that contains one of the leaves.
func (m *match) firstSlices(b []byte, leaves []state.Value) ([]state.Value, error) {
	var found []state.Value
	for _, leaf := range leaves {
		for i := range leaf.Path {
			if leaf.Path[i] != '[' {
				continue
			}
			v, err := m.game.StateSchema().Lookup(b, leaf.Path[:i])
			if err != nil {
				return nil, err
			}
			if v.Node.Kind() == state.Slice && !slices.ContainsFunc(found, func(f state.Value) bool { return f.Node == v.Node }) {
				found = append(found, v)
			}
		}
	}
	return found, nil
}

// shortened returns the state b without the last element of a slice.
func (m *match) shortened(b []byte, slice state.Value) ([]byte, error) {
	n := binary.LittleEndian.Uint32(slice.Bytes) - 1
	last, err := m.game.StateSchema().Lookup(b, fmt.Sprintf("%s[%d]", slice.Path, n))
	if err != nil {
		return nil, err
	}
	b = slices.Delete(slices.Clone(b), last.Offset, last.Offset+len(last.Bytes))
	binary.LittleEndian.PutUint32(b[slice.Offset:], n)
	return b, nil
}

// roundTrip encodes and decodes states and commands: each has one form. Describe must give the same words each time.
func (r *trial) roundTrip() {
	schema, err := state.ParseSchema(r.header.StateSchema)
	if !r.ok(0, err) {
		return
	}
	for t := range r.saved {
		r.ok(t, r.stateTrip(schema, r.states[t]))
	}
	r.from = 0
	payloads := r.game.NewPayloads()
	for i := range r.frames {
		for _, c := range r.frames[i].Commands {
			if c.Player == lockstep.System {
				continue // the engine's own
			}
			if err := r.commandTrip(payloads, &c); err != nil {
				r.ok(r.frames[i].Tick, fmt.Errorf("command %d of player %d, kind %d: %w", c.Sequence, c.Player, c.Kind, err))
				return
			}
		}
	}
}

var errAccepted = errors.New("non-canonical bytes were accepted")

// stateTrip reads a state as a tool does that does not have the game's code.
func (m *match) stateTrip(schema *state.Schema, b []byte) error {
	var own, described bytes.Buffer
	if err := m.game.StateSchema().Dump(&own, b); err != nil {
		return err
	}
	if err := schema.Dump(&described, b); err != nil {
		return err
	}
	if !bytes.Equal(own.Bytes(), described.Bytes()) {
		return errors.New("the parsed schema dumps the state differently")
	}
	if err := schema.DumpJSON(io.Discard, b); err != nil {
		return err
	}
	if schema.Validate(b[:max(len(b), 1)-1]) == nil && len(b) > 0 || schema.Validate(append(b[:len(b):len(b)], 0)) == nil {
		return errAccepted
	}
	return nil
}

// commandTrip decodes a payload and encodes it again.
func (m *match) commandTrip(payloads *record.Payloads, c *lockstep.Command) error {
	payload := c.Payload
	payloads.Reset()
	if err := payloads.Decode(c); err != nil {
		return err
	}
	again, err := payloads.EncodeAs(c.Kind, c.Value)
	if err != nil {
		return err
	}
	if !bytes.Equal(again, payload) {
		return fmt.Errorf("encoded again: got % x, want % x", again, payload)
	}
	first, err := m.game.Describe(c)
	if err != nil {
		return err
	}
	second, err := m.game.Describe(c)
	if err != nil {
		return err
	}
	if second != first {
		return fmt.Errorf("described twice: got %q, then %q", first, second)
	}
	if again, err = payloads.EncodeAs(c.Kind, c.Value); err != nil || !bytes.Equal(again, payload) {
		return errors.New("the command is changed by Describe")
	}
	for _, bad := range [...][]byte{payload[:max(len(payload), 1)-1], append(payload[:len(payload):len(payload)], 0)} {
		wrong := *c
		if wrong.Payload = bad; payloads.Decode(&wrong) == nil && len(bad) != len(payload) {
			return errAccepted
		}
	}
	return nil
}

// A derivedDiff finds the first derived field that differs between two states of one type. Derived fields may have any type.
type derivedDiff struct {
	only  string                     // the derived field that is compared, as the game names it
	seen  map[[2]unsafe.Pointer]bool // pairs of pointers, which may form cycles
	found string                     // such as "Sums[2]: got 1, want 2"
}

// elements are the indexes in a path.
var elements = regexp.MustCompile(`\[\d+\]`)

const maxShown = 100 // bytes of a value in a message

// values compares two values of one type. Outside of derived fields it only looks for these.
func (d *derivedDiff) values(path string, got, want reflect.Value, derived bool) {
	if d.found != "" || len(path) > 1000 {
		return
	}
	switch got.Kind() {
	case reflect.Struct:
		for i := range got.NumField() {
			f := got.Type().Field(i)
			in, own := join(path, f.Name), f.Tag.Get("state") == "derived"
			if own && !derived && elements.ReplaceAllString(in, "[]") != d.only {
				continue
			}
			d.values(in, got.Field(i), want.Field(i), derived || own)
		}
	case reflect.Slice, reflect.Array:
		d.elements(path, got, want, derived)
	case reflect.Pointer, reflect.Interface:
		d.pointed(path, got, want, derived)
	case reflect.Map:
		d.maps(path, got, want)
	default:
		if derived && !equalScalars(got, want) {
			d.differ(path, got, want)
		}
	}
}

func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

func (d *derivedDiff) differ(path string, got, want any) {
	if d.found == "" {
		d.found = fmt.Sprintf("%s: got %s, want %s", path, shown(got), shown(want))
	}
}

func shown(v any) string {
	text := oneLine(fmt.Sprint(v))
	if len(text) > maxShown {
		text = strings.ToValidUTF8(text[:maxShown], "") + "…"
	}
	return text
}

// elements compares two lists. A nil slice equals an empty one.
func (d *derivedDiff) elements(path string, got, want reflect.Value, derived bool) {
	if got.Len() != want.Len() {
		d.differ(path, fmt.Sprintf("%d elements", got.Len()), fmt.Sprintf("%d", want.Len()))
		return
	}
	for i := range got.Len() {
		d.values(fmt.Sprintf("%s[%d]", path, i), got.Index(i), want.Index(i), derived)
	}
}

// pointed compares what two pointers or interfaces of a derived field refer to.
func (d *derivedDiff) pointed(path string, got, want reflect.Value, derived bool) {
	switch {
	case got.IsNil() && want.IsNil():
		return
	case got.IsNil() || want.IsNil() || got.Elem().Type() != want.Elem().Type():
		d.differ(path, got, want)
		return
	}
	if got.Kind() == reflect.Pointer {
		pair := [2]unsafe.Pointer{got.UnsafePointer(), want.UnsafePointer()}
		if d.seen[pair] {
			return
		}
		d.seen[pair] = true
	}
	d.values(path, got.Elem(), want.Elem(), derived)
}

// maps compares two maps, which only derived fields may have, in the order of their printed keys.
func (d *derivedDiff) maps(path string, got, want reflect.Value) {
	if got.Len() != want.Len() {
		d.differ(path, fmt.Sprintf("%d entries", got.Len()), fmt.Sprintf("%d", want.Len()))
		return
	}
	keys := got.MapKeys()
	slices.SortFunc(keys, func(a, b reflect.Value) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
	for _, k := range keys {
		in := fmt.Sprintf("%s[%v]", path, k)
		if w := want.MapIndex(k); w.IsValid() {
			d.values(in, got.MapIndex(k), w, true)
		} else if k.Kind() != reflect.Pointer { // each machine has its own pointers
			d.differ(in, got.MapIndex(k), "no such entry")
		}
	}
}

// equalScalars compares numbers, booleans and strings. Functions and channels are equal: they have no value to compare.
func equalScalars(a, b reflect.Value) bool {
	switch {
	case a.Kind() == reflect.Bool:
		return a.Bool() == b.Bool()
	case a.CanInt():
		return a.Int() == b.Int()
	case a.CanUint():
		return a.Uint() == b.Uint()
	case a.CanFloat():
		return math.Float64bits(a.Float()) == math.Float64bits(b.Float())
	case a.CanComplex():
		return a.Complex() == b.Complex()
	case a.Kind() == reflect.String:
		return a.String() == b.String()
	}
	return true
}
