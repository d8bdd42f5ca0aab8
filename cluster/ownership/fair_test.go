package ownership

import (
	"fmt"
	"slices"
)

// maxFair is more than the events that servers need to store their records when nothing fails.
const maxFair = 40

// fair returns an error unless servers come to an end once nothing fails any more: late requests have arrived, or never will,
// answers arrive, and reads see the last message. Then each Owner has lost the log or stores a new record, and some server does.
// It also returns the events until then.
func (m *model) fair(w *world, arrive bool) ([]event, error) {
	f := &fairRun{model: m, world: w}
	for arrive && len(f.late) > 0 && f.err == nil {
		f.do(event{what: delayed})
	}
	for s := range m.servers {
		if f.servers[s].Owner != nil && !f.servers[s].Lost() {
			f.do(event{what: queues, server: uint8(s)})
		}
	}
	f.work()
	if f.err == nil && !slices.ContainsFunc(f.servers[:], server.settled) {
		s := uint8(w.takes % m.servers)
		if f.servers[s].Owner != nil {
			f.do(event{what: crashes, server: s})
		}
		f.do(event{takes, s, uint8(f.log.count())})
		f.do(event{what: queues, server: s})
		f.work()
		if f.err == nil && !f.servers[s].settled() {
			f.err = fmt.Errorf("progress: nothing fails any more, and %s does not get the log", names[s])
		}
	}
	return f.done, f.err
}

// settled reports whether all records of an owner are stored.
func (v server) settled() bool {
	return v.Owner != nil && v.Claimed() && !v.Lost() && v.Stored() == v.Appended()
}

// A fairRun is a world in which nothing fails.
type fairRun struct {
	*model
	*world
	done []event
	err  error // the first one
}

func (f *fairRun) do(e event) {
	if f.err != nil {
		return
	}
	if f.done = append(f.done, e); len(f.done) > maxFair {
		f.err = fmt.Errorf("progress: nothing fails any more, and the servers do not come to an end in %d events", maxFair)
		return
	}
	f.world, f.err = f.after(f.world, e)
}

// work lets the servers do their steps in turn, until they have none.
func (f *fairRun) work() {
	for busy := true; busy && f.err == nil; {
		busy = false
		for i := range f.model.servers {
			if f.world.servers[i].Owner != nil {
				busy = f.step(uint8(i)) || busy
			}
		}
	}
	for i, v := range f.world.servers {
		if f.err == nil && v.Owner != nil && !v.Lost() && !v.settled() {
			f.err = fmt.Errorf("progress: nothing fails any more, and %s does nothing", names[i])
		}
	}
}

// step lets a server do what it can, and reports whether it can do anything.
func (f *fairRun) step(s uint8) bool {
	switch v := &f.world.servers[s]; {
	case v.phase == sent:
		f.do(event{what: arrives, server: s})
	case v.phase == answered:
		f.do(event{what: learns, server: s})
	case v.phase == reading:
		f.do(event{reads, s, uint8(f.log.count())})
	case v.clone().Next().Do != Nothing:
		f.do(event{what: steps, server: s})
	default:
		return false
	}
	return true
}
