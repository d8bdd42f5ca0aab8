package ownership

import (
	"encoding/binary"
	"flag"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/cespare/xxhash/v2"

	"github.com/seed-49bee653/samestep/internal/testing/testenv"
)

// A result is what an exploration has found.
type result struct {
	states int
	steps  int   // of the longest shortest way to a state
	wrong  error // in the first state that is wrong; nil if none is
	trace  []string
}

// A visit is a state that was reached, and how.
type visit struct {
	from  int32 // index of the state before
	event event
}

// An exploration visits every state that events lead to, the nearest ones first.
type exploration struct {
	*model
	fairEach int // one of so many states begins fair runs; 0: none does
	seen     map[[2]uint64]struct{}
	visits   []visit
	after    []event // the fair run in which something is wrong
}

// A place is a world and the index of its visit.
type place struct {
	*world
	visit int32
}

// explore explores the model, and stops at the first state that is wrong.
func (m *model) explore(fairEach int) (r result) {
	first := &world{}
	x := &exploration{m, fairEach, map[[2]uint64]struct{}{first.key(): {}}, []visit{{from: -1}}, nil}
	for level := []place{{world: first}}; len(level) > 0 && r.wrong == nil; r.steps++ {
		level, r.wrong = x.next(level)
	}
	if r.states = len(x.visits); r.wrong != nil {
		r.trace = x.trace()
	}
	return r
}

// next visits what is one event away from a level.
func (x *exploration) next(level []place) (next []place, err error) {
	var events []event
	for _, p := range level {
		events = x.model.events(events[:0], p.world)
		for _, e := range events {
			w, err := x.model.after(p.world, e)
			key := w.key()
			if _, known := x.seen[key]; known && err == nil {
				continue
			}
			x.seen[key] = struct{}{}
			x.visits = append(x.visits, visit{p.visit, e})
			if err == nil {
				err = x.fairRuns(w)
			}
			if err != nil {
				return nil, err
			}
			next = append(next, place{w, int32(len(x.visits) - 1)})
		}
	}
	return next, nil
}

// fairRuns begins fair runs in some of the worlds.
func (x *exploration) fairRuns(w *world) (err error) {
	if x.fairEach == 0 || len(x.visits)%x.fairEach > 0 {
		return nil
	}
	for _, arrive := range []bool{true, false} {
		if x.after, err = x.fair(w, arrive); err != nil {
			return err
		}
	}
	x.after = nil
	return nil
}

// trace returns the events that led to the last visit, for people.
func (x *exploration) trace() (text []string) {
	way := slices.Clone(x.after)
	slices.Reverse(way)
	for i := int32(len(x.visits) - 1); i > 0; i = x.visits[i].from {
		way = append(way, x.visits[i].event)
	}
	w := &world{}
	for n, e := range slices.Backward(way) {
		line := x.text(w, e)
		if n < len(x.after) {
			line += " (and nothing fails)"
		}
		text = append(text, line)
		w, _ = x.model.after(w, e)
	}
	return text
}

// String returns the trace, a line for each event.
func (r result) String() string {
	var b strings.Builder
	for i, line := range r.trace {
		fmt.Fprintf(&b, "%3d  %s\n", i+1, line)
	}
	fmt.Fprintf(&b, "  => %v", r.wrong)
	return b.String()
}

// key returns a hash of all that a world is: 128 bits, so that two of 10^8 worlds have the same one with a probability of 10^-23.
func (w *world) key() [2]uint64 {
	b := append(make([]byte, 0, 1024), 0, byte(w.takes))
	for i := range w.servers {
		b = w.servers[i].appendState(b)
	}
	for _, r := range w.late {
		b = append(r.appendState(b), 1)
	}
	b = append(b, 0)
	for e := w.log; e != nil; e = e.before {
		b = e.request.appendState(b)
	}
	first := xxhash.Sum64(b)
	b[0] = 1
	return [2]uint64{first, xxhash.Sum64(b)}
}

func (v *server) appendState(b []byte) []byte {
	if v.Owner == nil {
		return append(b, 0)
	}
	b = append(b, 1, byte(v.phase), byte(v.author), byte(v.base), byte(v.first), byte(v.queued))
	b = binary.AppendUvarint(b, uint64(v.begin))
	b = binary.AppendUvarint(b, v.answer)
	b = v.request.appendState(b)
	return v.Owner.appendState(b)
}

