//go:build !js

package module

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed-49bee653/samestep/lockstep/abi"
)

// faultOf calls a function until it fails, at most n times, and returns the fault and the number of calls.
func faultOf(t *testing.T, m abi.Machine, n int) (*abi.Fault, int) {
	t.Helper()
	i, err := m.New()
	calls := 0
	for ; err == nil && calls < n; calls++ {
		_, err = i.Call(abi.Step, nil)
	}
	fault := (*abi.Fault)(nil)
	if err != nil && !errors.As(err, &fault) {
		t.Fatal(err)
	}
	return fault, calls
}

// growing is a module whose calls let the memory grow by a page. They write what memory.grow has given, unless it is not negative.
func growing() assembly {
	refused := join(i32(0), i64(1), []byte{opI64Store, 3, 0})
	return assembly{call: join(i32(1), []byte{opMemoryGrow, 0}, i32(0), []byte{opI32LtS, opIf, blockWithoutResult}, refused, []byte{opEnd}, i64(8))}
}

// All instances of a budget share its memory, and get it back; other budgets of the same rules have their own.
func TestMemoryBudget(t *testing.T) {
	for _, interpret := range []bool{false, true} {
		r, err := Compile(growing().bytes(), Options{Interpret: interpret})
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		b := &Budget{Memory: 10 * pageBytes, MemoryAdvice: "buy some"}
		m := r.Within(b)
		fault, calls := faultOf(t, m, 100)
		if fault == nil || !fault.Limit || !strings.HasSuffix(fault.Text, "take more than 0 MiB: buy some") || calls != 10 || b.Fault() != fault {
			t.Errorf("got %v after %d calls, want the fault of the memory after 10", fault, calls)
		}
		if b.used.Load() != 0 {
			t.Errorf("got %d bytes in use after the fault, want none", b.used.Load())
		}
		first, err := m.New()
		if err != nil {
			t.Fatal(err)
		}
		for range 5 {
			if _, err := first.Call(abi.Step, nil); err != nil {
				t.Fatal(err)
			}
		}
		if _, calls := faultOf(t, m, 100); calls != 4 {
			t.Errorf("beside an instance with 6 pages: got %d calls, want 4", calls)
		}
		if _, calls := faultOf(t, r.Within(&Budget{Memory: 10 * pageBytes}), 100); calls != 10 {
			t.Errorf("in another budget: got %d calls, want 10", calls)
		}
		if fault, _ := faultOf(t, r, 100); fault != nil {
			t.Errorf("without a budget: got %v", fault)
		}
		if fault, _ := faultOf(t, r.Within(&Budget{Memory: pageBytes - 1}), 1); fault == nil || !fault.Limit {
			t.Errorf("got %v for a budget below the first page, want a fault", fault)
		}
		first.Close()
		b = &Budget{}
		w := r.Within(b)
		used, err := w.New()
		if err != nil {
			t.Fatal(err)
		}
		if other, err := w.New(); err == nil {
			other.Close() // kept for the next one
		}
		for n, close := range []func(){w.Close, used.Close} {
			if close(); b.used.Load() != int64(1-n)*pageBytes {
				t.Errorf("got %d bytes in use after %d of 2 closes", b.used.Load(), n+1)
			}
		}
	}
}

