package ownership

import (
	"errors"
	"fmt"
	"slices"
)

// An event is what happens next in a world: who and what, and a number that says more.
type event struct {
	what   what
	server uint8
	n      uint8
}

type what uint8

const (
	takes   what = iota // a server without an Owner reads the first n messages, and claims the log
	crashes             // a server forgets its Owner
	queues              // the next record
	steps               // the Owner's next step begins
	arrives             // the request of a server arrives at the store
	learns              // the answer arrives
	misses              // no answer arrives in time
	reads               // the last of the first n messages
	delayed             // the late request n arrives at the store
)

// events appends all that may happen next.
func (m *model) events(dst []event, w *world) []event {
	for i := range m.servers {
		s, v := uint8(i), &w.servers[i]
		if v.Owner == nil {
			if w.takes < m.takes {
				for n := range w.log.count() + 1 {
					dst = append(dst, event{takes, s, uint8(n)})
				}
			}
			continue
		}
		dst = append(dst, event{crashes, s, 0})
		if v.queued < len(m.records) && !v.Lost() {
			dst = append(dst, event{queues, s, 0})
		}
		switch v.phase {
		case idle:
			if c := v.clone(); c.Next().Do != Nothing {
				dst = append(dst, event{steps, s, 0})
			}
		case sent:
			dst = append(dst, event{arrives, s, 0}, event{misses, s, 0})
		case answered:
			dst = append(dst, event{learns, s, 0}, event{misses, s, 0})
		case reading:
			dst = append(dst, event{misses, s, 0})
			for n := range w.log.count() + 1 {
				dst = append(dst, event{reads, s, uint8(n)})
			}
		}
	}
	for n := range w.late {
		dst = append(dst, event{delayed, 0, uint8(n)})
	}
	return dst
}

// after returns the world after an event. The error says what is wrong with it.
func (m *model) after(w *world, e event) (*world, error) {
	w, v := w.with(int(e.server))
	var err error
	removed := false
	switch e.what {
	case takes:
		w.takes++
		m.begin(w, v, int(e.server), w.log.at(int(e.n)))
	case crashes:
		m.abandon(w, v)
		*v = server{}
	case queues:
		v.Append(m.record(v.author, v.first+v.queued))
		v.queued++
	case steps:
		v.begun()
	case arrives:
		v.answer, err = m.store(w, v.request)
		v.phase, v.request = answered, request{}
	case learns:
		if v.answer > 0 {
			m.accepted(v.Owner, v.answer)
		} else {
			m.refused(v.Owner)
		}
		v.phase, v.answer = idle, 0
	case misses:
		m.abandon(w, v)
		m.unknown(v.Owner)
	case reads:
		var message []byte
		read := w.log.at(int(e.n))
		if read != nil {
			message = read.message
		}
		v.phase, removed = idle, read == nil && v.End().Sequence > 0
		m.last(v.Owner, read.end(), message)
	case delayed:
		r := w.late[e.n]
		w.late = slices.Delete(slices.Clone(w.late), int(e.n), int(e.n)+1)
		_, err = m.store(w, r)
		return w, err // no Owner says anything
	}
	return w, errors.Join(err, m.check(w, v, removed))
}

// begin gives a server an Owner that has read a log.
func (m *model) begin(w *world, v *server, s int, read *entry) {
	*v = server{author: w.takes - 1, base: read.count()}
	var end End
	if read != nil {
		end = read.reader.End()
	}
	if m.twins {
		v.begin = read.completed(0)
		for bytes := 0; bytes < v.begin; v.first++ {
			bytes += m.records[v.first%len(m.records)]
		}
	}
	v.Owner = Claim(m.name(s), end, largest)
}

// begun begins the next step.
func (v *server) begun() {
	switch step := v.Next(); step.Do {
	case Append:
		v.phase, v.request = sent, request{step.Expect, append([]byte(nil), step.Message...), v.author}
	case Read:
		v.phase = reading
	}
}

// text says what an event does, for people. The world is the one before it.
func (m *model) text(w *world, e event) string {
	name, v := names[e.server], &w.servers[e.server]
	switch e.what {
	case takes:
		return fmt.Sprintf("%s reads %d of %d messages, and claims the log: owner %d", name, e.n, w.log.count(), w.takes)
	case crashes:
		return name + " crashes"
	case queues:
		return fmt.Sprintf("%s has a record of %d bytes", name, len(m.record(v.author, v.first+v.queued)))
	case steps:
		switch step := v.clone().Next(); step.Do {
		case Append:
			return fmt.Sprintf("%s appends %s after sequence %d", name, messageText(step.Message), step.Expect)
		default:
			return name + " asks for the last message"
		}
	case arrives:
		return fmt.Sprintf("the append of %s arrives at the store, whose log ends at %d", name, w.log.end())
	case learns:
		if v.answer == 0 {
			return name + " learns that it is refused"
		}
		return fmt.Sprintf("%s learns that it is stored as %d", name, v.answer)
	case misses:
		return name + " gets no answer"
	case reads:
		return fmt.Sprintf("%s gets message %d of %d", name, e.n, w.log.count())
	}
	r := w.late[e.n]
	return fmt.Sprintf("a late append of owner %d arrives at the store: %s after sequence %d; the log ends at %d", r.author, messageText(r.message), r.expect, w.log.end())
}

func messageText(message []byte) string {
	kinds := []string{"nothing", "a claim", "records", "a part"}
	return fmt.Sprintf("%s of term %d with %d bytes", kinds[message[1]], message[2], len(message)-headerSize)
}
