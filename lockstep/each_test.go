package lockstep_test

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

// A herd is a state whose animals look at each other.
type herd struct {
	Animals [200]animal
	next    [200]int32 `state:"derived"`
}

type animal struct{ At int32 }

// A graze is an event of one animal.
type graze struct{ By int }

type herdConfig struct{ Panics []uint16 }

// herdRules has animals that walk towards the next one. wrong changes the body.
func herdRules(wrong func(w *herd, i int, own, step *lockstep.Turn)) lockstep.Rules[herd, herdConfig] {
	return lockstep.Rules[herd, herdConfig]{
		Name: "herd", Build: "1",
		New: func(w *herd, _ *lockstep.Settings, _ *herdConfig) error {
			for i := range w.Animals {
				w.Animals[i].At = int32(i * i % 97)
			}
			return nil
		},
		Derive: func(*herd, *herdConfig) {},
		Step: func(w *herd, c *herdConfig, t *lockstep.Turn) {
			t.Phase("herd")
			lockstep.Emit(t, graze{-1})
			t.Each(len(w.Animals), func(i int, own *lockstep.Turn) {
				if wrong != nil {
					wrong(w, i, own, t)
				}
				if slices.Contains(c.Panics, uint16(i)) {
					panic(fmt.Sprint("lame ", i))
				}
				own.Drew("step", uint32(i))
				if i%3 == 0 {
					lockstep.Emit(own, graze{i})
					lockstep.Emit(own, graze{i})
				}
				w.next[i] = w.Animals[i].At + (w.Animals[(i+7)%len(w.Animals)].At-w.Animals[i].At)/3 + int32(own.Tick%5)
			})
			for i, at := range w.next {
				w.Animals[i].At = at
			}
			lockstep.Emit(t, graze{-2})
		},
	}
}

type outcome struct {
	hash   uint64
	events []graze
	draws  []lockstep.Draw
	err    string
}

func backwards(k, n int) int { return n - 1 - k }

func strided(k, n int) int {
	if n == 0 {
		return 0
	}
	return (5 + 77*k) % n // 77 and 200 have no common factor
}

// runHerd plays some ticks on a schedule.
func runHerd(t *testing.T, rules lockstep.Rules[herd, herdConfig], c herdConfig, workers int, order func(k, n int) int) (o outcome) {
	t.Helper()
	g := lockstep.MustGame(rules)
	h, err := g.NewHeader(lockstep.MatchID{}, lockstep.DefaultSettings(1), &c)
	if err != nil {
		t.Fatal(err)
	}
	s, err := g.NewSimulation(h)
	if err != nil {
		t.Fatal(err)
	}
	s.Schedule(workers, order)
	s.Observe(func(_ lockstep.Tick, e any) { o.events = append(o.events, e.(graze)) })
	s.ObserveDraws(func(_ lockstep.Tick, d lockstep.Draw) { o.draws = append(o.draws, d) })
	for tick := range lockstep.Tick(10) {
		if err := s.Step(&lockstep.Frame{Tick: tick + 1}); err != nil {
			p := (*lockstep.PanicError)(nil)
			if !errors.As(err, &p) || p.Where != "Step" || !strings.Contains(string(p.Stack), "each_test.go") {
				t.Errorf("got the error %v with the stack %s", err, p.Stack)
			}
			o.err = err.Error()
			return o
		}
	}
	o.hash = s.Hash()
	return o
}

type schedule struct {
	name    string
	workers int
	order   func(k, n int) int
}

func schedules() []schedule {
	all := []schedule{{"backwards", 1, backwards}, {"strided", 1, strided}, {"backwards on 3", 3, backwards}, {"strided on 8", 8, strided}, {"as it likes", 0, nil}}
	for w := 1; w <= 9; w++ {
		all = append(all, schedule{fmt.Sprint("on ", w), w, nil})
	}
	return all
}

// The state, the events, the draws and the panic are the same in any order and on any number of workers.
func TestEachIsTheSame(t *testing.T) {
	for _, c := range []herdConfig{{}, {Panics: []uint16{150, 31, 30, 199}}, {Panics: []uint16{0}}, {Panics: []uint16{199}}} {
		want := runHerd(t, herdRules(nil), c, 1, nil)
		if len(c.Panics) == 0 && (len(want.events) != 10*(2+2*67) || want.events[0].By != -1 || want.events[1].By != 0 || want.events[2].By != 0 || want.events[3].By != 3 || want.events[135].By != -2) {
			t.Fatalf("got %d events, from %v", len(want.events), want.events[:4])
		}
		if len(want.draws) > 0 && want.draws[7] != (lockstep.Draw{Purpose: "step", Entity: 7, Phase: "herd"}) {
			t.Errorf("got the draw %v", want.draws[7])
		}
		if len(c.Panics) > 0 {
			low := slices.Min(c.Panics)
			if text := fmt.Sprintf("lockstep: tick 1: the game panicked in Step: element %d of Turn.Each: lame %d", low, low); want.err != text {
				t.Errorf("got the error %s, want %s", want.err, text)
			}
		}
		for _, s := range schedules() {
			got := runHerd(t, herdRules(nil), c, s.workers, s.order)
			if got.hash != want.hash || got.err != want.err || len(want.err) == 0 && (!slices.Equal(got.events, want.events) || !slices.Equal(got.draws, want.draws)) {
				t.Errorf("%v, %s: got %x, %q, %d events", c.Panics, s.name, got.hash, got.err, len(got.events))
			}
		}
	}
}

