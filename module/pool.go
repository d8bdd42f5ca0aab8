package module

import (
	"fmt"
	"runtime"
	"sync"

	"github.com/seed-49bee653/samestep/lockstep/abi"
)

// A pool keeps the instances of a module that nobody uses.
type pool struct {
	once bool // no instance is used again; set before the first one, or with mu
	mu   sync.Mutex
	open int         // instances that are not closed
	most int         // of them, until garbage is collected
	free []*instance // that nobody uses
}

// caller returns an instance that nobody uses, or one that make makes: always if it is to be unused.
func (p *pool) caller(unused bool, make func() (*instance, error)) (abi.Caller, error) {
	i := p.taken(unused)
	if i == nil {
		var err error
		if i, err = make(); err != nil {
			p.mu.Lock()
			defer p.mu.Unlock()
			p.open--
			return nil, err
		}
	}
	c := &caller{pool: p, instance: i}
	c.cleanup = runtime.AddCleanup(c, p.giveBack, i)
	return c, nil
}

// taken returns an instance that nobody uses, or nil: always if it is to be unused.
func (p *pool) taken(unused bool) *instance {
	p.mu.Lock()
	defer p.mu.Unlock()
	if unused || len(p.free) == 0 {
		p.open++
		if p.most = min(max(p.most, maxFree), p.open+maxFree); p.open >= p.most {
			runtime.GC() // the collector does not see the memory of instances, and might give back none of them for long
			p.most = p.open + maxFree
		}
		return nil
	}
	i := p.free[len(p.free)-1]
	p.free = p.free[:len(p.free)-1]
	return i
}

// Instances that nobody uses are kept for the next call or match, because making one takes longer than a short call, and where
// _initialize runs each time, longer than a short match: at most as many, with at most so much memory each.
const (
	maxFree       = 8
	maxFreeMemory = 64 << 20
)

// close closes the instances that nobody uses, and each other one as soon as nobody does.
func (p *pool) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, i := range p.free {
		p.open--
		i.close()
	}
	p.once, p.free = true, nil
}

// giveBack keeps or closes an instance that nobody uses any more.
func (p *pool) giveBack(i *instance) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.once && !i.spent && i.broken == nil && len(p.free) < maxFree && i.sizeBytes() <= maxFreeMemory {
		p.free = append(p.free, i)
		return
	}
	p.open--
	i.close() // which the runtime keeps otherwise
}

// A caller is an instance while somebody uses it.
type caller struct {
	pool     *pool
	instance *instance // nil after Close
	cleanup  runtime.Cleanup
}

func (c *caller) Call(f abi.Function, in []byte) ([]byte, error) {
	if c.instance == nil {
		return nil, &abi.Fault{Text: "a call after Close"}
	}
	out, err := c.instance.answer(f, in)
	runtime.KeepAlive(c)
	return out, err
}

// Close implements [abi.Caller]. A second call does nothing.
func (c *caller) Close() {
	if c.instance == nil {
		return
	}
	c.cleanup.Stop()
	c.pool.giveBack(c.instance)
	c.instance = nil
}

func (i *instance) answer(f abi.Function, in []byte) (out []byte, err error) {
	if i.broken != nil {
		return nil, i.broken
	}
	if len(in) > MaxMemory {
		return nil, &abi.Fault{Text: fmt.Sprintf("a message of %d bytes, want at most %d", len(in), MaxMemory)}
	}
	i.spent = i.spent || i.cheap && (f == abi.Create || f == abi.Restore)
	if err = i.run(func() error { out, err = i.exchange(f, in); return err }); err != nil {
		return nil, err // what an answer is in may be gone: it can come when the time is over
	}
	return out, nil
}

// Fresh returns a machine of the same rules, within a budget unless it is nil. Each of its callers has an instance of its own, which
// nobody has used.
func (r *Rules) Fresh(b *Budget) abi.Machine { return r.within(b, true) }

// A Within is a machine of rules within a [Budget].
type Within struct {
	instance func() (*instance, error)
	pool
}

func (r *Rules) within(b *Budget, once bool) *Within {
	return &Within{func() (*instance, error) { return r.newInstance(b) }, pool{once: once}}
}

// New implements [abi.Machine].
func (w *Within) New() (abi.Caller, error) { return w.caller(false, w.instance) }

// Unused is New for an instance that nobody has used, see [abi.Unused].
func (w *Within) Unused() (abi.Caller, error) { return w.caller(true, w.instance) }

// Close frees the memory of the instances: of those that somebody uses, when they are closed. The rules stay open.
func (w *Within) Close() { w.pool.close() }