func (r request) appendState(b []byte) []byte {
	b = binary.AppendUvarint(append(b, byte(r.author)), r.expect)
	return appendBytes(b, r.message)
}

func (o *Owner) appendState(b []byte) []byte {
	for _, n := range []uint64{o.end.Sequence, o.end.Check, uint64(o.end.Term), uint64(o.term), uint64(o.largest), o.appended, o.parted, o.stored, uint64(o.carried)} {
		b = binary.AppendUvarint(b, n)
	}
	for _, set := range []bool{o.sent, o.unsure, o.claimed, o.lost} {
		b = append(b, 0)
		if set {
			b[len(b)-1] = 1
		}
	}
	b = append(b, byte(len(o.ends)))
	for _, end := range o.ends {
		b = binary.AppendUvarint(b, end)
	}
	return appendBytes(appendBytes(b, o.queue), o.flight)
}

func appendBytes(b, field []byte) []byte {
	return append(binary.AppendUvarint(b, uint64(len(field))), field...)
}

// The hash has every field of an Owner, and so does its copy. A new field makes this fail, to be added there.
func TestStateIsWhole(t *testing.T) {
	if got := reflect.TypeFor[Owner]().NumField(); got != 14 {
		t.Errorf("got %d fields of an Owner, want 14: add the others to clone and appendState", got)
	}
}

var exhaustive = flag.Bool("exhaustive", false, "explore the large scopes, too: about 4 million states")

// Two scopes that others contain.
var (
	small = scope{servers: 2, takes: 2, records: []int{20, 20}}
	large = scope{servers: 2, takes: 2, records: []int{20, 80}}
)

// Nothing is wrong in any world of these scopes. Each of them has all orders of events, up to any number of them: only what
// the scope says is bounded. Without -run, go test explores two takes only, and of the scopes with one name or twins the one with
// both.
func TestExplore(t *testing.T) {
	for _, row := range []struct {
		name       string
		scope      scope
		states     int // at least
		fair       int // one of so many states begins fair runs
		long       bool
		exhaustive bool
	}{
		{"two takes", large, 25_000, 10, false, false},
		{"twins", scope{servers: 2, takes: 2, records: []int{20, 80}, twins: true}, 25_000, 10, true, false},
		{"one name", scope{servers: 2, takes: 2, records: []int{20, 80}, oneName: true}, 25_000, 10, true, false},
		{"one name, twins", scope{servers: 2, takes: 2, records: []int{20, 80}, twins: true, oneName: true}, 25_000, 10, false, false},
		{"three takes", scope{servers: 2, takes: 3, records: []int{20}}, 75_000, 100, true, false},
		{"three takes, twins, one name", scope{servers: 2, takes: 3, records: []int{20}, twins: true, oneName: true}, 75_000, 100, true, false},
		{"three takes, parts", scope{servers: 2, takes: 3, records: []int{80}}, 200_000, 1, true, true},
		{"three takes, parts, two records", scope{servers: 2, takes: 3, records: []int{20, 80}}, 750_000, 1, true, true},
		{"three servers", scope{servers: 3, takes: 3, records: []int{20}}, 1_000_000, 10, true, true},
		{"four takes", scope{servers: 2, takes: 4, records: []int{20}}, 500_000, 10, true, true},
		{"four takes, twins, one name", scope{servers: 2, takes: 4, records: []int{20}, twins: true, oneName: true}, 500_000, 10, true, true},
	} {
		t.Run(row.name, func(t *testing.T) {
			switch {
			case row.exhaustive && !*exhaustive:
				t.Skip("only with -args -exhaustive")
			case row.long && (row.scope.takes > 2 || !testing.Short()): // a slow platform has -short, and no small form
				testenv.Named(t)
			}
			m := &model{row.scope, rule{}.real()}
			r := m.explore(row.fair)
			t.Logf("%d states, up to %d events from the first one", r.states, r.steps)
			if r.wrong != nil {
				t.Errorf("got\n%v", r)
			}
			if r.states < row.states {
				t.Errorf("got %d states, want %d or more", r.states, row.states)
			}
		})
	}
}