// A body that depends on the order gives another result in another one: the schedules do what they say.
func TestEachControl(t *testing.T) {
	wrong := herdRules(func(w *herd, i int, _, _ *lockstep.Turn) { w.Animals[i].At += w.Animals[(i+1)%len(w.Animals)].At & 3 })
	want := runHerd(t, wrong, herdConfig{}, 1, nil)
	for _, s := range schedules()[:2] {
		if got := runHerd(t, wrong, herdConfig{}, s.workers, s.order); got.hash == want.hash {
			t.Errorf("%s: a body that reads what another one writes has the same result", s.name)
		}
	}
}

// Each panics where a body uses what belongs to all elements, on every machine and in any order.
func TestEachRefuses(t *testing.T) {
	for _, row := range []struct {
		want string
		body func(own, step *lockstep.Turn)
	}{
		{"Emit with the Turn of Step", func(_, step *lockstep.Turn) { lockstep.Emit(step, graze{}) }},
		{"Turn.Drew with the Turn of Step", func(_, step *lockstep.Turn) { step.Drew("x", 1) }},
		{"Turn.Phase with the Turn of Step", func(_, step *lockstep.Turn) { step.Phase("x") }},
		{"Turn.End with the Turn of Step", func(_, step *lockstep.Turn) { step.End(nil) }},
		{"Turn.Each with the Turn of Step", func(_, step *lockstep.Turn) { step.Each(1, nil) }},
		{"Turn.Phase in Turn.Each", func(own, _ *lockstep.Turn) { own.Phase("x") }},
		{"Turn.End in Turn.Each", func(own, _ *lockstep.Turn) { own.End(nil) }},
		{"Turn.Each in Turn.Each", func(own, _ *lockstep.Turn) { own.Each(1, nil) }},
	} {
		rules := herdRules(func(_ *herd, i int, own, step *lockstep.Turn) {
			if i == 40 {
				row.body(own, step)
			}
		})
		for _, s := range schedules() {
			if got := runHerd(t, rules, herdConfig{}, s.workers, s.order); !strings.Contains(got.err, "element 40 of Turn.Each: lockstep: "+row.want) {
				t.Errorf("%s, %s: got %q", row.want, s.name, got.err)
			}
		}
	}
}

// After a panic in Each, the Turn of the next match of rules that recover is as new.
func TestEachAfterPanic(t *testing.T) {
	var turn lockstep.Turn
	n := 0
	for range 2 {
		func() {
			defer func() { n += len(fmt.Sprint(recover())) }()
			turn.Each(3, func(i int, _ *lockstep.Turn) {
				if i > 0 {
					panic("stop")
				}
			})
		}()
	}
	turn.Phase("usable")
	if want := 2 * len("element 1 of Turn.Each: stop"); n != want {
		t.Errorf("got texts of %d bytes, want %d", n, want)
	}
}

// Each needs no memory of its own while it works alone.
func TestEachNeedsNoMemory(t *testing.T) {
	var turn lockstep.Turn
	var sums [100]int
	f := func(i int, own *lockstep.Turn) { sums[i]++; lockstep.Emit(own, i) }
	if n := testing.AllocsPerRun(100, func() { turn.Each(len(sums), f) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// A follower passes its workers on, also to the copy with which it goes on after the record of a panic.
func TestFollowerWorkers(t *testing.T) {
	if runtime.GOARCH == "wasm" {
		t.Skip("there is one thread")
	}
	for _, workers := range []int{1, 4} {
		begun, together, fails := make(chan bool), 0, false
		rules := herdRules(func(_ *herd, i int, _, _ *lockstep.Turn) {
			switch i {
			case 0:
				select {
				case <-begun:
					together++
				case <-time.After(time.Second / 5):
				}
			case 150:
				select {
				case begun <- true:
				case <-time.After(time.Second / 5):
				}
			case 199:
				if fails {
					panic("as in the log")
				}
			}
		})
		g := lockstep.MustGame(rules)
		h, err := g.NewHeader(lockstep.MatchID{}, lockstep.DefaultSettings(1), &herdConfig{})
		if err != nil {
			t.Fatal(err)
		}
		s, err := g.NewSimulation(h)
		if err != nil {
			t.Fatal(err)
		}
		f := g.NewFollowerAt(h, s, lockstep.FollowerOptions{Workers: workers})
		if err := f.Advance(&lockstep.Frame{Tick: 1}); err != nil {
			t.Fatal(err)
		}
		fails = true
		p := (*lockstep.PanicError)(nil)
		if err := f.Apply(&record.Record{Kind: record.KindPanic, Tick: 1, Panic: &record.Panic{Frame: lockstep.Frame{Tick: 2}}}); !errors.As(err, &p) {
			t.Fatalf("got the error %v", err)
		}
		if fails = false; f.Advance(&lockstep.Frame{Tick: 2}) != nil {
			t.Fatal("the copy does not go on")
		}
		if want := map[int]int{1: 0, 4: 3}[workers]; together != want {
			t.Errorf("%d workers: two elements ran at the same time in %d steps, want %d", workers, together, want)
		}
	}
}

// Each light reads its neighbours as they were, and writes its own next value.
func ExampleTurn_Each() {
	var turn lockstep.Turn // a Simulation passes one to Step
	lights := []bool{true, false, false, true, false}
	next := make([]bool, len(lights))
	turn.Each(len(lights), func(i int, own *lockstep.Turn) {
		next[i] = lights[(i+4)%5] != lights[(i+1)%5]
	})
	fmt.Println(next)
	// Output: [false true true false false]
}
