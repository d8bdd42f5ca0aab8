//go:build !js && !wasip1

package parallel

import (
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// spin takes about d of processor time.
func spin(d time.Duration) {
	for until := time.Now().Add(d); time.Now().Before(until); {
	}
}

// counted returns a Body that counts the elements and their workers, and fails at some elements.
func counted(t *testing.T, of []int32, each time.Duration, fails ...int) (body func(worker, from, to int) int, workers *[Most]atomic.Int32) {
	workers = new([Most]atomic.Int32)
	var inside [Most]atomic.Int32
	return func(worker, from, to int) int {
		if inside[worker].Add(1) != 1 {
			t.Errorf("worker %d is two", worker)
		}
		defer inside[worker].Add(-1)
		workers[worker].Add(1)
		for i := from; i < to; i++ {
			for _, f := range fails {
				if i == f {
					return i
				}
			}
			spin(each)
			atomic.AddInt32(&of[i], 1)
		}
		return to
	}, workers
}

func once(t *testing.T, of []int32, name string) {
	t.Helper()
	for i, n := range of {
		if n != 1 {
			t.Fatalf("%s: element %d was computed %d times", name, i, n)
		}
	}
}

// Every element is computed once, by any number of workers and in parts of any size.
func TestAllOnce(t *testing.T) {
	for _, n := range []int{0, 1, 2, 7, 64, 1001} {
		for workers := range Most + 3 {
			for _, size := range []int{1, 3, 64, 2000} {
				of := make([]int32, n)
				var l Loop
				l.Body, _ = counted(t, of, 0)
				l.Spread(n, workers, size)
				once(t, of, "Spread")
			}
		}
		of := make([]int32, n)
		var l Loop
		l.Body, _ = counted(t, of, 0)
		l.Run(n)
		once(t, of, "Run")
	}
}

// A long loop gets further goroutines, of which none is left over; a short one is computed alone, and so is any on one processor.
func TestRunsWhereItIsWorthIt(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(4))
	for _, row := range []struct {
		name  string
		n     int
		each  time.Duration
		procs int
		alone bool
	}{
		{"long", 200, 100 * time.Microsecond, 4, false},
		{"few long elements", 8, 2 * time.Millisecond, 4, false},
		{"one", 1, time.Millisecond, 4, true},
		{"short", 10, 0, 4, true},
		{"long on one processor", 200, 20 * time.Microsecond, 1, true},
	} {
		runtime.GOMAXPROCS(row.procs)
		of := make([]int32, row.n)
		var l Loop
		body, workers := counted(t, of, row.each)
		l.Body = body
		l.Run(row.n)
		once(t, of, row.name)
		others := 0
		for w := 1; w < Most; w++ {
			others += int(workers[w].Load())
		}
		if row.name != "short" && (others == 0) != row.alone { // a machine that stops for a while makes a short one long
			t.Errorf("%s: others have computed %d parts", row.name, others)
		}
		if n := busy.Load(); n != 0 {
			t.Errorf("%s: %d goroutines are still counted", row.name, n)
		}
	}
}

// All elements below the lowest one that fails are computed, whoever fails first.
func TestFailure(t *testing.T) {
	for workers := 1; workers <= Most; workers++ {
		of := make([]int32, 500)
		var l Loop
		l.Body, _ = counted(t, of, time.Microsecond, 180, 200, 201, 490)
		l.Spread(len(of), workers, 7)
		once(t, of[:180], "before the failure")
		if of[180] != 0 {
			t.Error("the element that fails was computed")
		}
	}
	of := make([]int32, 500)
	var l Loop
	l.Body, _ = counted(t, of, 10*time.Microsecond, 400, 0)
	l.Run(len(of))
	if of[1] != 0 {
		t.Error("a failure alone does not end the loop")
	}
}

// No more goroutines run than there are processors, in all loops of the process together.
func TestHire(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(3))
	if a, b, c := hire(1), hire(5), hire(1); a != 1 || b != 1 || c != 0 {
		t.Errorf("got %d, %d and %d goroutines, want 1, 1 and 0", a, b, c)
	}
	if n := busy.Swap(0); n != 2 {
		t.Errorf("%d are counted, want 2", n)
	}
}

// Where further goroutines save no time, more work must be left for one, and where they do, less.
func TestLearn(t *testing.T) {
	l := Loop{worth: worth}
	for range 20 {
		l.learn(time.Millisecond, time.Millisecond)
	}
	if l.worth != dear {
		t.Errorf("after losses: got %v, want %v", l.worth, dear)
	}
	for range 20 {
		l.learn(time.Millisecond, time.Millisecond/2)
	}
	if l.worth != worth {
		t.Errorf("after gains: got %v, want %v", l.worth, worth)
	}
}

// A loop that runs alone again and again needs no memory.
func TestNoMemory(t *testing.T) {
	var l Loop
	sum := 0
	l.Body = func(_, from, to int) int { sum += to - from; return to }
	if n := testing.AllocsPerRun(100, func() { l.Run(1000) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
