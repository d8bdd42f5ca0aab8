package server

import (
	"errors"
	"testing"
	"testing/synctest"

	"github.com/seed-49bee653/samestep/lockstep"
)

// A name belongs to one match, from when it is reserved until the match is removed, also while it is recovered or when that has failed.
func TestRegistryReservesNames(t *testing.T) {
	o := Options{Limits: Limits{MaxMatches: 3}}
	o.complete()
	reg := newRegistry(&o, newGates(&o))
	settings := lockstep.DefaultSettings(1)
	expect := func(name string, want error) {
		t.Helper()
		if _, err := reg.reserve(name, settings); !errors.Is(err, want) {
			t.Errorf("%s: got %v, want %v", name, err, want)
		}
	}
	expect("a", nil)
	expect("a", ErrExists)
	reg.note(func(r *recoveries) { r.pending["a"] = &Status{Name: "a"} })
	if wait, is := reg.recovering("a"); !is || wait != leastWait {
		t.Errorf("a is recovering: got %v, %v", wait, is)
	}
	lost := &failedMatch{path: "a.ssr", status: &Status{Name: "a"}, again: func() (*Status, error) { return nil, ErrShutdown }}
	reg.remove(&Match{spec: MatchSpec{Name: "a"}})
	reg.note(func(r *recoveries) {
		r.failed["a"] = lost
		delete(r.pending, "a")
	})
	expect("a", ErrExists)
	if _, err := reg.retry("b"); !errors.Is(err, errNotFailed) {
		t.Errorf("a retry of b: got %v", err)
	}
	if _, err := reg.retry("a"); !errors.Is(err, ErrShutdown) || reg.failed("a") != lost.status {
		t.Errorf("a retry of a: got %v, and the status %v", err, reg.failed("a"))
	}
	for _, name := range []string{"b", "c", "d"} {
		expect(name, nil)
	}
	expect("e", ErrFull)
	reg.remove(&Match{spec: MatchSpec{Name: "b"}})
	expect("e", nil)
	reg.remove(&Match{spec: MatchSpec{Name: "e"}})
	reg.close(false)
	expect("e", ErrShutdown)
	if draining, matches, _ := reg.load(); !draining || matches != 2 || reg.isClosed() {
		t.Errorf("got draining %v, %d matches, closed %v", draining, matches, reg.isClosed())
	}
}

// A suspect is tried alone: not before the others have ended, and none begins beside it.
func TestRegistryTriesASuspectAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := Options{}
		o.complete()
		reg := newRegistry(&o, newGates(&o))
		reg.enter(false)
		alone := make(chan bool, 1)
		go func() { alone <- reg.enter(true) }()
		synctest.Wait()
		if len(alone) > 0 {
			t.Error("it was tried beside another one")
		}
		reg.leave()
		if !<-alone {
			t.Error("it was not tried")
		}
		reg.close(true)
		if reg.enter(false) {
			t.Error("a server that is shut down tries another one")
		}
	})
}
