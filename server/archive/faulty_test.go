//go:build !js

package archive_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/seed-49bee653/samestep/server/archive"
)

// A memory is a store in memory.
type memory struct {
	mu      sync.Mutex
	content map[string][]byte
	written map[string]time.Time
}

func newMemory() *memory {
	return &memory{content: map[string][]byte{}, written: map[string]time.Time{}}
}

func (m *memory) set(name string, content []byte, at time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.content[name], m.written[name] = content, at
}

func (m *memory) Put(_ context.Context, name, path string) error {
	b, err := os.ReadFile(path)
	if err == nil {
		m.set(name, b, time.Now())
	}
	return err
}

func (m *memory) Write(_ context.Context, name string, content []byte) error {
	m.set(name, bytes.Clone(content), time.Now())
	return nil
}

func (m *memory) Open(_ context.Context, name string) (io.ReadSeekCloser, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	b, ok := m.content[name]
	if !ok {
		return nil, fs.ErrNotExist
	}
	return struct {
		io.ReadSeeker
		io.Closer
	}{bytes.NewReader(b), io.NopCloser(nil)}, nil
}

func (m *memory) Delete(_ context.Context, name string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.content, name)
	return nil
}

func (m *memory) List(_ context.Context, f func(archive.Object) error) error {
	m.mu.Lock()
	all := make([]archive.Object, 0, len(m.content))
	for _, name := range slices.Sorted(maps.Keys(m.content)) {
		all = append(all, archive.Object{Name: name, SizeBytes: int64(len(m.content[name])), Written: m.written[name]})
	}
	m.mu.Unlock()
	for _, o := range all {
		if err := f(o); err != nil {
			return err
		}
	}
	return nil
}

// A fault is what a faulty store does in one call.
type fault int

const (
	works       fault = iota
	fails             // without an effect
	failsAfter        // with its effect
	hangs             // until the caller loses patience
	lands             // hangs, and has its effect later, if it stores something
	lies              // says that it has done it
	refuses           // for ever
	crashes           // the whole program, before the call has its effect
	crashesLate       // after it
	faults      = iota
)

var faultNames = [faults]string{"works", "fails", "fails after its effect", "hangs", "hangs, and has its effect later", "lies", "refuses", "crashes", "crashes after its effect"}

func (f fault) String() string { return faultNames[f] }

// errOfStore is the error of a store that is away.
var errOfStore = errors.New("the store is away")

// A crashed program panics with it.
type crash struct{}

// A faulty store has one fault at one of its calls.
type faulty struct {
	archive.Store
	fault   fault
	at      int // calls until the fault
	away    bool
	refused map[string]bool
	during  func(ctx context.Context) error // called by the next Put, in its place
	blamed  string                          // what the archive does wrong
	late    []func()                        // the effects of what landed
}

func (s *faulty) call(ctx context.Context, name string, patient bool, effect func() error) error {
	if s.away {
		return errOfStore
	}
	s.at--
	if s.at != 0 {
		return effect()
	}
	switch f := s.fault; f {
	case fails:
		return errOfStore
	case failsAfter:
		effect()
		return errOfStore
	case hangs, lands:
		if _, ok := ctx.Deadline(); !ok && !patient {
			s.blamed = "a call for " + name + " has no time limit"
		}
		return context.DeadlineExceeded
	case crashes:
		panic(crash{})
	case crashesLate:
		effect()
		panic(crash{})
	}
	return effect()
}

// change is call for a call that changes the store.
func (s *faulty) change(ctx context.Context, name string, effect func() error) error {
	return s.call(ctx, name, false, func() error {
		if s.at == 0 && s.fault == lies {
			return nil
		}
		return effect()
	})
}

// land has the effects of calls that hung.
func (s *faulty) land() {
	for _, effect := range s.late {
		effect()
	}
	s.late = nil
}

func (s *faulty) Put(ctx context.Context, name, path string) error {
	if b, err := os.ReadFile(path); err == nil && s.at == 1 && s.fault == lands && !s.away {
		s.late = append(s.late, func() { s.Store.Write(context.Background(), name, b) })
	}
	return s.change(ctx, name, func() error {
		if during := s.during; during != nil {
			s.during = nil
			if err := during(ctx); err != nil {
				return err
			}
		}
		if s.at == 0 && s.fault == refuses {
			s.refused[name] = true
		}
		if s.refused[name] {
			return fmt.Errorf("%w: %s", archive.ErrRefused, name)
		}
		return s.Store.Put(ctx, name, path)
	})
}

func (s *faulty) Write(ctx context.Context, name string, content []byte) error {
	if s.at == 1 && s.fault == lands && !s.away {
		s.late = append(s.late, func() { s.Store.Write(context.Background(), name, content) })
	}
	return s.change(ctx, name, func() error { return s.Store.Write(ctx, name, content) })
}

func (s *faulty) Delete(ctx context.Context, name string) error {
	return s.change(ctx, name, func() error { return s.Store.Delete(ctx, name) })
}

func (s *faulty) Open(ctx context.Context, name string) (f io.ReadSeekCloser, err error) {
	err = s.call(ctx, name, false, func() error {
		f, err = s.Store.Open(ctx, name)
		return err
	})
	if err != nil {
		return nil, err
	}
	return f, nil
}

func (s *faulty) List(ctx context.Context, f func(archive.Object) error) error {
	return s.call(ctx, "the list", true, func() error { return s.Store.List(ctx, f) })
}