// An answer may have a part of the memory of a budget.
func TestAnswerBudget(t *testing.T) {
	r, err := Compile(assembly{call: i64(pageBytes)}.bytes(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for part, fits := range map[int64]bool{answerPart: true, answerPart - 1: false} {
		if fault, _ := faultOf(t, r.Within(&Budget{Memory: part * pageBytes}), 1); (fault == nil) != fits {
			t.Errorf("%d pages: got %v, want it to fit: %t", part, fault, fits)
		}
	}
}

// All calls of a budget share its time, whatever the limit of each call is. A match that goes on gets more as time passes.
func TestTimeBudget(t *testing.T) {
	for _, interpret := range []bool{false, true} {
		r, err := Compile(assembly{call: join(forever, i64(0))}.bytes(), Options{Interpret: interpret})
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		b := &Budget{Time: 50 * time.Millisecond, TimeAdvice: "wait"}
		m := r.Within(b)
		for range 2 { // the second has no time at all
			if fault, _ := faultOf(t, m, 1); fault == nil || !fault.Limit || fault.Text != "all calls of the rules together took longer than 50ms: wait" {
				t.Errorf("got %v, want the fault of the time", fault)
			}
		}
	}
	b := &Budget{Time: time.Second, Share: time.Second / 2}
	b.left()
	b.spend(time.Second)
	b.began.Add(-int64(10 * time.Second))
	if left := b.left(); left < 5*time.Second || left > 6*time.Second {
		t.Errorf("after 10 s with a share of a half: got %v, want 5 s", left)
	}
	if left := (*Budget)(nil).left(); left != never {
		t.Errorf("without a budget: got %v", left)
	}
}

// Workers that wait for a processor spend no time of the budget.
func TestTimeOfManyWorkers(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the system does not tell the time of a thread")
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(16))
	r, err := Compile(assembly{call: join(forever, i64(0))}.bytes(), Options{Time: 100 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	b := &Budget{Time: time.Hour}
	m := r.Within(b)
	from := time.Now()
	var all sync.WaitGroup
	for range 16 {
		all.Go(func() { faultOf(t, m, 1) })
	}
	all.Wait()
	if got, most := time.Duration(b.spent.Load()), time.Since(from)*time.Duration(min(12, runtime.NumCPU())); got > most {
		t.Errorf("16 workers have spent %v, want at most what the processors have: %v", got, most)
	}
}

// A deadline goes by the clock of the work as long as not too much time passes.
func TestDeadline(t *testing.T) {
	for _, c := range []struct {
		name        string
		slow        time.Duration // a part of the time that is work
		passing     time.Duration
		want        over
		after, took time.Duration
	}{
		{"alone", 1, time.Hour, workOver, time.Second, time.Second},
		{"on a busy machine", 10, time.Hour, workOver, 10 * time.Second, time.Second},
		{"too long", 10, 3 * time.Second, timeOver, 3 * time.Second, 300 * time.Millisecond},
		{"in time", 10, time.Hour, inTime, 5 * time.Second, 500 * time.Millisecond},
	} {
		synctest.Test(t, func(t *testing.T) {
			from := time.Now()
			ended := make(chan struct{})
			d := deadline{passing: c.passing, work: time.Second, clock: func() time.Duration { return time.Since(from) / c.slow }, end: func() { close(ended) }}
			d.begin()
			select {
			case <-ended:
			case <-time.After(5*time.Second + map[bool]time.Duration{true: time.Hour}[c.want != inTime]):
			}
			after := time.Since(from)
			if got := d.stop(); got != c.want || after.Round(time.Millisecond) != c.after || d.took.Round(time.Millisecond) != c.took {
				t.Errorf("%s: got %v after %v and %v of work, want %v after %v and %v", c.name, got, after, d.took, c.want, c.after, c.took)
			}
		})
	}
}

// Two long calls at a time spend one budget together, and not each all of it.
func TestSharedDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		from, b := time.Now(), &Budget{Time: 20 * time.Second}
		var calls [2]*deadline
		for i := range calls {
			calls[i] = &deadline{passing: time.Hour, work: b.left(), budget: b, clock: func() time.Duration { return time.Since(from) }, end: func() {}}
			calls[i].begin()
		}
		time.Sleep(12 * time.Second)
		for _, d := range calls {
			if over := d.stop(); over != workOver {
				t.Errorf("a call in a budget of 20 s, of which two have spent %v: got %v, want its end", time.Duration(b.spent.Load()), over)
			}
		}
	})
}

// The end of a context ends a call.
func TestInterruptedCalls(t *testing.T) {
	r, err := Compile(assembly{call: join(forever, i64(0))}.bytes(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(20*time.Millisecond, cancel)
	from := time.Now()
	fault, _ := faultOf(t, r.Within(&Budget{Context: ctx}), 1)
	if fault == nil || fault.Limit || !strings.Contains(fault.Text, "interrupted") || time.Since(from) > 5*time.Second {
		t.Errorf("got %v after %v, want that the calls were interrupted", fault, time.Since(from))
	}
}

// A call that answers when its time is over gives no answer: its memory is freed.
func TestLateAnswer(t *testing.T) {
	r, err := Compile(assembly{}.bytes(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	late := 0
	for n := 0; n < 100 || late == 0 && n < 100_000; n++ { // on one processor, the time is looked at when the call is interrupted
		i, err := r.New()
		if err != nil {
			t.Fatal(err)
		}
		i.(*caller).instance.time = 1
		b, err := i.Call(abi.Save, []byte("ping"))
		if err != nil {
			late++
		}
		if (err != nil) != (b == nil) {
			t.Errorf("got %d bytes and the error %v, want one of them", len(b), err)
		}
	}
	if late == 0 {
		t.Error("no call was late, want some after a nanosecond")
	}
}
