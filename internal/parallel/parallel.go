// Package parallel shares the elements of a loop between goroutines. It decides by the clock and by the processors that are free how many
// take part, so a caller's results must not depend on that. No goroutine outlives the call that began it.
//
//samestep:allow goroutine the caller's results do not depend on them
//samestep:allow atomic as above
//samestep:allow clock as above
//samestep:allow runtime as above
//samestep:allow global as above
package parallel

import (
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// Most is the largest number of goroutines of one loop.
	Most = 8

	taste = 2 * time.Microsecond  // how long a loop runs alone, to measure an element
	chunk = 40 * time.Microsecond // of elements that a goroutine takes at a time
	worth = 15 * time.Microsecond // of work that a further goroutine must have at least
	dear  = 64 * worth            // and at most
)

// busy counts the goroutines of all loops of the process beyond their callers: a server with many matches has no more than processors.
var busy atomic.Int32

// A Loop is a loop that can run again and again. It belongs to one goroutine.
type Loop struct {
	// Body computes the elements from up to, but not including, to. worker is less than [Most], and no two calls have the same one at a
	// time. It returns the element that failed, or to. Elements after one that failed need not be computed. It must not panic.
	Body func(worker, from, to int) int

	worth   time.Duration // as the constant, or more where that has saved no time
	n, size int
	next    atomic.Int64 // the first element that nobody has taken
	end     atomic.Int64 // the first element that failed, or n
	wait    sync.WaitGroup
}

// Run computes the elements 0 to n-1. It takes the parts in ascending order, and further goroutines where that saves time.
func (l *Loop) Run(n int) {
	if n < 2 || !threads {
		l.body(0, 0, n)
		return
	}
	begun := time.Now()
	for done, size := 0, 1; done < n; size = done {
		to := min(done+size, n)
		if l.body(0, done, to) < to {
			return
		}
		done = to
		spent := time.Since(begun)
		if done == n || spent < taste {
			continue
		}
		l.worth = max(l.worth, worth)
		left := spent * time.Duration(n-done) / time.Duration(done)
		if left < 2*l.worth {
			if left >= 2*worth {
				l.worth -= l.worth / 64 // to try again some day
			}
			continue
		}
		if hands := hire(min(runtime.GOMAXPROCS(0), Most, int(left/l.worth)) - 1); hands > 0 {
			size := int(chunk * time.Duration(done) / spent)
			l.share(done, n, min(max(size, 1), (n-done)/(2*(hands+1))+1), hands)
			busy.Add(int32(-hands))
			l.learn(spent+left, time.Since(begun))
			return
		}
	}
}

// learn compares how long a loop would have taken alone with how long it took. Where the other processors have other work, or wake up
// late, a short loop is quicker alone.
func (l *Loop) learn(alone, took time.Duration) {
	if took > alone-alone/8 {
		l.worth = min(2*l.worth, dear)
	} else {
		l.worth = max(l.worth/2, worth)
	}
}

// Spread computes the elements 0 to n-1 on a number of goroutines, at most [Most], in parts of at most size elements. Nothing is measured.
func (l *Loop) Spread(n, workers, size int) {
	if workers = min(workers, n, Most); workers < 1 || !threads {
		workers = 1
	}
	l.share(0, n, size, workers-1)
}

//samestep:allow unseen the caller is checked where it sets Body
func (l *Loop) body(worker, from, to int) int { return l.Body(worker, from, to) }

// hire returns how many further goroutines may begin.
func hire(want int) (n int) {
	free := int32(runtime.GOMAXPROCS(0)) - 1
	for n < want && busy.Add(1) <= free {
		n++
	}
	if n < want {
		busy.Add(-1)
	}
	return n
}

// share computes the elements from on, with a number of goroutines beside this one.
func (l *Loop) share(from, n, size, hands int) {
	l.n, l.size = n, size
	l.next.Store(int64(from))
	l.end.Store(int64(n))
	l.wait.Add(hands)
	for worker := range hands {
		go l.help(worker + 1)
	}
	l.work(0)
	l.wait.Wait()
}

func (l *Loop) help(worker int) {
	defer l.wait.Done()
	l.work(worker)
}

// work takes parts until none is left. Parts are taken in ascending order, so all elements before one that failed are computed.
func (l *Loop) work(worker int) {
	for {
		from := l.next.Add(int64(l.size)) - int64(l.size)
		if from >= l.end.Load() {
			return
		}
		to := min(int(from)+l.size, l.n)
		failed := int64(l.body(worker, int(from), to))
		for failed < int64(to) {
			if end := l.end.Load(); failed >= end || l.end.CompareAndSwap(end, failed) {
				break
			}
		}
	}
}
